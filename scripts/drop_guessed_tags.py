"""Remove the tags of punctuation that is tagged as a word.

    python scripts/drop_guessed_tags.py corpus/tagger/wescience.spacy

The open DM corpus has automatic tags, which are wrong for characters that the tagger
did not know: dashes and ellipses are tagged as nouns, verbs or adjectives. A tagger
does not learn from tokens without tags, so it learns the tags of these marks from other
data.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spacy.tokens import Doc

from spacy_sdp.formats import docbin

OPEN_CLASSES = ("NN", "JJ", "VB", "RB")


def drop_guessed_tags(doc: Doc) -> int:
    """Remove the tags of such punctuation from a Doc.

    doc (Doc): The document.
    RETURNS (int): The number of removed tags.
    """
    guessed = [
        token
        for token in doc
        if not any(map(str.isalnum, token.text)) and token.tag_.startswith(OPEN_CLASSES)
    ]
    for token in guessed:
        token.tag_ = ""
    return len(guessed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="the .spacy file to change")
    args = parser.parse_args()
    docs = list(docbin.read_docs(args.path))
    count = sum(map(drop_guessed_tags, docs))
    docbin.write_docs(docs, args.path)
    print(f"{args.path}: {count} tags removed")


if __name__ == "__main__":
    main()
