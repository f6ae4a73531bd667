"""Weights that were saved by earlier versions."""

from __future__ import annotations

from typing import Any

from .factors import CO_PARENT, GRANDCHILD, GRANDPARENT, SIBLING, SecondOrder

# The version of what is saved. It changes when names or the order of weights do.
VERSION = 2

# Up to version 1, the parts of untied factors had this order.
OLD_ORDER = (SIBLING, GRANDCHILD, CO_PARENT, GRANDPARENT)


def upgrade_state(
    state: dict[str, Any], version: int, second_order: SecondOrder | None
) -> dict[str, Any]:
    """Give weights their present names and order.

    state (Dict[str, Any]): The weights of a network, as they were saved.
    version (int): The version of what was saved.
    second_order (Optional[SecondOrder]): The part of the network with factors.
    RETURNS (Dict[str, Any]): The weights of the present version.
    """
    if version >= VERSION or second_order is None or second_order.tied:
        return state
    state = dict(state)
    for module, names in (
        ("second_order.node_factors", second_order.node_names),
        ("second_order.label_factors", second_order.label_names),
    ):
        old = sorted(names, key=lambda name: OLD_ORDER.index(name[0]))
        order = [old.index(name) for name in names]
        for name in ("weight", "bias", "mlps.linear.weight", "mlps.linear.bias"):
            key = f"{module}.{name}"
            if key in state:
                # One after the other, of the same size each.
                tensor = state[key]
                rows = tensor.view(len(order), -1, *tensor.shape[1:])
                state[key] = rows[order].view_as(tensor)
    return state
