"""What makes a graph valid, and what is said of one that is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from reprlib import repr as quote
from typing import Any

from spacy.tokens import Doc

from .arc import Arc, ArcTuple, IndexedArc
from .spans import sentence_numbers


def check_arcs(doc: Doc, arcs: Iterable[ArcTuple | Arc]) -> list[IndexedArc]:
    """Give arcs as they are stored, if all of them are arcs that a Doc can have.

    doc (Doc): The document the indices refer to.
    arcs (Iterable[ArcTuple | Arc]): The arcs.
    RETURNS (List[IndexedArc]): The same arcs.
    """
    sentence_of = sentence_numbers(doc)
    arcs = _to_list(arcs, "arcs")
    seen: set[tuple[int, int, str]] = set()
    checked = []
    for each in arcs:
        arc = _to_indexed(each)
        reason = _why_not(arc, sentence_of)
        if reason is None and arc[:3] in seen:
            reason = "a duplicate; the same arc was given before."
        if reason is not None:
            raise ValueError(f"Invalid arc {quote(tuple(arc[:3]))}: {reason}")
        seen.add(arc[:3])
        checked.append(arc)
    return checked


def check_nodes(doc: Doc, indices: Iterable[Any], kind: str) -> list[int]:
    """Give indices of tokens, if they are that, and different ones.

    doc (Doc): The document the indices refer to.
    indices (Iterable[Any]): The indices.
    kind (str): What they are, for the message of an error.
    RETURNS (List[int]): The same indices.
    """
    checked = [_to_index(i, kind) for i in _to_list(indices, f"{kind}s")]
    for i in checked:
        if not 0 <= i < len(doc):
            raise ValueError(
                f"Invalid {kind} {i}: not a token of the Doc of {len(doc)} tokens."
            )
    if len(set(checked)) != len(checked):
        raise ValueError(f"A {kind} is given twice: {sorted(checked)}.")
    return checked


def check_frames(doc: Doc, frames: Mapping[int, str]) -> dict[int, str]:
    """Give the frames of tokens, if they are that.

    doc (Doc): The document the indices refer to.
    frames (Mapping[int, str]): The frames by the indices of tokens.
    RETURNS (Dict[int, str]): The same frames.
    """
    nodes = check_nodes(doc, frames, "frame")
    for i, frame in zip(nodes, frames.values(), strict=True):
        if not isinstance(frame, str):
            raise ValueError(f"Invalid frame of token {i}: {quote(frame)} is no text.")
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
        # numpy's numbers are accepted, but are not what is stored.
        head, dep = _to_index(head, "head"), _to_index(dep, "dep")
        score = None if score is None else float(score)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"Invalid arc {quote(arc)}: expected (head, dep, label) or "
            "(head, dep, label, score) with token indices for head and dep."
        ) from None
    return IndexedArc(head, dep, label, score)


def _why_not(arc: IndexedArc, sentence_of: list[int]) -> str | None:
    """Say why there cannot be such an arc; None if there can."""
    size = len(sentence_of)
    for name, i in (("head", arc.head), ("dep", arc.dep)):
        if not 0 <= i < size:
            return f"{name} {i} is not a token of the Doc of {size} tokens."
    if not isinstance(arc.label, str) or not arc.label:
        return "the label has to be a non-empty string."
    if arc.head == arc.dep:
        return "a self-loop; a word cannot be its own argument."
    if sentence_of[arc.head] != sentence_of[arc.dep]:
        return "it crosses a sentence boundary."
    return None
