"""Parse the sentences of a treebank, and keep those that the pipeline is surest of.

    python scripts/silver.py en_sdp_dm_md treebank.conllu silver.spacy --share 0.8

What comes out are training data beside those that people annotated, with which a parser
goes on (scripts/go_on.py) or another one begins: it sees more kinds of text. Of the
treebank only text and sentence boundaries are used. The surest sentences are those
whose arcs have the highest probability, in the mean of its logarithm.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm
from trained_pipelines import load

from spacy_sdp.formats import docbin, read
from spacy_sdp.graph.extensions import DEFAULT_ATTR, get_graph

# Shorter sentences hardly have arcs to learn from.
MIN_LENGTH = 3


def make_docs(nlp: Language, path: Path) -> Iterator[Doc]:
    """YIELDS (Doc): The sentences of a treebank as the tokenizer sees them."""
    for sentence in read(path):
        doc = nlp.make_doc(sentence.text or "")
        for i, token in enumerate(doc):
            token.is_sent_start = i == 0
        yield doc


def parse(nlp: Language, docs: list[Doc]) -> Iterator[Doc]:
    """YIELDS (Doc): The Docs with graphs, without what else takes memory."""
    for doc in tqdm(nlp.pipe(docs), total=len(docs), unit=" sentences"):
        if doc.has_extension("trf_data"):
            doc._.trf_data = None
        yield doc


def confidence(doc: Doc) -> float:
    """RETURNS (float): The mean log-probability of the arcs."""
    graph = get_graph(doc, DEFAULT_ATTR)
    scores = [arc.score or 0.0 for arc in graph or ()]
    return mean(math.log(max(score, 1e-9)) for score in scores) if scores else -math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="package, folder or wheel")
    parser.add_argument("texts", type=Path, help="a treebank with texts, as .conllu")
    parser.add_argument("output", type=Path, help="the .spacy file to write")
    parser.add_argument(
        "--share",
        type=float,
        default=0.6,
        help="how many to keep (default: %(default)s)",
    )
    parser.add_argument(
        "--max-length",
        type=int,
        default=60,
        help="leave out sentences of more tokens (default: %(default)s), or of less "
        f"than {MIN_LENGTH}",
    )
    args = parser.parse_args()
    nlp = load(args.pipeline, parser)
    if not args.texts.exists():
        parser.error(f"there is no file {args.texts}")
    docs = list(make_docs(nlp, args.texts))
    fitting = [doc for doc in docs if MIN_LENGTH <= len(doc) <= args.max_length]
    parsed = sorted(parse(nlp, fitting), key=confidence, reverse=True)
    kept = parsed[: round(args.share * len(parsed))]
    docbin.write_docs(kept, args.output)
    words = sum(map(len, kept))
    print(
        f"{args.output}: {len(kept)} sentences, {words} tokens; left out: "
        f"{len(docs) - len(fitting)} too short or too long, "
        f"{len(parsed) - len(kept)} less sure"
    )


if __name__ == "__main__":
    main()
