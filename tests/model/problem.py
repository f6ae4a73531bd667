"""A random problem of inference, and the ways to solve it."""

import copy

import pytest
import torch

from spacy_sdp.model.arcs import Arcs, all_arcs, mask_labels_, split_arcs, split_nodes
from spacy_sdp.model.belief_propagation import propagate_beliefs
from spacy_sdp.model.factors import (
    LABEL_FACTORS,
    NODE_FACTORS,
    RELATIONS,
    SecondOrder,
    factor_names,
)
from spacy_sdp.model.mean_field import ExactMeanField, PrunedMeanField, iterate


class Problem:
    """Random first-order scores and factors of some sentences, in float64."""

    def __init__(
        self, lengths, n_labels, *, tied, rank=3, scale=0.7, seed=0, null=True
    ):
        generator = torch.Generator().manual_seed(seed)

        def normal(*shape):
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        n_node = len(factor_names(RELATIONS, NODE_FACTORS, tied=tied))
        n_label = len(factor_names(RELATIONS, LABEL_FACTORS, tied=tied))
        self.lengths = sorted(lengths, reverse=True)
        self.tied = tied
        self.nodes = scale * normal(sum(n + 1 for n in lengths), n_node, rank)
        self.labels = scale * normal(n_labels, n_label, rank)
        if not null:
            self.labels[0] = 0
        arcs = sum((n + 1) * n for n in lengths)
        scores = normal(arcs, n_labels)
        self.arcs = all_arcs(self.lengths, scores.device)
        self.valid = self.arcs.head != self.arcs.dep
        sizes = torch.tensor([n + 1 for n in self.lengths])
        self.node_sentence = torch.arange(len(sizes)).repeat_interleave(sizes)
        if n_labels > 2:
            roots = sizes.cumsum(0) - sizes
            mask_labels_(scores, torch.isin(self.arcs.head, roots))
        self.scores = scores

    def to(self, dtype):
        other = copy.copy(self)
        other.scores, other.nodes = self.scores.to(dtype), self.nodes.to(dtype)
        other.labels = self.labels.to(dtype)
        return other

    def parts(self, nodes=None, parts=RELATIONS):
        nodes = self.nodes if nodes is None else nodes
        second_order = SecondOrder(
            1, 1, parts, tied=self.tied, null_factors=True, hidden=1, rank=1, dropout=0
        )
        node_names = factor_names(RELATIONS, NODE_FACTORS, tied=self.tied)
        label_names = factor_names(RELATIONS, LABEL_FACTORS, tied=self.tied)
        return second_order.parts(
            nodes[..., [node_names.index(x) for x in second_order.node_names], :],
            self.labels[:, [label_names.index(x) for x in second_order.label_names]],
        )

    def exact(self, parts=RELATIONS, **options):
        for block, (nodes,) in zip(
            split_arcs(self.lengths, self.scores),
            split_nodes(self.lengths, self.nodes),
            strict=True,
        ):
            yield ExactMeanField(block, self.parts(nodes, parts), **options)

    def arcs_of(self, rows):
        return Arcs(*(each[rows] for each in vars(self.arcs).values()))

    def pruned(self, rows, parts=RELATIONS, **options):
        return PrunedMeanField(
            self.scores[rows],
            self.arcs_of(rows),
            self.parts(parts=parts),
            self.node_sentence,
            **options,
        )


def infer(step, iterations):
    return list(iterate(step, step.first_order.flatten(0, -2), iterations))


def solve(problem, kind, iterations, parts=RELATIONS):
    """The scores of all arcs after each iteration, without self-loops if not exact."""
    rows = problem.valid.nonzero().flatten()
    if kind == "exact":
        (step,) = problem.exact(parts)
        return infer(step, iterations)
    if kind == "pruned":
        return infer(problem.pruned(rows, parts), iterations)
    arcs, parts = problem.arcs_of(rows), problem.parts(parts=parts)
    return list(propagate_beliefs(problem.scores[rows], arcs, parts, iterations))


KINDS = pytest.mark.parametrize("kind", ["exact", "pruned", "belief propagation"])
