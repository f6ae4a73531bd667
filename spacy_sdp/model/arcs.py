"""Which arcs there are: their order, their nodes, their labels, and the probable ones.

The arcs of a sentence of n words are (n + 1) * n rows: for each head from the root to
the last word, each dependent from the first word to the last, self-loops included.
Sentences follow one another, and those of the same length are neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from .mean_field import Arcs
from .settings import Settings

# The first two labels; those of the corpus follow.
NULL, ROOT, FIRST_LABEL = 0, 1, 2


def split_by_pairs(lengths: list[int], max_pairs: int) -> Iterator[list[int]]:
    """Yield runs of sentences that have at most so many pairs of nodes together.

    A sentence that has more by itself is a run of its own.
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


class Block(NamedTuple):
    """Sentences of the same length that follow one another."""

    n: int  # words in each
    sentences: int
    first_sentence: int
    first_node: int
    first_arc: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """The arcs by sentence, head and dependent."""
        return self.sentences, self.n + 1, self.n


def to_blocks(lengths: list[int]) -> Iterator[Block]:
    """Yield the sentences by length."""
    sentence = node = arc = 0
    for n, group in groupby(lengths):
        count = len(list(group))
        yield Block(n, count, sentence, node, arc)
        sentence += count
        node += count * (n + 1)
        arc += count * (n + 1) * n


def split_nodes(lengths: list[int], *tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Yield the rows of nodes of sentences of the same length, (S, n + 1, ...)."""
    shapes = [block.shape[:2] for block in to_blocks(lengths)]
    return zip(*(_split(table, shapes) for table in tables), strict=True)


def split_arcs(lengths: list[int], table: Tensor) -> Iterator[Tensor]:
    """Yield the rows of arcs of sentences of the same length, (S, n + 1, n, ...)."""
    return _split(table, [block.shape for block in to_blocks(lengths)])


def _split(table: Tensor, shapes: Sequence[tuple[int, ...]]) -> Iterator[Tensor]:
    sizes = [math.prod(shape) for shape in shapes]
    for rows, shape in zip(table.split(sizes), shapes, strict=True):
        yield rows.unflatten(0, shape)


def node_sentences(lengths: list[int], device: torch.device) -> Tensor:
    """Give the number of the sentence of each node, (nodes,)."""
    sizes = torch.tensor([n + 1 for n in lengths], device=device)
    return torch.arange(len(lengths), device=device).repeat_interleave(sizes)


def locate(
    block: Block, sentence: Tensor, head: Tensor, dep: Tensor
) -> tuple[Arcs, Tensor]:
    """Find arcs of a block in the tables of nodes and of arcs.

    block (Block): The block.
    sentence (Tensor): The sentence of each arc, counted in the block, (arcs,).
    head (Tensor): Its head, 0 for the root, (arcs,).
    dep (Tensor): Its dependent, 1 for the first word, (arcs,).
    RETURNS (Tuple[Arcs, Tensor]): Their nodes, and their rows, (arcs,).
    """
    root = block.first_node + sentence * (block.n + 1)
    row = (sentence * (block.n + 1) + head) * block.n + dep - 1
    number = block.first_sentence + sentence
    arcs = Arcs(root + head, root + dep, number, head == 0)
    return arcs, block.first_arc + row


def all_arcs(lengths: list[int], device: torch.device) -> Arcs:
    """Give the nodes of all arcs, in the order of their rows."""
    found = []
    for block in to_blocks(lengths):
        everything = torch.ones(block.shape, dtype=torch.bool, device=device)
        sentence, head, dep = everything.nonzero(as_tuple=True)
        found.append(locate(block, sentence, head, dep + 1)[0])
    return Arcs.join(found)


def mask_labels_(scores: Tensor, from_root: Tensor) -> Tensor:
    """Mask in place what cannot be: arcs from the root are NULL or root, others not.

    scores (Tensor): The scores of arcs, (..., L).
    from_root (Tensor): Which of them come from the root, booleans, (...).
    RETURNS (Tensor): The scores.
    """
    impossible = scores.new_zeros(2, scores.shape[-1], dtype=torch.bool)
    impossible[0, ROOT] = True
    impossible[1, FIRST_LABEL:] = True
    return scores.masked_fill_(impossible[from_root.long()], -math.inf)


def is_candidate(odds: Tensor, first_dep: int, settings: Settings) -> Tensor:
    """Tell which arcs are probable enough to be labelled and to take part in inference.

    An arc whose score is not a number is one, so that it does not go unnoticed.

    odds (Tensor): The log-odds of arcs by their first-order scores, of all heads and
        some dependents, (S, n + 1, dependents).
    first_dep (int): The first of these dependents, 1 for the first word.
    settings (Settings): `prune`, the least probability that there is an arc, and
        `max_heads`, the most heads that a word may have; without the first, all.
    RETURNS (Tensor): Booleans, (S, n + 1, dependents).
    """
    _, heads, deps = odds.shape
    head = torch.arange(heads, device=odds.device).unsqueeze(1)
    dep = first_dep + torch.arange(deps, device=odds.device)
    valid = head != dep
    if not settings.prune:
        return valid.expand_as(odds)
    enough = math.log(settings.prune) - math.log1p(-settings.prune)
    keep = ~(odds <= enough) & valid
    if heads > settings.max_heads:
        best = odds.masked_fill(~valid, -math.inf).topk(settings.max_heads, dim=1)
        keep &= torch.zeros_like(keep).scatter_(1, best.indices, True)
    return keep
