"""Second-order scores as products of factors of low rank (CP decomposition)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .layers import Embedding, FactorMLPs

# The relations between arcs that exchange messages, as named in the settings.
RELATIONS = SIBLING, CO_PARENT, GRANDPARENT = ("sibling", "co-parent", "grandparent")
# The grandparent relation from the perspective of the other arc.
GRANDCHILD = "grandchild"

# The parts of each relation, which have separate factors unless they are tied.
PARTS = {
    SIBLING: (SIBLING,),
    CO_PARENT: (CO_PARENT,),
    GRANDPARENT: (GRANDCHILD, GRANDPARENT),
}
# Parts in which all neighbours of an arc have the same head. In the other parts, they
# have the same dependent.
COMMON_HEAD = (SIBLING, GRANDCHILD)

NODE_FACTORS = ("head", "dep", "far")
LABEL_FACTORS = ("label", "far_label")
# With a single energy function, scores are symmetric for siblings and co-parents, and
# the same for a grandparent and its grandchild, so these factors equal others.
TIED = {
    (SIBLING, "far"): (SIBLING, "dep"),
    (SIBLING, "far_label"): (SIBLING, "label"),
    (CO_PARENT, "far"): (CO_PARENT, "head"),
    (CO_PARENT, "far_label"): (CO_PARENT, "label"),
    (GRANDPARENT, "head"): (GRANDCHILD, "dep"),
    (GRANDPARENT, "dep"): (GRANDCHILD, "far"),
    (GRANDPARENT, "far"): (GRANDCHILD, "head"),
    (GRANDPARENT, "label"): (GRANDCHILD, "far_label"),
    (GRANDPARENT, "far_label"): (GRANDCHILD, "label"),
}

# Initial scale of the label factors. Second-order scores are products of five factors:
# if one of them were zero, the others would get no gradient. With this scale, messages
# are small compared to the first-order scores, but not negligible.
LABEL_FACTOR_SCALE = 0.1

Name = tuple[str, str]  # of a part, of its factor


class Part(NamedTuple):
    """A second-order score, decomposed into factors of rank R.

    The score of the arc i -> j with label a next to a neighbour with label b whose far
    end is the node k is

        sum over r of head[i, r] dep[j, r] far[k, r] label[a, r] far_label[b, r]

    The neighbour is i -> k for a sibling, k -> j for a co-parent, j -> k for a
    grandchild and k -> i for a grandparent. Tables of nodes have the shape (nodes, R),
    or (S, n + 1, R) for S sentences of the same length n.
    """

    type: str
    head: Tensor
    dep: Tensor
    far: Tensor
    label: Tensor  # (L, R)
    far_label: Tensor  # (L, R)


class SecondOrder(nn.Module):
    """Computes the factors of all parts from node states and from labels."""

    def __init__(
        self,
        width: int,
        n_labels: int | None,
        relations: Sequence[str],
        *,
        tied: bool,
        null_factors: bool,
        hidden: int,
        rank: int,
        dropout: float,
    ) -> None:
        """Build the module with fresh weights.

        width (int): Width of the node states.
        n_labels (Optional[int]): Number of labels; None if arcs have none.
        relations (Sequence[str]): Some of `RELATIONS`.
        tied (bool): Whether to use the scores of a single energy function.
        null_factors (bool): Whether the label NULL has factors other than zero.
        hidden (int): Width of the layers before the factors.
        rank (int): The rank.
        dropout (float): Dropout of these layers.
        """
        super().__init__()
        self.part_types = part_types(relations)
        self.tied = TIED if tied else {}
        self.node_names = factor_names(relations, NODE_FACTORS, tied=tied)
        self.label_names = factor_names(relations, LABEL_FACTORS, tied=tied)
        self.rank = rank
        self.null_factors = null_factors and n_labels is not None
        self.node_factors = FactorMLPs(
            width, hidden, rank, len(self.node_names), dropout
        )
        with torch.no_grad():
            self.node_factors.bias.normal_()
        self.labels = self.label_factors = None
        if n_labels is not None:
            self.labels = Embedding(n_labels, hidden)
            # Dropout would drop whole labels here.
            self.label_factors = FactorMLPs(
                hidden, hidden, rank, len(self.label_names), dropout=0
            )
            with torch.no_grad():
                self.label_factors.weight.mul_(LABEL_FACTOR_SCALE)

    def of_nodes(self, states: Tensor, sentence_of: Tensor) -> Tensor:
        """Compute the factors of all nodes, (nodes, node factors, R)."""
        return self.node_factors(states, sentence_of)

    def of_labels(self) -> Tensor:
        """Compute the factors of all labels, (L, label factors, R).

        Unlabelled arcs have two labels, NULL and not NULL, whose factors are constant.
        """
        if self.labels is None or self.label_factors is None:
            factors = self.node_factors.weight.new_full(
                (2, len(self.label_names), self.rank), LABEL_FACTOR_SCALE
            )
        else:
            labels = self.labels.weight
            one_group = torch.zeros(len(labels), dtype=torch.long, device=labels.device)
            factors = self.label_factors(labels, one_group)
        if self.null_factors:
            return factors
        # NULL neither sends nor receives.
        return torch.cat([torch.zeros_like(factors[:1]), factors[1:]])

    def parts(self, nodes: Tensor, labels: Tensor) -> list[Part]:
        """Get the parts with their factors by name.

        nodes (Tensor): The factors of the nodes, (..., node factors, R).
        labels (Tensor): The factors of the labels, (L, label factors, R).
        """
        by_name: dict[Name, Tensor] = {
            **dict(zip(self.node_names, nodes.unbind(-2), strict=True)),
            **dict(zip(self.label_names, labels.unbind(-2), strict=True)),
        }
        return [
            Part(
                type_,
                **{
                    factor: by_name[self.tied.get((type_, factor), (type_, factor))]
                    for factor in (*NODE_FACTORS, *LABEL_FACTORS)
                },
            )
            for type_ in self.part_types
        ]


def part_types(relations: Sequence[str]) -> list[str]:
    """Get the types of the parts of some relations, in a fixed order."""
    return [
        type_
        for relation in RELATIONS
        if relation in relations
        for type_ in PARTS[relation]
    ]


def factor_names(
    relations: Sequence[str], factors: Sequence[str], *, tied: bool
) -> list[Name]:
    """Get the names of the factors that have weights, in the order of the weights.

    relations (Sequence[str]): Some of `RELATIONS`.
    factors (Sequence[str]): `NODE_FACTORS` or `LABEL_FACTORS`.
    tied (bool): Whether to use the scores of a single energy function.
    """
    names = [(type_, factor) for type_ in part_types(relations) for factor in factors]
    return [name for name in names if not tied or name not in TIED]
