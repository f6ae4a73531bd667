"""A graph as numbers and strings, without its Doc, ready to be looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from spacy.tokens import Doc

from .arc import IndexedArc


class GraphIndex:
    """What a graph consists of, sorted, and its arcs by their ends.

    It has no reference to a Doc, so that it can be kept for one without keeping it
    alive, and is never changed, so that graphs and threads can share it.
    """

    def __init__(
        self,
        n_tokens: int,
        arcs: Iterable[IndexedArc],
        tops: Iterable[int],
        frames: Mapping[int, str] | None,
        predicates: Iterable[int],
    ) -> None:
        """Sort what is known to be valid.

        n_tokens (int): The length of the Doc that the indices refer to.
        arcs (Iterable[IndexedArc]): The arcs.
        tops (Iterable[int]): The top nodes.
        frames (Optional[Mapping[int, str]]): The sense of a node; None if senses are
            not annotated.
        predicates (Iterable[int]): Predicates without arguments.
        """
        self.n_tokens = n_tokens
        self.arcs = tuple(sorted(arcs, key=lambda arc: arc[:3]))
        # Dictionaries serve as sets that have an order.
        self.tops = dict.fromkeys(sorted(tops))
        self.frames = None if frames is None else dict(sorted(frames.items()))
        self.predicates = dict.fromkeys(sorted(predicates))

    @classmethod
    def from_stored(cls, data: Mapping[str, Any]) -> GraphIndex:
        """Make an index of what `SemanticGraph.to_dict` gave, without checking it."""
        return cls(
            data["tokens"],
            (IndexedArc(*arc) for arc in data["arcs"]),
            data["tops"],
            dict(data["frames"]) if "frames" in data else None,
            data.get("predicates", ()),
        )

    def check(self, doc: Doc) -> None:
        """Refuse a Doc that was retokenized since the graph was made."""
        if len(doc) != self.n_tokens:
            raise ValueError(
                f"The semantic graph of this Doc was made for {self.n_tokens} tokens, "
                f"but the Doc now has {len(doc)}: it was retokenized. Parse it again, "
                "or retokenize before the parser."
            )

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
