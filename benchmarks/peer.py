"""Train SuPar's second-order parser on the same corpus, and let it parse.

SuPar's `vi_sdp` is mean-field inference between unlabelled arcs. This script runs in an
environment of its own, which has SuPar and not this package:

    python -m venv supar
    supar/bin/pip install supar==1.1.4 transformers==4.46.3
    supar/bin/python benchmarks/peer.py train corpus training/supar/model --encoder ...
    supar/bin/python benchmarks/peer.py parse training/supar/model in.conllu out.conllu

Its 10 columns are CoNLL-U, with the graph in the ninth and tops as `0:root`, so that
`spacy sdp convert` makes its input, and `spacy sdp evaluate` reads its output.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

# Its checkpoints hold Python objects, which torch does not load by itself any more.
os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"

import torch
from supar import VISemanticDependencyParser


def train(args: argparse.Namespace) -> None:
    """Train with batches of 900 words, and a rate of its own for the encoder."""
    torch.manual_seed(args.seed)
    files = {part: str(args.corpus / f"{part}.conllu") for part in ("train", "dev")}
    files["test"] = files["dev"]  # scored after each epoch, too; the test is for later
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
    """Take out arcs from a word to itself, which no graph has and a score refuses."""
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
    """Parse a file several times, and print how many seconds each took."""
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
