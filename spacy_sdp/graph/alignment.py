"""Alignment of two tokenizations of the same text."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from spacy.training import Alignment, Example

from .record import Record
from .spelling import plain_spelling

Value = TypeVar("Value")


def align_one_to_one(example: Example) -> dict[int, int]:
    """Map predicted tokens to gold tokens that are aligned one-to-one.

    example (Example): The example.
    RETURNS (Dict[int, int]): Maps indices of `example.predicted` to indices of
        `example.reference`.
    """
    return _one_to_one(example.alignment, len(example.predicted))


def align_sentence(system: Record, gold: Record) -> Record | None:
    """Map a sentence to the token indices of another tokenization.

    Tokens are aligned if they are spelled alike, except for variants of quotes, dashes,
    ellipses and brackets. A token without a counterpart gets an index beyond the gold
    tokens.

    system (Record): The sentence.
    gold (Record): The same sentence with the indices to use.
    RETURNS (Optional[Record]): The sentence with its graph over the gold tokens, or
        None if the texts differ.
    """
    forms = same_forms(system, gold)
    if forms is None:
        return None
    mapping = _one_to_one(Alignment.from_strings(*forms), len(system.words))
    size = len(gold.words)
    at = [mapping.get(i, size + i) for i in range(len(system.words))]

    def reorder(column: list[Value], missing: Value) -> list[Value]:
        values = [missing] * (size + len(at))
        for i, value in zip(at, column, strict=False):
            values[i] = value
        return values if column else []

    return replace(
        system,
        words=reorder(system.words, ""),
        arcs=[(at[head], at[dep], label) for head, dep, label in system.arcs],
        tops=[at[top] for top in system.tops],
        tags=reorder(system.tags, None),
        frames=reorder(system.frames, None),
        predicates=reorder(system.predicates, False),
    )


def same_forms(one: Record, other: Record) -> tuple[list[str], list[str]] | None:
    """Get the words of two sentences in the same spelling. Tokens may differ.

    one (Record): A sentence.
    other (Record): The other sentence.
    RETURNS (Optional[Tuple[List[str], List[str]]]): The words of each sentence,
        normalized if quotes, dashes, ellipses or brackets differ, or None if the texts
        differ.
    """
    for spell in (str, plain_spelling):
        first, second = ([spell(word) for word in each.words] for each in (one, other))
        if "".join(first) == "".join(second):
            return first, second
    return None


def _one_to_one(alignment: Alignment, size: int) -> dict[int, int]:
    x2y, y2x = alignment.x2y, alignment.y2x
    mapping = {}
    for i in range(size):
        aligned = x2y[i]
        if len(aligned) == 1 and len(y2x[int(aligned[0])]) == 1:
            mapping[i] = int(aligned[0])
    return mapping
