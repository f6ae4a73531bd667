"""Convert SemEval 2015 Task 18, with section 20 as development data.

    python scripts/split_sdp2015.py assets/sdp2015 corpus/paper dm pas psd

converts en.dm.sdp, en.id.dm.sdp and en.ood.dm.sdp to train.spacy, dev.spacy, id.spacy
and ood.spacy in corpus/paper/dm, and so on. Sentence ids start with 2 and the number of
the section.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from spacy_sdp.formats import FormatError, Record, docbin, sdp

DEVELOPMENT = "220"


def is_development(sentence: Record) -> bool:
    return (sentence.id or "").strip().startswith(DEVELOPMENT)


def convert(source: Path, output: Path, formalism: str) -> None:
    """Convert the files of a formalism.

    source (Path): The folder of the `.sdp` files.
    output (Path): The folder to write to.
    formalism (str): "dm", "pas" or "psd".
    """
    path = source / f"en.{formalism}.sdp"
    if not any(map(is_development, sdp.read(path))):
        raise FormatError(f"no sentence id starts with {DEVELOPMENT}", path)
    output.mkdir(parents=True, exist_ok=True)
    train = itertools.filterfalse(is_development, sdp.read(path))
    docbin.write(train, output / "train.spacy")
    docbin.write(filter(is_development, sdp.read(path)), output / "dev.spacy")
    for domain in ("id", "ood"):
        test = sdp.read(source / f"en.{domain}.{formalism}.sdp")
        docbin.write(test, output / f"{domain}.spacy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="folder of the .sdp files")
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("formalisms", nargs="+", choices=["dm", "pas", "psd"])
    args = parser.parse_args()
    for formalism in args.formalisms:
        try:
            convert(args.source, args.output / formalism, formalism)
        except FileNotFoundError as error:
            sys.exit(f"{error.filename} does not exist: it is part of LDC2016T10.")
        print(f"{args.output / formalism}: written")


if __name__ == "__main__":
    main()
