"""Weights that were saved by earlier versions."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import pad

from .factors import CO_PARENT, GRANDCHILD, GRANDPARENT, SIBLING, SecondOrder
from .frames import HASH_ROWS, HASH_SCALE, FrameClassifier
from .network import Network

# The version of saved weights. It changes with the names, the order or the meaning of
# weights.
VERSION = 3

# Up to version 1, the parts of untied factors had this order.
OLD_ORDER = (SIBLING, GRANDCHILD, CO_PARENT, GRANDPARENT)


def upgrade_state(
    state: dict[str, Any], version: int, network: Network
) -> dict[str, Any]:
    """Convert weights to the current names, order and meaning.

    state (Dict[str, Any]): The saved weights of a network.
    version (int): Their version.
    network (Network): The network to load the weights into.
    RETURNS (Dict[str, Any]): The weights in the current version.
    """
    if version < 2 and network.second_order is not None:
        state = _reorder_factors(state, network.second_order)
    if version < 3 and network.frames is not None:
        state = _add_arguments(state, network.frames)
    return state


def _reorder_factors(
    state: dict[str, Any], second_order: SecondOrder
) -> dict[str, Any]:
    if second_order.tied:
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
                # The factors are concatenated and have the same size.
                tensor = state[key]
                rows = tensor.view(len(order), -1, *tensor.shape[1:])
                state[key] = rows[order].view_as(tensor)
    return state


def _add_arguments(state: dict[str, Any], frames: FrameClassifier) -> dict[str, Any]:
    """Add the weights of prefixes and arguments, and scale and repeat the word
    embeddings, which had no scale and a fourth of the rows up to version 2."""
    state = dict(state)
    for name, tensor in frames.state_dict(prefix="frames.").items():
        if name not in state:
            state[name] = torch.zeros_like(tensor)
    name = "frames.embedding.weight"
    state[name] = state[name].repeat(HASH_ROWS // len(state[name]), 1) / HASH_SCALE
    name = "frames.mlp.linear.weight"
    missing = frames.mlp.linear.in_features - state[name].shape[1]
    state[name] = pad(state[name], (0, missing))
    return state
