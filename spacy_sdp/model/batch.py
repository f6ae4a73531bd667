"""Batches of sentences, with their words and arcs in one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc
from thinc.types import Floats1d, Floats2d, Floats3d, Ints1d

from ..graph.arc import ROOT_INDEX
from ..graph.spans import sentences
from .settings import Settings

# Arrays of indices, which are always on the CPU.
Indices = numpy.ndarray
# Many inflected forms of a word share this number of letters.
PREFIX_LENGTH = 5
# The gradient of the loss with respect to the scores of `ArcScores`.
ArcGradients = tuple[Floats2d, Floats3d, Floats2d, Floats2d]


@dataclass(frozen=True)
class Words:
    """The words of a sentence: all tokens except for whitespace."""

    doc: int  # the number of the Doc in the batch
    tokens: Indices  # their indices in the Doc, (n,)

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class GoldArcs:
    """The gold label of each arc of a batch."""

    labels: Indices  # (arcs,)
    known: numpy.ndarray  # 1 if the label is known, otherwise 0, (arcs,)


@dataclass(frozen=True)
class GoldFrames:
    """The gold frame of each word of a batch."""

    frames: Indices  # (words,)
    known: numpy.ndarray  # 1 if the frame is known, otherwise 0, (words,)


@dataclass(frozen=True)
class Batch:
    """The sentences of a batch of Docs, the longest first.

    The arcs of all sentences are in one list: (n + 1) * n rows for a sentence of n
    words, with all dependents of the root first, and then of each word.
    """

    docs: list[Doc]
    sentences: list[Words]
    gold: GoldArcs | None = None

    @classmethod
    def from_docs(cls, docs: list[Doc]) -> Batch:
        """Find the sentences of Docs. Without boundaries, a Doc is one sentence.

        docs (List[Doc]): The documents; empty ones have no sentences.
        RETURNS (Batch): The batch.
        """
        found = []
        for number, doc in enumerate(docs):
            words = numpy.flatnonzero(doc.to_array([IS_SPACE]) == 0)
            starts = [sentence.start for sentence in sentences(doc)]
            groups = numpy.split(words, numpy.searchsorted(words, starts[1:]))
            found += [Words(number, group) for group in groups if len(group)]
        # Sentences of the same length form a block, so they have to be adjacent.
        found.sort(key=len, reverse=True)
        return cls(docs, found)

    @cached_property
    def lengths(self) -> list[int]:
        """RETURNS (List[int]): The number of words in each sentence."""
        return [len(sentence) for sentence in self.sentences]

    @cached_property
    def doc_lengths(self) -> list[int]:
        """RETURNS (List[int]): The number of tokens in each Doc."""
        return [len(doc) for doc in self.docs]

    @cached_property
    def doc_offsets(self) -> Indices:
        """RETURNS (Indices): Where each Doc starts in a table of all tokens."""
        return numpy.cumsum([0, *self.doc_lengths])

    @cached_property
    def word_rows(self) -> Indices:
        """RETURNS (Indices): The rows of the words in a table of all tokens."""
        return numpy.concatenate(
            [numpy.empty(0, dtype="int64")]
            + [self.doc_offsets[each.doc] + each.tokens for each in self.sentences]
        )

    @cached_property
    def hashes(self) -> Indices:
        """RETURNS (Indices): Hashes of the normal form of each word and of its prefix,
        (words, 2).
        """
        hashes = [
            (token.norm, doc.vocab.strings[f"{token.norm_[:PREFIX_LENGTH]}-"])
            for doc in self.docs
            for token in doc
        ]
        table = numpy.array(hashes, dtype="uint64").reshape(-1, 2)
        return table[self.word_rows].astype("int64")

    @cached_property
    def arc_offsets(self) -> Indices:
        """RETURNS (Indices): The first arc of each sentence, and the number of arcs."""
        return numpy.cumsum([0, *((n + 1) * n for n in self.lengths)])

    def arc_row(self, sentence: int, head: int, dep: int) -> int:
        """Get the row of an arc, the inverse of `locate`.

        sentence (int): The number of the sentence.
        head (int): The node of its head, 0 for the root and 1 for the first word.
        dep (int): The node of its dependent.
        RETURNS (int): The row in the list of arcs.
        """
        return int(self.arc_offsets[sentence]) + head * self.lengths[sentence] + dep - 1

    def locate(self, arcs: Indices) -> list[tuple[int, int, int]]:
        """Find the tokens of arcs.

        arcs (Indices): Rows in the list of arcs.
        RETURNS (List[Tuple[int, int, int]]): For each arc the number of its Doc, the
            index of its head, -1 for the root, and the index of its dependent.
        """
        numbers = numpy.searchsorted(self.arc_offsets, arcs, side="right") - 1
        found = []
        for number, arc in zip(numbers, arcs, strict=True):
            words = self.sentences[number]
            head, dep = divmod(int(arc - self.arc_offsets[number]), len(words))
            found.append(
                (
                    words.doc,
                    int(words.tokens[head - 1]) if head else ROOT_INDEX,
                    int(words.tokens[dep]),
                )
            )
        return found


@dataclass(frozen=True)
class ArcScores:
    """The output of the model in training, see `network.Scores`."""

    batch: Batch
    settings: Settings
    first_order: Floats2d
    candidates: Indices
    refined: Floats3d
    labels: Floats2d
    frames: Floats2d


@dataclass(frozen=True)
class ArcPosteriors:
    """The output of the model in prediction, see `network.Posteriors`."""

    batch: Batch
    arcs: Indices
    exists: Indices
    null: Floats1d
    label: Ints1d
    probability: Floats1d
    frame: Ints1d
    frame_probability: Floats1d
