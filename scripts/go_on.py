"""Write a config that goes on with the training of a pipeline.

    python scripts/go_on.py training/model-last go_on.cfg
    python -m spacy train go_on.cfg --output training2 --paths.train more.spacy

It is the config that the pipeline was trained with, but training begins with its
components as they are. The schedule of the learning rate begins anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="package or folder")
    parser.add_argument("output", type=Path, help="the config to write")
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    config = nlp.config.copy()
    config["components"] = {
        name: {"source": args.pipeline} for name in nlp.component_names
    }
    args.output.parent.mkdir(parents=True, exist_ok=True)
    config.to_disk(args.output)
    print(f"{args.output}: goes on with {args.pipeline}")


if __name__ == "__main__":
    main()
