"""Train SuPar's second-order parser on the same corpus, and parse with it.

SuPar's `vi_sdp` is mean-field inference between unlabelled arcs. This script runs in a
separate environment with SuPar and without this package:

    python -m venv supar
    supar/bin/pip install supar==1.1.4 transformers==4.46.3
    supar/bin/python benchmarks/peer.py train corpus training/supar/model --encoder ...
    supar/bin/python benchmarks/peer.py parse training/supar/model in.conllu out.conllu

Its 10 columns are CoNLL-U, with the graph in the ninth column and tops as `0:root`, so
`spacy sdp convert` can create its input, and `spacy sdp evaluate` can read its output.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

# Its checkpoints contain Python objects, which torch no longer loads by default.
os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"

import torch
from supar import VISemanticDependencyParser


def train(args: argparse.Namespace) -> None:
    """Train with batches of 900 words, and a separate rate for the encoder."""
    torch.manual_seed(args.seed)
    files = {part: str(args.corpus / f"{part}.conllu") for part in ("train", "dev")}
    files["test"] = files["dev"]  # required; the test data are scored later
    args.model.parent.mkdir(parents=True, exist_ok=True)
    settings = {
        "path": str(args.model),
        "build": True,
        "checkpoint": False,
        "encoder": "bert",
        "bert": args.encoder,
        "n_bert_layers": 1,
        "batch_size": 900,
        "epochs": args.epochs,
        "lr": 1.5e-4,
        "lr_rate": 13,
        "warmup": 0.05,
        **files,
    }
    VISemanticDependencyParser.build(**settings).train(**settings)


def drop_loops(path: Path) -> None:
    """Remove self-loops, which are invalid and cannot be scored."""
    lines = []
    for line in path.read_text(encoding="utf8").splitlines():
        cells = line.split("\t")
        if len(cells) == 10:
            heads = cells[8].split("|")
            kept = [head for head in heads if head.split(":")[0] != cells[0]]
            cells[8] = "|".join(kept) or "_"
        lines.append("\t".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def parse(args: argparse.Namespace) -> None:
    """Parse a file several times, and print the seconds of each run."""
    torch.set_num_threads(args.threads)
    parser = VISemanticDependencyParser.load(str(args.model))
    seconds = []
    for _ in range(args.repeat):
        start = time.perf_counter()
        parser.predict(str(args.input), pred=str(args.output), verbose=False)
        seconds.append(time.perf_counter() - start)
    drop_loops(args.output)
    print(json.dumps(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("train", help="train a parser")
    command.add_argument("corpus", type=Path, help="folder of train and dev.conllu")
    command.add_argument("model", type=Path, help="file to write")
    command.add_argument("--encoder", required=True, help="folder or name")
    command.add_argument("--epochs", type=int, required=True)
    command.add_argument("--seed", type=int, default=0)
    command.set_defaults(run=train)
    command = commands.add_parser("parse", help="parse a file")
    command.add_argument("model", type=Path)
    command.add_argument("input", type=Path, help=".conllu")
    command.add_argument("output", type=Path, help=".conllu")
    command.add_argument("--repeat", type=int, default=1)
    command.add_argument("--threads", type=int, default=2)
    command.set_defaults(run=parse)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
