"""Inference against the plain formulas with order-5 tensors."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from problem import KINDS, Problem, infer, solve
from torch.testing import assert_close

from spacy_sdp.model.arcs import Arcs, all_arcs, valid_arcs
from spacy_sdp.model.factors import RELATIONS

NEIGHBOUR = {
    "sibling": lambda i, j, k: (i, k),
    "co-parent": lambda i, j, k: (k, j),
    "grandchild": lambda i, j, k: (j, k),
    "grandparent": lambda i, j, k: (k, i),
}


def plain_update(problem, scores, parts, *, exclude_self, is_null):
    """The update of the paper, arc by arc and neighbour by neighbour.

    is_null: Arcs that are NULL whatever their scores, and do not change.
    """
    posteriors = torch.softmax(scores, dim=-1)
    posteriors[is_null] = torch.eye(scores.shape[1], dtype=scores.dtype)[0]
    result = scores.clone()
    first_node = first_arc = 0
    for n in problem.lengths:
        nodes = slice(first_node, first_node + n + 1)
        row = {
            (i, j): first_arc + i * n + j - 1
            for i in range(n + 1)
            for j in range(1, n + 1)
            if i != j
        }
        tensors = {
            part.type: torch.einsum(
                "ir,jr,kr,ar,br->ijkab",
                part.head[nodes],
                part.dep[nodes],
                part.far[nodes],
                part.label,
                part.far_label,
            )
            for part in parts
        }
        for (i, j), arc in row.items():
            if is_null[arc]:
                continue
            result[arc] = problem.scores[arc]
            for type_, tensor in tensors.items():
                for k in range(n + 1):
                    neighbour = NEIGHBOUR[type_](i, j, k)
                    if neighbour in row and not (exclude_self and neighbour == (i, j)):
                        result[arc] += tensor[i, j, k] @ posteriors[row[neighbour]]
        first_node += n + 1
        first_arc += (n + 1) * n
    return result


def plain_mean_field(
    problem, iterations, *, exclude_self=True, kept=None, parts=RELATIONS
):
    is_null = torch.zeros_like(problem.valid)
    if kept is not None:
        is_null[:] = True
        is_null[kept] = False
    scores = problem.scores
    for _ in range(iterations):
        scores = plain_update(
            problem,
            scores,
            problem.parts(parts=parts),
            exclude_self=exclude_self,
            is_null=is_null,
        )
    return scores


LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=3)
OPTIONS = {
    "lengths": LENGTHS,
    "n_labels": st.integers(2, 5),
    "tied": st.booleans(),
    "null": st.booleans(),
    "exclude_self": st.booleans(),
    "parts": st.sets(st.sampled_from(RELATIONS), min_size=1),
    "iterations": st.integers(1, 3),
    "seed": st.integers(0, 1000),
}


@given(**OPTIONS)
@settings(max_examples=60)
def test_exact_mean_field_is_the_plain_formula(
    lengths, n_labels, tied, null, exclude_self, parts, iterations, seed
):
    problem = Problem(lengths, n_labels, tied=tied, null=null, seed=seed)
    options = {"exclude_self": exclude_self, "parts": parts}
    expected = plain_mean_field(problem, iterations, **options)[problem.valid]
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        found = torch.cat(
            [
                infer(step, iterations=iterations)[-1]
                for step in problem.to(dtype).exact(**options)
            ]
        )[problem.valid]
        assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)


@given(**OPTIONS, data=st.data())
@settings(max_examples=60)
def test_pruned_mean_field_is_the_plain_formula_with_all_others_null(
    data, lengths, n_labels, tied, null, exclude_self, parts, iterations, seed
):
    problem = Problem(lengths, n_labels, tied=tied, null=null, seed=seed)
    valid = problem.valid.nonzero().flatten().tolist()
    rows = data.draw(st.sets(st.sampled_from(valid), min_size=1)) if valid else set()
    rows = torch.tensor(sorted(rows))
    options = {"exclude_self": exclude_self, "parts": parts}
    expected = plain_mean_field(problem, iterations, kept=rows, **options)[rows]
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        step = problem.to(dtype).pruned(rows, null_sends=null, **options)
        found = infer(step, iterations=iterations)[-1]
        assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)


@given(**OPTIONS)
@settings(max_examples=20)
def test_pruning_nothing_is_exact(
    lengths, n_labels, tied, null, exclude_self, parts, iterations, seed
):
    problem = Problem(lengths, n_labels, tied=tied, null=null, seed=seed)
    options = {"exclude_self": exclude_self, "parts": parts}
    exact = torch.cat(
        [infer(step, iterations=iterations)[-1] for step in problem.exact(**options)]
    )
    rows = problem.valid.nonzero().flatten()
    step = problem.pruned(rows, null_sends=null, **options)
    found = infer(step, iterations=iterations)[-1]
    assert_close(found, exact[rows], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("cells", [1, 7, 50])
def test_the_size_of_chunks_changes_nothing(monkeypatch, cells):
    problem = Problem([4, 4, 4], 3, tied=False)
    (step,) = problem.exact()
    expected = infer(step, iterations=2)[-1]
    monkeypatch.setattr("spacy_sdp.model.mean_field.CELLS_AT_ONCE", cells)
    assert_close(infer(step, iterations=2)[-1], expected)


@pytest.mark.parametrize("cells", [1, 30, 100])
def test_parts_of_lower_rank_add_up(monkeypatch, cells):
    problem = Problem([4, 3], 3, tied=False, rank=5)
    rows = problem.valid.nonzero().flatten()
    expected = infer(problem.pruned(rows), iterations=2)[-1]
    monkeypatch.setattr("spacy_sdp.model.mean_field.PRUNED_CELLS_AT_ONCE", cells)
    step = problem.pruned(rows)
    assert len(step.parts) > 4
    assert_close(infer(step, iterations=2)[-1], expected)


@KINDS
def test_nothing_to_do(kind):
    problem = Problem([2], 2, tied=True)
    assert solve(problem, kind, iterations=0) == []
    if kind != "exact":
        problem.valid[:] = False
        history = solve(problem, kind, iterations=3)
        assert [each.shape for each in history] == [(0, 2)] * 3


@KINDS
def test_gradients_through_the_iterations(kind):
    problem = Problem([2], 2 if kind == "belief propagation" else 3, tied=True, rank=2)
    impossible = torch.isinf(problem.scores)

    def scores(first_order, nodes, labels):
        problem.scores = first_order.masked_fill(impossible, -math.inf)
        problem.nodes, problem.labels = nodes, labels
        last = solve(problem, kind, iterations=3)[-1]
        return last[torch.isfinite(last)]

    inputs = (torch.where(impossible, 0, problem.scores), problem.nodes, problem.labels)
    assert torch.autograd.gradcheck(scores, [x.requires_grad_() for x in inputs])


@KINDS
def test_huge_scores_stay_numbers(kind):
    problem = Problem([4], 2 if kind == "belief propagation" else 6, tied=True, rank=4)
    impossible = torch.isinf(problem.scores)
    first_order = (1e4 * problem.scores.sign()).float().requires_grad_()
    problem.scores = first_order.masked_fill(impossible, -math.inf)
    # Messages of about 1e4, too.
    problem.nodes = (4 * problem.nodes).float().requires_grad_()
    problem.labels = (4 * problem.labels).float().requires_grad_()
    posteriors = solve(problem, kind, iterations=10)[-1].softmax(-1)
    assert torch.isfinite(posteriors).all()
    posteriors[:, 0].sum().backward()
    for tensor in (first_order, problem.nodes, problem.labels):
        assert torch.isfinite(tensor.grad).all()


def test_self_loops_send_nothing():
    problem = Problem([4], 5, tied=False)
    (step,) = problem.exact()
    before = step(problem.scores.softmax(-1))
    changed = problem.scores.clone()
    changed[~problem.valid] += torch.arange(5.0, dtype=torch.float64)
    after = step(changed.softmax(-1))
    assert torch.equal(before[problem.valid], after[problem.valid])
    assert not valid_arcs(4, before)[1, 0]


def test_arcs_know_their_nodes():
    arcs = all_arcs([2, 2, 1], torch.device("cpu"))
    assert isinstance(arcs, Arcs)
    assert arcs.head.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7]
    assert arcs.dep.tolist() == [1, 2, 1, 2, 1, 2, 4, 5, 4, 5, 4, 5, 7, 7]
    assert arcs.from_root.tolist() == [h in (0, 3, 6) for h in arcs.head.tolist()]
