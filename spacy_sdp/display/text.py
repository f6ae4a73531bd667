"""Graphs in box-drawing characters, for terminals."""

from __future__ import annotations

from ..graph.terminal import display_width
from .layout import Measures, PlacedArc, place
from .picture import INVENTED, MATCH, MISSED, Picture

# One column between words, and a corner and a piece of line on each side of a label.
# One more column each, which may be lost in rounding.
MEASURES = Measures(between_words=2, between_ports=2, around_label=5)
LINE, POST, CROSSING = "─", "│", "┼"
# Marks below tops, by the result of a comparison.
TOP_MARKS = {"": "═", MATCH: "═", MISSED: "╌", INVENTED: "~"}
# Maps characters above the words to their mirror images below the words.
UPSIDE_DOWN = str.maketrans({"╭": "╰", "╮": "╯", "▼": "▲"})

# A row of characters by column. The second column of a wide character is empty.
Row = list[str]


def draw_text(picture: Picture) -> str:
    """Draw a sentence.

    picture (Picture): The words and arcs.
    RETURNS (str): Lines of text.
    """
    layout = place(
        [display_width(word) for word in picture.words],
        picture.above,
        picture.below,
        [display_width(arc.label) for arc in picture.arcs],
        MEASURES,
    )
    width = round(layout.width) + 2
    words, marks = [" "] * width, [" "] * width
    for i, (word, x) in enumerate(zip(picture.words, layout.word_x, strict=True)):
        start = round(x - display_width(word) / 2)
        _put(words, start, word)
        if i in picture.tops:
            mark = TOP_MARKS[picture.tops[i]]
            _put(marks, start, mark * display_width(word))
    below = [
        [char.translate(UPSIDE_DOWN) for char in row]
        for row in reversed(_draw_arcs(layout.below, width))
    ]
    rows = [*_draw_arcs(layout.above, width), words, marks, *below]
    return "\n".join("".join(row).rstrip() for row in rows if "".join(row).strip())


def _draw_arcs(arcs: list[PlacedArc], width: int) -> list[Row]:
    highest = max((arc.level for arc in arcs), default=0)
    rows = [[" "] * width for _ in range(highest + 1 if arcs else 0)]
    for arc in arcs:
        row = highest - arc.level
        head, dep = round(arc.head_x), round(arc.dep_x)
        left, right = sorted((head, dep))
        for column in range(left + 1, right):
            _cross(rows[row], column, LINE, POST)
        for below in rows[row + 1 :]:
            for column in (head, dep):
                _cross(below, column, POST, LINE)
        rows[row][left], rows[row][right] = "╭", "╮"
        rows[-1][dep] = "▼"
    # Write labels last, because other lines may cross their position.
    for arc in arcs:
        left, right = sorted((round(arc.head_x), round(arc.dep_x)))
        _put_label(rows[highest - arc.level], left + 1, right, arc.label)
    return rows


def _cross(row: Row, column: int, char: str, other: str) -> None:
    row[column] = CROSSING if row[column] in (other, CROSSING) else char


def _put_label(row: Row, start: int, end: int, label: str) -> None:
    """Write a label on its line, near the middle, without hiding crossings."""
    width = display_width(label)
    middle = (start + end - width) // 2
    places = sorted(range(start, end - width + 1), key=lambda i: abs(i - middle))
    free = [i for i in places if CROSSING not in row[i : i + width]]
    _put(row, (free or places or [middle])[0], label)


def _put(row: Row, column: int, text: str) -> None:
    for char in text:
        if not char.isprintable():
            char = " "
        width = display_width(char)
        if width == 0 and column > 0:
            # A combining character belongs to the one before it.
            row[column - 1] += char
        if width == 0:
            continue
        row[column : column + width] = [char, *[""] * (width - 1)]
        column += width
