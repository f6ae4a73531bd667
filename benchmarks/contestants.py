"""The same mean-field inference in the formulations that are compared.

Each takes first-order scores (B, n + 1, n + 1, L) and, for each of the four kinds of
neighbours, factors (B, n + 1, R) of the nodes i, j, k and (L, R) of the labels a and b,
and gives the scores after some iterations. Self-loops, arcs into the root and padding
send nothing. In the published formulas an arc is its own neighbour; ours leave it out
by default, which is more work, and are measured so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from spacy_sdp.model.inference import (
    PART_TYPES,
    Arcs,
    ExactMeanField,
    Part,
    PrunedMeanField,
    infer,
)

# Which of i, j, k are the ends of the neighbour.
NEIGHBOUR = {
    "sibling": "ik",
    "co-parent": "kj",
    "grandchild": "jk",
    "grandparent": "ki",
}


class Problem(NamedTuple):
    """Sentences with their factors, padded to the longest."""

    scores: Tensor  # (B, n + 1, n + 1, L)
    mask: Tensor  # valid arcs, (B, n + 1, n + 1, 1)
    parts: list[Part]  # tables (B, n + 1, R)
    lengths: list[int]


def random_problem(n: int, n_labels: int, *, rank: int = 300, seed: int = 0) -> Problem:
    """One sentence with random scores and factors, messages smaller than scores."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    scores = normal(1, n + 1, n + 1, n_labels)
    # About two probable heads a word, as a trained parser has them.
    scores[..., 1:] -= 8.0 + math.log(n_labels)
    rows = torch.randint(0, n + 1, (2 * n,), generator=generator)
    scores[0, rows, torch.arange(1, n + 1).repeat(2), min(1, n_labels - 1)] += (
        10.0 + math.log(n_labels)
    )
    parts = [
        Part(
            type_,
            *(normal(1, n + 1, rank) for _ in range(3)),
            *(0.1 * normal(n_labels, rank) for _ in range(2)),
        )
        for type_ in PART_TYPES
    ]
    return Problem(scores, valid_mask([n], n), parts, [n])


def valid_mask(lengths: list[int], n: int) -> Tensor:
    mask = torch.zeros(len(lengths), n + 1, n + 1, 1)
    for i, length in enumerate(lengths):
        mask[i, : length + 1, 1 : length + 1] = 1
    return mask * (1 - torch.eye(n + 1)).view(1, n + 1, n + 1, 1)


def dense(problem: Problem, iterations: int) -> Tensor:
    """Without decomposition ("w/o CPD"): order-5 tensors written out, O(n^3 L^2)."""
    tensors = {
        part.type: torch.einsum(
            "zir,zjr,zkr,ar,br->zijkab",
            part.head,
            part.dep,
            part.far,
            part.label,
            part.far_label,
        )
        for part in problem.parts
    }
    scores = problem.scores
    for _ in range(iterations):
        posteriors = torch.softmax(scores, -1) * problem.mask
        scores = problem.scores
        for type_, tensor in tensors.items():
            equation = f"zijkab,z{NEIGHBOUR[type_]}b->zija"
            scores = scores + torch.einsum(equation, tensor, posteriors)
    return scores


def published(problem: Problem, iterations: int) -> Tensor:
    """With decomposition, as published ("w/ CPD"): padded einsum, O(n^2 L R)."""
    scores = problem.scores
    for _ in range(iterations):
        posteriors = torch.softmax(scores, -1) * problem.mask
        scores = problem.scores
        for part in problem.parts:
            ends = NEIGHBOUR[part.type]
            near = ends.replace("k", "")
            sent = torch.einsum(f"z{ends}b,br->z{ends}r", posteriors, part.far_label)
            cached = torch.einsum(f"z{ends}r,zkr->z{near}r", sent, part.far)
            head = part.head * cached if near == "i" else part.head
            dep = part.dep * cached if near == "j" else part.dep
            scores = scores + torch.einsum(
                "zijr,ar->zija", torch.einsum("zir,zjr->zijr", head, dep), part.label
            )
    return scores


def exact(
    problem: Problem, iterations: int, *, exclude_self: bool = True
) -> list[Tensor]:
    """Ours, exact: blocks of sentences of the same length, without padding."""
    results = []
    for n in dict.fromkeys(problem.lengths):
        rows = torch.tensor([i for i, m in enumerate(problem.lengths) if m == n])
        parts = [
            part._replace(
                head=part.head[rows, : n + 1],
                dep=part.dep[rows, : n + 1],
                far=part.far[rows, : n + 1],
            )
            for part in problem.parts
        ]
        block = problem.scores[rows, : n + 1, 1 : n + 1]
        step = ExactMeanField(block, parts, exclude_self=exclude_self)
        results.append(infer(step, iterations=iterations)[-1])
    return results


class Candidates(NamedTuple):
    """The arcs of a problem that are probable by their first-order scores."""

    arcs: Arcs
    scores: Tensor  # (arcs, L)
    parts: list[Part]  # tables (nodes, R)
    node_sentence: Tensor


def find_candidates(problem: Problem, *, epsilon: float = 0.01) -> Candidates:
    odds = torch.logsumexp(problem.scores[..., 1:], -1) - problem.scores[..., 0]
    probable = odds > math.log(epsilon) - math.log1p(-epsilon)
    sentence, head, dep = (probable & problem.mask[..., 0].bool()).nonzero().T
    size = problem.scores.shape[1]
    parts = [
        part._replace(
            head=part.head.flatten(0, 1),
            dep=part.dep.flatten(0, 1),
            far=part.far.flatten(0, 1),
        )
        for part in problem.parts
    ]
    return Candidates(
        Arcs(sentence * size + head, sentence * size + dep, sentence),
        problem.scores.flatten(0, 2).index_select(
            0, (sentence * size + head) * size + dep
        ),
        parts,
        torch.arange(len(problem.scores)).repeat_interleave(size),
    )


def pruned_iterations(found: Candidates, iterations: int) -> Tensor:
    """Ours, pruned, when it is known which arcs are probable."""
    step = PrunedMeanField(
        found.scores, found.arcs, found.parts, found.node_sentence, null_sends=False
    )
    return infer(step, iterations=iterations)[-1]


def pruned(problem: Problem, iterations: int) -> Tensor:
    """Ours, pruned: only arcs that are probable by their first-order scores."""
    return pruned_iterations(find_candidates(problem), iterations)
