"""A random problem of inference, and the ways to solve it."""

import copy

import pytest
import torch
from util import make_settings

from spacy_sdp.model.arcs import all_arcs, mask_labels_, split_arcs, split_nodes
from spacy_sdp.model.belief_propagation import BeliefPropagation
from spacy_sdp.model.factors import TIED_SLOTS, UNTIED_SLOTS, to_parts
from spacy_sdp.model.mean_field import ExactMeanField, PrunedMeanField
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

    def parts(self, nodes=None, parts=PARTS):
        nodes = self.nodes if nodes is None else nodes
        return to_parts(nodes, self.labels, make_settings(tied=self.tied, parts=parts))

    def exact(self, parts=PARTS, **options):
        for block, (nodes,) in zip(
            split_arcs(self.lengths, self.scores),
            split_nodes(self.lengths, self.nodes),
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
