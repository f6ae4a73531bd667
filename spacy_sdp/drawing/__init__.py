"""Pictures of graphs."""

from __future__ import annotations

from spacy.tokens import Doc, Span

from ..extensions import DEFAULT_ATTR, get_graph, span_graph
from ..graph import SemanticGraph
from .picture import make_pictures
from .svg import draw_svg

Source = Doc | Span | SemanticGraph


def render(
    source: Source, *, gold: Source | None = None, attr: str = DEFAULT_ATTR
) -> str:
    """Draw a graph as SVG.

    source (Doc | Span | SemanticGraph): What to draw.
    gold (Doc | Span | SemanticGraph): A graph of the same words to compare it with. It
        is drawn below the words; arcs in both graphs have one colour, those that were
        missed or invented have others.
    attr (str): The attribute of Docs and Spans with the graph.
    RETURNS (str): An SVG element for each sentence.
    """
    other = None if gold is None else _to_graph(gold, attr)
    pictures = make_pictures(_to_graph(source, attr), other)
    return "\n".join(draw_svg(picture) for picture in pictures)


def _to_graph(source: Source, attr: str) -> SemanticGraph:
    if isinstance(source, SemanticGraph):
        return source
    graph = (
        span_graph(source, attr)
        if isinstance(source, Span)
        else get_graph(source, attr)
    )
    if graph is None:
        raise ValueError(f"There is no graph in Doc._.{attr} to draw.")
    return graph
