"""Averaging and rounding the weights of trained pipelines."""

from typing import Any, cast

import torch
from spacy.language import Language
from thinc.api import Model, get_current_ops
from thinc.types import Floats2d
from torch import Tensor

from ..model.network import Network

# Minimum cosine similarity between the weights of a component in two pipelines. It is
# 0.95 for parsers that were fine-tuned from the same one for 2,000 steps, and less than
# 0.5 for parsers that were trained from scratch.
LEAST_COSINE = 0.7

# Significant bits of rounded weights, and of rounded word vectors.
WEIGHT_BITS, VECTOR_BITS = 8, 4


def average_weights(pipelines: list[Language]) -> Language:
    """Average the weights of pipelines that were fine-tuned from the same one.

    The average makes fewer mistakes than each of the pipelines. Averaging unrelated
    pipelines does not work and raises an error.

    pipelines (List[Language]): The pipelines, with the same components and labels.
    RETURNS (Language): The first pipeline with the averaged weights. Its scores are
        removed, because they no longer apply.
    """
    first, *others = pipelines
    for other in others:
        for what in ("component_names", "pipe_labels"):
            if getattr(first, what) != getattr(other, what):
                raise _cannot_average(f"their {what.replace('_', ' ')} differ")
    # Check all components before changing any weights.
    weights = {
        name: [get_weights(nlp.get_pipe(name)) for nlp in pipelines]
        for name in first.component_names
    }
    for name, (one, *rest) in weights.items():
        for another in rest:
            _check_similar(name, one, another)
    for name, each in weights.items():
        means = [torch.stack(tensors).mean(0) for tensors in zip(*each, strict=True)]
        set_weights(first.get_pipe(name), means)
    first.meta["performance"] = {}
    return first


def round_weights(nlp: Language) -> None:
    """Round all weights of a pipeline to 8 significant bits (bfloat16), in place.

    Word vectors and the word embeddings for frames are rounded to 4 bits, because a
    parser combines several of them. The numbers are still stored with 32 bits, so
    nothing else changes, but a compressed file has less than half the size.

    nlp (Language): The pipeline.
    """
    for _, component in nlp.components:
        weights = get_weights(component)
        set_weights(component, [round_to(WEIGHT_BITS, each) for each in weights])
        for table in _word_tables(component):
            table.copy_(round_to(VECTOR_BITS, table))
    ops, vectors = get_current_ops(), nlp.vocab.vectors
    rounded = round_to(VECTOR_BITS, torch.from_numpy(ops.to_numpy(vectors.data)))
    vectors.data = ops.asarray(cast(Floats2d, rounded.numpy()))


def round_to(bits: int, numbers: Tensor) -> Tensor:
    """Round numbers.

    bits (int): The number of significant bits.
    numbers (Tensor): The numbers.
    RETURNS (Tensor): The rounded numbers.
    """
    mantissas, exponents = torch.frexp(numbers)
    return torch.ldexp((mantissas * 2**bits).round() / 2**bits, exponents)


def _word_tables(component: Any) -> list[Tensor]:
    """Get the word embeddings that frames are predicted from."""
    modules = [shim._model for node in _nodes(component) for shim in node.shims]
    networks = [each for each in modules if isinstance(each, Network)]
    return [each.frames.embedding.weight.data for each in networks if each.frames]


def get_weights(component: Any) -> list[Tensor]:
    """Copy all weights of a component, in thinc layers and in torch modules.

    component (Any): The component.
    RETURNS (List[Tensor]): The weights, or an empty list if it has none.
    """
    weights = []
    for node in _nodes(component):
        weights += [
            torch.from_numpy(node.ops.to_numpy(node.get_param(name)).copy())
            for name in _parameters(node)
        ]
        weights += [tensor.detach().clone() for tensor in _tensors(node)]
    return weights


def set_weights(component: Any, weights: list[Tensor]) -> None:
    """Set all weights of a component.

    component (Any): The component.
    weights (List[Tensor]): The new weights, in the order of `get_weights`.
    """
    new = iter(weights)
    for node in _nodes(component):
        for name in _parameters(node):
            array: Any = next(new).numpy()
            node.set_param(name, node.ops.asarray_f(array))
        with torch.no_grad():
            for tensor in _tensors(node):
                tensor.copy_(next(new))


def _check_similar(name: str, first: list[Tensor], other: list[Tensor]) -> None:
    """Raise an error if two components did not start from the same weights."""
    if [each.shape for each in first] != [each.shape for each in other]:
        raise _cannot_average(f"the weights of '{name}' have different shapes")
    if not first:
        return
    a, b = (torch.cat([each.flatten() for each in w]) for w in (first, other))
    cosine = float(torch.cosine_similarity(a, b, dim=0))
    if cosine < LEAST_COSINE:
        raise _cannot_average(
            f"'{name}' did not start from the same weights (cosine similarity "
            f"{cosine:.2f})"
        )


def _cannot_average(reason: str) -> ValueError:
    return ValueError(
        f"Only pipelines that were fine-tuned from the same one can be averaged: "
        f"{reason}."
    )


def _nodes(component: Any) -> list[Model]:
    model = getattr(component, "model", None)
    return list(model.walk()) if isinstance(model, Model) else []


def _parameters(node: Model) -> list[str]:
    return [name for name in node.param_names if node.has_param(name)]


def _tensors(node: Model) -> list[Tensor]:
    modules = [shim._model for shim in node.shims]
    # The shim of a transformer that was never loaded has no module.
    return [each for m in modules for each in getattr(m, "parameters", list)()]
