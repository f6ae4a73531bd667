"""Labelled directed graphs between the words of a Doc."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from operator import index
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, Token

ArcTuple = tuple[int, int, str] | tuple[int, int, str, float | None]

# The virtual root, whose arcs mark the top nodes.
ROOT_INDEX, ROOT_LABEL = -1, "root"


@dataclass(frozen=True)
class Arc:
    """An arc from a predicate (`head`) to its argument (`dep`).

    `score` is the parser's confidence in the arc, None for annotated arcs. Two arcs
    are equal if they connect the same tokens by the same label, whatever their
    scores.
    """

    head: Token
    dep: Token
    label: str
    score: float | None = None

    @classmethod
    def from_indices(
        cls, doc: Doc, head: int, dep: int, label: str, score: float | None = None
    ) -> Arc:
        """Make an arc from the indices of its tokens."""
        return cls(doc[head], doc[dep], label, score)

    def __repr__(self) -> str:
        return f"Arc({self.head.text}-{self.label}->{self.dep.text})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Arc):
            return NotImplemented
        return self._key == other._key and self.head.doc is other.head.doc

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, int, str]:
        return self.head.i, self.dep.i, self.label


class IndexedArc(NamedTuple):
    """An arc as it is stored: token indices instead of tokens."""

    head: int
    dep: int
    label: str
    score: float | None


class SemanticGraph:
    """A read-only view of the semantic graph of a Doc.

    Iterating gives the arcs, sorted by head and then by dependent. Indices are token
    indices of the Doc. Make one with `SemanticGraph.from_arcs`, or let `doc._.sdp`
    give it to you.
    """

    def __init__(
        self,
        doc: Doc,
        arcs: Iterable[IndexedArc],
        tops: Iterable[int],
        frames: Mapping[int, str] | None = None,
        predicates: Iterable[int] = (),
    ) -> None:
        """Wrap arcs that are known to be valid; `from_arcs` is the one that checks.

        doc (Doc): The document the indices refer to.
        arcs (Iterable[IndexedArc]): The arcs.
        tops (Iterable[int]): Indices of the top nodes.
        frames (Mapping[int, str]): The sense of a node, for corpora that have one.
        predicates (Iterable[int]): Nodes that the annotation marks as predicates
            although they have no arguments.
        """
        self.doc = doc
        self._n_tokens = len(doc)
        self._arcs = tuple(sorted(arcs, key=lambda arc: arc[:3]))
        self._tops = tuple(sorted(tops))
        self._frames = dict(sorted((frames or {}).items()))
        self._predicates = tuple(sorted(predicates))

    @classmethod
    def from_arcs(
        cls,
        doc: Doc,
        arcs: Iterable[ArcTuple | Arc],
        tops: Iterable[int] = (),
        *,
        frames: Mapping[int, str] | None = None,
        predicates: Iterable[int] = (),
    ) -> SemanticGraph:
        """Make a graph from token indices, and check it.

        doc (Doc): The document the indices refer to.
        arcs (Iterable[ArcTuple | Arc]): `(head, dep, label)`, `(head, dep, label,
            score)`, or arcs of another graph.
        tops (Iterable[int]): Indices of the top nodes.
        frames (Mapping[int, str]): The sense of a node, for corpora that have one.
        predicates (Iterable[int]): Nodes that are predicates without arguments.
        RETURNS (SemanticGraph): The graph.
        """
        sentence_of = sentence_numbers(doc)
        indexed = [_as_indexed(arc) for arc in arcs]
        seen: set[tuple[int, int, str]] = set()
        for arc in indexed:
            _check_arc(arc, doc, sentence_of, seen)
            seen.add(arc[:3])
        tops = [_as_index(i, "top") for i in tops]
        predicates = [_as_index(i, "predicate") for i in predicates]
        frames = {
            _as_index(i, "frame"): str(frame) for i, frame in (frames or {}).items()
        }
        for kind, indices in (
            ("top", tops),
            ("frame", list(frames)),
            ("predicate", predicates),
        ):
            for i in indices:
                if not 0 <= i < len(doc):
                    raise ValueError(
                        f"Invalid {kind} {i}: not a token of the Doc of {len(doc)} "
                        "tokens."
                    )
            if len(set(indices)) != len(indices):
                raise ValueError(f"A {kind} is given twice: {sorted(indices)}.")
        has_args = {arc.head for arc in indexed}
        return cls(doc, indexed, tops, frames, set(predicates) - has_args)

    @classmethod
    def from_dict(cls, doc: Doc, data: Mapping[str, Any]) -> SemanticGraph:
        """Make a graph from what `to_dict` gave, and check it.

        doc (Doc): The document, with the same tokens as the original's.
        data (Mapping[str, Any]): The dictionary.
        RETURNS (SemanticGraph): The graph.
        """
        unknown = set(data) - {"tokens", "arcs", "tops", "frames", "predicates"}
        if unknown or not {"arcs", "tops"} <= set(data):
            raise ValueError(
                "A graph dictionary has the keys 'arcs' and 'tops', and may have "
                f"'tokens', 'frames' and 'predicates'; found {sorted(data)}."
            )
        if data.get("tokens", len(doc)) != len(doc):
            raise ValueError(
                f"The graph was made for {data['tokens']} tokens, but the Doc has "
                f"{len(doc)}. Was it retokenized?"
            )
        return cls.from_arcs(
            doc,
            data["arcs"],
            data["tops"],
            frames=dict(data.get("frames", ())),
            predicates=data.get("predicates", ()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the graph as plain numbers and strings, ready for JSON.

        RETURNS (dict): `tokens`, the length of the Doc; `arcs`, a list of
            `[head, dep, label, score]`; `tops`, a list of indices; and, where the
            annotation has them, `frames`, a list of `[index, frame]`, and
            `predicates`, the indices of predicates without arguments.
        """
        data: dict[str, Any] = {
            "tokens": self._n_tokens,
            "arcs": [list(arc) for arc in self._arcs],
            "tops": list(self._tops),
        }
        if self._frames:
            data["frames"] = [[i, frame] for i, frame in self._frames.items()]
        if self._predicates:
            data["predicates"] = list(self._predicates)
        return data

    @classmethod
    def _from_stored(cls, doc: Doc, data: Mapping[str, Any]) -> SemanticGraph:
        """View what `to_dict` stored on this very Doc, without checking it again."""
        cls.check_size(doc, data)
        return cls(
            doc,
            (IndexedArc(*arc) for arc in data["arcs"]),
            data["tops"],
            dict(data.get("frames", ())),
            data.get("predicates", ()),
        )

    @staticmethod
    def check_size(doc: Doc, data: Mapping[str, Any]) -> None:
        """Refuse what was stored before the Doc was retokenized."""
        if data["tokens"] != len(doc):
            raise ValueError(
                f"The semantic graph of this Doc was made for {data['tokens']} tokens, "
                f"but the Doc now has {len(doc)}: it was retokenized. Parse it again, "
                "or retokenize before the parser."
            )

    @property
    def indexed_arcs(self) -> tuple[IndexedArc, ...]:
        """RETURNS (Tuple[IndexedArc, ...]): The arcs as token indices."""
        return self._arcs

    @property
    def tops(self) -> tuple[Token, ...]:
        """RETURNS (Tuple[Token, ...]): The top nodes, what the sentence is about."""
        return tuple(self.doc[i] for i in self._tops)

    def heads(self, token: Token) -> tuple[Arc, ...]:
        """Give the arcs in which a token is an argument.

        token (Token): A token of the graph's Doc.
        RETURNS (Tuple[Arc, ...]): The arcs, sorted by head.
        """
        return self._view(self._by_dep[self._index(token)])

    def args(self, token: Token) -> tuple[Arc, ...]:
        """Give the arcs from a token to its arguments.

        token (Token): A token of the graph's Doc.
        RETURNS (Tuple[Arc, ...]): The arcs, sorted by dependent.
        """
        return self._view(self._by_head[self._index(token)])

    def frame(self, token: Token) -> str | None:
        """Give the annotated sense of a token.

        token (Token): A token of the graph's Doc.
        RETURNS (Optional[str]): The sense, or None.
        """
        return self._frames.get(self._index(token))

    def is_predicate(self, token: Token) -> bool:
        """Tell whether a token has arguments or is annotated as a predicate.

        token (Token): A token of the graph's Doc.
        RETURNS (bool): Whether it is a predicate.
        """
        i = self._index(token)
        return bool(self._by_head[i]) or i in self._predicates

    @cached_property
    def _by_head(self) -> defaultdict[int, list[IndexedArc]]:
        groups = defaultdict(list)
        for arc in self._arcs:
            groups[arc.head].append(arc)
        return groups

    @cached_property
    def _by_dep(self) -> defaultdict[int, list[IndexedArc]]:
        groups = defaultdict(list)
        for arc in self._arcs:
            groups[arc.dep].append(arc)
        return groups

    def _index(self, token: Token) -> int:
        if token.doc is not self.doc:
            raise ValueError(f"The token {token.text!r} belongs to another Doc.")
        return token.i

    def _view(self, arcs: Iterable[IndexedArc]) -> tuple[Arc, ...]:
        return tuple(Arc.from_indices(self.doc, *arc) for arc in arcs)

    def __iter__(self) -> Iterator[Arc]:
        return iter(self._view(self._arcs))

    def __len__(self) -> int:
        return len(self._arcs)

    def __eq__(self, other: object) -> bool:
        """Compare words, arcs and tops; scores and frames do not count."""
        if not isinstance(other, SemanticGraph):
            return NotImplemented
        return (
            self._structure == other._structure
            and self._tops == other._tops
            and [token.text for token in self.doc]
            == [token.text for token in other.doc]
        )

    def __hash__(self) -> int:
        return hash((self._structure, self._tops))

    @property
    def _structure(self) -> tuple[tuple[int, int, str], ...]:
        return tuple(arc[:3] for arc in self._arcs)

    def __repr__(self) -> str:
        tops = ", ".join(token.text for token in self.tops)
        return f"SemanticGraph({len(self)} arcs, tops: {tops or 'none'})"


