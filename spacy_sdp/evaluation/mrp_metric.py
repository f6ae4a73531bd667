"""The metric of the shared task MRP 2019, for graphs between words.

It compares the pieces of graphs: tops, labelled edges, and for each node its label (the
lemma), its properties (tag and frame) and its anchor (its position in the text). First,
the nodes of both graphs are paired, in the order of the words, to maximize the number
of common pieces: this is a maximum common subgraph. In almost all sentences, nodes with
the same anchor are a pair, and an upper bound on all other pairings proves it
immediately, or leaves few of them to try.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..graph.alignment import same_forms
from ..graph.record import Record
from .metrics import Overlap, pair_sentences

CATEGORIES = ("tops", "labels", "properties", "anchors", "edges")

# Characters to strip from both ends of an anchor, the same as in the official tool.
PUNCTUATION = ".?!;,:“\"”‘'’()[]{}"  # noqa: RUF001

# Maximum number of search steps in a sentence; then the best pairing so far is used.
MAX_STEPS = 20_000

Edge = tuple[int, int, str]


def score_mrp(
    gold: Iterable[Record], system: Iterable[Record]
) -> dict[str, dict[str, float]]:
    """Score sentences as the official tool of MRP 2019 does.

    gold (Iterable[Record]): The gold standard.
    system (Iterable[Record]): The output of a parser for the same sentences.
    RETURNS (Dict[str, Dict[str, float]]): For "tops", "labels", "properties",
        "anchors", "edges" and "all" the numbers "g" of gold, "s" of system and "c" of
        common pieces, and "p", "r" and "f", precision, recall and F1 as fractions.
    """
    overlaps = {name: Overlap() for name in CATEGORIES}
    for one, other in pair_sentences(gold, system):
        forms = same_forms(one, other)
        assert forms is not None, "the texts were compared before"
        left, right = _Graph.of(one, forms[0]), _Graph.of(other, forms[1])
        mapping = _Search(left, right).find()
        left_pieces = left.pieces({i: i for i in range(len(left.nodes))})
        # Paired nodes get the number of their partner, others a separate number.
        numbers = {j: i for i, j in mapping.items()}
        for j in range(len(right.nodes)):
            numbers.setdefault(j, len(left.nodes) + j)
        right_pieces = right.pieces(numbers)
        for name, overlap in overlaps.items():
            overlap.add(left_pieces[name], right_pieces[name])
    overlaps["all"] = Overlap(
        sum(each.gold for each in overlaps.values()),
        sum(each.system for each in overlaps.values()),
        sum(each.common for each in overlaps.values()),
    )
    return {
        name: {
            "g": each.gold,
            "s": each.system,
            "c": each.common,
            "p": each.precision,
            "r": each.recall,
            "f": each.f_score,
        }
        for name, each in overlaps.items()
    }


@dataclass(frozen=True)
class _Node:
    is_top: bool
    label: str | None
    properties: frozenset[tuple[str, str]]
    # The characters of the text, not counting spaces.
    span: tuple[int, int]
    anchor: frozenset[int]

    def agreement(self, other: _Node) -> int:
        """Count the agreements of two nodes, to find the initial pairs."""
        return (
            (self.is_top == other.is_top)
            + (self.label == other.label)
            + len(self.properties & other.properties)
        )

    def similarity(self, other: _Node) -> int:
        """Count the common pieces of two nodes, except for edges."""
        return (
            (self.is_top and other.is_top)
            + (self.label is not None and self.label == other.label)
            + len(self.properties & other.properties)
            + (self.anchor == other.anchor)
        )


@dataclass(frozen=True)
class _Graph:
    """A graph whose nodes are numbered in the order of the words."""

    nodes: list[_Node]
    edges: set[Edge]

    @classmethod
    def of(cls, sentence: Record, forms: list[str]) -> _Graph:
        """Create the graph of a sentence, with anchors in the joined forms."""
        tops = set(sentence.tops)
        spans, end = [], 0
        for form in forms:
            start, end = end, end + len(form)
            spans.append((start, end))
        indices = sentence.node_indices()
        number = {index: i for i, index in enumerate(indices)}
        return cls(
            [
                _Node(
                    i in tops,
                    _lower(sentence.lemmas, i),
                    _properties(sentence, i),
                    spans[i],
                    _anchor(forms[i], spans[i][0]),
                )
                for i in indices
            ],
            {
                (number[head], number[dep], label.lower())
                for head, dep, label in sentence.arcs
            },
        )

    def pieces(self, numbers: Mapping[int, int]) -> dict[str, set[Hashable]]:
        """Get the pieces to compare, with the nodes renumbered."""
        nodes = [(numbers[i], node) for i, node in enumerate(self.nodes)]
        return {
            "tops": {i for i, node in nodes if node.is_top},
            "labels": {(i, node.label) for i, node in nodes if node.label is not None},
            "properties": {(i, each) for i, node in nodes for each in node.properties},
            "anchors": {(i, node.anchor) for i, node in nodes},
            "edges": {(numbers[h], numbers[d], label) for h, d, label in self.edges},
        }

    @cached_property
    def edges_of(self) -> list[list[Edge]]:
        """The edges from and to each node."""
        edges: list[list[Edge]] = [[] for _ in self.nodes]
        for edge in self.edges:
            for end in {*edge[:2]}:
                edges[end].append(edge)
        return edges

    def open_edges(self, i: int, start: int) -> Counter[tuple[bool, str]]:
        """Count the edges between a node and the nodes from `start` on.

        They are counted by label and by whether the node is the head.
        """
        return Counter(
            (head == i, label)
            for head, dep, label in self.edges_of[i]
            if (dep if head == i else head) >= start
        )


class _Search:
    """A search for the pairs of nodes with the most common pieces (branch and bound).

    It assigns to each gold node, in order, one of the system nodes after those that are
    already assigned, or none. An edge between two pairs counts one half for each pair.
    """

    def __init__(self, gold: _Graph, system: _Graph) -> None:
        self.gold, self.system = gold, system
        self.similarities = [
            [one.similarity(other) for other in system.nodes] for one in gold.nodes
        ]
        self.suffix_bounds = self._suffix_bounds()
        self.first = self._align()

    def find(self) -> dict[int, int]:
        """Find the best pairing, as a mapping from gold nodes to system nodes."""
        if not self.gold.nodes:
            return {}
        best = self.first
        best_value = self._bound(best, len(self.gold.nodes), len(self.system.nodes))
        mapping: dict[int, int] = {}
        # For each gold node up to the current one, the remaining partners to try.
        options = [self._options(0, 0)]
        for _ in range(MAX_STEPS):
            i = len(options) - 1
            mapping.pop(i, None)
            if not options[-1]:
                options.pop()
                if not options:
                    break
                continue
            j = options[-1].pop()
            if j is not None:
                mapping[i] = j
            following = max(mapping.values(), default=-1) + 1
            value = self._bound(mapping, i + 1, following)
            if value <= best_value:
                continue
            if i + 1 == len(self.gold.nodes):
                best, best_value = dict(mapping), value
            else:
                options.append(self._options(i + 1, following))
        return best

    def _align(self) -> dict[int, int]:
        """Pair nodes whose labels, properties and tops agree, in order."""
        rows, columns = len(self.gold.nodes), len(self.system.nodes)
        values = [[0] * (columns + 1) for _ in range(rows + 1)]
        for i, one in enumerate(self.gold.nodes):
            for j, other in enumerate(self.system.nodes):
                values[i + 1][j + 1] = max(
                    values[i][j + 1],
                    values[i + 1][j],
                    values[i][j] + one.agreement(other),
                )
        mapping = {}
        i, j = rows, columns
        while i and j:
            if values[i][j] == values[i - 1][j]:
                i -= 1
            elif values[i][j] == values[i][j - 1]:
                j -= 1
            else:
                i, j = i - 1, j - 1
                mapping[i] = j
        return mapping

    def _options(self, i: int, start: int) -> list[int | None]:
        """Get the possible partners of a gold node, the most likely one last.

        The order decides between equally good pairings, as in the official tool.
        """
        following = sorted(
            range(start, len(self.system.nodes)),
            key=lambda j: (-abs(j - i), self.similarities[i][j], -j),
        )
        options: list[int | None] = [None, *following]
        first = self.first.get(i)
        if first in options:
            options.remove(first)
            options.append(first)
        return options

    def _bound(self, mapping: Mapping[int, int], i: int, j: int) -> float:
        """Compute an upper bound on the number of common pieces.

        mapping (Mapping[int, int]): The pairs so far.
        i (int): The first gold node without a decision.
        j (int): The first system node that is still available.
        """
        bound = self.suffix_bounds[i][j]
        for one, other in mapping.items():
            edges = 0
            rest: Counter[tuple[bool, str]] = Counter()
            for head, dep, label in self.gold.edges_of[one]:
                if head < i and dep < i:
                    pair = mapping.get(head), mapping.get(dep), label
                    edges += pair in self.system.edges
                else:
                    rest[head == one, label] += 1
            if rest:
                edges += (rest & self.system.open_edges(other, j)).total()
            bound += self.similarities[one][other] + edges / 2
        return bound

    def _suffix_bounds(self) -> list[list[float]]:
        """Compute upper bounds for the nodes from each gold and each system node on."""
        rows, columns = len(self.gold.nodes), len(self.system.nodes)
        bounds = [[0.0] * (columns + 1) for _ in range(rows + 1)]
        kinds = [
            [graph.open_edges(i, 0) for i in range(len(graph.nodes))]
            for graph in (self.gold, self.system)
        ]
        for i in reversed(range(rows)):
            for j in reversed(range(columns)):
                edges = (kinds[0][i] & kinds[1][j]).total()
                bounds[i][j] = max(
                    bounds[i + 1][j],
                    bounds[i][j + 1],
                    bounds[i + 1][j + 1] + self.similarities[i][j] + edges / 2,
                )
        return bounds


def _lower(column: list[str | None], i: int) -> str | None:
    value = column[i] if column else None
    return None if value is None else value.lower()


def _properties(sentence: Record, i: int) -> frozenset[tuple[str, str]]:
    values = {"pos": _lower(sentence.tags, i), "frame": _lower(sentence.frames, i)}
    return frozenset((name, value) for name, value in values.items() if value)


def _anchor(word: str, start: int) -> frozenset[int]:
    stripped = word.strip(PUNCTUATION)
    start += len(word) - len(word.lstrip(PUNCTUATION))
    return frozenset(range(start, start + len(stripped)))
