"""Mean field against the plain formula, with all order-5 tensors written out."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_sdp.model.inference import mean_field, valid_arcs
from spacy_sdp.model.network import (
    TIED_SLOTS,
    UNTIED_SLOTS,
    impossible_labels,
    to_parts,
)

N_FACTORS = {
    tied: (
        1 + max(max(slot[:3]) for slot in slots.values()),
        1 + max(max(slot[3:]) for slot in slots.values()),
    )
    for tied, slots in ((True, TIED_SLOTS), (False, UNTIED_SLOTS))
}


def random_problem(n, n_labels, rank, *, tied, scale=0.7, sentences=1, seed=0):
    """First-order scores and the factors of nodes and labels, in float64."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    arc_scores = normal(sentences, n + 1, n, n_labels)
    arc_scores.masked_fill_(impossible_labels(arc_scores), -math.inf)
    n_node, n_label = N_FACTORS[tied]
    nodes = scale * normal(sentences, n + 1, n_node, rank)
    labels = scale * normal(n_labels, n_label, rank)
    return arc_scores, nodes, labels


def written_out(part, sentence):
    """The order-5 tensor of a part: i, j, k, a, b."""
    return torch.einsum(
        "ir,jr,kr,ar,br->ijkab",
        part.head[sentence],
        part.dep[sentence],
        part.far[sentence],
        part.label,
        part.far_label,
    )


NEIGHBOUR = {
    "sibling": lambda i, j, k: (i, k),
    "co-parent": lambda i, j, k: (k, j),
    "grandchild": lambda i, j, k: (j, k),
    "grandparent": lambda i, j, k: (k, i),
}


def is_valid(arc):
    head, dep = arc
    return dep != 0 and head != dep


def plain_mean_field(arc_scores, parts, iterations, exclude_self):
    """The update of the paper, arc by arc and neighbour by neighbour."""
    results = []
    for sentence, first_order in enumerate(arc_scores):
        size = first_order.shape[0]
        tensors = {part.type: written_out(part, sentence) for part in parts}
        scores = first_order
        for _ in range(iterations):
            posteriors = torch.softmax(scores, dim=-1)
            scores = first_order.clone()
            for i in range(size):
                for j in range(1, size):
                    for type_, tensor in tensors.items():
                        for k in range(size):
                            neighbour = NEIGHBOUR[type_](i, j, k)
                            is_self = neighbour == (i, j)
                            if not is_valid(neighbour) or (is_self and exclude_self):
                                continue
                            head, dep = neighbour
                            message = tensor[i, j, k] @ posteriors[head, dep - 1]
                            scores[i, j - 1] += message
        results.append(scores)
    return torch.stack(results)


def assert_close_on_valid_arcs(found, expected, tolerance):
    valid = valid_arcs(found.shape[2], found).bool()
    found, expected = found[:, valid], expected[:, valid]
    assert torch.equal(torch.isinf(found), torch.isinf(expected))
    finite = torch.isfinite(expected)
    assert (found[finite] - expected[finite]).abs().max() < tolerance


