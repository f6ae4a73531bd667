"""Reproduce the table of the paper, and its figure by sentence length.

    python benchmarks/paper.py train configs/paper.cfg corpus/paper training/paper
    python benchmarks/paper.py table corpus/paper training/paper

corpus/paper has a folder for each formalism, created by scripts/paper_corpus.py. The
systems are compared with any config, for example without a transformer:

    python benchmarks/paper.py train configs/columns.cfg corpus/paper training/paper \\
        --formalisms dm --systems first-order-unlabelled unlabelled recommended

To resume after an interruption, run the same command again. All steps:
`python -m spacy project run paper`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ablation import Results, collect, write_results
from common import RESULTS
from experiment import add_options, parse_args, run_systems
from systems import SYSTEMS

# 20 epochs, instead of 30 for DM in paper.cfg. The rates increase in the first half.
EPOCHS_20 = {
    "training.max_steps": 20 * 255,
    "training.optimizer.learn_rate.warmup_steps": 10 * 255,
    "training.optimizer.transformer_learn_rate.warmup_steps": 10 * 255,
}
OVERRIDES: dict[tuple[str, str], dict[str, Any]] = {
    ("paper", "pas"): EPOCHS_20,
    ("paper", "psd"): EPOCHS_20,
}
FORMALISMS = ("dm", "pas", "psd")
DOMAINS = ("id", "ood")


def make_table(corpus: Path, training: Path) -> Results:
    """RETURNS (Results): The scores of all existing parses."""
    results: Results = {}
    for formalism in FORMALISMS:
        systems = {
            f"{SYSTEMS[name].title}, {config.name}.cfg": sorted(
                (config / formalism).glob(f"{name}-[0-9]*")
            )
            for config in sorted(training.glob("*"))
            for name in SYSTEMS
        }
        splits = {domain: f"{formalism} {domain}".upper() for domain in DOMAINS}
        results |= collect(corpus / formalism, splits, systems)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train systems and parse the test data")
    train.add_argument("config", type=Path)
    train.add_argument("corpus", type=Path)
    train.add_argument("training", type=Path)
    train.add_argument(
        "--formalisms", nargs="+", choices=FORMALISMS, default=[*FORMALISMS]
    )
    add_options(train, ["published"])
    table = commands.add_parser("table", help="score the parses")
    table.add_argument("corpus", type=Path)
    table.add_argument("training", type=Path)
    table.add_argument("--out", type=Path, default=RESULTS)
    args, overrides = parse_args(parser)
    if args.command == "table":
        results = make_table(args.corpus, args.training)
        if not results:
            parser.error(f"there are no parses in {args.training}")
        write_results(results, args.out, "paper", scores=("LF", "UF", "LM", "PF"))
        return
    name = args.config.stem
    for formalism in args.formalisms:
        run_systems(
            args.config,
            args.corpus / formalism,
            args.training / name / formalism,
            systems=args.systems,
            seeds=args.seeds,
            gpu_id=args.gpu_id,
            overrides=OVERRIDES.get((name, formalism), {}) | overrides,
        )


if __name__ == "__main__":
    main()
