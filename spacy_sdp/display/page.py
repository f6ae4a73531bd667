"""A self-contained HTML page of pictures, which loads no other resources.

The Jinja templates are in the folder `assets`. They escape all text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from spacy.util import minify_html

from ..graph.adjuncts import ADJUNCTS, OTHER
from ..graph.clauses import Clause
from ..graph.labels import LABELS, explain
from ..graph.phrases import Phrase
from ..graph.table import CONTEXT_COLUMNS, Row
from .picture import INVENTED, MATCH, MISSED, Picture
from .svg import STYLE, draw_svg, replace_control_characters

# Maximum number of words in a picture. Longer sentences would not be legible.
LONGEST_PICTURE = 150
# Widths of pictures on phones and on larger screens, which the style sheet repeats.
WIDTHS = {"narrow": 330, "wide": 700}
# Forbids loading any resources, whatever the texts contain. Pictures are saved as PNG
# through an image of the page itself.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src blob:"
)


class ClauseRow(NamedTuple):
    """A row of the table of clauses."""

    clause: Clause
    row: Row  # as in the tables of `parse`
    kind: str  # the result of a comparison, as for arcs
    details: list[tuple[str, Phrase]]  # adjuncts and other parts, by name


def draw_page(
    pictures: Iterable[Picture],
    title: str,
    *,
    names: tuple[str, str] | None = None,
    minify: bool = False,
) -> Iterator[str]:
    """Yield the pieces of a page with a filter by text and label.

    pictures (Iterable[Picture]): The sentences, which are drawn one at a time.
    title (str): The title of the page.
    names (Optional[Tuple[str, str]]): The names of the graphs above and below the
        words, if the pictures compare two graphs.
    minify (bool): Whether to remove line breaks from the pictures.
    YIELDS (str): HTML.
    """
    return (
        _environment()
        .get_template("page.html")
        .generate(
            pictures=pictures,
            title=title,
            names=names,
            minify=minify,
            policy=POLICY,
            scripts=["page.js"],
        )
    )


def draw_form(
    title: str,
    examples: Iterable[str],
    pipelines: Iterable[str],
    policy: str,
) -> str:
    """Render the page on which users type a text to see its graphs.

    title (str): The title of the page.
    examples (Iterable[str]): Texts to choose from. The first one is shown initially.
    pipelines (Iterable[str]): The names of the pipelines to choose from.
    policy (str): The Content-Security-Policy of the page.
    RETURNS (str): HTML.
    """
    return (
        _environment()
        .get_template("serve.html")
        .render(
            pictures=(),
            title=title,
            examples=examples,
            pipelines=pipelines,
            names=("", ""),
            policy=policy,
            scripts=["page.js", "serve.js"],
        )
    )


def draw_article(
    picture: Picture, names: tuple[str, str] | None = None, minify: bool = False
) -> str:
    """Render a sentence as HTML: its picture and tables of its clauses and arcs.

    picture (Picture): The words and arcs.
    names (Optional[Tuple[str, str]]): The names of the graphs, if there are two.
    minify (bool): Whether to remove line breaks from the picture.
    RETURNS (str): HTML, which templates do not escape again.
    """
    drawings = {}
    if len(picture.words) <= LONGEST_PICTURE:
        narrow, wide = (
            draw_svg(picture, width, with_style=False) for width in WIDTHS.values()
        )
        drawn = {"narrow": narrow}
        if narrow != wide:
            narrow = draw_svg(picture, WIDTHS["narrow"], with_style=False, compact=True)
            drawn = {"narrow": narrow, "wide": wide}
        drawings = {
            name: Markup(minify_html(svg) if minify else svg)
            for name, svg in drawn.items()
        }
    return Markup(
        _environment()
        .get_template("article.html")
        .render(
            picture=picture,
            drawings=drawings,
            tables=list(zip(names or ("",), _clause_tables(picture), strict=True)),
            rows=_rows(picture),
        )
    )


def _clause_tables(picture: Picture) -> list[list[ClauseRow] | None]:
    """Get the rows of each graph's table, or None if clauses cannot be extracted."""
    found = picture.clauses()
    if len(found) == 1:
        return [_clause_rows(found[0], lambda clause: "")]
    above, below = ({_to_key(each) for each, _ in clauses or ()} for clauses in found)
    return [
        _clause_rows(found[0], lambda c: MATCH if _to_key(c) in below else INVENTED),
        _clause_rows(found[1], lambda c: MATCH if _to_key(c) in above else MISSED),
    ]


def _clause_rows(
    clauses: list[tuple[Clause, Row]] | None, find_kind: Callable[[Clause], str]
) -> list[ClauseRow] | None:
    if clauses is None:
        return None
    return [
        ClauseRow(clause, row, find_kind(clause), list(_details(clause)))
        for clause, row in clauses
    ]


def _to_key(clause: Clause) -> tuple[str | bool | float | None, ...]:
    return tuple(value for name, value in clause.to_dict().items() if name != "score")


def _details(clause: Clause) -> Iterator[tuple[str, Phrase]]:
    """Yield the parts of a clause that have no separate column in the table."""
    for name in ADJUNCTS:
        label = "other" if name == OTHER else name
        yield from ((label, phrase) for phrase in getattr(clause, name))
    yield from (
        ("negated by", Phrase.from_indices(each, [each.i])) for each in clause.negation
    )
    yield from (("modality", phrase) for phrase in clause.modality)
    for name in CONTEXT_COLUMNS:
        phrase = getattr(clause, name)
        if phrase is not None:
            yield name, phrase


def _rows(picture: Picture) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield each predicate, the CSS classes of its cell, and its arguments."""
    args: dict[int, list[tuple[str, str]]] = {}
    for arc in sorted(picture.above, key=lambda arc: (arc.head, arc.dep, arc.label)):
        args.setdefault(arc.head, []).append((arc.label, picture.words[arc.dep]))
    for i in sorted({*args, *picture.tops}):
        kind = f"top {picture.tops[i]}".strip() if i in picture.tops else ""
        yield picture.words[i], kind, args.get(i, [])


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    # Keep the order of columns.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.globals.update(
        asset=_asset,
        draw_article=draw_article,
        explanations={name: explain(name) for each in LABELS for name in each.names},
        picture_style=Markup(STYLE),
        widths=WIDTHS,
    )
    return environment


def _finalize(value: Any) -> Any:
    # Any value that is not Markup is untrusted text.
    return replace_control_characters(value) if type(value) is str else value


@cache
def _asset(name: str) -> Markup:
    """Read a style sheet or a script."""
    return Markup((files(__package__) / "assets" / name).read_text(encoding="utf8"))
