"""The registered architecture of the parser."""

from collections.abc import Callable
from typing import Any, cast

import numpy
import torch
from spacy.errors import Errors
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import (
    ArgsKwargs,
    Model,
    Ops,
    PyTorchWrapper_v3,
    torch2xp,
    xp2torch,
)
from thinc.types import Floats2d, Ints1d

from .batch import ArcGradients, ArcPosteriors, ArcScores, Batch
from .inference import Inference, MeanField
from .labels import NULL
from .network import Posteriors, Scores
from .settings import Settings, takes_settings
from .shim import NetworkShim


@registry.architectures("spacy_sdp.MeanFieldParser.v2")
@takes_settings(Settings)
def MeanFieldParser(
    tok2vec: Model[list[Doc], list[Floats2d]],
    inference: Inference = MeanField(),  # noqa: B008
    nO: int | None = None,
    **settings: Any,
) -> Model[list[Doc], ArcScores | ArcPosteriors]:
    """Build the parser of Yang and Tu (2022), "Modeling Label Correlations for
    Second-Order Semantic Dependency Parsing with Mean-Field Inference".

    Set dropout rates here: `dropout` in the section `[training]` does not affect torch
    modules. All words of a sentence share one dropout mask.

    tok2vec (Model): The token vectors, from a listener or a separate model.
    inference (Inference): The inference algorithm: `spacy_sdp.mean_field.v1`,
        `spacy_sdp.belief_propagation.v1` or `spacy_sdp.first_order.v1`.
    nO (int): Number of labels, set by the component.
    """
    return build_model(tok2vec, inference, Settings(**settings), nO)


def build_model(
    tok2vec: Model[list[Doc], list[Floats2d]],
    inference: Inference,
    settings: Settings,
    nO: int | None,
) -> Model[list[Doc], ArcScores | ArcPosteriors]:
    """Build the model of a parser.

    tok2vec (Model): The token vectors.
    inference (Inference): The inference algorithm.
    settings (Settings): The settings.
    nO (Optional[int]): The number of labels.
    RETURNS (Model): The model.
    """
    inference.check(settings)
    network: Model = PyTorchWrapper_v3(
        None,  # type: ignore[arg-type]
        convert_inputs=_convert_inputs,
        convert_outputs=_convert_outputs,
    )
    # The network is built in init, when the labels are known.
    network.shims[0] = NetworkShim(settings, inference)
    return Model(
        "sdp_meanfield",
        forward,
        init=init,
        layers=[tok2vec, network],
        # The number of labels, and of frames if they are predicted.
        dims={"nO": nO, "nF": None},
        refs={"tok2vec": tok2vec, "network": network},
    )


def init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Build the network for the width of the vectors, and the labels and frames."""
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=X)
    # Not all tok2vec layers know their width, so check their output.
    width = tok2vec.predict(X[:1])[0].shape[1] if X else tok2vec.get_dim("nO")
    n_frames = model.get_dim("nF") if model.has_dim("nF") else 0
    _shim(model).build(width, model.get_dim("nO"), n_frames)


def forward(
    model: Model, docs: list[Doc] | Batch, is_train: bool
) -> tuple[ArcScores | ArcPosteriors, Callable[[ArcGradients], list[Doc]]]:
    """Score all arcs of all sentences.

    In training, a batch may include its gold arcs, which are then not pruned. The
    gradient has one part for each of `first_order`, `refined`, `labels` and `frames` in
    `ArcScores`.
    """
    ops = model.ops
    network, shim = model.get_ref("network"), _shim(model)
    if not shim.is_built:
        raise ValueError(Errors.E109.format(name=model.name))
    batch = docs if isinstance(docs, Batch) else Batch.from_docs(docs)
    shim.check_length(max(batch.lengths, default=0))
    vectors, backprop_vectors = model.get_ref("tok2vec")(batch.docs, is_train)
    rows = ops.asarray1i(cast(Ints1d, batch.word_rows))
    doc_lengths = ops.asarray1i(batch.doc_lengths)
    table = ops.flatten(vectors)
    if batch.sentences:
        gold = None if batch.gold is None else batch.gold.labels != NULL
        hashes = batch.hashes if shim.settings.frames else None
        inputs = (table[rows], batch.lengths, gold, hashes)
        outputs, backprop_network = network(inputs, is_train)
    else:
        # There is nothing to score, but the encoder still expects a gradient.
        outputs, backprop_network = _no_outputs(ops, is_train), lambda _: 0.0

    def backprop(gradients: ArcGradients) -> list[Doc]:
        # Tokens that are not words do not affect the scores.
        d_table = ops.alloc2f(*table.shape)
        d_table[rows] = backprop_network(gradients)
        return backprop_vectors(ops.unflatten(d_table, doc_lengths))

    if is_train:
        return ArcScores(batch, shim.settings, *outputs), backprop
    return ArcPosteriors(batch, *outputs), backprop


def _no_outputs(ops: Ops, is_train: bool) -> tuple:
    if is_train:
        scores, nothing = ops.alloc2f(0, 2), ops.alloc2f(0, 0)
        return scores, ops.alloc1i(0), ops.alloc3f(1, 0, 2), nothing, nothing
    numbers = ops.alloc1f(0)
    whole = ops.alloc1i(0)
    return whole, whole, numbers, whole, numbers, whole, numbers


def _convert_inputs(
    model: Model,
    inputs: tuple[Floats2d, list[int], numpy.ndarray | None, numpy.ndarray | None],
    is_train: bool,
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Floats2d]]:
    vectors, lengths, *columns = inputs
    device = cast(NetworkShim, model.shims[0]).device
    tensor = xp2torch(
        model.ops.as_contig(vectors), requires_grad=is_train, device=device
    )
    tensors = [
        None if each is None else torch.from_numpy(each).to(device) for each in columns
    ]

    def from_torch(d_inputs: ArgsKwargs) -> Floats2d:
        return torch2xp(d_inputs.args[0], ops=model.ops)  # type: ignore[return-value]

    return ArgsKwargs(args=(tensor, lengths, *tensors), kwargs={}), from_torch


def _convert_outputs(
    model: Model, inputs_outputs: tuple[Any, Scores | Posteriors], is_train: bool
) -> tuple[Any, Callable[[ArcGradients], ArgsKwargs]]:
    _, outputs = inputs_outputs

    def to_torch(gradients: ArcGradients) -> ArgsKwargs:
        assert isinstance(outputs, Scores)  # posteriors have no gradient
        scored = (outputs.first_order, outputs.refined, outputs.labels, outputs.frames)
        # Empty tensors were not computed by the network and have no gradient.
        pairs = [
            (tensor, xp2torch(model.ops.as_contig(gradient), device=tensor.device))
            for tensor, gradient in zip(scored, cast(Any, gradients), strict=True)
            if tensor.requires_grad
        ]
        tensors, grad_tensors = zip(*pairs, strict=True)
        return ArgsKwargs(args=(tensors,), kwargs={"grad_tensors": grad_tensors})

    return tuple(torch2xp(each.detach(), ops=model.ops) for each in outputs), to_torch


def get_settings(model: Model) -> Settings:
    """Get the settings of a parser's model.

    model (Model): The model.
    RETURNS (Settings): Its settings.
    """
    return _shim(model).settings


def _shim(model: Model) -> NetworkShim:
    return cast(NetworkShim, model.get_ref("network").shims[0])
