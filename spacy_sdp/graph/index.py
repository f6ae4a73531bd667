"""Lookup tables for the arcs and nodes of a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from spacy.tokens import Doc

from .arc import IndexedArc


class GraphIndex:
    """The sorted contents of a graph, with arcs by head and by dependent.

    It does not refer to the Doc, so caching it does not keep the Doc alive. It never
    changes, so graphs and threads can share it.
    """

    def __init__(
        self,
        n_tokens: int,
        arcs: Iterable[IndexedArc],
        tops: Iterable[int],
        frames: Mapping[int, str] | None,
        predicates: Iterable[int],
    ) -> None:
        """Create an index from valid arcs and nodes.

        n_tokens (int): The length of the Doc that the indices refer to.
        arcs (Iterable[IndexedArc]): The arcs.
        tops (Iterable[int]): The top nodes.
        frames (Optional[Mapping[int, str]]): The sense of a node; None if senses are
            not annotated.
        predicates (Iterable[int]): Predicates without arguments.
        """
        self.n_tokens = n_tokens
        self.arcs = tuple(sorted(arcs, key=lambda arc: arc[:3]))
        # Dictionaries serve as ordered sets.
        self.tops = dict.fromkeys(sorted(tops))
        self.frames = None if frames is None else dict(sorted(frames.items()))
        self.predicates = dict.fromkeys(sorted(predicates))

    @classmethod
    def from_stored(cls, data: Mapping[str, Any]) -> GraphIndex:
        """Create an index from the output of `SemanticGraph.to_dict`, unchecked."""
        return cls(
            data["tokens"],
            (IndexedArc(*arc) for arc in data["arcs"]),
            data["tops"],
            dict(data["frames"]) if "frames" in data else None,
            data.get("predicates", ()),
        )

    def check(self, doc: Doc) -> None:
        """Raise an error if the Doc was retokenized since the graph was created."""
        if len(doc) != self.n_tokens:
            raise ValueError(
                f"The semantic graph of this Doc was made for {self.n_tokens} tokens, "
                f"but the Doc now has {len(doc)}: it was retokenized. Parse it again, "
                "or retokenize before the parser."
            )

    @cached_property
    def labels(self) -> Counter[str]:
        """RETURNS (Counter[str]): How often the arcs have each label."""
        return Counter(arc.label for arc in self.arcs)

    @cached_property
    def by_head(self) -> dict[int, tuple[IndexedArc, ...]]:
        """RETURNS (Dict[int, Tuple[IndexedArc, ...]]): The arcs from each predicate."""
        return _group((arc.head, arc) for arc in self.arcs)

    @cached_property
    def by_dep(self) -> dict[int, tuple[IndexedArc, ...]]:
        """RETURNS (Dict[int, Tuple[IndexedArc, ...]]): The arcs to each argument."""
        return _group((arc.dep, arc) for arc in self.arcs)


def _group(
    pairs: Iterable[tuple[int, IndexedArc]],
) -> dict[int, tuple[IndexedArc, ...]]:
    groups: dict[int, list[IndexedArc]] = {}
    for i, arc in pairs:
        groups.setdefault(i, []).append(arc)
    return {i: tuple(group) for i, group in groups.items()}
