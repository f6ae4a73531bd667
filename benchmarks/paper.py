"""Make the table of the paper, and its figure by sentence length.

    python -m spacy project run paper

trains the parsers, and calls

    python benchmarks/paper.py training corpus/paper

where training/paper has a folder for each system and seed (labelled-true-0), with its
parses of dm.id.spacy, dm.ood.spacy, and so on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ablation import collect, write_results
from common import RESULTS

SYSTEMS = {
    "paper/labelled-true-*": "labelled mean field",
    "paper/labelled-false-*": "w/o label correlation",
}
SPLITS = {
    f"{formalism}.{domain}": f"{formalism} {domain}".upper()
    for formalism in ("dm", "pas", "psd")
    for domain in ("id", "ood")
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("training", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    results = collect(args.training, args.corpus, SYSTEMS, SPLITS)
    if not results:
        parser.error(
            f"there are no parses in {args.training}: `python -m spacy project run "
            "paper` makes them"
        )
    write_results(results, args.out, "paper", scores=("LF",))


if __name__ == "__main__":
    main()
