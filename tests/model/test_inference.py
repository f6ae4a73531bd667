"""Inference against the plain formulas: order-5 tensors, and all possible graphs."""

import copy
import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from util import make_settings

from spacy_sdp.model.arcs import all_arcs, mask_labels_, split_into_blocks
from spacy_sdp.model.belief_propagation import BeliefPropagation
from spacy_sdp.model.inference import (
    Arcs,
    ExactMeanField,
    PrunedMeanField,
    infer,
    valid_arcs,
)
from spacy_sdp.model.second_order import TIED_SLOTS, UNTIED_SLOTS, to_parts
from spacy_sdp.model.settings import PARTS

N_FACTORS = {
    tied: (
        1 + max(max(slot[:3]) for slot in slots.values()),
        1 + max(max(slot[3:]) for slot in slots.values()),
    )
    for tied, slots in ((True, TIED_SLOTS), (False, UNTIED_SLOTS))
}


class Problem:
    """Random first-order scores and factors of some sentences, in float64."""

    def __init__(
        self, lengths, n_labels, *, tied, rank=3, scale=0.7, seed=0, null=True
    ):
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape):
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        n_node, n_label = N_FACTORS[tied]
        self.lengths = sorted(lengths, reverse=True)
        self.tied = tied
        self.nodes = scale * normal(sum(n + 1 for n in lengths), n_node, rank)
        self.labels = scale * normal(n_labels, n_label, rank)
        if not null:
            self.labels[0] = 0
        arcs = sum((n + 1) * n for n in lengths)
        scores = normal(arcs, n_labels)
        if n_labels > 2:
            blocks = self.blocks(scores)
            scores = torch.cat([mask_labels_(block).flatten(0, 2) for block in blocks])
        self.scores = scores
        self.arcs = all_arcs(self.lengths, scores.device)
        self.valid = self.arcs.head != self.arcs.dep
        sizes = torch.tensor([n + 1 for n in self.lengths])
        self.node_sentence = torch.arange(len(sizes)).repeat_interleave(sizes)

    def blocks(self, scores):
        start = 0
        for n, group in itertools.groupby(self.lengths):
            count = len(list(group))
            end = start + count * (n + 1) * n
            yield scores[start:end].unflatten(0, (count, n + 1, n))
            start = end

    def to(self, dtype):
        other = copy.copy(self)
        other.scores, other.nodes = self.scores.to(dtype), self.nodes.to(dtype)
        other.labels = self.labels.to(dtype)
        return other

    def parts(self, nodes=None, parts=PARTS):
        nodes = self.nodes if nodes is None else nodes
        return to_parts(nodes, self.labels, make_settings(tied=self.tied, parts=parts))

    def exact(self, parts=PARTS, **options):
        for block, (nodes,) in zip(
            self.blocks(self.scores),
            split_into_blocks(self.lengths, self.nodes),
            strict=True,
        ):
            yield ExactMeanField(block, self.parts(nodes, parts), **options)

    def pruned(self, rows, parts=PARTS, **options):
        return PrunedMeanField(
            self.scores[rows],
            self.arcs.select(rows),
            self.parts(parts=parts),
            self.node_sentence,
            **options,
        )


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
    problem, iterations, *, exclude_self=True, damping=0.0, kept=None, parts=PARTS
):
    is_null = torch.zeros_like(problem.valid)
    if kept is not None:
        is_null[:] = True
        is_null[kept] = False
    scores = problem.scores
    for _ in range(iterations):
        new = plain_update(
            problem,
            scores,
            problem.parts(parts=parts),
            exclude_self=exclude_self,
            is_null=is_null,
        )
        scores = new if not damping else (1 - damping) * new + damping * scores
    return scores


LENGTHS = st.lists(st.integers(1, 4), min_size=1, max_size=3)
OPTIONS = {
    "lengths": LENGTHS,
    "n_labels": st.integers(2, 5),
    "tied": st.booleans(),
    "null": st.booleans(),
    "exclude_self": st.booleans(),
    "damping": st.sampled_from([0.0, 0.3]),
    "parts": st.sets(st.sampled_from(PARTS), min_size=1),
    "iterations": st.integers(1, 3),
    "seed": st.integers(0, 1000),
}


