"""Loopy belief propagation, the alternative algorithm of Wang et al. (2019)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad, softplus

from .arcs import Arcs
from .factors import CO_PARENT, GRANDCHILD, GRANDPARENT, SIBLING, Part


def propagate_beliefs(
    first_order: Tensor, arcs: Arcs, parts: list[Part], iterations: int
) -> Iterator[Tensor]:
    """Yield the scores of unlabelled arcs after each iteration, (arcs, 2).

    Two arcs that are siblings, co-parents, or grandparent and grandchild share a
    factor, which scores the existence of both. A message is the log-odds that one arc
    of a factor sends to the other.

    first_order (Tensor): The first-order scores of the arcs, (arcs, 2).
    arcs (Arcs): The arcs, without duplicates.
    parts (List[Part]): The second-order scores, tied, with tables (nodes, R).
    iterations (int): The number of iterations.
    """
    pairs, coupling = shared_factors(arcs, parts)  # (2, factors), (factors,)
    # To the first arc of each pair, and to the second.
    messages = first_order.new_zeros(pairs.shape)
    scores = first_order
    for _ in range(iterations):
        odds = scores[:, 1] - scores[:, 0]  # (arcs,)
        # The belief of each arc without the message from the other arc of the pair.
        belief = odds.index_select(0, pairs.flatten()).view_as(pairs) - messages
        told = softplus(belief + coupling) - softplus(belief)
        messages = told.flip(0)
        received = torch.zeros_like(odds).index_add(
            0, pairs.flatten(), messages.flatten()
        )
        scores = first_order + pad(received.unsqueeze(1), (1, 0))
        yield scores


def shared_factors(arcs: Arcs, parts: list[Part]) -> tuple[Tensor, Tensor]:
    """Get all pairs of arcs that share a factor, (2, factors), and their scores."""
    pairs, scores = [], []
    for part in parts:
        if part.type == GRANDPARENT:
            continue  # the same factor as for the grandchild, seen from the other arc
        if part.type == SIBLING:
            one, other = _join(arcs.head, arcs.head)
        elif part.type == CO_PARENT:
            one, other = _join(arcs.dep, arcs.dep)
        else:
            one, other = _join(arcs.dep, arcs.head)
        # Each pair once. A grandchild pair is found in one order only, except for an
        # arc and its reverse, which are each other's grandparent.
        is_once = one < other
        if part.type == GRANDCHILD:
            is_once |= arcs.dep[other] != arcs.head[one]
        one, other = one[is_once], other[is_once]
        score = _pair_scores(part, arcs, one, other)
        if part.type == GRANDCHILD:
            rows = (arcs.dep[other] == arcs.head[one]).nonzero().flatten()
            reverse = _pair_scores(part, arcs, other[rows], one[rows])
            score = score.index_add(0, rows, reverse)
        pairs.append(torch.stack([one, other]))
        scores.append(score)
    return torch.cat(pairs, 1), torch.cat(scores)


def _join(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Get the rows of all pairs of equal values."""
    order = torch.argsort(right, stable=True)
    sorted_right = right.index_select(0, order)
    start = torch.searchsorted(sorted_right, left)
    count = torch.searchsorted(sorted_right, left, right=True) - start
    rows = torch.arange(len(left), device=left.device).repeat_interleave(count)
    first = (torch.cumsum(count, 0) - count).index_select(0, rows)
    within = torch.arange(len(rows), device=left.device) - first
    return rows, order.index_select(0, start.index_select(0, rows) + within)


def _pair_scores(part: Part, arcs: Arcs, one: Tensor, other: Tensor) -> Tensor:
    """Compute the scores of pairs of existing arcs, (pairs,)."""
    own = part.head.index_select(0, arcs.head) * part.dep.index_select(0, arcs.dep)
    own = own * (part.label[1] * part.far_label[1])
    far = part.far.index_select(0, arcs.head if part.type == CO_PARENT else arcs.dep)
    return (own.index_select(0, one) * far.index_select(0, other)).sum(-1)
