"""The layout of words and arcs in a picture of a graph, in any unit of length.

Words are placed in a row. An arc goes up from a port of its head, along a line at its
level, and down to a port of its dependent. Levels and ports are chosen so that inner
arcs are below outer arcs, lines on the same level do not overlap, and each label fits
on its own line.

In a limited width, words are placed in several rows. An arc between rows has a piece in
the row of its head and one in that of its dependent. The label of a piece includes the
word at the other end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from unicodedata import bidirectional


@dataclass(frozen=True)
class Measures:
    """The distances in a picture.

    `between_words` is the minimum gap between words, `between_ports` the distance
    between arcs at the same word, and `around_label` the length of an arc's line in
    addition to its label.
    """

    between_words: float
    between_ports: float
    around_label: float


@dataclass
class PlacedArc:
    """An arc with its level, counting from 1, and the positions of its ends."""

    head: int
    dep: int
    label: str
    score: float | None = None
    level: int = 0
    head_x: float = 0.0
    dep_x: float = 0.0
    # The result of a comparison: "", "match", "missed" or "invented".
    kind: str = ""
    # The number of the arc in the sentence, the same for all pieces of an arc.
    number: int = 0

    @property
    def left(self) -> int:
        return min(self.head, self.dep)

    @property
    def right(self) -> int:
        return max(self.head, self.dep)


@dataclass
class Layout:
    """The positions of word centres, and the arcs above and below the words."""

    word_x: list[float] = field(default_factory=list)
    width: float = 0.0
    above: list[PlacedArc] = field(default_factory=list)
    below: list[PlacedArc] = field(default_factory=list)


@dataclass
class Row:
    """Some words of a sentence, with the pieces of arcs above and below them.

    The layout has an additional position before the words if `continues` the row
    before it, and one after them if it is `continued`. There, arcs between rows end.
    """

    words: range
    layout: Layout
    continues: bool = False
    continued: bool = False

    @property
    def word_x(self) -> list[float]:
        """RETURNS (List[float]): The positions of the centres of the words."""
        return self.layout.word_x[self.continues :][: len(self.words)]

    def is_outside(self, position: int) -> bool:
        """Check whether a position of the layout is before or after the words."""
        return position - self.continues not in range(len(self.words))


def is_right_to_left(text: str) -> bool:
    """Check whether most letters of a text are written from right to left."""
    directions = [bidirectional(char) for char in text]
    rightwards = sum(each == "L" for each in directions)
    return sum(each in ("R", "AL") for each in directions) > rightwards


def place(
    word_widths: Sequence[float],
    above: list[PlacedArc],
    below: list[PlacedArc],
    label_widths: Sequence[float],
    measures: Measures,
    borders: Collection[int] = (),
) -> Layout:
    """Compute the positions of words and arcs.

    word_widths (Sequence[float]): The width of each word.
    above (List[PlacedArc]): The arcs above the words. Their positions are set.
    below (List[PlacedArc]): The arcs below the words.
    label_widths (Sequence[float]): The width of each arc's label, above and then below.
    measures (Measures): The distances to use.
    borders (Collection[int]): Positions at which all arcs end in the same point.
    RETURNS (Layout): The layout.
    """
    arcs = above + below
    offsets: dict[tuple[int, int], float] = {}
    widths = list(word_widths)
    for side in (above, below):
        _set_levels(side)
        for word, offset, width in _ports(side, measures.between_ports):
            if word in borders:
                offset, width = dict.fromkeys(offset, 0.0), 0.0
            offsets.update(offset)
            widths[word] = max(widths[word], width)
    room: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
    for arc, label_width in zip(arcs, label_widths, strict=True):
        least = label_width + measures.around_label
        least += offsets[id(arc), arc.left] - offsets[id(arc), arc.right]
        room[arc.right].append((arc.left, least))
    word_x: list[float] = []
    for i, width in enumerate(widths):
        x = width / 2
        if i:
            x += word_x[-1] + widths[i - 1] / 2 + measures.between_words
        word_x.append(max([x, *(word_x[left] + least for left, least in room[i])]))
    for arc in arcs:
        arc.head_x = word_x[arc.head] + offsets[id(arc), arc.head]
        arc.dep_x = word_x[arc.dep] + offsets[id(arc), arc.dep]
    total = word_x[-1] + widths[-1] / 2 if word_x else 0.0
    return Layout(word_x, total, above, below)


def place_in_rows(
    word_widths: Sequence[float],
    above: list[PlacedArc],
    below: list[PlacedArc],
    label_widths: Sequence[float],
    measures: Measures,
    width: float,
    end_widths: Sequence[float],
) -> list[Row]:
    """Compute the positions of words and arcs in rows.

    word_widths (Sequence[float]): The width of each word.
    above (List[PlacedArc]): The arcs above the words.
    below (List[PlacedArc]): The arcs below the words.
    label_widths (Sequence[float]): The width of each arc's label, above and then below.
    measures (Measures): The distances to use.
    width (float): Maximum width of a row. A row with a single word can be wider.
    end_widths (Sequence[float]): The width of each word in the label of an arc that
        ends in another row.
    RETURNS (List[Row]): The rows, each with as many words as fit.
    """
    arcs = [replace(arc, number=number) for number, arc in enumerate([*above, *below])]
    sides = arcs[: len(above)], arcs[len(above) :]
    place_row = partial(
        _place_row, word_widths, sides, label_widths, measures, end_widths
    )
    rows: list[Row] = []
    start, size = 0, len(word_widths)
    while start < size or not rows:
        row = None
        # Only try rows that could fit, because this takes most of the time.
        if sum(word_widths[start:]) <= width:
            row = place_row(range(start, size))
        if row is None or row.layout.width > width:
            row = place_row(range(start, min(start + 1, size)))
            for end in range(start + 2, size):
                longer = place_row(range(start, end))
                if longer.layout.width > width:
                    break
                row = longer
        rows.append(row)
        start = row.words.stop
    return rows


def _place_row(
    word_widths: Sequence[float],
    sides: tuple[list[PlacedArc], list[PlacedArc]],
    label_widths: Sequence[float],
    measures: Measures,
    end_widths: Sequence[float],
    words: range,
) -> Row:
    continues, continued = words.start > 0, words.stop < len(word_widths)

    def position(word: int) -> int:
        return min(max(word, words.start - 1), words.stop) - words.start + continues

    above, below = (
        [
            replace(arc, head=position(arc.head), dep=position(arc.dep))
            for arc in side
            if arc.head in words or arc.dep in words
        ]
        for side in sides
    )
    arcs = [*sides[0], *sides[1]]
    piece_widths = [
        label_widths[piece.number]
        + sum(
            end_widths[word]
            for word in (arcs[piece.number].head, arcs[piece.number].dep)
            if word not in words
        )
        for piece in (*above, *below)
    ]
    size = continues + len(words) + continued
    widths = [0.0] * size
    widths[continues : continues + len(words)] = word_widths[words.start : words.stop]
    borders = [0] * continues + [size - 1] * continued
    layout = place(widths, above, below, piece_widths, measures, borders)
    return Row(words, layout, continues, continued)


def _set_levels(arcs: list[PlacedArc]) -> None:
    size = 1 + max((arc.right for arc in arcs), default=0)
    # The occupied levels between each word and the next one, as bits of a number, and
    # the arcs that start at each word. Short arcs are placed first.
    taken = [0] * size
    starting: list[list[PlacedArc]] = [[] for _ in range(size)]
    for arc in sorted(arcs, key=lambda arc: (arc.right - arc.left, arc.left)):
        levels = lowest = 0
        for gap in range(arc.left, arc.right):
            levels |= taken[gap]
            for other in starting[gap]:
                if other.right <= arc.right:
                    lowest = max(lowest, other.level)
        arc.level = lowest + 1
        while levels >> arc.level & 1:
            arc.level += 1
        for gap in range(arc.left, arc.right):
            taken[gap] |= 1 << arc.level
        starting[arc.left].append(arc)


def _ports(
    arcs: list[PlacedArc], distance: float
) -> list[tuple[int, dict[tuple[int, int], float], float]]:
    """Get the offsets of arc ends from the centre of each word, and its width."""
    by_word: defaultdict[int, list[PlacedArc]] = defaultdict(list)
    for arc in arcs:
        by_word[arc.head].append(arc)
        by_word[arc.dep].append(arc)
    result = []
    for word, own in by_word.items():
        # From left to right: arcs to the left, the lowest first, then arcs to the
        # right, the highest first, so that the lines do not cross.
        leftwards = sorted((a for a in own if a.right == word), key=lambda a: a.level)
        rightwards = sorted((a for a in own if a.left == word), key=lambda a: -a.level)
        ordered = leftwards + rightwards
        middle = (len(ordered) - 1) / 2
        offsets = {
            (id(arc), word): (number - middle) * distance
            for number, arc in enumerate(ordered)
        }
        result.append((word, offsets, len(ordered) * distance))
    return result
