"""The registered architecture, and the boundary between thinc and torch."""

from collections.abc import Callable
from io import BytesIO
from typing import Any, cast

import srsly
import torch
from spacy.errors import Errors
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import (
    ArgsKwargs,
    Model,
    Optimizer,
    PyTorchShim,
    PyTorchWrapper_v3,
    get_torch_default_device,
    torch2xp,
    xp2torch,
)
from thinc.types import Floats2d, Floats3d, Ints1d

from .batch import ArcPosteriors, ArcScores, Batch
from .network import Network, Posteriors, Settings


@registry.architectures("spacy_sdp.MeanFieldParser.v1")
def MeanFieldParser(
    tok2vec: Model[list[Doc], list[Floats2d]],
    *,
    hidden_width: int = 0,
    lstm_width: int = 200,
    lstm_depth: int = 1,
    mlp_width: int = 150,
    rank: int = 100,
    embed_dropout: float = 0.33,
    lstm_dropout: float = 0.33,
    mlp_dropout: float = 0.33,
    inference: str = "mean_field",
    train_iterations: int = 2,
    predict_iterations: int = 3,
    supervise: str = "all",
    tied: bool = False,
    exclude_self: bool = True,
    null_factors: bool = False,
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
    mlp_width (int): Width of the layer before each score.
    rank (int): Rank of the second-order scores.
    embed_dropout (float): Dropout of what goes into the LSTM.
    lstm_dropout (float): Dropout between the layers of the LSTM, and of its output.
    mlp_dropout (float): Dropout of the layer before each score.
    inference (str): "mean_field", or "none" for a first-order parser.
    train_iterations (int): Iterations of mean field in training.
    predict_iterations (int): Iterations of mean field in prediction.
    supervise (str): "all" trains the scores before and after each iteration, so that
        each iteration improves on the one before and their number hardly matters in
        prediction; "last" trains only the final scores, as in the paper.
    tied (bool): Whether the second-order scores are those of one energy: symmetric for
        siblings and co-parents, and the same for grandparents from both ends. Otherwise
        each of the four kinds of neighbours has factors of its own.
    exclude_self (bool): Whether an arc is left out of its own messages.
    null_factors (bool): Whether the absence of an arc sends and receives messages.
    grad_clip (float): Largest global norm of the gradient of all of the parser's
        parameters but those of `tok2vec`; 0 is no limit.
    max_pairs (int): How many pairs of words are worked on at a time, which bounds the
        memory. It changes nothing else.
    nO (int): Number of labels, set by the component.
    """
    settings = Settings(
        hidden_width=hidden_width,
        lstm_width=lstm_width,
        lstm_depth=lstm_depth,
        mlp_width=mlp_width,
        rank=rank,
        embed_dropout=embed_dropout,
        lstm_dropout=lstm_dropout,
        mlp_dropout=mlp_dropout,
        inference=inference,
        train_iterations=train_iterations,
        predict_iterations=predict_iterations,
        supervise=supervise,
        tied=tied,
        exclude_self=exclude_self,
        null_factors=null_factors,
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
    width = tok2vec.predict((X or [])[:1])[0].shape[1] if X else tok2vec.get_dim("nO")
    _shim(model).build(width, model.get_dim("nO"))


def forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[ArcScores | ArcPosteriors, Callable[[Floats3d], list[Doc]]]:
    """Score all arcs of all sentences; the gradient is that of `ArcScores.scores`."""
    ops = model.ops
    network = model.get_ref("network")
    if not _shim(model).is_built:
        raise ValueError(Errors.E109.format(name=model.name))
    batch = Batch.from_docs(docs)
    vectors, backprop_vectors = model.get_ref("tok2vec")(docs, is_train)
    rows = ops.asarray1i(cast(Ints1d, batch.word_rows))
    doc_lengths = ops.asarray1i(batch.doc_lengths)
    if not batch.sentences:
        # Nothing to score, but the encoder waits for a gradient all the same.
        def backprop_nothing(d_scores: Floats3d) -> list[Doc]:
            return backprop_vectors([ops.alloc2f(*each.shape) for each in vectors])

        nothing, n_labels = ops.alloc1f(0), _shim(model).n_labels
        if is_train:
            return ArcScores(batch, ops.alloc3f(1, 0, n_labels)), backprop_nothing
        return ArcPosteriors(batch, nothing, ops.alloc1i(0), nothing), backprop_nothing

    table = ops.flatten(vectors)
    outputs, backprop_network = network((table[rows], batch.lengths), is_train)

    def backprop(d_scores: Floats3d) -> list[Doc]:
        # Tokens that are not words have no part in the scores.
        d_table = ops.alloc2f(*table.shape)
        d_table[rows] = backprop_network(d_scores)
        return backprop_vectors(ops.unflatten(d_table, doc_lengths))

    if is_train:
        return ArcScores(batch, outputs), backprop
    return ArcPosteriors(batch, *outputs), backprop


def _convert_inputs(
    model: Model, vectors_lengths: tuple[Floats2d, list[int]], is_train: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Floats2d]]:
    vectors, lengths = vectors_lengths
    tensor = xp2torch(
        model.ops.as_contig(vectors),
        requires_grad=is_train,
        device=cast(NetworkShim, model.shims[0]).device,
    )

    def from_torch(d_inputs: ArgsKwargs) -> Floats2d:
        return torch2xp(d_inputs.args[0], ops=model.ops)  # type: ignore[return-value]

    return ArgsKwargs(args=(tensor, lengths), kwargs={}), from_torch


def _convert_outputs(
    model: Model, inputs_outputs: tuple[Any, torch.Tensor | Posteriors], is_train: bool
) -> tuple[Any, Callable[[Floats3d], ArgsKwargs]]:
    _, outputs = inputs_outputs

    def to_torch(d_scores: Floats3d) -> ArgsKwargs:
        assert isinstance(outputs, torch.Tensor)  # posteriors are not for training
        gradient = xp2torch(model.ops.as_contig(d_scores), device=outputs.device)
        return ArgsKwargs(args=((outputs,),), kwargs={"grad_tensors": (gradient,)})

    if isinstance(outputs, Posteriors):
        return tuple(torch2xp(each, ops=model.ops) for each in outputs), to_torch
    return torch2xp(outputs.detach(), ops=model.ops), to_torch


def _shim(model: Model) -> "NetworkShim":
    return cast(NetworkShim, model.get_ref("network").shims[0])


class NetworkShim(PyTorchShim):
    """A shim whose network is built when the labels are known.

    What it was built for is saved beside the weights. The settings are not: they are in
    the config, and those that have no weights may be changed when a pipeline is loaded.
    """

    def __init__(self, settings: Settings, grad_clip: float) -> None:
        super().__init__(None)
        self.settings = settings
        self.grad_clip = grad_clip

    @property
    def is_built(self) -> bool:
        return self._model is not None

    @property
    def n_labels(self) -> int:
        return self._model.n_labels

    def build(self, input_width: int, n_labels: int) -> None:
        """Build the network with fresh weights.

        input_width (int): Width of the token vectors.
        n_labels (int): Number of labels of the corpus.
        """
        self.cfg = {"input_width": input_width, "n_labels": n_labels}
        network = Network(settings=self.settings, **self.cfg)
        self._model = network.to(get_torch_default_device())

    def finish_update(self, optimizer: Optimizer) -> None:
        if self.grad_clip:
            torch.nn.utils.clip_grad_norm_(self._model.parameters(), self.grad_clip)
        super().finish_update(optimizer)

    def to_bytes(self) -> bytes:
        state = None
        if self.is_built:
            buffer = BytesIO()
            torch.save(self._model.state_dict(), buffer)
            state = buffer.getvalue()
        return srsly.msgpack_dumps({"config": self.cfg, "state": state})

    def from_bytes(self, bytes_data: bytes) -> "NetworkShim":
        message = srsly.msgpack_loads(bytes_data)
        if message["state"] is None:
            self.cfg, self._model = {}, None
            return self
        self.build(**message["config"])
        state = torch.load(
            BytesIO(message["state"]),
            map_location=get_torch_default_device(),
            weights_only=True,
        )
        try:
            self._model.load_state_dict(state)
        except RuntimeError as error:
            raise ValueError(
                "The saved weights of the parser do not fit its settings. Widths, "
                "rank, depth, 'inference' and 'tied' cannot be changed after training: "
                f"undo the change in the section of the parser's model. ({error})"
            ) from None
        return self
