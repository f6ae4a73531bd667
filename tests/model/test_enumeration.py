"""Inference against the enumeration of all possible graphs."""

import itertools

import pytest
import torch
from problem import Problem, infer, solve
from torch.testing import assert_close

from spacy_sdp.model.belief_propagation import shared_factors
from spacy_sdp.model.factors import RELATIONS


def log_potential(problem, graph, parts):
    """The score of a graph, given the label of each valid arc."""
    arcs = [
        (int(h), int(d), label)
        for h, d, label in zip(
            problem.arcs.head[problem.valid],
            problem.arcs.dep[problem.valid],
            graph,
            strict=True,
        )
    ]
    total = problem.scores[problem.valid][torch.arange(len(arcs)), list(graph)].sum()
    tensors = {part.type: part for part in parts if part.type != "grandparent"}
    for (h1, d1, a), (h2, d2, b) in itertools.permutations(arcs, 2):
        for type_, part in tensors.items():
            if type_ == "sibling" and h1 == h2:
                weight, k = 0.5, d2
            elif type_ == "co-parent" and d1 == d2:
                weight, k = 0.5, h2
            elif type_ == "grandchild" and d1 == h2:
                weight, k = 1.0, d2
            else:
                continue
            factors = part.head[h1] * part.dep[d1] * part.far[k]
            total = total + weight * (factors * part.label[a] * part.far_label[b]).sum()
    return total


def exact_marginals(problem, parts):
    """By enumeration of all graphs, (valid arcs, labels)."""
    scores = problem.scores[problem.valid]
    size, n_labels = scores.shape
    graphs = [
        graph
        for graph in itertools.product(range(n_labels), repeat=size)
        if torch.isfinite(scores[torch.arange(size), list(graph)]).all()
    ]
    logs = torch.stack([log_potential(problem, graph, parts) for graph in graphs])
    weights = torch.softmax(logs, 0)
    marginals = torch.zeros(size, n_labels, dtype=torch.float64)
    for weight, graph in zip(weights, graphs, strict=True):
        marginals[torch.arange(size), list(graph)] += weight
    return marginals


def test_tied_messages_are_the_gradient_of_the_energy():
    """Siblings and co-parents count half, as each pair of arcs is met twice."""
    problem = Problem([3], 4, tied=True)
    parts = problem.parts()
    posteriors = torch.softmax(problem.scores, -1).requires_grad_()
    rows = problem.valid.nonzero().flatten().tolist()
    arcs = [(r, int(problem.arcs.head[r]), int(problem.arcs.dep[r])) for r in rows]
    energy = 0
    for part in parts:
        for (one, h1, d1), (other, h2, d2) in itertools.permutations(arcs, 2):
            is_neighbour, k, weight = {
                "sibling": (h1 == h2, d2, 0.5),
                "co-parent": (d1 == d2, h2, 0.5),
                "grandchild": (d1 == h2, d2, 1.0),
                "grandparent": (False, 0, 0.0),
            }[part.type]
            if is_neighbour:
                factors = part.head[h1] * part.dep[d1] * part.far[k]
                left = posteriors[one] @ part.label
                right = posteriors[other] @ part.far_label
                energy = energy + weight * (factors * left * right).sum()
    (gradient,) = torch.autograd.grad(energy, posteriors)
    (step,) = problem.exact()
    messages = step(problem.scores.softmax(-1)) - problem.scores
    possible = torch.isfinite(problem.scores) & problem.valid.unsqueeze(1)
    assert_close(messages[possible], gradient[possible], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_without_second_order_scores_posteriors_are_exact(n_labels):
    problem = Problem([2], n_labels, tied=True, scale=0.0)
    marginals = exact_marginals(problem, problem.parts())
    (step,) = problem.exact()
    found = infer(step, iterations=3)[-1].softmax(-1)[problem.valid]
    assert_close(found, marginals, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "lengths, parts, iterations",
    [([2], ["grandparent"], 6), ([1, 1], RELATIONS, 2), ([2], ["sibling"], 3)],
    ids=["a chain", "single words", "stars"],
)
def test_belief_propagation_is_exact_on_trees(lengths, parts, iterations):
    for seed in range(5):
        problem = Problem(lengths, 2, tied=True, scale=1.2, seed=seed, null=False)
        chosen = problem.parts(parts=parts)
        rows = problem.valid.nonzero().flatten()
        pairs, _ = shared_factors(problem.arcs_of(rows), chosen)
        # As many factors as make a tree: fewer than arcs.
        assert pairs.shape[1] < len(rows)
        found = solve(problem, "belief propagation", iterations, parts)[-1].softmax(-1)
        assert_close(found, exact_marginals(problem, chosen), rtol=0, atol=1e-9)


def test_errors_grow_with_the_coupling():
    """On a graph with loops both are approximations; `pytest -s` prints how good."""
    errors = {}
    for scale in (0.5, 1.0, 1.5):
        problems = [
            Problem([2], 2, tied=True, scale=scale, seed=seed, null=False)
            for seed in range(12)
        ]
        exact = [exact_marginals(problem, problem.parts()) for problem in problems]
        for name, kind in (("mean field", "pruned"), ("LBP", "belief propagation")):
            errors[name, scale] = sum(
                float(
                    (solve(each, kind, iterations=30)[-1].softmax(-1) - e).abs().max()
                )
                for each, e in zip(problems, exact, strict=True)
            ) / len(problems)
            print(f"{name}, factors of scale {scale}: error {errors[name, scale]:.4f}")
    for name in ("mean field", "LBP"):
        assert errors[name, 0.5] < 0.01
        assert errors[name, 0.5] < errors[name, 1.0] < errors[name, 1.5]
    assert errors["mean field", 1.5] > 0.05
    for scale in (1.0, 1.5):
        assert errors["LBP", scale] < errors["mean field", scale]


def test_an_arc_and_its_reverse_share_one_factor():
    problem = Problem([2], 2, tied=True)
    rows = problem.valid.nonzero().flatten()
    arcs = problem.arcs_of(rows)
    found, _ = shared_factors(arcs, problem.parts())
    pairs = {tuple(sorted(pair)) for pair in found.T.tolist()}
    assert len(pairs) == found.shape[1]
    names = [(int(h), int(d)) for h, d in zip(arcs.head, arcs.dep, strict=True)]
    named = {frozenset((names[a], names[b])) for a, b in pairs}
    assert frozenset([(1, 2), (2, 1)]) in named
    # 0->1 and 0->2 are siblings; 0->1, 1->2 and 2->1 are met with all their neighbours.
    assert len(named) == 6
