"""Compute static word vectors from a parser's transformer.

    python scripts/word_vectors.py training/teacher/model-best corpus/small/vectors \
        corpus/dm/train.spacy corpus/small/silver.spacy

The vector of a word is the mean of the transformer's vectors of its occurrences,
reduced to the first principal components of all words, with unit variance on average.
From these vectors, a small parser without a transformer learns the meaning of words
that are rare in its own data. Writes a pipeline for `paths.vectors`, with the most
frequent words in lower case.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy_transformers.layers import trfs2arrays
from thinc.api import reduce_mean
from tqdm import tqdm

from spacy_sdp.formats import docbin

COMPONENTS = ["sdp_paragraphs", "senter", "tok2vec", "transformer"]


class WordMeans:
    """Means of the vectors of words."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.sums = np.zeros((0, 0), dtype=np.float32)
        self.counts = np.zeros(0, dtype=np.int64)

    def add(self, words: list[str], vectors: np.ndarray) -> None:
        """Add occurrences of words.

        words (List[str]): The words.
        vectors (np.ndarray): The vector of each occurrence.
        """
        rows = [self.rows.setdefault(word, len(self.rows)) for word in words]
        if len(self.rows) > len(self.counts):
            size = 2 * len(self.rows)
            self.sums = _enlarged(self.sums, (size, vectors.shape[1]))
            self.counts = _enlarged(self.counts, (size,))
        np.add.at(self.sums, rows, vectors)
        np.add.at(self.counts, rows, 1)

    def most_frequent(self, number: int) -> tuple[list[str], np.ndarray]:
        """RETURNS (Tuple[List[str], np.ndarray]): Words and their means."""
        words = sorted(
            self.rows, key=lambda word: (-self.counts[self.rows[word]], word)
        )
        rows = [self.rows[word] for word in words[:number]]
        return words[:number], self.sums[rows] / self.counts[rows, None]


def _enlarged(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(map(slice, array.shape))] = array
    return larger


def read_vectors(nlp: Language, docs: Iterable[Doc], means: WordMeans) -> None:
    """Add the words of Docs to the means.

    nlp (Language): A pipeline with a transformer.
    docs (Iterable[Doc]): The Docs.
    means (WordMeans): The means to add to.
    """
    pool = trfs2arrays(reduce_mean(), 1.0)
    for doc in nlp.pipe(docs):
        (vectors,) = pool.predict([doc._.trf_data])
        means.add([token.lower_ for token in doc], vectors)


def principal_components(vectors: np.ndarray, width: int) -> np.ndarray:
    """Reduce vectors to a smaller width.

    vectors (np.ndarray): The vectors.
    width (int): The new width.
    RETURNS (np.ndarray): The centred vectors, with a variance of 1 on average.
    """
    centred = vectors - vectors.mean(0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    reduced = centred @ directions[:, : -width - 1 : -1]
    return (reduced / reduced.std()).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="pipeline with a transformer")
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("corpora", nargs="+", type=Path, help=".spacy files to read")
    parser.add_argument("--words", type=int, default=20_000, help="number of words")
    parser.add_argument("--width", type=int, default=64, help="width of the vectors")
    args = parser.parse_args()
    nlp = spacy.load(args.model)
    nlp.select_pipes(enable=[name for name in nlp.pipe_names if name in COMPONENTS])
    means = WordMeans()
    for path in args.corpora:
        texts = (
            Doc(nlp.vocab, [t.text for t in doc]) for doc in docbin.read_docs(path)
        )
        read_vectors(nlp, tqdm(texts, desc=path.name, unit=" Docs"), means)
    words, vectors = means.most_frequent(args.words)
    result = spacy.blank(nlp.lang)
    result.vocab.vectors = Vectors(
        strings=result.vocab.strings,
        data=principal_components(vectors, args.width),
        keys=words,
        name=args.output.name,
        attr="LOWER",
    )
    result.to_disk(args.output)
    print(f"{args.output}: {len(words)} words with vectors of width {args.width}")


if __name__ == "__main__":
    main()
