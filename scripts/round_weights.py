"""Round the weights of a pipeline to 8 significant bits (bfloat16).

    python scripts/round_weights.py training/small/model-best training/small/rounded

They stay 32-bit numbers, so nothing else changes, but a packed file has less than half
the size.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from spacy.language import Language
from weights import change_weights


def round_weights(nlp: Language) -> None:
    """Round all weights of all components, in place."""
    change_weights(lambda weights: weights.bfloat16().float(), nlp)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    nlp = spacy.load(args.source)
    round_weights(nlp)
    nlp.to_disk(args.target)
    print(f"{args.target}: all weights rounded to bfloat16")


if __name__ == "__main__":
    main()
