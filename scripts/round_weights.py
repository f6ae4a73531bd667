"""Round the weights of a pipeline to 8 significant bits (bfloat16).

    python scripts/round_weights.py training/small/model-best training/small/rounded

They stay 32-bit numbers, so nothing else changes, but a packed file has less than half
the size.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spacy.language import Language
from trained_pipelines import get_weights, load, set_weights


def round_weights(nlp: Language) -> None:
    """Round all weights of all components, in place."""
    for _, component in nlp.components:
        weights = get_weights(component)
        set_weights(component, [each.bfloat16().float() for each in weights])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="package, folder or wheel")
    parser.add_argument("target", type=Path, help="the folder to write")
    args = parser.parse_args()
    nlp = load(args.source, parser)
    round_weights(nlp)
    args.target.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(args.target)
    print(f"{args.target}: all weights rounded to bfloat16")


if __name__ == "__main__":
    main()
