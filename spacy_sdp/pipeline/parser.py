"""The pipeline component `sdp_meanfield`."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, Optimizer, set_dropout_rate

from ..graph.arc import IndexedArc
from ..graph.extensions import DEFAULT_ATTR, get_graph, register_extensions, set_graph
from ..graph.graph import SemanticGraph
from ..model.batch import ArcGradients, ArcPosteriors, ArcScores, Batch
from ..model.gold import find_gold_arcs, find_gold_frames, graph_nodes
from ..model.labels import FIRST_FRAME, FIRST_LABEL, NO_FRAME, ROOT
from ..model.loss import arc_loss, frame_loss
from .inputs import find_missing_inputs
from .scorer import score_examples

default_model_config = """
[model]
@architectures = "spacy_sdp.MeanFieldParser.v2"
scores = "factored"
lstm_width = 200
lstm_depth = 1
mlp_width = 150

[model.inference]
@misc = "spacy_sdp.mean_field.v1"
factor_width = 50
rank = 64
train_iterations = 2
predict_iterations = 3

[model.tok2vec]
@architectures = "spacy.MultiHashEmbed.v2"
width = 128
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [5000, 1000, 2500, 2500]
include_static_vectors = false
"""
DEFAULT_MODEL = Config().from_str(default_model_config)["model"]


@Language.factory(
    "sdp_meanfield",
    assigns=["doc._.sdp", "token._.sdp_heads", "token._.sdp_args", "token._.sdp_top"],
    default_config={
        "model": DEFAULT_MODEL,
        "attr": DEFAULT_ATTR,
        "threshold": None,
        "scorer": {"@scorers": "spacy_sdp.sdp_scorer.v1"},
    },
    default_score_weights={
        "sdp_lf": 1.0,
        "sdp_lp": 0.0,
        "sdp_lr": 0.0,
        "sdp_uf": 0.0,
        "sdp_up": None,
        "sdp_ur": None,
        "sdp_lm": None,
        "sdp_um": None,
        "sdp_lf_per_type": None,
        "sdp_ff": None,
        "sdp_frame_acc": None,
    },
)
def make_sdp_meanfield(
    nlp: Language,
    name: str,
    model: Model[list[Doc], ArcScores | ArcPosteriors],
    attr: str,
    threshold: float | None,
    scorer: Callable | None,
) -> "SemanticParser":
    """Create a semantic dependency parser.

    model (Model): The model, see `spacy_sdp.MeanFieldParser.v2`.
    attr (str): The graphs are stored in `Doc._.<attr>`, and the scores are called
        `<attr>_lf` and so on.
    threshold (Optional[float]): The minimum probability of an arc. If None, an arc is
        predicted if its most probable label is more probable than no arc.
    scorer (Callable): The scoring method.
    """
    return SemanticParser(
        nlp.vocab, model, name, attr=attr, threshold=threshold, scorer=scorer
    )


# Labels, or the lists "labels" and "frames".
LabelData = list[str] | dict[str, list[str]]


class ParsedArcs(NamedTuple):
    """The parse of a Doc."""

    arcs: list[IndexedArc]
    tops: list[int]
    frames: dict[int, str] | None = None  # None if they are not predicted


class SemanticParser(TrainablePipe):
    """Predicts a labelled directed graph between the words of each sentence."""

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = "sdp_meanfield",
        *,
        attr: str = DEFAULT_ATTR,
        threshold: float | None = None,
        scorer: Callable | None = score_examples,
    ) -> None:
        """Initialize a semantic dependency parser.

        vocab (Vocab): The shared vocabulary.
        model (Model): The model, see `spacy_sdp.MeanFieldParser.v2`.
        name (str): The name of the component, also of its losses.
        attr (str): The graphs are stored in `Doc._.<attr>`.
        threshold (Optional[float]): The minimum probability of an arc, see `threshold`.
        scorer (Optional[Callable]): The scoring method.
        """
        register_extensions(attr)
        self.vocab = vocab
        self.model = model
        self.name = name
        self.attr = attr
        self.threshold = threshold
        self.scorer = scorer
        self.cfg: dict[str, Any] = {"labels": [], "frames": []}
        self._has_warned = False

    @property
    def threshold(self) -> float | None:
        """The minimum probability of an arc.

        Lower favours recall, higher favours precision. Arcs that the model prunes are
        never predicted. If None, an arc is predicted if its most probable label is more
        probable than no arc.
        """
        return self._threshold

    @threshold.setter
    def threshold(self, value: float | None) -> None:
        if value is not None and not (
            isinstance(value, int | float) and 0 <= value <= 1
        ):
            raise ValueError(
                f"The setting 'threshold' of '{self.name}' is a probability: it must "
                f"be between 0 and 1, or null, not {value!r}."
            )
        self._threshold = value

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The labels of arcs between words."""
        return tuple(self.cfg["labels"])

    @property
    def frames(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The frames, empty if not predicted."""
        return tuple(self.cfg["frames"])

    @property
    def label_data(self) -> LabelData:
        """RETURNS (List[str] | Dict[str, List[str]]): The labels for `initialize`, or,
        if frames are predicted, the lists "labels" and "frames".
        """
        if not self.frames:
            return list(self.labels)
        return {"labels": list(self.labels), "frames": list(self.frames)}

    def add_label(self, label: str) -> int:
        """Add a label, which is possible until the component is initialized.

        label (str): The label.
        RETURNS (int): 0 if the label already exists, otherwise 1.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.E187)
        if not label:
            raise ValueError(f"Labels of '{self.name}' must not be empty.")
        if label in self.labels:
            return 0
        self._allow_extra_label()
        self.cfg["labels"].append(label)
        self.vocab.strings.add(label)
        return 1

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: LabelData | None = None,
    ) -> None:
        """Prepare the component for training.

        get_examples (Callable[[], Iterable[Example]]): Returns a representative sample
            of gold-standard Examples.
        nlp (Optional[Language]): The current nlp object.
        labels (Optional[List[str] | Dict[str, List[str]]]): The labels, or the lists
            "labels" and "frames", from `label_data` or `spacy init labels`. Missing
            lists are collected from the Examples.
        """
        validate_get_examples(get_examples, "SemanticParser.initialize")
        # PyTorch modules are only imported for pipelines that have a parser.
        from ..model.architecture import get_settings

        settings = get_settings(self.model)
        given = self._given_labels(labels)
        is_complete = "labels" in given and ("frames" in given or not settings.frames)
        found: set[str] = set()
        frames: Counter[str] = Counter()
        has_graph = False
        for example in get_examples():
            graph = get_graph(example.reference, self.attr)
            if graph is not None:
                has_graph = True
                if is_complete:
                    break
                found.update(arc.label for arc in graph.indexed_arcs)
                frames.update(filter(None, map(graph.frame, example.reference)))
        if not has_graph:
            raise ValueError(
                f"No Example for '{self.name}' has a graph in Doc._.{self.attr}. "
                "Convert the data with `python -m spacy sdp convert`, or save your "
                "Docs with DocBin(store_user_data=True): without it, graphs are lost."
            )
        for label in given.get("labels", sorted(found)):
            self.add_label(label)
        self._require_labels()
        if settings.frames:
            frequent = {
                frame
                for frame, count in frames.items()
                if count >= settings.min_frame_count
            }
            self._set_frames(given.get("frames", sorted(frequent)))
        if not self.model.has_dim("nO"):
            self.model.set_dim("nO", len(self.labels))
        elif self.model.get_dim("nO") != len(self.labels):
            raise ValueError(
                f"The setting 'nO' of the model of '{self.name}' is "
                f"{self.model.get_dim('nO')}, but there are {len(self.labels)} labels. "
                "Remove it: it is set when the component is initialized."
            )
        # A transformer does not return an array of the right width for a Doc without
        # tokens.
        docs = (example.predicted for example in get_examples())
        self.model.initialize(X=list(islice(filter(len, docs), 10)))

    def _given_labels(self, labels: LabelData | None) -> Mapping[str, list[str]]:
        if labels is None:
            return {}
        given = labels if isinstance(labels, Mapping) else {"labels": labels}
        if not given or set(given) - {"labels", "frames"}:
            raise ValueError(
                f"The labels of '{self.name}' must be a list, or a dictionary of the "
                f"lists 'labels' and 'frames', but found the keys {sorted(given)}."
            )
        for key, names in given.items():
            if isinstance(names, str) or not isinstance(names, Iterable):
                raise ValueError(
                    f"The {key} of '{self.name}' must be a list, not {names!r}."
                )
        return given

    def _set_frames(self, frames: list[str]) -> None:
        """Set the frames to predict, which cannot be changed later."""
        if not frames:
            raise ValueError(
                f"No Example for '{self.name}' has a frame in Doc._.{self.attr} that "
                "is frequent enough. Set 'frames' of its model to false, or lower "
                "'min_frame_count'."
            )
        for frame in frames:
            if not isinstance(frame, str) or not frame:
                raise ValueError(
                    f"The frames of '{self.name}' must be strings that are not empty, "
                    f"but found {frame!r}."
                )
        self.cfg["frames"] = list(dict.fromkeys(frames))
        self.model.set_dim("nF", len(self.frames), force=True)

    def predict(self, docs: Iterable[Doc]) -> list[ParsedArcs]:
        """Parse Docs without changing them.

        docs (Iterable[Doc]): The documents.
        RETURNS (List[ParsedArcs]): The arcs, tops and frames of each Doc.
        """
        docs = list(docs)
        parsed = [ParsedArcs([], [], {} if self.frames else None) for _ in docs]
        # Docs without tokens are left out, as in `initialize`.
        with_tokens = [number for number, doc in enumerate(docs) if len(doc)]
        if not with_tokens:
            return parsed
        self._warn_of_missing_inputs(docs)
        posteriors = self.model.predict([docs[number] for number in with_tokens])
        assert isinstance(posteriors, ArcPosteriors)
        to_numpy = self.model.ops.to_numpy
        null = to_numpy(posteriors.null)
        probabilities = to_numpy(posteriors.probability)
        frame_probabilities = to_numpy(posteriors.frame_probability)
        if any(
            numpy.isnan(each).any()
            for each in (null, probabilities, frame_probabilities)
        ):
            raise ValueError(
                f"'{self.name}' produced NaN scores. Either its tok2vec produces NaN "
                "vectors, or its weights are broken: train it again with a smaller "
                "learning rate."
            )
        labels = to_numpy(posteriors.label)
        if self.threshold is None:
            chosen = numpy.flatnonzero(to_numpy(posteriors.exists))
        else:
            chosen = numpy.flatnonzero(1 - null >= self.threshold)
        places = posteriors.batch.locate(to_numpy(posteriors.arcs)[chosen])
        names = self.labels
        for row, (number, head, dep) in zip(chosen, places, strict=True):
            arcs, tops, _ = parsed[with_tokens[number]]
            if labels[row] == ROOT:
                tops.append(dep)
            else:
                label = names[labels[row] - FIRST_LABEL]
                score = float(probabilities[row])
                arcs.append(IndexedArc(head, dep, label, score))
        if self.frames:
            self._add_frames([parsed[number] for number in with_tokens], posteriors)
        return parsed

    def _add_frames(self, parsed: list[ParsedArcs], posteriors: ArcPosteriors) -> None:
        """Add the predicted frames of words that are nodes of the graph."""
        batch, names = posteriors.batch, self.frames
        table = numpy.full(int(batch.doc_offsets[-1]), NO_FRAME)
        table[batch.word_rows] = self.model.ops.to_numpy(posteriors.frame)
        for (arcs, tops, frames), offset in zip(
            parsed, batch.doc_offsets, strict=False
        ):
            assert frames is not None
            for token in graph_nodes(arcs, tops):
                if (frame := table[offset + token]) != NO_FRAME:
                    frames[token] = names[frame - FIRST_FRAME]

    def _warn_of_missing_inputs(self, docs: list[Doc]) -> None:
        """Warn once if the pipeline does not set all inputs of the model."""
        if self._has_warned:
            return
        missing = find_missing_inputs(self.model, docs)
        if missing:
            self._has_warned = True
            warnings.warn(
                f"The graphs of '{self.name}' will be wrong: it needs "
                f"{' and '.join(missing)}, which no Doc has. Is this component "
                "missing, disabled, or after the parser in the pipeline?",
                stacklevel=2,
            )

    def set_annotations(self, docs: Iterable[Doc], graphs: list[ParsedArcs]) -> None:
        """Store graphs in `Doc._.<attr>`.

        docs (Iterable[Doc]): The documents.
        graphs (List[ParsedArcs]): The output of `predict`.
        """
        for doc, (arcs, tops, frames) in zip(docs, graphs, strict=True):
            set_graph(doc, SemanticGraph(doc, arcs, tops, frames), self.attr)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Update the model with a batch of Examples.

        examples (Iterable[Example]): The batch of Examples.
        drop (float): The dropout rate of thinc layers. Torch layers have separate
            rates, see `spacy_sdp.MeanFieldParser.v2`.
        sgd (Optional[Optimizer]): The optimizer.
        losses (Optional[Dict[str, float]]): Updated with the loss, by name.
        RETURNS (Dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "SemanticParser.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        set_dropout_rate(self.model, drop)
        # Pass the gold arcs to the model, so that it does not prune them.
        batch = Batch.from_docs([example.predicted for example in examples])
        gold = find_gold_arcs(examples, batch, self.labels, self.attr)
        batch = replace(batch, gold=gold)
        # The encoder expects a gradient even if no gold arc is known.
        scores, backprop = self.model.begin_update(batch)
        assert isinstance(scores, ArcScores)
        loss, gradient = self.get_loss(examples, scores)
        backprop(gradient)
        if sgd not in (None, False):
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def get_loss(
        self, examples: Iterable[Example], scores: ArcScores
    ) -> tuple[float, ArcGradients]:
        """Compute the loss per word, and its gradient.

        Pairs of words without a known gold label do not contribute to the loss: pairs
        in Docs without a graph, and tokens without a counterpart in the gold Doc. The
        same applies to frames.

        examples (Iterable[Example]): The batch of Examples.
        scores (ArcScores): The output of the model for their predicted Docs.
        RETURNS (Tuple[float, Tuple]): The loss and its gradient, see `arc_loss` and
            `frame_loss`.
        """
        examples = list(examples)
        validate_examples(examples, "SemanticParser.get_loss")
        batch = scores.batch
        gold = batch.gold or find_gold_arcs(examples, batch, self.labels, self.attr)
        loss, gradient = arc_loss(self.model.ops, scores, gold)
        d_frames = self.model.ops.xp.zeros_like(scores.frames)
        if self.frames:
            gold_frames = find_gold_frames(examples, batch, self.frames, self.attr)
            loss_of_frames, d_frames = frame_loss(self.model.ops, scores, gold_frames)
            loss += loss_of_frames
        if not numpy.isfinite(loss):
            raise ValueError(
                f"The loss of '{self.name}' is not a finite number. Use a smaller "
                "learning rate, or check the vectors of its tok2vec."
            )
        return loss, (*gradient, d_frames)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score a batch of Examples.

        examples (Iterable[Example]): The Examples.
        RETURNS (Dict[str, Any]): The scores, see `score_examples`.
        """
        return super().score(examples, **{"attr": self.attr, **kwargs})
