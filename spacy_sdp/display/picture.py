"""The contents of a picture: words, arcs, and optionally a gold graph below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy.tokens import Span, Token

from ..graph.graph import SemanticGraph
from ..graph.spans import sentences
from .layout import PlacedArc

MATCH, MISSED, INVENTED = "match", "missed", "invented"


@dataclass
class Picture:
    """The words of a sentence, the arcs above them, and those below."""

    words: list[str]
    text: str
    # The result of a comparison for each top, as for arcs.
    tops: dict[int, str] = field(default_factory=dict)
    above: list[PlacedArc] = field(default_factory=list)
    below: list[PlacedArc] = field(default_factory=list)

    @property
    def arcs(self) -> list[PlacedArc]:
        return self.above + self.below


def make_pictures(
    graph: SemanticGraph,
    gold: SemanticGraph | None = None,
    span: Span | None = None,
    *,
    frames: bool = False,
) -> Iterator[Picture]:
    """Create the picture of each sentence.

    graph (SemanticGraph): The graph.
    gold (Optional[SemanticGraph]): A gold graph of the same words to compare with,
        which is drawn below the words.
    span (Optional[Span]): Draw only these words.
    frames (bool): Write the frame of a word, if any, after it.
    YIELDS (Picture): The pictures, without whitespace tokens.
    """
    if gold is not None and [t.text for t in gold.doc] != [t.text for t in graph.doc]:
        raise ValueError(
            "Graphs can only be compared if their Docs have the same words."
        )
    shown = graph.doc[:] if span is None else span
    for sent in sentences(graph.doc):
        part = graph.doc[max(sent.start, shown.start) : min(sent.end, shown.end)]
        tokens = [token for token in part if not token.text.isspace()]
        if not tokens:
            continue
        index = {token.i: number for number, token in enumerate(tokens)}
        picture = Picture(
            [_caption(graph, token) if frames else token.text for token in tokens],
            part.text.strip(),
            dict.fromkeys(_find_tops(graph, index), ""),
            _place_arcs(graph, index),
        )
        if gold is not None:
            picture.below = _place_arcs(gold, index)
            _compare(picture, _find_tops(gold, index))
        yield picture


def _caption(graph: SemanticGraph, token: Token) -> str:
    frame = graph.frame(token)
    return token.text if frame is None else f"{token.text}/{frame}"


def _place_arcs(graph: SemanticGraph, index: dict[int, int]) -> list[PlacedArc]:
    return [
        PlacedArc(index[head], index[dep], label)
        for head, dep, label, _ in graph.indexed_arcs
        if head in index and dep in index
    ]


def _find_tops(graph: SemanticGraph, index: dict[int, int]) -> list[int]:
    return [index[top.i] for top in graph.tops if top.i in index]


def _compare(picture: Picture, gold_tops: list[int]) -> None:
    """Mark arcs and tops as matching, missed or invented."""
    picture.tops = {
        **{top: MATCH if top in gold_tops else INVENTED for top in picture.tops},
        **{top: MISSED for top in gold_tops if top not in picture.tops},
    }
    system = {(arc.head, arc.dep, arc.label) for arc in picture.above}
    gold = {(arc.head, arc.dep, arc.label) for arc in picture.below}
    for side, other, kind in (
        (picture.above, gold, INVENTED),
        (picture.below, system, MISSED),
    ):
        for arc in side:
            arc.kind = MATCH if (arc.head, arc.dep, arc.label) in other else kind
