"""What the scripts do with whole pipelines: load them, and get at their weights."""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy
import spacy
import torch
from spacy.language import Language
from thinc.api import Model
from torch import Tensor


def load(pipeline: str, parser: ArgumentParser) -> Language:
    """Load a pipeline, or end with a sentence that says why not.

    pipeline (str): A package, a folder or a wheel.
    parser (ArgumentParser): The parser of the command line.
    RETURNS (Language): The pipeline.
    """
    try:
        if not pipeline.endswith(".whl"):
            return spacy.load(pipeline)
        with tempfile.TemporaryDirectory() as folder:
            ZipFile(pipeline).extractall(folder)
            (config,) = Path(folder).glob("*/*/config.cfg")
            return spacy.load(config.parent)
    except OSError as error:
        return parser.error(f"cannot load {pipeline}: {error}")


def get_weights(component: Any) -> list[Tensor]:
    """RETURNS (List[Tensor]): Copies of all weights of a component, thinc's and
    torch's, or nothing if it has none."""
    weights = []
    for node in _nodes(component):
        weights += [
            torch.from_numpy(numpy.array(node.get_param(name)))
            for name in _parameters(node)
        ]
        weights += [tensor.detach().clone() for tensor in _tensors(node)]
    return weights


def set_weights(component: Any, weights: list[Tensor]) -> None:
    """Change all weights of a component.

    component (Any): The component.
    weights (List[Tensor]): As `get_weights` gives them.
    """
    new = iter(weights)
    for node in _nodes(component):
        for name in _parameters(node):
            node.set_param(name, next(new).numpy())
        with torch.no_grad():
            for tensor in _tensors(node):
                tensor.copy_(next(new))


def _nodes(component: Any) -> list[Model]:
    model = getattr(component, "model", None)
    return list(model.walk()) if isinstance(model, Model) else []


def _parameters(node: Model) -> list[str]:
    return [name for name in node.param_names if node.has_param(name)]


def _tensors(node: Model) -> list[Tensor]:
    modules = [shim._model for shim in node.shims]
    # The shim of a transformer that was never loaded has no module.
    return [each for m in modules for each in getattr(m, "parameters", list)()]
