"""Parse texts with a pipeline, and keep the sentences that it is sure of.

    python scripts/silver.py training/teacher/model-best treebank.conllu silver.spacy

What comes out are training data beside those that people annotated, with which a parser
goes on (scripts/go_on.py) or another one begins: it sees more kinds of text. Of the
treebank only text and sentence boundaries are used.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from spacy_sdp.extensions import DEFAULT_ATTR, get_graph
from spacy_sdp.formats import docbin, read


def make_docs(nlp: Language, path: Path, max_length: int) -> Iterator[Doc]:
    """YIELDS (Doc): The sentences of a treebank as the tokenizer sees them."""
    for sentence in read(path):
        doc = nlp.make_doc(sentence.text or "")
        if 3 <= len(doc) <= max_length:
            for i, token in enumerate(doc):
                token.is_sent_start = i == 0
            yield doc


def confidence(doc: Doc) -> float:
    """RETURNS (float): The mean log-probability of the arcs."""
    graph = get_graph(doc, DEFAULT_ATTR)
    scores = [arc.score or 0.0 for arc in graph or ()]
    return mean(math.log(max(score, 1e-9)) for score in scores) if scores else -math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="package or folder")
    parser.add_argument("texts", type=Path, help="a treebank with texts, as .conllu")
    parser.add_argument("output", type=Path, help="the .spacy file to write")
    parser.add_argument(
        "--share", type=float, default=0.6, help="of the sentences to keep"
    )
    parser.add_argument("--max-length", type=int, default=60, help="most tokens")
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    texts = list(make_docs(nlp, args.texts, args.max_length))
    docs = list(tqdm(nlp.pipe(texts), total=len(texts), unit=" sentences"))
    kept = sorted(docs, key=confidence, reverse=True)[: round(args.share * len(docs))]
    docbin.write_docs(kept, args.output)
    words = sum(map(len, kept))
    print(f"{args.output}: {len(kept)} of {len(docs)} sentences, {words} tokens")


if __name__ == "__main__":
    main()
