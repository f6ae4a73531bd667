"""Pruning: which arcs are labelled and take part in inference."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from .arcs import Arcs, Block, all_arcs, locate
from .labels import NULL

# Maximum number of candidate heads of a word. It only matters early in training.
MAX_HEADS = 10


class Candidates(NamedTuple):
    """The arcs that are labelled and take part in inference.

    They are sorted by dependent. For exact inference, they are all arcs in row order.
    """

    arcs: Arcs
    rows: Tensor  # of all E arcs, (C,)
    first_order: Tensor  # (C, L or 2)

    @classmethod
    def join(cls, parts: list[Candidates]) -> Candidates:
        arcs, rows, first_order = zip(*parts, strict=True)
        return cls(Arcs.join(arcs), torch.cat(rows), torch.cat(first_order))


def choose_all(lengths: list[int], first_order: Tensor) -> Candidates:
    """Choose all arcs as candidates, given their first-order scores, (E, L or 2)."""
    rows = torch.arange(len(first_order), device=first_order.device)
    return Candidates(all_arcs(lengths, first_order.device), rows, first_order)


def choose(
    block: Block,
    first_dep: int,
    scores: Tensor,
    prune: float,
    gold: Tensor | None = None,
) -> Candidates:
    """Choose candidates among the arcs to some dependents.

    block (Block): The sentences.
    first_dep (int): The first of the dependents, 1 for the first word.
    scores (Tensor): First-order scores, (S, n + 1, dependents, L or 2).
    prune (float): The minimum probability.
    gold (Optional[Tensor]): Arcs that must not be pruned, (S, n + 1, dependents).
    """
    keep = is_candidate(log_odds(scores.detach()), first_dep, prune)
    if gold is not None:
        keep = keep | gold
    sentence, dep, head = keep.transpose(1, 2).nonzero(as_tuple=True)
    arcs, rows = locate(block, sentence, head, dep + first_dep)
    return Candidates(arcs, rows, scores[sentence, head, dep])


def is_candidate(
    odds: Tensor, first_dep: int, prune: float, max_heads: int = MAX_HEADS
) -> Tensor:
    """Check which arcs are probable enough.

    Arcs with NaN scores are candidates, so that they are noticed.

    odds (Tensor): The first-order log-odds of arcs between all heads and some
        dependents, (S, n + 1, dependents).
    first_dep (int): The first of these dependents, 1 for the first word.
    prune (float): The minimum probability of an arc; 0 disables pruning.
    max_heads (int): Maximum number of heads of a dependent, unless prune is 0.
    RETURNS (Tensor): Booleans, (S, n + 1, dependents).
    """
    _, heads, deps = odds.shape
    head = torch.arange(heads, device=odds.device).unsqueeze(1)
    dep = first_dep + torch.arange(deps, device=odds.device)
    valid = head != dep
    if not prune:
        return valid.expand_as(odds)
    enough = math.log(prune) - math.log1p(-prune)
    keep = ~(odds <= enough) & valid
    if heads > max_heads:
        best = odds.masked_fill(~valid, -math.inf).topk(max_heads, dim=1)
        keep &= torch.zeros_like(keep).scatter_(1, best.indices, True)
    return keep


def log_odds(scores: Tensor) -> Tensor:
    """Compute the log-odds of any label against NULL, (...,), from scores, (..., L)."""
    return scores[..., NULL + 1 :].logsumexp(-1) - scores[..., NULL]
