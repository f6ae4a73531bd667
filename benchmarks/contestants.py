"""The formulations of mean-field inference that are compared.

The inputs are first-order scores (B, n + 1, n + 1, L) and, for each of the four types
of neighbours, factors (B, n + 1, R) of the nodes i, j, k and (L, R) of the labels a and
b. The outputs are the scores after some iterations. Self-loops, arcs to the root and
padding send nothing. In the published formulas, an arc is its own neighbour. By
default, we exclude it, which is more work, so both are measured.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from spacy_sdp.model.arcs import Arcs
from spacy_sdp.model.factors import RELATIONS, Part, part_types
from spacy_sdp.model.mean_field import ExactMeanField, PrunedMeanField, iterate

# The ends of the neighbour among i, j, k.
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
    """Create a sentence with random scores and factors. Messages are below the scores.

    In addition to the labels, there is NULL, which sends and receives nothing.
    """
    generator = torch.Generator().manual_seed(seed)
    n_labels += 1

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    scores = normal(1, n + 1, n + 1, n_labels)
    # About two probable heads per word, as in a trained parser.
    scores[..., 1:] -= 8.0 + math.log(n_labels)
    rows = torch.randint(0, n + 1, (2 * n,), generator=generator)
    scores[0, rows, torch.arange(1, n + 1).repeat(2), 1] += 10.0 + math.log(n_labels)
    parts = [
        Part(
            type_,
            *(normal(1, n + 1, rank) for _ in range(3)),
            *(0.1 * normal(n_labels, rank) for _ in range(2)),
        )
        for type_ in part_types(RELATIONS)
    ]
    for part in parts:
        part.label[0] = part.far_label[0] = 0
    return Problem(scores, valid_mask([n], n), parts, [n])


def valid_mask(lengths: list[int], n: int) -> Tensor:
    mask = torch.zeros(len(lengths), n + 1, n + 1, 1)
    for i, length in enumerate(lengths):
        mask[i, : length + 1, 1 : length + 1] = 1
    return mask * (1 - torch.eye(n + 1)).view(1, n + 1, n + 1, 1)


def dense(problem: Problem, iterations: int) -> Tensor:
    """Without decomposition ("w/o CPD"): full order-5 tensors, O(n^3 L^2)."""
    tensors = {part.type: _written_out(part) for part in problem.parts}
    scores = problem.scores
    for _ in range(iterations):
        posteriors = torch.softmax(scores, -1) * problem.mask
        scores = problem.scores
        for type_, tensor in tensors.items():
            equation = f"zijkab,z{NEIGHBOUR[type_]}b->zija"
            scores = scores + torch.einsum(equation, tensor, posteriors)
    return scores


def _written_out(part: Part) -> Tensor:
    """Compute the scores of a part, (B, i, j, k, a, b), by a matrix multiplication."""
    nodes = torch.einsum("zir,zjr,zkr->zijkr", part.head, part.dep, part.far)
    labels = torch.einsum("ar,br->abr", part.label, part.far_label)
    tensor = nodes.flatten(0, 3) @ labels.flatten(0, 1).T
    return tensor.view(*nodes.shape[:4], *labels.shape[:2])


def published(problem: Problem, iterations: int) -> Tensor:
    """With decomposition, as published ("w/ CPD"): padded tensors, O(n^2 L R).

    Products and sums use the fastest torch operations, which are up to three times
    faster than `torch.einsum` with the formulas.
    """
    scores = problem.scores
    for _ in range(iterations):
        posteriors = torch.softmax(scores, -1) * problem.mask
        scores = problem.scores
        for part in problem.parts:
            sent = posteriors @ part.far_label  # (B, n + 1, n + 1, R)
            if NEIGHBOUR[part.type][1] == "k":
                cached = (sent * part.far.unsqueeze(1)).sum(2)  # (B, n + 1, R)
            else:
                cached = (sent * part.far.unsqueeze(2)).sum(1)
            head, dep = part.head, part.dep
            if "i" in NEIGHBOUR[part.type]:
                head = head * cached
            else:
                dep = dep * cached
            scores = scores + (head.unsqueeze(2) * dep.unsqueeze(1)) @ part.label.T
    return scores


class Block(NamedTuple):
    """The sentences of a length, in the form that the network uses."""

    scores: Tensor  # (S, n + 1, n, L)
    parts: list[Part]  # tables (S, n + 1, R)


def to_blocks(problem: Problem) -> list[Block]:
    blocks = []
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
        scores = problem.scores[rows, : n + 1, 1 : n + 1].contiguous()
        blocks.append(Block(scores, parts))
    return blocks


def exact(blocks: list[Block], iterations: int, *, exclude_self: bool) -> list[Tensor]:
    """Ours, exact: blocks of sentences of the same length, without padding."""
    found = []
    for block in blocks:
        step = ExactMeanField(block.scores, block.parts, exclude_self=exclude_self)
        *_, last = iterate(step, block.scores.flatten(0, 2), iterations)
        found.append(last)
    return found


class Candidates(NamedTuple):
    """The arcs of a problem with high first-order probability."""

    arcs: Arcs
    scores: Tensor  # (arcs, L)
    parts: list[Part]  # tables (nodes, R)
    node_sentence: Tensor


def find_candidates(
    problem: Problem, *, prune: float = 0.01, max_heads: int = 10
) -> Candidates:
    odds = torch.logsumexp(problem.scores[..., 1:], -1) - problem.scores[..., 0]
    odds = odds.masked_fill(problem.mask[..., 0] == 0, -math.inf)
    probable = odds > math.log(prune) - math.log1p(-prune)
    best = odds.topk(min(max_heads, odds.shape[1]), dim=1).indices
    probable &= torch.zeros_like(probable).scatter_(1, best, True)
    sentence, head, dep = probable.nonzero().T
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
        Arcs(sentence * size + head, sentence * size + dep, head == 0),
        problem.scores.flatten(0, 2).index_select(
            0, (sentence * size + head) * size + dep
        ),
        parts,
        torch.arange(len(problem.scores)).repeat_interleave(size),
    )


def pruned_iterations(found: Candidates, iterations: int) -> Tensor:
    """Ours, pruned, without the choice of candidates."""
    step = PrunedMeanField(
        found.scores, found.arcs, found.parts, found.node_sentence, null_sends=False
    )
    *_, last = iterate(step, found.scores, iterations)
    return last


def pruned(problem: Problem, iterations: int) -> Tensor:
    """Ours, pruned: only arcs with high first-order probability."""
    return pruned_iterations(find_candidates(problem), iterations)
