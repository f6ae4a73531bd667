"""Take section 20 out of the training data of SemEval 2015 Task 18 for development.

    python scripts/split_sdp2015.py en.dm.sdp train.sdp dev.sdp

The id of a sentence begins with 2 and the number of its section.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from spacy_sdp.formats import FormatError, Record, sdp

DEVELOPMENT = "220"


def is_development(sentence: Record) -> bool:
    return (sentence.id or "").strip().startswith(DEVELOPMENT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    args = parser.parse_args()
    if not any(map(is_development, sdp.read(args.source))):
        raise FormatError(f"no id begins with {DEVELOPMENT}", args.source)
    sdp.write(itertools.filterfalse(is_development, sdp.read(args.source)), args.train)
    sdp.write(filter(is_development, sdp.read(args.source)), args.dev)
    print(f"{args.source}: split into {args.train} and {args.dev}")


if __name__ == "__main__":
    main()
