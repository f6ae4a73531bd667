"""The gold label of every arc of a batch, and the gold frame of every word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy
from spacy.training import Example

from ..graph.alignment import align_one_to_one
from ..graph.arc import IndexedArc
from ..graph.extensions import get_graph
from ..graph.graph import SemanticGraph
from .batch import Batch, GoldArcs, GoldFrames, Words
from .labels import FIRST_FRAME, FIRST_LABEL, NO_FRAME, NULL, ROOT


def find_gold_arcs(
    examples: Sequence[Example], batch: Batch, labels: Sequence[str], attr: str
) -> GoldArcs:
    """Find the gold label of every arc.

    It is unknown in Docs without a graph, and for tokens that are not aligned
    one-to-one with a gold token. Arcs across the sentence boundaries of the batch are
    ignored.

    examples (Sequence[Example]): The Examples.
    batch (Batch): The sentences of their predicted Docs.
    labels (Sequence[str]): The labels of the corpus.
    attr (str): The gold graphs are `Doc._.<attr>`.
    RETURNS (GoldArcs): The labels.
    """
    gold = GoldArcs(
        labels=numpy.full(int(batch.arc_offsets[-1]), NULL),
        known=numpy.zeros(int(batch.arc_offsets[-1]), dtype="float32"),
    )
    ids = {label: i for i, label in enumerate(labels, start=FIRST_LABEL)}
    graphs = [get_graph(example.reference, attr) for example in examples]
    tokens = [
        {} if graph is None else align_one_to_one(example)
        for example, graph in zip(examples, graphs, strict=True)
    ]
    places: list[dict[int, Place]] = [{} for _ in examples]
    for number, words in enumerate(batch.sentences):
        nodes = _gold_nodes(words, tokens[words.doc])
        places[words.doc] |= {token: Place(number, n) for token, n in nodes.items()}
        arcs = slice(*batch.arc_offsets[number : number + 2])
        gold.known[arcs] = _known_arcs(len(words), list(nodes.values()))
    for example, graph, place in zip(examples, graphs, places, strict=True):
        if graph is not None:
            _write_labels(gold, batch, graph, place, ids, example)
    return gold


def find_gold_frames(
    examples: Sequence[Example], batch: Batch, frames: Sequence[str], attr: str
) -> GoldFrames:
    """Find the gold frame of every word.

    It is unknown in Docs without frames, for tokens that are not aligned one-to-one
    with a gold token, and for frames that are not learned. It is also unknown for words
    outside the gold graph, which get no frame because they get no arc.

    examples (Sequence[Example]): The Examples.
    batch (Batch): The sentences of their predicted Docs.
    frames (Sequence[str]): The frames of the corpus.
    attr (str): The gold graphs are `Doc._.<attr>`.
    RETURNS (GoldFrames): The frames.
    """
    ids = {frame: i for i, frame in enumerate(frames, start=FIRST_FRAME)}
    found = numpy.full(int(batch.doc_offsets[-1]), NO_FRAME)
    known = numpy.zeros(len(found), dtype="float32")
    for example, offset in zip(examples, batch.doc_offsets, strict=False):
        graph = get_graph(example.reference, attr)
        if graph is None or not graph.has_frames:
            continue
        nodes = graph_nodes(graph.indexed_arcs, (top.i for top in graph.tops))
        for token, gold in align_one_to_one(example).items():
            frame = graph.frame(example.reference[gold])
            row = offset + token
            if frame is None:
                known[row] = gold in nodes
            elif frame in ids:
                found[row], known[row] = ids[frame], 1
    return GoldFrames(found[batch.word_rows], known[batch.word_rows])


def graph_nodes(arcs: Iterable[IndexedArc], tops: Iterable[int]) -> set[int]:
    """Get the nodes of a graph.

    arcs (Iterable[IndexedArc]): The arcs.
    tops (Iterable[int]): The tops.
    RETURNS (Set[int]): The token indices of the nodes.
    """
    return {*tops, *(i for arc in arcs for i in (arc.head, arc.dep))}


@dataclass(frozen=True)
class Place:
    """The position of a gold token in the batch."""

    sentence: int
    node: int


def _gold_nodes(words: Words, to_gold: dict[int, int]) -> dict[int, int]:
    """Map gold tokens to the nodes of a sentence, counting from 1."""
    return {
        to_gold[token]: node
        for node, token in enumerate(words.tokens.tolist(), start=1)
        if token in to_gold
    }


def _known_arcs(n: int, nodes: list[int]) -> numpy.ndarray:
    """Get 1 for arcs between known nodes and 0 for others, (arcs of the sentence,)."""
    is_known = numpy.zeros(n + 1, dtype="float32")
    is_known[[0, *nodes]] = 1
    known = numpy.outer(is_known, is_known[1:])
    known[numpy.arange(1, n + 1), numpy.arange(n)] = 0  # self-loops
    return known.ravel()


def _write_labels(
    gold: GoldArcs,
    batch: Batch,
    graph: SemanticGraph,
    places: dict[int, Place],
    ids: dict[str, int],
    example: Example,
) -> None:
    for top in graph.tops:
        if top.i in places:
            place = places[top.i]
            gold.labels[batch.arc_row(place.sentence, 0, place.node)] = ROOT
    for arc in graph.indexed_arcs:
        if arc.head not in places or arc.dep not in places:
            continue
        if arc.label not in ids:
            raise ValueError(_unknown_label(arc.label, example))
        head, dep = places[arc.head], places[arc.dep]
        if head.sentence != dep.sentence:
            continue
        row = batch.arc_row(dep.sentence, head.node, dep.node)
        if gold.labels[row] != NULL:
            raise ValueError(_two_labels(arc, example))
        gold.labels[row] = ids[arc.label]


def _two_labels(arc: IndexedArc, example: Example) -> str:
    head, dep = example.reference[arc.head], example.reference[arc.dep]
    return (
        "The parser predicts one label for a pair of words, but the training data has "
        f"several between {head.text!r} and {dep.text!r} "
        f'("{example.reference[:8].text} ..."): join them into one label.'
    )


def _unknown_label(label: str, example: Example) -> str:
    return (
        f"The parser does not know the label {label!r} of an arc in the training data "
        f'("{example.reference[:8].text} ..."). Labels are fixed when the component is '
        "initialized: initialize it with all training data, or pass all `labels`. A "
        "pipeline that is fine-tuned keeps its labels."
    )
