"""Graphs as SVG, for words with several heads, many arcs and any script.

It is written by hand, because no library draws arcs over words without overlaps:
displaCy draws trees, where each word has one head, and its labels would overlap here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from html import escape
from unicodedata import category

from ..graph.terminal import display_width
from .layout import (
    Measures,
    PlacedArc,
    Row,
    is_right_to_left,
    place_in_rows,
)
from .picture import Picture

FONT_SIZE, LABEL_SIZE = 16, 12
# Character widths cannot be measured here, so assume those of a wide font, in em.
NARROW = frozenset("fijltrI.,:;!|'`()[]{}/\\-\"· ")
WIDE = frozenset("mMW@%&—…‰™ŒÆœæЖШЩЮжшщю")
BOLD = 1.15
LEVEL_HEIGHT = 22
RADIUS = 8
MARGIN = 12
# Maximum number of characters of a word in the label of an arc to another row.
LONGEST_END, COMPACT_END = 12, 8
ARROW = 4
MEASURES = Measures(between_words=18, between_ports=9, around_label=2 * RADIUS + 8)
# For phones: more words in a row. Words still have 13.6 pixels.
COMPACT = Measures(between_words=8, between_ports=8, around_label=2 * RADIUS + 4)
COMPACT_SCALE = 0.85
# Characters that are not allowed in XML.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

# Colours of words, lines, background, tops, and arcs in a comparison.
LIGHT = """--sdp-text: #1b1b1f; --sdp-line: #5b6770; --sdp-back: #ffffff;
  --sdp-top: #1f5fa8; --sdp-match: #2e7d32; --sdp-missed: #a86400;
  --sdp-invented: #b3261e;"""
DARK = """--sdp-text: #e6e6ea; --sdp-line: #9aa7b0; --sdp-back: #1b1b1f;
  --sdp-top: #8ab4f8; --sdp-match: #81c784; --sdp-missed: #ffb74d;
  --sdp-invented: #ff8a80;"""
# The theme of the system, unless a notebook (JupyterLab, Visual Studio Code, Colab) or
# a documentation page sets its own theme.
STYLE = f"""\
.sdp {{ {LIGHT} font-family: system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{ .sdp {{ {DARK} }} }}
:is([data-jp-theme-light=true], .vscode-light, [theme=light], [data-theme=light])
  .sdp {{ {LIGHT} }}
:is([data-jp-theme-light=false], .vscode-dark, [theme=dark], [data-theme=dark])
  .sdp {{ {DARK} }}
"""
STYLE += """\
.sdp .back { fill: var(--sdp-back); }
.sdp .word { font-size: 16px; fill: var(--sdp-text); text-anchor: middle; }
.sdp .top { font-weight: bold; fill: var(--sdp-top); }
.sdp .arc { fill: none; stroke: var(--sdp-line); stroke-width: 1.5; }
.sdp .tip { fill: var(--sdp-line); }
.sdp .label { font-size: 12px; fill: var(--sdp-text); text-anchor: middle;
  paint-order: stroke; stroke: var(--sdp-back); stroke-width: 5px; }
.sdp .end { fill: var(--sdp-line); font-style: italic; }
.sdp .match { --sdp-line: var(--sdp-match); --sdp-top: var(--sdp-match); }
.sdp .missed { --sdp-line: var(--sdp-missed); --sdp-top: var(--sdp-missed); }
.sdp .missed.top { text-decoration: underline dashed; }
.sdp .missed .arc { stroke-dasharray: 5 3; }
.sdp .invented { --sdp-line: var(--sdp-invented);
  --sdp-top: var(--sdp-invented); }
"""


def draw_svg(
    picture: Picture,
    width: float = math.inf,
    *,
    with_style: bool = True,
    compact: bool = False,
) -> str:
    """Draw a sentence.

    picture (Picture): The words and arcs.
    width (float): Maximum width, if possible. Longer sentences are wrapped.
    with_style (bool): Whether to include the style sheet, which a page needs only once.
    compact (bool): Whether to use smaller type and gaps, for phones.
    RETURNS (str): An SVG element.
    """
    scale = COMPACT_SCALE if compact else 1
    longest = COMPACT_END if compact else LONGEST_END
    ends = [_shorten(word, longest) for word in picture.words]
    rows = place_in_rows(
        [
            FONT_SIZE * text_width(word) * (BOLD if i in picture.tops else 1)
            for i, word in enumerate(picture.words)
        ],
        picture.above,
        picture.below,
        [LABEL_SIZE * text_width(arc.label) for arc in picture.arcs],
        COMPACT if compact else MEASURES,
        width / scale - 2 * MARGIN,
        [LABEL_SIZE * text_width(f"·{end}") for end in ends],
    )
    full_width = max(row.layout.width for row in rows) + 2 * MARGIN
    parts, height = [], 0.0
    for row in rows:
        drawn, row_height = _draw_row(picture, row, ends, full_width, height)
        parts += drawn
        height += row_height
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="sdp" '
            f'width="{scale * full_width:.0f}" height="{scale * height:.0f}" '
            f'viewBox="0 0 {full_width:.0f} {height:.0f}" role="img" '
            # Notebooks would shrink wide pictures until they are illegible.
            'style="max-width: none">',
            f"<title>{escape_xml(' '.join(picture.text.split()))}</title>",
            *([f"<style>{STYLE}</style>"] if with_style else []),
            f'<rect class="back" width="{full_width:.0f}" height="{height:.0f}" />',
            *parts,
            "</svg>",
        ]
    )


