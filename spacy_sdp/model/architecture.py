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
from thinc.types import Floats2d, Floats3d, Ints1d

from .arcs import NULL
from .batch import ArcPosteriors, ArcScores, Batch
from .network import Posteriors, Scores
from .settings import PARTS, Settings
from .shim import NetworkShim

# Of first_order, refined and labels.
ArcGradients = tuple[Floats2d, Floats3d, Floats2d]


@registry.architectures("spacy_sdp.MeanFieldParser.v1")
def MeanFieldParser(
    tok2vec: Model[list[Doc], list[Floats2d]],
    *,
    hidden_width: int = 0,
    lstm_width: int = 200,
    lstm_depth: int = 1,
    bypass_lstm: bool = False,
    mlp_width: int = 150,
    label_width: int | None = None,
    factor_width: int = 50,
    rank: int = 64,
    embed_dropout: float = 0.33,
    lstm_dropout: float = 0.33,
    mlp_dropout: float = 0.33,
    inference: str = "mean_field",
    labelled: bool = True,
    factored: bool = True,
    parts: list[str] = list(PARTS),  # noqa: B006
    tied: bool = False,
    exclude_self: bool = True,
    null_factors: bool = False,
    train_iterations: int = 2,
    predict_iterations: int = 3,
    damping: float = 0.0,
    tolerance: float = 0.001,
    prune: float = 0.01,
    max_heads: int = 10,
    supervise: str = "all",
    label_weight: float = 0.5,
    grad_clip: float = 5.0,
    max_pairs: int = 50_000,
    nO: int | None = None,
) -> Model[list[Doc], ArcScores | ArcPosteriors]:
    """Build the parser of Yang and Tu (2022), "Modeling Label Correlations for
    Second-Order Semantic Dependency Parsing with Mean-Field Inference".

    Dropouts are set here, because `dropout` in the section `[training]` does not reach
    torch. Those of the parser use one mask a sentence.

    tok2vec (Model): The token vectors: a listener, or a model of its own.
    hidden_width (int): Width of a layer between the token vectors and the LSTM; 0 is
        none.
    lstm_width (int): Width of the BiLSTM in each direction.
    lstm_depth (int): Layers of the BiLSTM; 0 is no LSTM.
    bypass_lstm (bool): Whether the vectors stand beside the output of the LSTM again,
        which is the shorter way to a transformer that is fine-tuned.
    mlp_width (int): Width of the layers before the first-order scores.
    label_width (int): Width of those before the scores of labels, where arcs are scored
        apart from labels, which are the easier part; None is `mlp_width`.
    factor_width (int): Width of the layers before the second-order factors.
    rank (int): Rank of the second-order scores.
    embed_dropout (float): Dropout of what goes into the LSTM.
    lstm_dropout (float): Dropout between the layers of the LSTM, and of its output.
    mlp_dropout (float): Dropout of the layers before scores and factors.
    inference (str): "mean_field"; "lbp", loopy belief propagation between unlabelled
        arcs; or "none" for a first-order parser.
    labelled (bool): Whether there is one score for each label of an arc, so that labels
        of neighbours influence each other. Otherwise arcs are found first, and labelled
        by a classifier of its own. In belief propagation it is always otherwise.
    factored (bool): If labelled, whether a first-order score is that of the arc plus
        the log-probability of its label, so that all labels learn together which words
        are connected. Otherwise each label has a score of its own, as in the paper.
    parts (List[str]): Which neighbours exchange messages: "sibling" (another argument
        of the same head), "co-parent" (another head of the same argument),
        "grandparent" (the head of the head, and the other way round).
    tied (bool): Whether the second-order scores are those of one energy: symmetric for
        siblings and co-parents, and the same for grandparents from both ends. Otherwise
        each of the four kinds of neighbours has factors of its own. Belief propagation
        is always tied.
    exclude_self (bool): Whether an arc is left out of its own messages. In belief
        propagation it always is.
    null_factors (bool): If labelled, whether the absence of an arc sends and receives
        messages, too.
    train_iterations (int): Iterations of inference in training.
    predict_iterations (int): Iterations of inference in prediction, at the most.
    damping (float): Share of the old scores (of the old messages, in belief
        propagation) in the new ones.
    tolerance (float): In prediction, a sentence stops when no posterior changes by
        more; 0 is never.
    prune (float): Pairs of words that are arcs with less than this probability by their
        first-order scores are not looked at any more: they are not labelled, have no
        part in inference, and are never found. 0 is exact inference.
    max_heads (int): If pruning, how many heads of a word are left at the most. It
        matters at the beginning of training.
    supervise (str): "all" trains the scores before and after each iteration, so that
        each iteration improves on the one before and their number hardly matters in
        prediction; "last" trains only the final scores, as in the paper.
    label_weight (float): If not labelled, the weight of the classifier's loss; that of
        the arcs has the rest.
    grad_clip (float): Largest global norm of the gradient of all of the parser's
        parameters but those of `tok2vec`; 0 is no limit.
    max_pairs (int): How many pairs of words are scored at a time, which bounds the
        memory of a batch, and in prediction also that of a long sentence. It changes
        nothing else. Training, and inference without pruning, hold all pairs of a
        sentence.
    nO (int): Number of labels, set by the component.
    """
    settings = Settings(
        hidden_width=hidden_width,
        lstm_width=lstm_width,
        lstm_depth=lstm_depth,
        bypass_lstm=bypass_lstm,
        mlp_width=mlp_width,
        label_width=label_width,
        factor_width=factor_width,
        rank=rank,
        embed_dropout=embed_dropout,
        lstm_dropout=lstm_dropout,
        mlp_dropout=mlp_dropout,
        inference=inference,
        labelled=labelled and inference != "lbp",
        factored=factored,
        parts=tuple(parts),
        tied=tied,
        exclude_self=exclude_self,
        null_factors=null_factors,
        train_iterations=train_iterations,
        predict_iterations=predict_iterations,
        damping=damping,
        tolerance=tolerance,
        prune=prune,
        max_heads=max_heads,
        supervise=supervise,
        label_weight=label_weight,
        max_pairs=max_pairs,
    )
    if grad_clip < 0:
        raise ValueError(
            f"The parser's setting 'grad_clip' has to be at least 0, not {grad_clip}."
        )
    network: Model = PyTorchWrapper_v3(
        None,  # type: ignore[arg-type]
        convert_inputs=_convert_inputs,
        convert_outputs=_convert_outputs,
    )
    # The network can only be built when the labels are known.
    network.shims[0] = NetworkShim(settings, grad_clip)
    return Model(
        "sdp_meanfield",
        forward,
        init=init,
        layers=[tok2vec, network],
        dims={"nO": nO},
        refs={"tok2vec": tok2vec, "network": network},
    )


