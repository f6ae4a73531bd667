"""The contents of a picture: words, arcs, and optionally a gold graph below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from spacy.tokens import Span, Token

from ..graph.clauses import Clause
from ..graph.graph import SemanticGraph
from ..graph.roles import DM, find_roles
from ..graph.spans import sentences
from ..graph.table import Row, clauses_with_rows
from .layout import PlacedArc

MATCH, MISSED, INVENTED = "match", "missed", "invented"


class ClauseIndex:
    """The clauses of a graph by verb, with their rows, extracted on demand."""

    def __init__(self, graph: SemanticGraph, number: int) -> None:
        self.graph = graph
        self.number = number

    @cached_property
    def by_verb(self) -> dict[int, list[tuple[Clause, Row]]] | None:
        """RETURNS (Optional[Dict[int, List[Tuple[Clause, Row]]]]): The clauses, or None
        if they cannot be extracted: without tags, or from graphs in another formalism.
        """
        found: dict[int, list[tuple[Clause, Row]]] = {}
        try:
            for clause, row in clauses_with_rows(self.graph, self.number):
                found.setdefault(clause.verb.head.i, []).append((clause, row))
        except ValueError:
            return None
        return found


@dataclass
class Picture:
    """The words of a sentence, the arcs above them, and those below."""

    words: list[str]
    text: str
    # The number of each token of the Doc among the words.
    index: dict[int, int]
    # The result of a comparison for each top, as for arcs.
    tops: dict[int, str] = field(default_factory=dict)
    above: list[PlacedArc] = field(default_factory=list)
    below: list[PlacedArc] = field(default_factory=list)
    # Whether `explain` describes the labels.
    is_dm: bool = False
    # The clauses of the graph, and of the gold graph if there is one.
    clause_indices: list[ClauseIndex] = field(default_factory=list)

    @property
    def arcs(self) -> list[PlacedArc]:
        return self.above + self.below

    def clauses(self) -> list[list[tuple[Clause, Row]] | None]:
        """RETURNS (List[Optional[List[Tuple[Clause, Row]]]]): The clauses of each
        graph, with their rows in a table.
        """
        found = (clauses.by_verb for clauses in self.clause_indices)
        return [
            None
            if by_verb is None
            else [each for i in self.index for each in by_verb.get(i, ())]
            for by_verb in found
        ]


def make_pictures(
    graph: SemanticGraph,
    gold: SemanticGraph | None = None,
    span: Span | None = None,
    *,
    frames: bool = False,
    number: int = 0,
) -> Iterator[Picture]:
    """Create the picture of each sentence.

    graph (SemanticGraph): The graph.
    gold (Optional[SemanticGraph]): A gold graph of the same words to compare with,
        which is drawn below the words.
    span (Optional[Span]): Draw only these words.
    frames (bool): Show the frame of each word.
    number (int): The number of the Doc, for the rows of its clauses.
    YIELDS (Picture): The pictures, without whitespace tokens.
    """
    if gold is not None and [t.text for t in gold.doc] != [t.text for t in graph.doc]:
        raise ValueError(
            "Graphs can only be compared if their Docs have the same words."
        )
    shown = graph.doc[:] if span is None else span
    is_dm = _is_dm(graph)
    clause_indices = [
        ClauseIndex(each, number) for each in (graph, gold) if each is not None
    ]
    tops, gold_tops = (
        set[int]() if each is None else {top.i for top in each.tops}
        for each in (graph, gold)
    )
    for start, end in pairwise(_boundaries(graph, gold)):
        part = graph.doc[max(start, shown.start) : min(end, shown.end)]
        tokens = [token for token in part if not token.text.isspace()]
        if not tokens:
            continue
        index = {token.i: number for number, token in enumerate(tokens)}
        picture = Picture(
            [_caption(graph, token) if frames else token.text for token in tokens],
            part.text.strip(),
            index,
            dict.fromkeys(_find_tops(tops, index), ""),
            _place_arcs(graph, index),
            is_dm=is_dm,
            clause_indices=clause_indices,
        )
        if gold is not None:
            picture.below = _place_arcs(gold, index)
            _compare(picture, _find_tops(gold_tops, index))
        yield picture


def _boundaries(graph: SemanticGraph, gold: SemanticGraph | None) -> list[int]:
    """Get the sentence boundaries that both graphs have."""
    starts = {sent.start for sent in sentences(graph.doc)}
    if gold is not None:
        starts &= {sent.start for sent in sentences(gold.doc)}
    return [*sorted(starts), len(graph.doc)]


def _is_dm(graph: SemanticGraph) -> bool:
    try:
        return find_roles(Counter(arc.label for arc in graph.indexed_arcs)) is DM
    except ValueError:
        return False


def _caption(graph: SemanticGraph, token: Token) -> str:
    frame = graph.frame(token)
    return token.text if frame is None else f"{token.text}/{frame}"


def _place_arcs(graph: SemanticGraph, index: dict[int, int]) -> list[PlacedArc]:
    return [
        PlacedArc(index[head], index[dep], label, score)
        for i in index
        for head, dep, label, score in graph.arcs_by_head.get(i, ())
        if dep in index
    ]


def _find_tops(tops: set[int], index: dict[int, int]) -> list[int]:
    return [number for i, number in index.items() if i in tops]


def _compare(picture: Picture, gold_tops: list[int]) -> None:
    """Mark arcs and tops as matching, missing or spurious."""
    picture.tops = {
        **{top: MATCH if top in gold_tops else INVENTED for top in picture.tops},
        **{top: MISSED for top in gold_tops if top not in picture.tops},
    }
    system = {(arc.head, arc.dep, arc.label) for arc in picture.above}
    gold = {(arc.head, arc.dep, arc.label) for arc in picture.below}
    for side, other, kind in (
        (picture.above, gold, INVENTED),
        (picture.below, system, MISSED),
    ):
        for arc in side:
            arc.kind = MATCH if (arc.head, arc.dep, arc.label) in other else kind