@given(**OPTIONS)
@settings(max_examples=60)
def test_exact_mean_field_is_the_plain_formula(
    lengths, n_labels, tied, null, exclude_self, damping, parts, iterations, seed
):
    problem = Problem(lengths, n_labels, tied=tied, null=null, seed=seed)
    options = {"exclude_self": exclude_self, "damping": damping, "parts": parts}
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
    data, lengths, n_labels, tied, null, exclude_self, damping, parts, iterations, seed
):
    problem = Problem(lengths, n_labels, tied=tied, null=null, seed=seed)
    valid = problem.valid.nonzero().flatten().tolist()
    rows = data.draw(st.sets(st.sampled_from(valid), min_size=1)) if valid else set()
    rows = torch.tensor(sorted(rows))
    options = {"exclude_self": exclude_self, "damping": damping, "parts": parts}
    expected = plain_mean_field(problem, iterations, kept=rows, **options)[rows]
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        step = problem.to(dtype).pruned(rows, null_sends=null, **options)
        found = infer(step, iterations=iterations)[-1]
        assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)


@given(**OPTIONS)
@settings(max_examples=20)
def test_pruning_nothing_is_exact(
    lengths, n_labels, tied, null, exclude_self, damping, parts, iterations, seed
):
    problem = Problem(lengths, n_labels, tied=tied, null=null, seed=seed)
    options = {"exclude_self": exclude_self, "damping": damping, "parts": parts}
    exact = torch.cat(
        [infer(step, iterations=iterations)[-1] for step in problem.exact(**options)]
    )
    rows = problem.valid.nonzero().flatten()
    step = problem.pruned(rows, null_sends=null, **options)
    found = infer(step, iterations=iterations)[-1]
    assert_close(found, exact[rows], rtol=1e-10, atol=1e-10)


def make_step(problem, kind):
    rows = problem.valid.nonzero().flatten()
    if kind == "exact":
        (step,) = problem.exact()
        return step
    if kind == "pruned":
        return problem.pruned(rows)
    return BeliefPropagation(
        problem.scores[rows], problem.arcs.select(rows), problem.parts()
    )


KINDS = pytest.mark.parametrize("kind", ["exact", "pruned", "belief propagation"])


@KINDS
def test_each_sentence_stops_by_itself(kind):
    """With a tolerance, sentences end where they would end alone."""

    def scores_of(problems, **options):
        problem = problems[0] if len(problems) == 1 else merged(problems)
        return infer(make_step(problem, kind), **options)

    def merged(problems):
        problem = Problem([3] * len(problems), 2, tied=True, scale=0.9)
        problem.scores = torch.cat([each.scores for each in problems])
        problem.nodes = torch.cat([each.nodes for each in problems])
        return problem

    problems = [Problem([3], 2, tied=True, scale=s) for s in (0.1, 0.9, 0.5, 1.2)]
    for each in problems:
        each.labels = Problem([3] * 4, 2, tied=True, scale=0.9).labels
    labels = problems[0].labels
    together = Problem([3] * 4, 2, tied=True, scale=0.9)
    assert torch.equal(together.labels, labels)
    alone = [scores_of([each], iterations=30, tolerance=1e-3) for each in problems]
    assert len({len(history) for history in alone}) > 1
    found = scores_of(problems, iterations=30, tolerance=1e-3)
    assert len(found) == max(len(history) for history in alone)
    expected = torch.cat([history[-1] for history in alone])
    assert_close(found[-1], expected, rtol=1e-12, atol=1e-12)
    # And close to where they would end without a tolerance.
    full = scores_of(problems[:1], iterations=30)
    assert len(full) == 30
    assert_close(alone[0][-1].softmax(-1), full[-1].softmax(-1), rtol=0, atol=5e-3)


@given(scale=st.floats(0.1, 1.0), tolerance=st.sampled_from([1e-3, 1e-2, 1e-1]))
@settings(max_examples=20)
def test_exact_and_pruned_stop_after_the_same_iterations(scale, tolerance):
    """So self-loops, which only the exact one has, have no say."""
    problem = Problem([3], 4, tied=False, scale=scale)
    options = {"iterations": 30, "tolerance": tolerance}
    exact = infer(make_step(problem, "exact"), **options)
    pruned = infer(make_step(problem, "pruned"), **options)
    assert len(exact) == len(pruned)
    assert_close(exact[-1][problem.valid], pruned[-1])


