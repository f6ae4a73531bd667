"""A page of pictures in one file, which needs nothing else and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from .picture import Picture
from .svg import draw_svg, escape_xml

# A longer sentence would be a wall of lines.
LONGEST_PICTURE = 150
# Nothing may be loaded, whatever stands in the texts.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
FILTER = """\
<form id="filter">
<input type="search" name="text" placeholder="Find text" aria-label="Find text">
<select name="label" aria-label="Label"><option value="">all labels</option></select>
{more}<output id="count"></output>
</form>
"""
COMPARISON = """\
<label><input type="checkbox" name="mistakes"> only with mistakes</label>
<span class="legend"><span class="match">in both</span>\
<span class="missed">missed</span><span class="invented">invented</span></span>
"""
BUTTONS = """\
<footer><button type="button" data-action="copy-svg">Copy SVG</button>
<button type="button" data-action="save-svg">Save SVG</button></footer>
"""


def draw_page(
    pictures: Iterable[Picture], title: str, *, compared: bool = False
) -> Iterator[str]:
    """Yield the pieces of a page with a filter by text and label.

    pictures (Iterable[Picture]): The sentences.
    title (str): The title of the page.
    compared (bool): Whether the pictures compare two graphs.
    YIELDS (str): The beginning, one piece for each sentence, and the end.
    """
    form = FILTER.format(more=COMPARISON if compared else "")
    yield start_page(title, form, POLICY)
    for picture in pictures:
        yield draw_article(picture)
    yield end_page(asset("page.js"))


def start_page(title: str, form: str, policy: str) -> str:
    """Give the beginning of a page, up to its first sentence.

    title (str): The title.
    form (str): A form below it, as HTML.
    policy (str): The page's Content-Security-Policy.
    RETURNS (str): HTML.
    """
    title = escape_xml(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{asset('page.css')}</style>\n</head>\n"
        f"<body>\n<header>\n<h1>{title}</h1>\n{form}</header>\n<main>\n"
    )


def end_page(*scripts: str) -> str:
    """Give the end of a page, with its scripts."""
    code = "".join(f"<script>\n{script}</script>\n" for script in scripts)
    return f"</main>\n{code}</body>\n</html>\n"


def draw_article(picture: Picture) -> str:
    """Give a sentence as HTML: its picture beside a table of its predicates.

    picture (Picture): The words and arcs.
    RETURNS (str): HTML.
    """
    text = escape_xml(picture.text)
    start = f'<article data-text="{text}">\n'
    if len(picture.words) > LONGEST_PICTURE:
        note = f"{len(picture.words)} words are too many for a picture."
        return f'{start}<p class="note">{note}</p>\n{_table(picture)}</article>\n'
    return (
        f'{start}<div class="picture">{draw_svg(picture)}</div>\n'
        f"{_table(picture)}{BUTTONS}</article>\n"
    )


def _table(picture: Picture) -> str:
    args: dict[int, list[str]] = {}
    for arc in sorted(picture.above, key=lambda arc: (arc.head, arc.dep, arc.label)):
        args.setdefault(arc.head, []).append(
            '<span class="argument">'
            f'<span class="label-name">{escape_xml(arc.label)}</span> '
            f"<bdi>{escape_xml(picture.words[arc.dep])}</bdi></span> "
        )
    rows = []
    for i in sorted({*args, *picture.tops}):
        kind = f' class="top {picture.tops[i]}"' if i in picture.tops else ""
        word = escape_xml(picture.words[i])
        cells = f"<td{kind}><bdi>{word}</bdi></td><td>{''.join(args.get(i, []))}</td>"
        rows.append(f"<tr>{cells}</tr>\n")
    head = "<thead><tr><th>predicate</th><th>arguments</th></tr></thead>"
    table = f"<table>\n{head}\n<tbody>\n{''.join(rows)}</tbody>\n</table>"
    return f'<div class="predicates">{table}</div>\n'


@cache
def asset(name: str) -> str:
    """Give the text of a file in the folder `assets`."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf8")