def init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Build the network for the width of the vectors and the number of labels."""
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=X)
    # Not all layers that give vectors know their width, so look at one.
    width = tok2vec.predict(X[:1])[0].shape[1] if X else tok2vec.get_dim("nO")
    _shim(model).build(width, model.get_dim("nO"))


def forward(
    model: Model, docs: list[Doc] | Batch, is_train: bool
) -> tuple[ArcScores | ArcPosteriors, Callable[[ArcGradients], list[Doc]]]:
    """Score all arcs of all sentences.

    In training, a batch may come with its gold arcs, which are then not pruned. The
    gradient is that of `ArcScores`: of `first_order`, `refined` and `labels`.
    """
    ops = model.ops
    network, shim = model.get_ref("network"), _shim(model)
    if not shim.is_built:
        raise ValueError(Errors.E109.format(name=model.name))
    batch = docs if isinstance(docs, Batch) else Batch.from_docs(docs)
    shim.settings.check_length(max(batch.lengths, default=0))
    vectors, backprop_vectors = model.get_ref("tok2vec")(batch.docs, is_train)
    rows = ops.asarray1i(cast(Ints1d, batch.word_rows))
    doc_lengths = ops.asarray1i(batch.doc_lengths)
    table = ops.flatten(vectors)
    if batch.sentences:
        gold = None if batch.gold is None else batch.gold.labels != NULL
        inputs = (table[rows], batch.lengths, gold)
        outputs, backprop_network = network(inputs, is_train)
    else:
        # Nothing to score, but the encoder waits for its gradient all the same.
        outputs, backprop_network = _no_outputs(ops, is_train), lambda _: 0.0

    def backprop(gradients: ArcGradients) -> list[Doc]:
        # Tokens that are not words have no part in the scores.
        d_table = ops.alloc2f(*table.shape)
        d_table[rows] = backprop_network(gradients)
        return backprop_vectors(ops.unflatten(d_table, doc_lengths))

    if is_train:
        return ArcScores(batch, shim.settings, *outputs), backprop
    return ArcPosteriors(batch, *outputs), backprop


def _no_outputs(ops: Ops, is_train: bool) -> tuple:
    if is_train:
        scores = ops.alloc2f(0, 2)
        return scores, ops.alloc1i(0), ops.alloc3f(1, 0, 2), ops.alloc2f(0, 0)
    numbers = ops.alloc1f(0)
    whole = ops.alloc1i(0)
    return whole, whole, numbers, whole, numbers


def _convert_inputs(
    model: Model,
    inputs: tuple[Floats2d, list[int], numpy.ndarray | None],
    is_train: bool,
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Floats2d]]:
    vectors, lengths, gold = inputs
    device = cast(NetworkShim, model.shims[0]).device
    tensor = xp2torch(
        model.ops.as_contig(vectors), requires_grad=is_train, device=device
    )
    flags = None if gold is None else torch.from_numpy(gold).to(device)

    def from_torch(d_inputs: ArgsKwargs) -> Floats2d:
        return torch2xp(d_inputs.args[0], ops=model.ops)  # type: ignore[return-value]

    return ArgsKwargs(args=(tensor, lengths, flags), kwargs={}), from_torch


def _convert_outputs(
    model: Model, inputs_outputs: tuple[Any, Scores | Posteriors], is_train: bool
) -> tuple[Any, Callable[[ArcGradients], ArgsKwargs]]:
    _, outputs = inputs_outputs

    def to_torch(gradients: ArcGradients) -> ArgsKwargs:
        assert isinstance(outputs, Scores)  # posteriors are not for training
        scored = (outputs.first_order, outputs.refined, outputs.labels)
        # What is empty was not computed from anything.
        pairs = [
            (tensor, xp2torch(model.ops.as_contig(gradient), device=tensor.device))
            for tensor, gradient in zip(scored, cast(Any, gradients), strict=True)
            if tensor.requires_grad
        ]
        tensors, grad_tensors = zip(*pairs, strict=True)
        return ArgsKwargs(args=(tensors,), kwargs={"grad_tensors": grad_tensors})

    return tuple(torch2xp(each.detach(), ops=model.ops) for each in outputs), to_torch


def _shim(model: Model) -> NetworkShim:
    return cast(NetworkShim, model.get_ref("network").shims[0])