@given(
    n=st.integers(1, 4),
    n_labels=st.integers(3, 5),
    tied=st.booleans(),
    exclude_self=st.booleans(),
    iterations=st.integers(0, 3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40)
def test_mean_field_is_the_plain_formula(
    n, n_labels, tied, exclude_self, iterations, seed
):
    arc_scores, nodes, labels = random_problem(
        n, n_labels, rank=3, tied=tied, sentences=2, seed=seed
    )
    parts = to_parts(nodes, labels, tied=tied)
    expected = plain_mean_field(arc_scores, parts, iterations, exclude_self)
    options = {"iterations": iterations, "exclude_self": exclude_self}
    found = mean_field(arc_scores, parts, **options)
    assert len(found) == iterations + 1
    assert_close_on_valid_arcs(found[-1], expected, 1e-10)
    parts = to_parts(nodes.float(), labels.float(), tied=tied)
    found = mean_field(arc_scores.float(), parts, **options)
    assert_close_on_valid_arcs(found[-1].double(), expected, 1e-4)


def test_each_iteration_is_in_the_history():
    arc_scores, nodes, labels = random_problem(3, 4, rank=3, tied=False)
    parts = to_parts(nodes, labels, tied=False)
    history = mean_field(arc_scores, parts, iterations=3)
    for iterations, scores in enumerate(history):
        last = mean_field(arc_scores, parts, iterations=iterations)[-1]
        assert torch.equal(scores, last)


def energy(posteriors, parts, sentence=0):
    """Siblings and co-parents count half, as each pair of arcs is met twice."""
    total = 0
    size = posteriors.shape[0]
    for part in parts:
        if part.type == "grandparent":
            continue  # the grandchild part, seen from below
        tensor = written_out(part, sentence)
        for i in range(size):
            for j in range(1, size):
                for k in range(size):
                    neighbour = NEIGHBOUR[part.type](i, j, k)
                    if i == j or not is_valid(neighbour) or neighbour == (i, j):
                        continue
                    head, dep = neighbour
                    value = (
                        posteriors[i, j - 1]
                        @ tensor[i, j, k]
                        @ posteriors[head, dep - 1]
                    )
                    total = total + (value if part.type == "grandchild" else value / 2)
    return total


def test_tied_messages_are_the_gradient_of_an_energy():
    arc_scores, nodes, labels = random_problem(3, 4, rank=3, tied=True)
    parts = to_parts(nodes, labels, tied=True)
    valid = valid_arcs(3, arc_scores).unsqueeze(-1)
    posteriors = torch.softmax(arc_scores[0], dim=-1).requires_grad_()
    (gradient,) = torch.autograd.grad(energy(posteriors * valid, parts), posteriors)
    scores = mean_field(arc_scores, parts, iterations=1)[-1][0]
    possible = torch.isfinite(arc_scores[0]) & valid.bool()
    messages = (scores - arc_scores[0])[possible]
    assert messages == pytest.approx(gradient[possible], abs=1e-12)


def test_without_second_order_scores_posteriors_are_first_order():
    arc_scores, nodes, labels = random_problem(4, 5, rank=3, tied=False)
    parts = to_parts(nodes, 0 * labels, tied=False)
    assert torch.equal(mean_field(arc_scores, parts, iterations=3)[-1], arc_scores)


def test_self_loops_send_nothing():
    arc_scores, nodes, labels = random_problem(4, 5, rank=3, tied=False)
    parts = to_parts(nodes, labels, tied=False)
    loops = ~valid_arcs(4, arc_scores).bool()
    changed = arc_scores.clone()
    changed[:, loops] = changed[:, loops] + torch.arange(5.0)
    before, after = (
        mean_field(each, parts, iterations=3)[-1] for each in (arc_scores, changed)
    )
    assert torch.equal(before[:, ~loops], after[:, ~loops])


@pytest.mark.parametrize("tied", [True, False])
def test_gradients_through_the_iterations(tied):
    arc_scores, nodes, labels = random_problem(2, 3, rank=2, tied=tied)
    impossible = torch.isinf(arc_scores)

    def scores(first_order, nodes, labels):
        first_order = first_order.masked_fill(impossible, -math.inf)
        history = mean_field(
            first_order, to_parts(nodes, labels, tied=tied), iterations=3
        )
        return history[-1][~impossible]

    inputs = (torch.where(impossible, 0, arc_scores), nodes, labels)
    assert torch.autograd.gradcheck(scores, [x.requires_grad_() for x in inputs])


def test_huge_scores_stay_numbers():
    arc_scores, nodes, labels = random_problem(5, 6, rank=4, tied=False)
    impossible = torch.isinf(arc_scores)
    first_order = (1e4 * arc_scores.sign()).float().requires_grad_()
    # Messages of up to about 1e4, too.
    nodes = (4 * nodes).float().requires_grad_()
    labels = (4 * labels).float().requires_grad_()
    masked = first_order.masked_fill(impossible, -math.inf)
    scores = mean_field(masked, to_parts(nodes, labels, tied=False), iterations=10)[-1]
    posteriors = torch.softmax(scores, dim=-1)
    assert torch.isfinite(posteriors).all()
    posteriors[..., 0].sum().backward()
    for tensor in (first_order, nodes, labels):
        assert torch.isfinite(tensor.grad).all()
