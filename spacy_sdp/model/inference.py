"""Inference: from arc scores and second-order factors to posteriors.

Pure functions on tensors, in the notation of Yang and Tu (2022). A block is a number of
sentences (S) of the same length n, so nothing is padded. Its nodes are the root, which
is node 0, and the words 1..n. Its arcs i -> j have a head i in 0..n and a dependent j
in 1..n; those with i = j are not valid. Every arc carries one of L labels, of which the
first, NULL, says that there is no arc.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

# How the neighbour of an arc i -> j is attached to it.
PART_TYPES = ("sibling", "co-parent", "grandchild", "grandparent")


class Part(NamedTuple):
    """A second-order score, decomposed into factors of rank R.

    The score of the arc i -> j with label a next to a neighbour with label b whose far
    end is the node k is

        sum over r of head[i, r] dep[j, r] far[k, r] label[a, r] far_label[b, r]

    The neighbour is i -> k for a sibling, k -> j for a co-parent, j -> k for a
    grandchild and k -> i for a grandparent.
    """

    type: str
    head: Tensor  # (S, n + 1, R)
    dep: Tensor  # (S, n + 1, R)
    far: Tensor  # (S, n + 1, R)
    label: Tensor  # (L, R)
    far_label: Tensor  # (L, R)


def mean_field(
    arc_scores: Tensor,
    parts: list[Part],
    *,
    iterations: int,
    exclude_self: bool = True,
) -> list[Tensor]:
    """Give the scores of all arcs after 0, 1, 2, ... iterations of mean field.

    arc_scores (Tensor): The first-order scores, (S, n + 1, n, L).
    parts (List[Part]): The second-order scores.
    iterations (int): How often posteriors are computed and sent to the neighbours.
    exclude_self (bool): Whether an arc is left out of its own messages, where it would
        be its own sibling (k = j) or its own co-parent (k = i).
    RETURNS (List[Tensor]): The scores, each (S, n + 1, n, L), the first-order ones
        first; their softmax are the posteriors.
    """
    valid = valid_arcs(arc_scores.shape[2], arc_scores).unsqueeze(-1)  # (n + 1, n, 1)
    history = [arc_scores]
    for _ in range(iterations):
        posteriors = torch.softmax(history[-1], dim=-1) * valid  # (S, n + 1, n, L)
        scores = arc_scores
        for part in parts:
            scores = scores + messages(posteriors, part, exclude_self=exclude_self)
        history.append(scores)
    return history


def messages(posteriors: Tensor, part: Part, *, exclude_self: bool = True) -> Tensor:
    """Give what all arcs receive from their neighbours of one type.

    posteriors (Tensor): The posteriors, (S, n + 1, n, L), zero for invalid arcs.
    part (Part): The second-order score.
    exclude_self (bool): As for `mean_field`.
    RETURNS (Tensor): The messages, (S, n + 1, n, L).
    """
    head = part.head.unsqueeze(2)  # (S, n + 1, 1, R)
    dep = part.dep[:, 1:].unsqueeze(1)  # (S, 1, n, R)
    sent = posteriors @ part.far_label  # (S, n + 1, n, R)
    if part.type in ("sibling", "grandchild"):
        # The neighbours have a common head: sum over their dependents k.
        sent = sent * part.far[:, 1:].unsqueeze(1)
        received = sent.sum(2, keepdim=True)  # (S, n + 1, 1, R)
    else:
        # The neighbours have a common dependent: sum over their heads k.
        sent = sent * part.far.unsqueeze(2)
        received = sent.sum(1, keepdim=True)  # (S, 1, n, R)
    if part.type == "grandchild":
        # ... and that common head is the dependent of the receiving arc.
        dep = dep * received[:, 1:].transpose(1, 2)
    elif part.type == "grandparent":
        # ... and that common dependent is the head of the receiving arc; nothing can
        # have the root as its dependent.
        received = torch.nn.functional.pad(received, (0, 0, 1, 0))  # (S, 1, n + 1, R)
        head = head * received.transpose(1, 2)
    elif exclude_self:
        head = head * (received - sent)
    elif part.type == "sibling":
        head = head * received
    else:
        dep = dep * received
    return (head * dep) @ part.label.T


def valid_arcs(n: int, like: Tensor) -> Tensor:
    """Tell arcs between different nodes (1) from self-loops (0), (n + 1, n)."""
    return 1 - torch.eye(n + 1, n + 1, dtype=like.dtype, device=like.device)[:, 1:]
