"""Visualization of graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from spacy.tokens import Doc, Span
from spacy.util import is_in_jupyter, minify_html

from ..graph.extensions import DEFAULT_ATTR, require_graph
from ..graph.graph import SemanticGraph
from .dot import draw_dot
from .page import draw_page
from .picture import Picture, make_pictures
from .svg import draw_svg
from .text import draw_text

Source = Doc | Span | SemanticGraph

# Functions that draw a single sentence.
STYLES: dict[str, Callable[[Picture], str]] = {
    "arcs": draw_svg,
    "dot": draw_dot,
    "text": draw_text,
}
PAGE_TITLE = "Semantic graphs"
# The names of the graphs above and below the words, if there are gold graphs.
COMPARED = ("predicted", "gold")


def render(
    docs: Source | Iterable[Source],
    style: str = "arcs",
    *,
    page: bool = False,
    minify: bool = False,
    jupyter: bool | None = None,
    gold: Source | Iterable[Source] | None = None,
    frames: bool = False,
    attr: str = DEFAULT_ATTR,
) -> str | None:
    """Draw graphs, as `spacy.displacy.render` draws trees.

    docs (Doc | Span | SemanticGraph | Iterable): The graph or graphs to draw.
    style (str): "arcs" for SVG, "dot" for Graphviz, "text" for box characters.
    page (bool): Render a full HTML page, with clauses and a filter by text and label.
    minify (bool): Remove line breaks and indentation between SVG elements.
    jupyter (Optional[bool]): Display the pictures in a notebook, where long sentences
        scroll, instead of returning them. By default, notebooks are detected
        automatically, unless `page` is set.
    gold (Doc | Span | SemanticGraph | Iterable): Gold graphs of the same words to
        compare with. They are drawn below the words. Colours mark arcs in both graphs,
        missing arcs and spurious arcs. (Text has no colours.)
    frames (bool): Show the frame of each word, as in "sleeps/v:e-x".
    attr (str): The attribute of Docs and Spans with the graph.
    RETURNS (Optional[str]): The drawings of all sentences or the page, or None if they
        are displayed in a notebook.

    >>> print(render(doc[3:6], style="text"))
      ╭──ARG2───╮
      │         ▼
    wants  to  eat
    ═════
    """
    if style != "arcs" and (page or minify or jupyter):
        raise ValueError(
            "'page', 'minify' and 'jupyter' are only supported with style='arcs', not "
            f"with {style!r}."
        )
    if page and jupyter:
        raise ValueError("Set only 'page' or 'jupyter': notebooks cannot show a page.")
    if page:
        pictures = _make_all_pictures(docs, gold, frames, attr)
        names = None if gold is None else COMPARED
        pieces = draw_page(pictures, PAGE_TITLE, names=names, minify=minify)
        return "".join(pieces)
    if jupyter or (jupyter is None and style == "arcs" and is_in_jupyter()):
        _show_in_notebook(
            to_html(docs, minify=minify, gold=gold, frames=frames, attr=attr)
        )
        return None
    drawings = draw(docs, style, gold=gold, frames=frames, attr=attr)
    return "\n".join(map(minify_html, drawings) if minify else drawings)


def draw(
    docs: Source | Iterable[Source],
    style: str = "arcs",
    *,
    gold: Source | Iterable[Source] | None = None,
    frames: bool = False,
    attr: str = DEFAULT_ATTR,
) -> list[str]:
    """Draw each sentence. The arguments are the same as for `render`."""
    if style not in STYLES:
        raise ValueError(
            f"There is no style {style!r}: choose one of {', '.join(STYLES)}."
        )
    return list(map(STYLES[style], _make_all_pictures(docs, gold, frames, attr)))


def to_html(
    docs: Source | Iterable[Source],
    *,
    minify: bool = False,
    gold: Source | Iterable[Source] | None = None,
    frames: bool = False,
    attr: str = DEFAULT_ATTR,
) -> str:
    """Render pictures as HTML for a notebook, with scrollbars if they are wide."""
    # The class stops MathJax from reading dollar signs. The style adapts scrollbars to
    # dark themes.
    return "\n".join(
        '<div class="tex2jax_ignore" '
        'style="overflow-x: auto; scrollbar-color: #888 transparent">'
        f"{minify_html(svg) if minify else svg}</div>"
        for svg in draw(docs, gold=gold, frames=frames, attr=attr)
    )


def _show_in_notebook(html: str) -> None:
    try:
        from IPython.display import HTML, display
    except ImportError:
        raise ImportError(
            "jupyter=True needs a notebook: IPython is not installed."
        ) from None
    display(HTML(html))


def _make_all_pictures(
    docs: Source | Iterable[Source],
    gold: Source | Iterable[Source] | None,
    frames: bool,
    attr: str,
) -> Iterator[Picture]:
    sources = _to_list(docs)
    others = [None] * len(sources) if gold is None else _to_list(gold)
    if len(others) != len(sources):
        raise ValueError(
            f"There are {len(sources)} graphs to draw, but {len(others)} in 'gold'."
        )
    for number, (source, other) in enumerate(zip(sources, others, strict=True)):
        yield from make_pictures(
            get_drawable(source, attr),
            None if other is None else get_drawable(other, attr),
            source if isinstance(source, Span) else None,
            frames=frames,
            number=number,
        )


def _to_list(docs: Source | Iterable[Source]) -> list[Source]:
    # Docs, Spans and graphs are also iterables.
    if isinstance(docs, Source):
        return [docs]
    if isinstance(docs, str) or not isinstance(docs, Iterable):
        raise _not_drawable(docs)
    return list(docs)


def get_drawable(source: Source, attr: str) -> SemanticGraph:
    """Get the graph of a source. Raises an error if it has none."""
    if isinstance(source, SemanticGraph):
        return source
    if isinstance(source, Span):
        return require_graph(source.doc, attr).subgraph(source)
    if isinstance(source, Doc):
        return require_graph(source, attr)
    raise _not_drawable(source)


def _not_drawable(source: object) -> TypeError:
    return TypeError(
        "Expected a Doc, a Span or a SemanticGraph to draw, or several of them, not a "
        f"{type(source).__name__}."
    )
