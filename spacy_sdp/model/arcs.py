"""The arcs of a batch: their order, their nodes and their possible labels.

The arcs of a sentence of n words are (n + 1) * n rows: for each head from the root to
the last word, each dependent from the first word to the last, self-loops included.
Sentences are concatenated, and sentences of the same length are adjacent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from .labels import FIRST_LABEL, ROOT


def split_by_pairs(lengths: list[int], max_pairs: int) -> Iterator[list[int]]:
    """Split sentences into runs with at most `max_pairs` pairs of nodes.

    A sentence with more pairs has its own run.
    """
    piece: list[int] = []
    pairs = 0
    for n in lengths:
        if piece and pairs + n * (n + 1) > max_pairs:
            yield piece
            piece, pairs = [], 0
        piece.append(n)
        pairs += n * (n + 1)
    if piece:
        yield piece


@dataclass
class Arcs:
    """A list of arcs by their nodes."""

    head: Tensor  # (arcs,)
    dep: Tensor  # (arcs,)
    from_root: Tensor  # whether the head is the root, booleans, (arcs,)

    @classmethod
    def join(cls, lists: Iterable[Arcs]) -> Arcs:
        columns = zip(*(vars(each).values() for each in lists), strict=True)
        return cls(*map(torch.cat, columns))


class Block(NamedTuple):
    """Adjacent sentences of the same length."""

    n: int  # words in each
    sentences: int
    first_node: int
    first_arc: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of sentences, heads and dependents."""
        return self.sentences, self.n + 1, self.n


def to_blocks(lengths: list[int]) -> Iterator[Block]:
    """Group adjacent sentences of the same length."""
    node = arc = 0
    for n, group in groupby(lengths):
        count = len(list(group))
        yield Block(n, count, node, arc)
        node += count * (n + 1)
        arc += count * (n + 1) * n


def split_nodes(lengths: list[int], *tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Split tables of nodes by sentence length, (S, n + 1, ...) each."""
    shapes = [block.shape[:2] for block in to_blocks(lengths)]
    return zip(*(_split(table, shapes) for table in tables), strict=True)


def split_arcs(lengths: list[int], table: Tensor) -> Iterator[Tensor]:
    """Split a table of arcs by sentence length, (S, n + 1, n, ...) each."""
    return _split(table, [block.shape for block in to_blocks(lengths)])


def _split(table: Tensor, shapes: Sequence[tuple[int, ...]]) -> Iterator[Tensor]:
    sizes = [math.prod(shape) for shape in shapes]
    for rows, shape in zip(table.split(sizes), shapes, strict=True):
        yield rows.unflatten(0, shape)


def node_sentences(lengths: list[int], device: torch.device) -> Tensor:
    """Get the sentence number of each node, (nodes,)."""
    sizes = torch.tensor([n + 1 for n in lengths], device=device)
    return torch.arange(len(lengths), device=device).repeat_interleave(sizes)


def locate(
    block: Block, sentence: Tensor, head: Tensor, dep: Tensor
) -> tuple[Arcs, Tensor]:
    """Locate the arcs of a block in the tables of nodes and arcs.

    block (Block): The block.
    sentence (Tensor): The sentence of each arc, relative to the block, (arcs,).
    head (Tensor): Its head, 0 for the root, (arcs,).
    dep (Tensor): Its dependent, 1 for the first word, (arcs,).
    RETURNS (Tuple[Arcs, Tensor]): Their nodes, and their rows, (arcs,).
    """
    root = block.first_node + sentence * (block.n + 1)
    row = (sentence * (block.n + 1) + head) * block.n + dep - 1
    arcs = Arcs(root + head, root + dep, head == 0)
    return arcs, block.first_arc + row


def all_arcs(lengths: list[int], device: torch.device) -> Arcs:
    """Get the nodes of all arcs, in row order."""
    found = []
    for block in to_blocks(lengths):
        everything = torch.ones(block.shape, dtype=torch.bool, device=device)
        sentence, head, dep = everything.nonzero(as_tuple=True)
        found.append(locate(block, sentence, head, dep + 1)[0])
    return Arcs.join(found)


def mask_labels_(scores: Tensor, from_root: Tensor) -> Tensor:
    """Mask impossible labels in place.

    Arcs from the root can only be NULL or root, and other arcs cannot be root.

    scores (Tensor): The scores of arcs, (..., L).
    from_root (Tensor): Which of them come from the root, booleans, (...).
    RETURNS (Tensor): The scores.
    """
    impossible = scores.new_zeros(2, scores.shape[-1], dtype=torch.bool)
    impossible[0, ROOT] = True
    impossible[1, FIRST_LABEL:] = True
    return scores.masked_fill_(impossible[from_root.long()], -math.inf)


def valid_arcs(n: int, like: Tensor) -> Tensor:
    """Get 1 for arcs between different nodes and 0 for self-loops, (n + 1, n)."""
    return 1 - torch.eye(n + 1, n + 1, dtype=like.dtype, device=like.device)[:, 1:]
