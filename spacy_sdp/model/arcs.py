"""Which arcs there are: their order, their nodes, their labels, and the probable ones.

The arcs of a sentence of n words are (n + 1) * n rows: for each head from the root to
the last word, each dependent from the first word to the last, self-loops included.
Sentences follow one another, and those of the same length are neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

import torch
from torch import Tensor

from .inference import Arcs, valid_arcs
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


def count_lengths(lengths: list[int]) -> Iterator[tuple[int, int]]:
    """Yield each length, and how many sentences in a row have it."""
    for n, group in groupby(lengths):
        yield n, len(list(group))


def split_nodes(lengths: list[int], *tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Yield the rows of nodes of sentences of the same length, (S, n + 1, ...)."""
    shapes = [(count, n + 1) for n, count in count_lengths(lengths)]
    return zip(*(_split(table, shapes) for table in tables), strict=True)


def split_arcs(lengths: list[int], table: Tensor) -> Iterator[Tensor]:
    """Yield the rows of arcs of sentences of the same length, (S, n + 1, n, ...)."""
    return _split(table, [(count, n + 1, n) for n, count in count_lengths(lengths)])


def _split(table: Tensor, shapes: Sequence[tuple[int, ...]]) -> Iterator[Tensor]:
    sizes = [math.prod(shape) for shape in shapes]
    for rows, shape in zip(table.split(sizes), shapes, strict=True):
        yield rows.unflatten(0, shape)


def node_sentences(lengths: list[int], device: torch.device) -> Tensor:
    """Give the number of the sentence of each node, (nodes,)."""
    sizes = torch.tensor([n + 1 for n in lengths], device=device)
    return torch.arange(len(lengths), device=device).repeat_interleave(sizes)


def all_arcs(lengths: list[int], device: torch.device) -> Arcs:
    """Give the nodes of all arcs, in the order of their rows."""
    arcs: list[tuple[Tensor, Tensor, Tensor]] = []
    first_node = first_sentence = 0
    for n, count in count_lengths(lengths):
        shape = (count, n + 1, n)
        sentence = torch.arange(count, device=device).view(-1, 1, 1)
        node = torch.arange(n + 1, device=device)
        root = first_node + sentence * (n + 1)
        head = (root + node.view(1, -1, 1)).expand(shape)
        dep = (root + node[1:].view(1, 1, -1)).expand(shape)
        sentence = (first_sentence + sentence).expand(shape)
        arcs.append((head.flatten(), dep.flatten(), sentence.flatten()))
        first_node += count * (n + 1)
        first_sentence += count
    return Arcs(*map(torch.cat, zip(*arcs, strict=True)))


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


def candidates(odds: Tensor, lengths: list[int], settings: Settings) -> Tensor:
    """Tell which arcs are probable enough to be labelled and to take part in inference.

    odds (Tensor): The log-odds of all arcs by their first-order scores, (E,).
    lengths (List[int]): Words in each sentence.
    settings (Settings): `prune`, the least probability that there is an arc, and
        `max_heads`, the most heads that a word may have; without the first, all.
    RETURNS (Tensor): Booleans, (E,).
    """
    enough = -math.inf
    if settings.prune:
        enough = math.log(settings.prune) - math.log1p(-settings.prune)
    kept = []
    for block in split_arcs(lengths, odds):
        n = block.shape[2]
        valid = valid_arcs(n, odds).bool()
        keep = (block > enough) & valid
        if settings.prune and n + 1 > settings.max_heads:
            block = block.masked_fill(~valid, -math.inf)
            best = block.topk(settings.max_heads, dim=1).indices
            keep &= torch.zeros_like(keep).scatter_(1, best, True)
        kept.append(keep.flatten())
    return torch.cat(kept)
