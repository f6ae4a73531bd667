"""What the scripts do with the weights of whole pipelines."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import torch
from spacy.language import Language
from thinc.api import Model
from torch import Tensor


def change_weights(change: Callable[..., Tensor], *pipelines: Language) -> None:
    """Change all weights of the first pipeline, in place.

    change (Callable): Gets the same weights of every pipeline, and gives the new ones.
    pipelines (Language): Pipelines of the same components and shapes.
    """
    for components in zip(*(nlp.components for nlp in pipelines), strict=True):
        models = [
            component.model
            for _, component in components
            if isinstance(getattr(component, "model", None), Model)
        ]
        for nodes in zip(*(model.walk() for model in models), strict=True):
            _change_node(change, nodes)


def _change_node(change: Callable[..., Tensor], nodes: tuple[Model, ...]) -> None:
    first = nodes[0]
    for name in first.param_names:
        if first.has_param(name):
            arrays = [numpy.array(node.get_param(name)) for node in nodes]
            first.set_param(name, change(*map(torch.from_numpy, arrays)).numpy())
    for shims in zip(*(node.shims for node in nodes), strict=True):
        parameters = [getattr(shim._model, "parameters", list)() for shim in shims]
        with torch.no_grad():
            for tensors in zip(*parameters, strict=True):
                tensors[0].copy_(change(*tensors))
