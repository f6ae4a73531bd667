"""Validation of arcs, nodes and frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from operator import index
from reprlib import repr as quote
from typing import Any

from spacy.tokens import Doc

from .arc import Arc, ArcTuple, IndexedArc
from .spans import sentence_numbers


def check_arcs(doc: Doc, arcs: Iterable[ArcTuple | Arc]) -> list[IndexedArc]:
    """Validate the arcs of a Doc and convert them to the form they are stored in.

    doc (Doc): The document the indices refer to.
    arcs (Iterable[ArcTuple | Arc]): The arcs.
    RETURNS (List[IndexedArc]): The converted arcs.
    """
    sentence_of = sentence_numbers(doc)
    arcs = _to_list(arcs, "arcs")
    seen: set[tuple[int, int, str]] = set()
    checked = []
    for each in arcs:
        arc = _to_indexed(each)
        reason = _why_not(arc, sentence_of)
        if reason is None and arc[:3] in seen:
            reason = "the same arc was already given."
        if reason is not None:
            raise ValueError(f"Invalid arc {quote(tuple(arc[:3]))}: {reason}")
        seen.add(arc[:3])
        checked.append(arc)
    return checked


def check_nodes(doc: Doc, indices: Iterable[Any], kind: str) -> list[int]:
    """Validate the indices of nodes, which must be different tokens of the Doc.

    doc (Doc): The document the indices refer to.
    indices (Iterable[Any]): The indices.
    kind (str): The kind of nodes, for error messages.
    RETURNS (List[int]): The indices.
    """
    checked = [_to_index(i, kind) for i in _to_list(indices, f"{kind}s")]
    for i in checked:
        if not 0 <= i < len(doc):
            raise ValueError(f"Invalid {kind} {i}: the Doc has {len(doc)} tokens.")
    if len(set(checked)) != len(checked):
        raise ValueError(f"A {kind} is given twice: {sorted(checked)}.")
    return checked


def check_frames(doc: Doc, frames: Mapping[int, str]) -> dict[int, str]:
    """Validate the frames of tokens, which must be strings.

    doc (Doc): The document the indices refer to.
    frames (Mapping[int, str]): The frames by token index.
    RETURNS (Dict[int, str]): The frames.
    """
    nodes = check_nodes(doc, frames, "frame")
    for i, frame in zip(nodes, frames.values(), strict=True):
        if not isinstance(frame, str):
            raise ValueError(
                f"Invalid frame of token {i}: expected a string, found {quote(frame)}."
            )
    return dict(zip(nodes, frames.values(), strict=True))


def _to_list(values: Any, what: str) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) and what != "frames":
        raise ValueError(f"Expected a list of {what}, found {quote(values)}.")
    try:
        return list(values)
    except TypeError:
        raise ValueError(f"Expected a list of {what}, found {quote(values)}.") from None


def _to_index(value: Any, kind: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return index(value)
    except TypeError:
        raise ValueError(
            f"Invalid {kind} {quote(value)}: expected the index of a token."
        ) from None


def _to_indexed(arc: ArcTuple | Arc) -> IndexedArc:
    if isinstance(arc, Arc):
        return IndexedArc(arc.head.i, arc.dep.i, arc.label, arc.score)
    try:
        head, dep, label, score = arc if len(arc) == 4 else (*arc, None)
        # NumPy integers are accepted, but stored as Python's own.
        head, dep = _to_index(head, "head"), _to_index(dep, "dep")
        score = None if score is None else _to_score(score)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Invalid arc {quote(arc)}: expected (head, dep, label) or "
            "(head, dep, label, score) with token indices for head and dep."
        ) from None
    return IndexedArc(head, dep, label, score)


def _why_not(arc: IndexedArc, sentence_of: list[int]) -> str | None:
    """Get the reason why an arc is invalid, or None if it is valid."""
    size = len(sentence_of)
    for name, i in (("head", arc.head), ("dep", arc.dep)):
        if not 0 <= i < size:
            return f"{name} {i} is not a token of the Doc, which has {size} tokens."
    if not isinstance(arc.label, str) or not arc.label:
        return "the label must be a non-empty string."
    if arc.head == arc.dep:
        return "it is a self-loop; a word cannot be its own argument."
    if sentence_of[arc.head] != sentence_of[arc.dep]:
        return "it crosses a sentence boundary."
    return None


def _to_score(value: Any) -> float:
    if isinstance(value, bool | str) or not isfinite(score := float(value)):
        raise ValueError
    return score
