"""Arcs of a graph, and predicates with their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from spacy.tokens import Doc, Token

ArcTuple = tuple[int, int, str] | tuple[int, int, str, float | None]

# The virtual root, whose arcs mark the top nodes.
ROOT_INDEX, ROOT_LABEL = -1, "root"


@dataclass(frozen=True)
class Arc:
    """An arc from a predicate (`head`) to its argument (`dep`).

    `score` is the parser's confidence in the arc, or None for annotated arcs. Two arcs
    are equal if they connect the same tokens with the same label, regardless of their
    scores.

    >>> arc = graph.args(doc[3])[0]
    >>> arc, arc.head, arc.label, arc.dep, arc.score
    (Arc(wants-ARG1->cat), wants, 'ARG1', cat, None)
    """

    head: Token
    dep: Token
    label: str
    score: float | None = None

    @classmethod
    def from_indices(
        cls, doc: Doc, head: int, dep: int, label: str, score: float | None = None
    ) -> Arc:
        """Create an arc from the indices of its tokens.

        >>> Arc.from_indices(doc, 3, 2, "ARG1") == graph.args(doc[3])[0]
        True
        """
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


class Triple(NamedTuple):
    """An arc as text, for example as a row of a table."""

    predicate: str
    label: str
    argument: str


@dataclass(frozen=True)
class Predicate:
    """A word with its arguments: who does what to whom.

    `args` maps labels to arguments. Use `args.get("ARG1", ())` if the predicate may not
    have this argument. `frame` is the sense, or None.

    >>> wants = graph.predicates()[2]
    >>> wants.token, wants.args["ARG2"], wants.args.get("ARG3", ())
    (wants, (eat,), ())
    """

    token: Token
    args: Mapping[str, tuple[Token, ...]]
    frame: str | None = None

    def to_dict(self) -> dict[str, str]:
        """Convert the predicate to text, for example for a row of a table.

        RETURNS (Dict[str, str]): "predicate", "frame" if it has one, and the arguments
            by label.

        >>> next(iter(graph.predicates())).to_dict()
        {'predicate': 'The', 'BV': 'cat'}
        """
        args = {label: " ".join(map(str, args)) for label, args in self.args.items()}
        frame = {} if self.frame is None else {"frame": self.frame}
        return {"predicate": self.token.text, **frame, **args}

    def __repr__(self) -> str:
        args = [
            f"{label} {token.text}"
            for label, tokens in self.args.items()
            for token in tokens
        ]
        return f"Predicate({self.token.text}: {', '.join(args) or 'no arguments'})"


class IndexedArc(NamedTuple):
    """An arc as it is stored: token indices instead of tokens."""

    head: int
    dep: int
    label: str
    score: float | None
