"""The words that negate a clause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .arc import IndexedArc
from .predicates import Predicates
from .roles import (
    NEGATED_NOUNS,
    NEGATIVE_ADVERBS,
    NEGATIVE_CONJUNCTIONS,
    NEGATIVE_INTRODUCTIONS,
    NEGATIVE_NOMINALS,
)


def find_negations(
    predicates: Predicates, head: int, conjuncts: Iterable[IndexedArc]
) -> list[int]:
    """Find the words that negate a clause.

    predicates (Predicates): The predicates of the graph.
    head (int): The head of the clause.
    conjuncts (Iterable[IndexedArc]): The arcs to coordinated arguments of the clause,
        such as "coffee" in "She drinks tea but not coffee".
    RETURNS (List[int]): Their indices, in the order of the sentence.
    """
    found: set[int] = set()
    for i in predicates.scope(head):
        for arc in predicates.above(i):
            found.update(_of_arc(predicates, arc))
        for arc in predicates.below(i):
            if arc.label in predicates.roles.joint_negations:
                found.update(_free_words(predicates, i - 2, i))
    for arc in predicates.args(head):
        found.update(_of_argument(predicates, arc.dep))
    for arc in conjuncts:
        found.update(_of_arc(predicates, arc))
    return sorted(i for i in found if not predicates.is_exclusive(i))


def _of_arc(predicates: Predicates, arc: IndexedArc) -> Iterator[int]:
    """Yield the words that negate a clause through an arc to it."""
    roles = predicates.roles
    if arc.label == roles.negation or (
        predicates.tree.modifies(arc) and predicates.is_negative(arc.head)
    ):
        yield from predicates.expression(arc.head)
    elif (
        arc.label in roles.objects
        and predicates.doc[arc.head].lower_ in NEGATIVE_INTRODUCTIONS
    ):
        yield arc.head
    elif predicates.tree.modifies(arc):
        # "By no means": the noun is the complement of the preposition.
        for noun in predicates.below(arc.head):
            if predicates.doc[noun.dep].lower_ in NEGATED_NOUNS:
                yield from _of_argument(predicates, noun.dep)
    elif arc.label in roles.negative_conjuncts:
        yield from _free_words(predicates, arc.head, arc.dep)


def _of_argument(predicates: Predicates, i: int) -> Iterator[int]:
    """Yield the negative words of an argument: "no", "nobody"."""
    doc, roles = predicates.doc, predicates.roles
    modifiers = [
        arc.head for arc in predicates.above(i) if arc.label in roles.modifiers
    ]
    for word in (*predicates.expression(i), *modifiers):
        if doc[word].lower_ in NEGATIVE_NOMINALS:
            yield word
    # "Not every student", "hardly anyone", but "a not uncommon mistake".
    if predicates.clause_below(i) is None:
        phrase = {i}
        phrase.update(
            arc.head
            for arc in predicates.above(i)
            if predicates.tree.modifies(arc) and arc.head < i
        )
        nots = {
            arc.head
            for word in phrase
            for arc in predicates.above(word)
            if predicates.tree.modifies(arc)
            and doc[arc.head].lower_ in NEGATIVE_ADVERBS
        }
        yield from (word for word in nots if word < min(phrase - nots))
    if any(roles.is_conjunct(arc.label) for arc in predicates.below(i)):
        yield from _free_words(predicates, i - 2, i)


def _free_words(predicates: Predicates, start: int, end: int) -> Iterator[int]:
    """Yield words such as "neither" in a range, which are not in the graph."""
    for i in range(max(start, predicates.tree.part.start), end):
        if (
            i not in predicates.tree.nodes
            and predicates.doc[i].lower_ in NEGATIVE_CONJUNCTIONS
        ):
            yield i
