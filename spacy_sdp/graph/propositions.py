"""Clauses as plain sentences: subject, verb, objects, adjuncts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from spacy.tokens import Token

from .adjuncts import ADJUNCTS
from .phrases import Phrase
from .predicates import Predicates

if TYPE_CHECKING:
    from .clauses import Clause


def propose(
    clause: Clause, predicates: Predicates, scope: list[int]
) -> Iterator[Phrase]:
    """Yield the phrases of a clause in the order of a plain sentence.

    clause (Clause): The clause.
    predicates (Predicates): The predicates of the graph.
    scope (List[int]): The head and its operators, from `Predicates.scope`.
    YIELDS (Phrase): The phrases.
    """
    first, rest, agent = clause.subject, list(clause.objects), None
    if clause.voice == "passive":
        first, agent = None, clause.subject
        if rest:
            first = min(rest, key=lambda phrase: phrase.head.i)
            rest.remove(first)
    words = _verb_words(clause, predicates, scope)
    there = _find_expletive(predicates, min(words), max(words))
    if there is not None:
        yield Phrase.from_indices(there, {there.i})
        rest = [phrase for phrase in (first, *rest) if phrase is not None]
    elif first is not None:
        yield replace(first, marker=None)
    yield Phrase.from_indices(clause.verb.head, words)
    yield from sorted(rest, key=lambda phrase: phrase.head.i)
    if agent is not None:
        yield agent
    adjuncts = [phrase for name in ADJUNCTS for phrase in getattr(clause, name)]
    yield from sorted(adjuncts, key=lambda phrase: phrase.head.i)
    if clause.conditional is not None:
        yield clause.conditional


def _verb_words(clause: Clause, predicates: Predicates, scope: list[int]) -> set[int]:
    """Get the verb with its operators: modals, negations, "seems to"."""
    words = {token.i for token in clause.verb.tokens}
    for i in scope:
        words.update(predicates.auxiliaries.get(i, ()))
        if predicates.is_scopal(i):
            words.add(i)
    inside = {
        token.i
        for phrase in (clause.subject, *clause.objects)
        if phrase is not None
        for token in phrase.tokens
    }
    words.update(token.i for token in clause.negation)
    # Include "to", as in the headline "the museum to return the statues".
    words.update([i - 1 for i in words if i and predicates.doc[i - 1].tag_ == "TO"])
    return words - inside


def _find_expletive(predicates: Predicates, start: int, end: int) -> Token | None:
    """Find the "there" of an existential clause, which is not in the graph."""
    doc = predicates.doc
    for i in (start - 1, end + 1):
        if 0 <= i < len(doc) and doc[i].tag_ == "EX" and i not in predicates.tree.nodes:
            return doc[i]
    return None


def to_plain(phrase: Phrase) -> str:
    """Format a phrase as in the middle of a sentence.

    phrase (Phrase): The phrase.
    RETURNS (str): Its text, with the preposition that marks it.
    """
    words = [] if phrase.marker is None else [phrase.marker.text]
    for span in phrase.spans:
        first, text = span[0], span.text
        # The lemma of a name is capitalized, too.
        is_name = first.tag_.startswith("NNP") and not first.lemma_.islower()
        if first.is_title and first.text != "I" and not is_name and _is_initial(first):
            text = text[0].lower() + text[1:]
        words.append(text)
    last = phrase.spans[-1]
    if last.end < len(last.doc) and last.doc[last.end].text == "," in last.text:
        # Close a relative clause or an apposition.
        words[-1] += ","
    return " ".join(words)


def _is_initial(token: Token) -> bool:
    """Check whether a word starts a sentence, ignoring quotation marks."""
    while token.i and not token.is_sent_start and token.nbor(-1).is_punct:
        token = token.nbor(-1)
    return not token.i or bool(token.is_sent_start)
