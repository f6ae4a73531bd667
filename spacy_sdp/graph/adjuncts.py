"""The questions that adjuncts answer: where, when, why or how."""

from __future__ import annotations

import re

from .predicates import Predicates
from .roles import (
    ANSWERS,
    CONDITION_PHRASES,
    CONDITIONS,
    ENTITIES_OF_TIME,
    PURPOSES,
    SENTENCE_ADVERBS,
    TIMES,
)

OTHER = "others"
ADJUNCTS = ("where", "when", "why", "how", OTHER)
AMOUNT_TAGS = ("CD", "$", "SYM")
YEAR_OR_TIME = re.compile(r"[12]\d{3}s?|\d{1,2}:\d\d")


def find_question(predicates: Predicates, i: int) -> str:
    """Find the question that an adjunct answers.

    predicates (Predicates): The predicates of the graph.
    i (int): The head of the adjunct: a preposition, an adverb, a noun such as "Monday".
    RETURNS (str): One of `ADJUNCTS`.
    """
    doc, roles = predicates.doc, predicates.roles
    if doc[i].tag_ == "WRB" and doc[i].lower_ in ANSWERS:
        return ANSWERS[doc[i].lower_]
    for arc in predicates.below(i):
        if arc.label in roles.adverbials:
            return roles.adverbials[arc.label]
    complements = [arc.dep for arc in predicates.args(i) if arc.label in roles.objects]
    if any(_is_time(predicates, each) for each in complements or [i]):
        return "when"
    words = words_of(predicates, i)
    if words & PURPOSES and any(
        predicates.clause_below(each) is not None for each in complements
    ):
        return "why"
    for word in sorted(words):
        if word in ANSWERS:
            # "to 5%" is no place.
            is_amount = any(doc[each].tag_ in AMOUNT_TAGS for each in complements)
            return OTHER if is_amount and ANSWERS[word] == "where" else ANSWERS[word]
    word = doc[i].lower_
    manner = word.endswith("ly") and word not in SENTENCE_ADVERBS
    return "how" if manner else OTHER


def is_condition(predicates: Predicates, i: int) -> bool:
    """Check whether an adjunct is a condition: "if it rains", "in case it rains".

    predicates (Predicates): The predicates of the graph.
    i (int): The head of the adjunct.
    RETURNS (bool): Whether it is one.
    """
    words = words_of(predicates, i)
    if words & CONDITIONS:
        return True
    args = [arc.dep for arc in predicates.args(i)]
    # In "in case it rains", the clause is an argument of the noun.
    words |= {predicates.doc[arg].lower_ for arg in args if arg == i + 1}
    return any(phrase <= words for phrase in CONDITION_PHRASES) and any(
        predicates.clause_below(arc.dep) is not None
        for each in (i, *args)
        for arc in predicates.args(each)
        if arc.label in predicates.roles.objects and arc.dep > i
    )


def words_of(predicates: Predicates, i: int) -> set[str]:
    """Get the words of a fixed expression, given its head, in lower case."""
    return {predicates.doc[each].lower_ for each in predicates.expression(i)}


def _is_time(predicates: Predicates, i: int) -> bool:
    words = {i, *predicates.tree.satellites_of(i)}
    # In "May 9", the month is above the day.
    words |= {
        arc.head for arc in predicates.above(i) if arc.label in predicates.roles.parts
    }
    return any(
        not TIMES.isdisjoint({token.lower_, token.lemma_.lower()})
        or token.ent_type_ in ENTITIES_OF_TIME
        or YEAR_OR_TIME.fullmatch(token.text) is not None
        for token in map(predicates.doc.__getitem__, words)
    )
