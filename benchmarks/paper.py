"""Make the table of the paper, and its figure by sentence length.

    python -m spacy project run paper

trains the parsers, and calls

    python benchmarks/paper.py training corpus/paper

where training/paper has a folder for each system and seed (labelled-true-0), with its
parses of dm.id.spacy, dm.ood.spacy, and so on.
"""

from __future__ import annotations

from ablation import run

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
    run(__doc__.splitlines()[0], "paper", SYSTEMS, SPLITS, scores=("LF",))


if __name__ == "__main__":
    main()
