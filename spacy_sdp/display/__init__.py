"""Pictures of graphs."""

from __future__ import annotations

from collections.abc import Callable

from spacy.tokens import Doc, Span

from ..graph.extensions import DEFAULT_ATTR, get_graph, span_graph
from ..graph.graph import SemanticGraph
from .dot import draw_dot
from .picture import Picture, make_pictures
from .svg import draw_svg
from .text import draw_text

Source = Doc | Span | SemanticGraph


# Each gives the drawing of one sentence.
STYLES: dict[str, Callable[[Picture], str]] = {
    "arcs": draw_svg,
    "dot": draw_dot,
    "text": draw_text,
}


def render(
    source: Source,
    style: str = "arcs",
    *,
    gold: Source | None = None,
    attr: str = DEFAULT_ATTR,
) -> str:
    """Draw a graph.

    source (Doc | Span | SemanticGraph): What to draw.
    style (str): "arcs" for SVG, "dot" for Graphviz, "text" for box characters.
    gold (Doc | Span | SemanticGraph): A graph of the same words to compare it with. It
        is drawn below the words; arcs in both graphs have one colour, and those that
        were missed or invented have others. (In text there are no colours.)
    attr (str): The attribute of Docs and Spans with the graph.
    RETURNS (str): The drawings of all sentences.

    >>> print(render(doc[3:6], style="text"))
      ╭──ARG2───╮
      │         ▼
    wants  to  eat
    ═════
    """
    if style not in STYLES:
        raise ValueError(
            f"There is no style {style!r}: choose one of {', '.join(STYLES)}."
        )
    other = None if gold is None else get_drawable(gold, attr)
    span = source if isinstance(source, Span) else None
    pictures = make_pictures(get_drawable(source, attr), other, span)
    return "\n".join(STYLES[style](picture) for picture in pictures)


def get_drawable(source: Source, attr: str) -> SemanticGraph:
    """Give the graph of a source, which must have one."""
    if isinstance(source, SemanticGraph):
        return source
    if not isinstance(source, Doc | Span):
        raise TypeError(
            "A Doc, a Span or a SemanticGraph can be drawn, not a "
            f"{type(source).__name__}."
        )
    graph = (
        span_graph(source, attr)
        if isinstance(source, Span)
        else get_graph(source, attr)
    )
    if graph is None:
        raise ValueError(f"There is no graph in Doc._.{attr} to draw.")
    return graph
