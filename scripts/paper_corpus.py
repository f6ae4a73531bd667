"""Convert the corpora of the paper: training, development and two kinds of test data.

    python scripts/paper_corpus.py assets/sdp2015 corpus/paper dm pas psd
    python scripts/paper_corpus.py erg/tsdb/gold corpus/paper dm

The first command reads SemEval 2015 Task 18 (LDC2016T10), with section 20 as
development data. The second one reads DeepBank, the same text annotated with the
English Resource Grammar, in a checkout of the grammar; the text requires a licence.
Both write `train.spacy`, `dev.spacy`, `id.spacy` (section 21) and `ood.spacy` (Brown)
to corpus/paper/dm, and so on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from itertools import chain, filterfalse
from pathlib import Path

from spacy_sdp.formats import FormatError, Record, docbin, sdp
from spacy_sdp.formats.erg import profile

# In SemEval's data, sentence ids start with 2 and the number of the section.
DEVELOPMENT = "220"
DOMAINS = ("id", "ood")
# The names of DeepBank's profiles start with the number of the section.
DEEPBANK = {
    "train": ("wsj0", "wsj1"),
    "dev": ("wsj20",),
    "id": ("wsj21",),
    "ood": ("bcs",),
}


def is_development(sentence: Record) -> bool:
    return (sentence.id or "").strip().startswith(DEVELOPMENT)


def read_sdp2015(source: Path, formalism: str) -> dict[str, Iterable[Record]]:
    """Read SemEval's files of a formalism.

    source (Path): The folder of the `.sdp` files.
    formalism (str): "dm", "pas" or "psd".
    RETURNS (Dict[str, Iterable[Record]]): The sentences of each part.
    """
    path = source / f"en.{formalism}.sdp"
    tests = {domain: source / f"en.{domain}.{formalism}.sdp" for domain in DOMAINS}
    for each in (path, *tests.values()):
        if not each.exists():
            sys.exit(f"{each} does not exist: it is part of LDC2016T10.")
    if not any(map(is_development, sdp.read(path))):
        raise FormatError(f"no sentence id starts with {DEVELOPMENT}", path)
    return {
        "train": filterfalse(is_development, sdp.read(path)),
        "dev": filter(is_development, sdp.read(path)),
        **{domain: sdp.read(test) for domain, test in tests.items()},
    }


def read_deepbank(profiles: list[Path]) -> dict[str, Iterable[Record]]:
    """Read DeepBank.

    profiles (List[Path]): Folders of profiles. Others than DeepBank's are ignored.
    RETURNS (Dict[str, Iterable[Record]]): The sentences of each part.
    """
    parts = {
        part: [path for path in profiles if path.name.startswith(starts)]
        for part, starts in DEEPBANK.items()
    }
    for part, found in parts.items():
        if not found:
            names = ", ".join(f"{start}*" for start in DEEPBANK[part])
            sys.exit(f"{profiles[0].parent} has no profile {names}, for {part}.spacy.")
    return {
        part: chain.from_iterable(map(profile.read, found))
        for part, found in parts.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "source", type=Path, help="folder of the .sdp files, or of DeepBank's profiles"
    )
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("formalisms", nargs="+", choices=["dm", "pas", "psd"])
    args = parser.parse_args()
    profiles = sorted(filter(profile.is_profile, args.source.glob("*")))
    if profiles and args.formalisms != ["dm"]:
        parser.error(f"{args.source} has profiles, which can only become dm")
    for formalism in args.formalisms:
        parts = (
            read_deepbank(profiles)
            if profiles
            else read_sdp2015(args.source, formalism)
        )
        folder = args.output / formalism
        folder.mkdir(parents=True, exist_ok=True)
        for part, sentences in parts.items():
            docbin.write(sentences, folder / f"{part}.spacy")
        print(f"{folder}: written")


if __name__ == "__main__":
    main()
