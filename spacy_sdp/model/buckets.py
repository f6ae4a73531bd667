"""Batching of spans with similar lengths, to reduce padding in transformers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy
import torch
from spacy_transformers.data_classes import WordpieceBatch
from thinc.api import ArgsKwargs, Model
from transformers.utils.generic import ModelOutput

from .partition import partition
from .precision import Precision, autocast

# The overhead of one more bucket, in word pieces: mostly a pass over all weights.
# Measured with MiniLM on a CPU.
CALL_COST = 40

# The outputs of transformers that have a row for each span, and their word piece
# dimensions.
PIECE_DIMENSIONS = {
    "last_hidden_state": (1,),
    "pooler_output": (),
    "hidden_states": (1,),
    "attentions": (2, 3),
}


class Bucket(NamedTuple):
    """Spans of a padded batch, and the columns of their word pieces."""

    rows: list[int]
    columns: slice


def with_buckets(
    wrapper: Model[WordpieceBatch, ModelOutput],
    *,
    max_pieces: int,
    precision: Precision,
) -> Model[WordpieceBatch, ModelOutput]:
    """Wrap a transformer to read a batch in buckets of spans with similar lengths.

    Input and output do not change: one batch, padded to its longest span.

    wrapper (Model): spacy-transformers' `HFWrapper`.
    max_pieces (int): Maximum number of word pieces in a bucket, including padding.
    precision (str): The precision of the transformer on a CPU.
    RETURNS (Model): A replacement of the wrapper that can load its saved weights.
    """
    return Model(
        wrapper.name,
        partial(forward, max_pieces=max_pieces, precision=precision),
        attrs={"convert_inputs": wrapper.attrs["convert_inputs"]},
        shims=wrapper.shims,
        dims={name: wrapper.maybe_get_dim(name) for name in wrapper.dim_names},
    )


def forward(
    layer: Model[WordpieceBatch, ModelOutput],
    wordpieces: WordpieceBatch,
    is_train: bool,
    *,
    max_pieces: int,
    precision: Precision,
) -> tuple[ModelOutput, Callable[[ModelOutput], list]]:
    shim = layer.shims[0]
    batch, _ = layer.attrs["convert_inputs"](layer, wordpieces, is_train)
    buckets = find_buckets(wordpieces, max_pieces)
    with autocast(precision):
        runs = [
            shim(ArgsKwargs((), {k: v[b] for k, v in batch.kwargs.items()}), is_train)
            for b in buckets
        ]
    outputs = [output for output, _ in runs]

    def backprop(d_output: ModelOutput) -> list:
        (gradient,) = d_output.values()
        hidden = [output.last_hidden_state for output in outputs]
        gradients = [gradient[bucket] for bucket in buckets]
        # A single call, so that half-precision gradients are unscaled only once.
        _, backprop_all = runs[0]
        backprop_all(ArgsKwargs((hidden,), {"grad_tensors": gradients}))
        return []

    return join(outputs, buckets, wordpieces.input_ids.shape), backprop


def find_buckets(wordpieces: WordpieceBatch, max_pieces: int) -> list[Bucket]:
    """Partition the spans of a batch into buckets.

    wordpieces (WordpieceBatch): The batch, padded on the right or on the left.
    max_pieces (int): Maximum size of a bucket; a longer span has its own bucket.
    RETURNS (List[Bucket]): The buckets, each with spans of similar length.
    """
    mask = numpy.asarray(wordpieces.attention_mask)
    width = mask.shape[1]
    # A span may have no word pieces.
    lengths = [max(1, int(length)) for length in mask.sum(axis=1)]
    is_left = mask[:, 0].sum() < mask[:, -1].sum()
    buckets = []
    for rows in partition(lengths, max_pieces, call_cost=CALL_COST):
        longest = lengths[rows[-1]]
        columns = slice(width - longest, width) if is_left else slice(longest)
        buckets.append(Bucket(rows, columns))
    return buckets


def join(
    outputs: list[ModelOutput], buckets: list[Bucket], shape: tuple[int, int]
) -> ModelOutput:
    """Join the outputs of the buckets in the order of the batch.

    outputs (List[ModelOutput]): The output of each bucket.
    buckets (List[Bucket]): The buckets.
    shape (Tuple[int, int]): Number of spans, and of word pieces in the longest span.
    RETURNS (ModelOutput): The outputs with a row for each span, in float32, padded
        with 0.
    """
    joined: dict[str, torch.Tensor | tuple[torch.Tensor, ...]] = {}
    for name, first in outputs[0].items():
        if name not in PIECE_DIMENSIONS:
            continue
        values = [output[name] for output in outputs]
        put = partial(
            _join_tensors, buckets=buckets, shape=shape, pieces=PIECE_DIMENSIONS[name]
        )
        # Hidden states and attentions have a tensor for each layer.
        one = isinstance(first, torch.Tensor)
        joined[name] = (
            put(values) if one else tuple(map(put, zip(*values, strict=True)))
        )
    return type(outputs[0])(**joined)


def _join_tensors(
    tensors: Sequence[torch.Tensor],
    buckets: list[Bucket],
    shape: tuple[int, int],
    pieces: tuple[int, ...],
) -> torch.Tensor:
    n_spans, width = shape
    sizes = [n_spans, *tensors[0].shape[1:]]
    for dimension in pieces:
        sizes[dimension] = width
    joined = tensors[0].new_zeros(sizes, dtype=torch.float32)
    for tensor, bucket in zip(tensors, buckets, strict=True):
        part = joined
        for dimension in pieces:
            start, stop, _ = bucket.columns.indices(width)
            part = part.narrow(dimension, start, stop - start)
        part[bucket.rows] = tensor.detach().float()
    return joined