@KINDS
def test_damping_does_not_stop_it_early(kind):
    problem = Problem([3], 2, tied=True, scale=0.6, null=False)
    step = make_step(problem, kind)
    step.damping = 0.9
    found = infer(step, iterations=500, tolerance=1e-3)
    fixed_point = infer(make_step(problem, kind), iterations=300)
    assert 10 < len(found) < 500
    assert_close(found[-1].softmax(-1), fixed_point[-1].softmax(-1), rtol=0, atol=2e-3)


@pytest.mark.parametrize("cells", [1, 7, 50])
def test_the_size_of_chunks_changes_nothing(monkeypatch, cells):
    problem = Problem([4, 4, 4], 3, tied=False)
    (step,) = problem.exact()
    expected = infer(step, iterations=2)[-1]
    monkeypatch.setattr("spacy_sdp.model.inference.CELLS_AT_ONCE", cells)
    assert_close(infer(step, iterations=2)[-1], expected)


@KINDS
def test_nothing_to_do(kind):
    problem = Problem([2], 2, tied=True)
    step = make_step(problem, kind)
    assert infer(step, iterations=0) == []
    if kind != "exact":
        none = torch.empty(0, dtype=torch.long)
        history = infer(step.select(none), iterations=3, tolerance=0.1)
        assert [each.shape for each in history] == [(0, 2)] * 3


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
    messages = step(problem.scores, problem.scores.softmax(-1)) - problem.scores
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
    [([2], ["grandparent"], 6), ([1, 1], PARTS, 2), ([2], ["sibling"], 3)],
    ids=["a chain", "single words", "stars"],
)
def test_belief_propagation_is_exact_on_trees(lengths, parts, iterations):
    for seed in range(5):
        problem = Problem(lengths, 2, tied=True, scale=1.2, seed=seed, null=False)
        chosen = problem.parts(parts=parts)
        rows = problem.valid.nonzero().flatten()
        step = BeliefPropagation(
            problem.scores[rows], problem.arcs.select(rows), chosen
        )
        # As many factors as make a tree: fewer than arcs.
        assert step.pairs.shape[1] < len(rows)
        found = infer(step, iterations=iterations)[-1].softmax(-1)
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
                    (infer(make_step(each, kind), iterations=30)[-1].softmax(-1) - e)
                    .abs()
                    .max()
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
    arcs = problem.arcs.select(rows)
    step = BeliefPropagation(problem.scores[rows], arcs, problem.parts())
    pairs = {tuple(sorted(pair)) for pair in step.pairs.T.tolist()}
    assert len(pairs) == step.pairs.shape[1]
    names = [(int(h), int(d)) for h, d in zip(arcs.head, arcs.dep, strict=True)]
    named = {frozenset((names[a], names[b])) for a, b in pairs}
    assert frozenset([(1, 2), (2, 1)]) in named
    # 0->1 and 0->2 are siblings; 0->1, 1->2 and 2->1 are met with all their neighbours.
    assert len(named) == 6


@KINDS
def test_gradients_through_the_iterations(kind):
    problem = Problem([2], 2 if kind == "belief propagation" else 3, tied=True, rank=2)
    impossible = torch.isinf(problem.scores)

    def scores(first_order, nodes, labels):
        problem.scores = first_order.masked_fill(impossible, -math.inf)
        problem.nodes, problem.labels = nodes, labels
        last = infer(make_step(problem, kind), iterations=3)[-1]
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
    posteriors = infer(make_step(problem, kind), iterations=10)[-1].softmax(-1)
    assert torch.isfinite(posteriors).all()
    posteriors[:, 0].sum().backward()
    for tensor in (first_order, problem.nodes, problem.labels):
        assert torch.isfinite(tensor.grad).all()


def test_self_loops_send_nothing():
    problem = Problem([4], 5, tied=False)
    (step,) = problem.exact()
    before = step(problem.scores, problem.scores.softmax(-1))
    changed = problem.scores.clone()
    changed[~problem.valid] += torch.arange(5.0, dtype=torch.float64)
    after = step(problem.scores, changed.softmax(-1))
    assert torch.equal(before[problem.valid], after[problem.valid])
    assert not valid_arcs(4, before)[1, 0]


def test_arcs_know_their_nodes_and_sentences():
    arcs = all_arcs([2, 2, 1], torch.device("cpu"))
    assert isinstance(arcs, Arcs)
    assert arcs.head.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7]
    assert arcs.dep.tolist() == [1, 2, 1, 2, 1, 2, 4, 5, 4, 5, 4, 5, 7, 7]
    assert arcs.sentence.tolist() == [0] * 6 + [1] * 6 + [2] * 2
