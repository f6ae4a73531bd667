"""Loopy belief propagation, the other algorithm of Wang et al. (2019)."""

from __future__ import annotations

from copy import copy

import torch
from torch import Tensor
from torch.nn.functional import pad, softplus

from .mean_field import CO_PARENT, GRANDCHILD, GRANDPARENT, SIBLING, Arcs, Part, damped


class BeliefPropagation:
    """Loopy belief propagation between the unlabelled arcs of a list.

    Two arcs that are siblings, co-parents, or grandparent and grandchild share a
    factor: a score for their both existing. A message is the log-odds that the one arc
    of a factor sends to the other. Messages are kept from one call to the next, so a
    step is good for one inference.
    """

    def __init__(
        self,
        first_order: Tensor,
        arcs: Arcs,
        parts: list[Part],
        *,
        damping: float = 0.0,
    ) -> None:
        """Prepare the step.

        first_order (Tensor): The first-order scores of the arcs, (arcs, 2).
        arcs (Arcs): The arcs, none of them twice.
        parts (List[Part]): The second-order scores, those of one energy, with tables
            (nodes, R).
        damping (float): The share of the old messages in the new ones.
        """
        self.first_order = first_order
        self.sentence = arcs.sentence
        self.damping = damping
        self.pairs, self.coupling = _factors(arcs, parts)  # (2, factors), (factors,)
        # To the first arc of each pair, and to the second.
        self.messages = first_order.new_zeros(self.pairs.shape)

    def select(self, rows: Tensor) -> BeliefPropagation:
        step = copy(self)
        step.first_order = self.first_order.index_select(0, rows)
        step.sentence = self.sentence.index_select(0, rows)
        new_row = rows.new_full((len(self.first_order),), -1)
        new_row[rows] = torch.arange(len(rows), device=rows.device)
        pairs = new_row[self.pairs]
        kept = (pairs[0] >= 0).nonzero().flatten()
        step.pairs = pairs.index_select(1, kept)
        step.coupling = self.coupling.index_select(0, kept)
        step.messages = self.messages.index_select(1, kept)
        return step

    def __call__(self, scores: Tensor, posteriors: Tensor) -> Tensor:
        odds = scores[:, 1] - scores[:, 0]  # (arcs,)
        # What each of a pair believes, but for what the other told it.
        belief = odds.index_select(0, self.pairs.flatten()).view_as(self.pairs)
        belief = belief - self.messages
        told = softplus(belief + self.coupling) - softplus(belief)
        self.messages = damped(told.flip(0), self.messages, self.damping)
        received = torch.zeros_like(odds).index_add(
            0, self.pairs.flatten(), self.messages.flatten()
        )
        return self.first_order + pad(received.unsqueeze(1), (1, 0))


def _factors(arcs: Arcs, parts: list[Part]) -> tuple[Tensor, Tensor]:
    """Give all pairs of arcs that share a factor, (2, factors), and its score."""
    pairs, scores = [], []
    for part in parts:
        if part.type == GRANDPARENT:
            continue  # the same factor as that of the grandchild, from below
        if part.type == SIBLING:
            one, other = _join(arcs.head, arcs.head)
        elif part.type == CO_PARENT:
            one, other = _join(arcs.dep, arcs.dep)
        else:
            one, other = _join(arcs.dep, arcs.head)
        # Each pair once. Who is the grandparent is plain, but for an arc and its
        # reverse, which are each other's.
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
    """Give the rows of all pairs of equal values."""
    order = torch.argsort(right, stable=True)
    sorted_right = right.index_select(0, order)
    start = torch.searchsorted(sorted_right, left)
    count = torch.searchsorted(sorted_right, left, right=True) - start
    rows = torch.arange(len(left), device=left.device).repeat_interleave(count)
    first = (torch.cumsum(count, 0) - count).index_select(0, rows)
    within = torch.arange(len(rows), device=left.device) - first
    return rows, order.index_select(0, start.index_select(0, rows) + within)


def _pair_scores(part: Part, arcs: Arcs, one: Tensor, other: Tensor) -> Tensor:
    """The score of pairs of existing arcs, (pairs,)."""
    own = part.head.index_select(0, arcs.head) * part.dep.index_select(0, arcs.dep)
    own = own * (part.label[1] * part.far_label[1])
    far = part.far.index_select(0, arcs.head if part.type == CO_PARENT else arcs.dep)
    return (own.index_select(0, one) * far.index_select(0, other)).sum(-1)
