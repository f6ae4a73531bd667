"""Sentences with graphs, independent of spaCy, for file formats and evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

Value = TypeVar("Value")


@dataclass
class MultiwordToken:
    """Several words that are written as one, such as French "du" for "de le".

    `start` and `end` are the indices of the first and the last word. `cells` are the
    CoNLL-U columns after FORM.
    """

    start: int
    end: int
    form: str
    cells: list[str]


@dataclass
class EmptyNode:
    """A word that is understood but not written, such as "reads" after "and Mary".

    It is not a token, so it is kept separately from the graph of the words. Nodes are
    named as in CoNLL-U: "0" is the root, "1" the first word, "8.1" an empty node after
    word 8. `cells` are the columns FORM to DEPREL and MISC. `heads` and `args` are the
    arcs from and to other nodes with their labels. An arc between two empty nodes is
    listed in `heads` only.
    """

    id: str
    cells: list[str]
    heads: list[tuple[str, str]] = field(default_factory=list)
    args: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Record:
    """A sentence with its graph, independent of any vocabulary.

    Indices count from 0. A column is either empty, if the format does not have it, or
    as long as `words`, where None marks a missing value.
    """

    words: list[str]
    arcs: list[tuple[int, int, str]] = field(default_factory=list)
    tops: list[int] = field(default_factory=list)
    id: str | None = None
    comments: list[str] = field(default_factory=list)
    # The words with their original spacing; None if the format has no spaces.
    text: str | None = None
    lemmas: list[str | None] = field(default_factory=list)
    tags: list[str | None] = field(default_factory=list)
    pos: list[str | None] = field(default_factory=list)
    morphs: list[str | None] = field(default_factory=list)
    # A syntactic tree: the head of each word, -1 for the root, and the relation to it.
    heads: list[int] = field(default_factory=list)
    deps: list[str | None] = field(default_factory=list)
    frames: list[str | None] = field(default_factory=list)
    predicates: list[bool] = field(default_factory=list)
    # Whether a word is a node of the graph, in formats that list the nodes.
    nodes: list[bool] = field(default_factory=list)
    misc: list[str | None] = field(default_factory=list)
    multiword_tokens: list[MultiwordToken] = field(default_factory=list)
    empty_nodes: list[EmptyNode] = field(default_factory=list)
    # False for a sentence in the same document as the one before it.
    starts_document: bool = True
    # Whether a space follows the sentence; None if the format does not say.
    space_after: bool | None = field(default=None, compare=False)

    def node_indices(self) -> list[int]:
        """Get the words that are nodes of the graph.

        RETURNS (List[int]): The words that the format lists as nodes, words with an
            arc or a frame, and tops.
        """
        indices = {i for head, dep, _ in self.arcs for i in (head, dep)}
        indices.update(self.tops)
        for column in (self.nodes, self.frames):
            indices.update(i for i, value in enumerate(column) if value)
        return sorted(indices)


def documents(sentences: Iterable[Record]) -> Iterator[list[Record]]:
    """Group sentences by document.

    sentences (Iterable[Record]): The sentences.
    YIELDS (List[Record]): The sentences of a document.
    """
    number = 0

    def document(sentence: Record) -> int:
        nonlocal number
        number += sentence.starts_document
        return number

    for _, group in groupby(sentences, key=document):
        yield list(group)


def column(values: Iterable[Value | None]) -> list[Value | None]:
    """Get a column of a Record, or an empty list if all values are missing."""
    values = list(values)
    return values if any(value is not None for value in values) else []