def _as_index(value: Any, kind: str) -> int:
    try:
        return index(value)
    except TypeError:
        raise ValueError(
            f"Invalid {kind} {value!r}: expected the index of a token."
        ) from None


def _as_indexed(arc: ArcTuple | Arc) -> IndexedArc:
    if isinstance(arc, Arc):
        return IndexedArc(arc.head.i, arc.dep.i, arc.label, arc.score)
    try:
        head, dep, label, score = arc if len(arc) == 4 else (*arc, None)
        # numpy's numbers are accepted, but are not what is stored.
        head, dep = index(head), index(dep)
        score = None if score is None else float(score)
    except (TypeError, ValueError):
        raise ValueError(
            f"Invalid arc {arc!r}: expected (head, dep, label) or "
            "(head, dep, label, score) with token indices for head and dep."
        ) from None
    return IndexedArc(head, dep, label, score)


def _check_arc(
    arc: IndexedArc,
    doc: Doc,
    sentence_of: list[int],
    seen: set[tuple[int, int, str]],
) -> None:
    def error(reason: str) -> ValueError:
        return ValueError(f"Invalid arc {tuple(arc[:3])}: {reason}")

    for name, i in (("head", arc.head), ("dep", arc.dep)):
        if not 0 <= i < len(doc):
            raise error(f"{name} {i} is not a token of the Doc of {len(doc)} tokens.")
    if not isinstance(arc.label, str) or not arc.label:
        raise error("the label has to be a non-empty string.")
    if arc.head == arc.dep:
        raise error("a self-loop; a word cannot be its own argument.")
    if sentence_of[arc.head] != sentence_of[arc.dep]:
        raise error("it crosses a sentence boundary.")
    if arc[:3] in seen:
        raise error("a duplicate; the same arc was given before.")


def has_cycle(arcs: Iterable[tuple[int, int, Any]]) -> bool:
    """Tell whether one can come back to a word by following arcs.

    arcs (Iterable[Tuple[int, int, Any]]): The arcs: head, dependent, label.
    RETURNS (bool): Whether there is a cycle.
    """
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for head, dep, _ in arcs:
        sorter.add(head, dep)
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False


def sentences(doc: Doc) -> list[Span]:
    """Give the sentences of a Doc; without boundaries, the whole Doc is one.

    doc (Doc): The document.
    RETURNS (List[Span]): The sentences.
    """
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]


def sentence_numbers(doc: Doc) -> list[int]:
    """Give the number of the sentence that each token is in.

    doc (Doc): The document.
    RETURNS (List[int]): The numbers; all 0 if the Doc has no sentence boundaries.
    """
    numbers = [0] * len(doc)
    for number, sentence in enumerate(sentences(doc)):
        numbers[sentence.start : sentence.end] = [number] * len(sentence)
    return numbers
