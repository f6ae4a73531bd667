"""Save the fine-tuned transformer of a pipeline as an encoder for another one.

    python scripts/export_encoder.py training/teacher/model-best encoder

The folder can be `paths.transformer` of a config.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="package or folder")
    parser.add_argument("output", type=Path, help="folder to write")
    args = parser.parse_args()
    model = spacy.load(args.pipeline).get_pipe("transformer").model
    model.transformer.save_pretrained(args.output)
    model.tokenizer.save_pretrained(args.output)
    print(f"{args.output}: the encoder of {args.pipeline}")


if __name__ == "__main__":
    main()