def _draw_row(
    picture: Picture, row: Row, ends: list[str], width: float, y: float
) -> tuple[list[str], float]:
    """Draw a row at a vertical position. Returns its elements and its height."""
    layout = row.layout
    mirrored = is_right_to_left(picture.text)
    heights = [_height(side) for side in (layout.above, layout.below)]
    # The baseline of the words.
    baseline = y + MARGIN + heights[0] + FONT_SIZE

    def across(x: float) -> float:
        return round(width - MARGIN - x if mirrored else MARGIN + x, 1)

    parts = []
    for side, start, direction in (
        (layout.above, baseline - FONT_SIZE - 2, -1),
        (layout.below, baseline + FONT_SIZE / 2 + 2, 1),
    ):
        # Draw lines before labels, so that a line never covers a label.
        drawn = [
            _draw_arc(picture, arc, row, ends, across, start, direction) for arc in side
        ]
        parts += [line for line, _ in drawn]
        parts += [label for _, label in drawn]
    for i, x in zip(row.words, row.word_x, strict=True):
        kind = "word"
        if i in picture.tops:
            kind = f"word top {picture.tops[i]}".strip()
        parts.append(
            f'<text class="{kind}" data-word="{i}" x="{across(x)}" '
            f'y="{baseline:.1f}">{escape_xml(picture.words[i])}</text>'
        )
    return parts, baseline - y + heights[1] + FONT_SIZE / 2 + MARGIN


def _draw_arc(
    picture: Picture,
    piece: PlacedArc,
    row: Row,
    ends: list[str],
    across: Callable[[float], float],
    start: float,
    direction: int,
) -> tuple[str, str]:
    """Draw the line of an arc in a row, its tip if any, and its label."""
    arc = picture.arcs[piece.number]
    head, dep = across(piece.head_x), across(piece.dep_x)
    y = start + direction * piece.level * LEVEL_HEIGHT
    bend = RADIUS if dep > head else -RADIUS
    corner = y - direction * RADIUS
    other_end = tip = ""
    if row.is_outside(piece.head):
        other_end = ends[arc.head]
        path = f"M{head} {y:.1f}"
    else:
        path = (
            f"M{head} {start:.1f}V{corner:.1f}Q{head} {y:.1f} {head + bend:.1f} {y:.1f}"
        )
    if row.is_outside(piece.dep):
        other_end = ends[arc.dep]
        path += f"H{dep}"
    else:
        path += f"H{dep - bend:.1f}Q{dep} {y:.1f} {dep} {corner:.1f}V{start:.1f}"
        tip = (
            f'<path class="tip" d="M{dep - ARROW:.1f} {start + direction * ARROW:.1f}'
            f'h{2 * ARROW}L{dep} {start - direction * ARROW:.1f}z" />'
        )
    kind = f"edge {arc.kind}".strip()
    name = escape_xml(arc.label)
    score = "" if arc.score is None else f' data-score="{arc.score:.4f}"'
    line = (
        f'<g class="{kind}" data-arc="{piece.number}" data-label="{name}" '
        f'data-head="{arc.head}" data-dep="{arc.dep}"{score}>'
        f'<path class="arc" d="{path}" />{tip}</g>'
    )
    if other_end:
        other_end = f'<tspan class="end">·{escape_xml(other_end)}</tspan>'
    label = (
        f'<text class="label" data-arc="{piece.number}" data-label="{name}" '
        f'x="{(head + dep) / 2:.1f}" y="{y + 0.35 * LABEL_SIZE:.1f}">'
        f"{name}{other_end}</text>"
    )
    return line, label


def _height(arcs: list[PlacedArc]) -> float:
    """Get the height of the highest arc, including its label."""
    highest = max((arc.level for arc in arcs), default=0)
    return highest * LEVEL_HEIGHT + LABEL_SIZE if highest else 0.0


def _shorten(word: str, longest: int) -> str:
    """Shorten a word in a label."""
    return word if len(word) <= longest else f"{word[: longest - 1]}…"


def text_width(text: str) -> float:
    """RETURNS (float): The width of a text in a wide font, in em."""
    return sum(map(_char_width, text))


def _char_width(char: str) -> float:
    columns = display_width(char)
    if columns != 1:
        # Emoji are wider than Chinese characters.
        return 1.3 if category(char) == "So" else columns / 2
    if char in NARROW:
        return 0.42
    if char in WIDE:
        return 1.02
    return 0.82 if char.isupper() or not char.isalnum() else 0.66


def escape_xml(text: str) -> str:
    """Escape a text for XML and HTML."""
    return escape(replace_control_characters(text))


def replace_control_characters(text: str) -> str:
    """Replace characters that are not allowed in XML and HTML."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
