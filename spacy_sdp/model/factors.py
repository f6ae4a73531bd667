"""The factors of the second-order scores, and which part uses which."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from .layers import Embedding, Factors
from .mean_field import CO_PARENT, GRANDCHILD, GRANDPARENT, SIBLING, Part
from .settings import Settings

# Scale of the label factors at the start. The second-order scores are products of five
# factors: if one was zero, none of the others would get a gradient; this scale makes
# the messages small beside the first-order scores, but not negligible.
LABEL_FACTOR_SCALE = 0.1


class Slots(NamedTuple):
    """Which of the factors a part uses, see `Part`."""

    head: int
    dep: int
    far: int
    label: int
    far_label: int


# Four parts with factors of their own, or the gradient of one energy: siblings and
# co-parents symmetric in their two arcs, and one score for a grandparent and its
# grandchild, seen from either arc.
UNTIED_SLOTS = {
    SIBLING: Slots(0, 1, 2, 0, 1),
    GRANDCHILD: Slots(3, 4, 5, 2, 3),
    CO_PARENT: Slots(6, 7, 8, 4, 5),
    GRANDPARENT: Slots(9, 10, 11, 6, 7),
}
TIED_SLOTS = {
    SIBLING: Slots(0, 1, 1, 0, 0),
    GRANDCHILD: Slots(4, 5, 6, 2, 3),
    CO_PARENT: Slots(2, 3, 2, 1, 1),
    GRANDPARENT: Slots(5, 6, 4, 3, 2),
}


# What a part is called in the settings.
PART_NAMES = {
    SIBLING: "sibling",
    GRANDCHILD: "grandparent",
    CO_PARENT: "co-parent",
    GRANDPARENT: "grandparent",
}


def part_slots(settings: Settings) -> dict[str, Slots]:
    """Give the parts that are on, with their factors, numbered without gaps."""
    # Belief propagation needs an energy.
    tied = settings.tied or settings.inference == "lbp"
    parts = {
        type_: slots
        for type_, slots in (TIED_SLOTS if tied else UNTIED_SLOTS).items()
        if PART_NAMES[type_] in settings.parts
    }
    node = sorted({slot for slots in parts.values() for slot in slots[:3]})
    label = sorted({slot for slots in parts.values() for slot in slots[3:]})
    return {
        type_: Slots(*map(node.index, slots[:3]), *map(label.index, slots[3:]))
        for type_, slots in parts.items()
    }


def to_parts(nodes: Tensor, labels: Tensor, settings: Settings) -> list[Part]:
    """Give the second-order scores of some nodes.

    nodes (Tensor): The factors of the nodes, (..., node factors, R).
    labels (Tensor): The factors of the labels, (L, label factors, R).
    settings (Settings): Which parts there are.
    RETURNS (List[Part]): The parts.
    """
    return [
        Part(
            type_,
            head=nodes[..., slots.head, :],
            dep=nodes[..., slots.dep, :],
            far=nodes[..., slots.far, :],
            label=labels[:, slots.label],
            far_label=labels[:, slots.far_label],
        )
        for type_, slots in part_slots(settings).items()
    ]


class SecondOrderFactors(nn.Module):
    """The factors of the second-order scores, from nodes and from labels."""

    def __init__(self, width: int, n_labels: int, settings: Settings) -> None:
        super().__init__()
        slots = part_slots(settings).values()
        self.n_label_factors = 1 + max(max(slot[3:]) for slot in slots)
        self.rank = settings.rank
        self.null_factors = settings.null_factors
        self.node_factors = Factors(
            width,
            settings.factor_width,
            settings.rank,
            1 + max(max(slot[:3]) for slot in slots),
            settings.mlp_dropout,
        )
        with torch.no_grad():
            self.node_factors.bias.normal_()
        self.labels = self.label_factors = None
        if settings.labelled:
            self.labels = Embedding(n_labels, settings.factor_width)
            # Dropout would drop whole labels here.
            self.label_factors = Factors(
                settings.factor_width,
                settings.factor_width,
                settings.rank,
                self.n_label_factors,
                dropout=0,
            )
            with torch.no_grad():
                self.label_factors.weight.mul_(LABEL_FACTOR_SCALE)

    def of_nodes(self, nodes: Tensor, sentence_of: Tensor) -> Tensor:
        """Give the factors of all nodes, (nodes, node factors, R)."""
        return self.node_factors(nodes, sentence_of)

    def of_labels(self) -> Tensor:
        """Give the factors of all labels, (L, label factors, R).

        An unlabelled arc has two, NULL and not NULL, and nothing to learn about them.
        """
        if self.labels is None or self.label_factors is None:
            factors = self.node_factors.weight.new_full(
                (2, self.n_label_factors, self.rank), LABEL_FACTOR_SCALE
            )
        else:
            labels = self.labels.weight
            one_group = torch.zeros(len(labels), dtype=torch.long, device=labels.device)
            factors = self.label_factors(labels, one_group)
        if self.null_factors and self.labels is not None:
            return factors
        # NULL neither sends nor receives.
        return torch.cat([torch.zeros_like(factors[:1]), factors[1:]])
