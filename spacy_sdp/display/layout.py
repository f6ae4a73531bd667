"""The layout of words and arcs in a picture of a graph, in any unit of length.

Words are placed in a row. An arc goes up from a port of its head, along a line at its
level, and down to a port of its dependent. Levels and ports are chosen so that inner
arcs are below outer arcs, lines on the same level do not overlap, and each label fits
on its own line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from unicodedata import bidirectional, combining, east_asian_width


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
    level: int = 0
    head_x: float = 0.0
    dep_x: float = 0.0
    # The result of a comparison: "", "match", "missed" or "invented".
    kind: str = ""

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


def display_width(text: str) -> int:
    """Get the number of columns that a text takes in a terminal.

    text (str): The text.
    RETURNS (int): The number of columns. Wide characters, such as Chinese ones, take
        two, and combining characters none.
    """
    return sum(
        0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1
        for char in text
    )


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
) -> Layout:
    """Compute the positions of words and arcs.

    word_widths (Sequence[float]): The width of each word.
    above (List[PlacedArc]): The arcs above the words. Their positions are set.
    below (List[PlacedArc]): The arcs below the words.
    label_widths (Sequence[float]): The width of each arc's label, first those above.
    measures (Measures): The distances to use.
    RETURNS (Layout): The layout.
    """
    arcs = above + below
    offsets: dict[tuple[int, int], float] = {}
    widths = list(word_widths)
    for side in (above, below):
        _set_levels(side)
        for word, offset, width in _ports(side, measures.between_ports):
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
