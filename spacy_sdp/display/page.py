"""A self-contained HTML page of pictures, which loads no other resources.

The Jinja templates are in the folder `assets`. They escape all text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from spacy.util import minify_html

from .picture import Picture
from .svg import draw_svg, replace_control_characters

# Maximum number of words in a picture. Longer sentences would not be legible.
LONGEST_PICTURE = 150
# Forbids loading any resources, whatever the texts contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def draw_page(
    pictures: Iterable[Picture],
    title: str,
    *,
    compared: bool = False,
    minify: bool = False,
) -> Iterator[str]:
    """Yield the pieces of a page with a filter by text and label.

    pictures (Iterable[Picture]): The sentences, which are drawn one at a time.
    title (str): The title of the page.
    compared (bool): Whether the pictures compare two graphs.
    minify (bool): Whether to remove line breaks from the pictures.
    YIELDS (str): HTML.
    """
    return (
        _environment()
        .get_template("page.html")
        .generate(
            pictures=pictures,
            title=title,
            compared=compared,
            minify=minify,
            policy=POLICY,
            scripts=["page.js"],
        )
    )


def draw_form(title: str, text: str, pipelines: Iterable[str], policy: str) -> str:
    """Render the page on which users type a text to see its graphs.

    title (str): The title of the page.
    text (str): The initial text.
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
            text=text,
            pipelines=pipelines,
            policy=policy,
            scripts=["page.js", "serve.js"],
        )
    )


def draw_article(picture: Picture, minify: bool = False) -> str:
    """Render a sentence as HTML: its picture and a table of its predicates.

    picture (Picture): The words and arcs.
    minify (bool): Whether to remove line breaks from the picture.
    RETURNS (str): HTML, which templates do not escape again.
    """

    def svg(picture: Picture) -> Markup:
        drawn = draw_svg(picture)
        return Markup(minify_html(drawn) if minify else drawn)

    return Markup(
        _environment()
        .get_template("article.html")
        .render(picture=picture, rows=_rows(picture), longest=LONGEST_PICTURE, svg=svg)
    )


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
    environment.globals.update(asset=_asset, draw_article=draw_article)
    return environment


def _finalize(value: Any) -> Any:
    # Any value that is not Markup is untrusted text.
    return replace_control_characters(value) if type(value) is str else value


@cache
def _asset(name: str) -> Markup:
    """Read a style sheet or a script."""
    return Markup((files(__package__) / "assets" / name).read_text(encoding="utf8"))
