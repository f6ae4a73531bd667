"""Clauses as plain sentences: subject, verb, objects, adjuncts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    expletive = _find_expletive(predicates, min(words), max(words))
    if expletive is not None and (first is None or first.head.i > clause.verb.head.i):
        yield Phrase.from_indices(expletive, {expletive.i})
        rest = [phrase for phrase in (first, *rest) if phrase is not None]
    elif first is not None:
        yield replace(first, marker=None)
    # "are how old"
    head = clause.verb.head
    inverted = {i for i in predicates.auxiliaries_of(head.i) if i > head.i} & words
    if inverted:
        yield Phrase.from_indices(head, inverted)
    yield Phrase.from_indices(head, words - inverted)
    yield from _in_order(rest, clause)
    if agent is not None:
        yield agent
    adjuncts = [phrase for name in ADJUNCTS for phrase in getattr(clause, name)]
    yield from _in_order(adjuncts, clause)
    condition = clause.conditional
    if condition is not None and clause.verb.head not in condition.tokens:
        yield condition


def _in_order(phrases: Iterable[Phrase], clause: Clause) -> list[Phrase]:
    """Sort phrases as in the text, except that those before the verb come last."""
    verb = clause.verb.head.i
    return sorted(phrases, key=lambda phrase: (phrase.head.i < verb, phrase.head.i))


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
    adjuncts = [phrase for name in ADJUNCTS for phrase in getattr(clause, name)]
    in_adjuncts = {token for phrase in adjuncts for token in phrase.tokens}
    words.update(token.i for token in clause.negation if token not in in_adjuncts)
    # Include "to", as in the headline "the museum to return the statues".
    start = predicates.tree.part.start
    words.update(
        [i - 1 for i in words if i > start and predicates.doc[i - 1].tag_ == "TO"]
    )
    return words - inside


def _find_expletive(predicates: Predicates, start: int, end: int) -> Token | None:
    """Find the "there" or "it" before a verb that is not in the graph."""
    doc, part, nodes = predicates.doc, predicates.tree.part, predicates.tree.nodes
    for i in (start - 1, end + 1):
        if (
            part.start <= i < part.end
            and (doc[i].tag_ == "EX" or doc[i].lower_ == "it")
            and i not in nodes
        ):
            return doc[i]
    return None


def to_text(phrases: Iterable[Phrase]) -> str:
    """Format phrases as a plain sentence, in which no word is repeated.

    phrases (Iterable[Phrase]): The phrases, in order.
    RETURNS (str): The text.
    """
    text, seen = "", set[int]()
    previous: Token | None = None
    for phrase in phrases:
        words = {token.i for token in phrase.tokens}
        if words <= seen:
            continue
        # The spans may have another order than the text.
        left = (
            Phrase.from_indices(phrase.head, words - seen, phrase.marker)
            if words & seen
            else phrase
        )
        seen |= words
        first = left.spans[0][0] if left.marker is None else left.marker
        # "She" and "'s happy" are one word in the text.
        joined = (
            previous is not None
            and previous.i + 1 == first.i
            and not previous.whitespace_
        )
        text += ("" if joined or not text else " ") + _to_plain(left, joined)
        previous = left.spans[-1][-1]
    return text.rstrip(",")


def _to_plain(phrase: Phrase, joined: bool) -> str:
    """Format a phrase as in the middle of a sentence, with its preposition."""
    words = [] if phrase.marker is None else [phrase.marker.text]
    texts = phrase.texts()
    firsts = [span[0] for span in phrase.spans]
    if joined:
        texts[0] = phrase.spans[0].text
    elif phrase.owner is not None:
        firsts[0] = phrase.owner.tokens[0]
    for first, text in zip(firsts, texts, strict=True):
        # The lemma of a name is capitalized, too.
        is_name = first.tag_.startswith("NNP") and not first.lemma_.islower()
        if first.is_title and first.text != "I" and not is_name and _is_initial(first):
            text = text[0].lower() + text[1:]
        words.append(text)
    last_span = phrase.spans[-1]
    doc, end = last_span.doc, last_span.end
    commas = sum(token.text == "," for token in last_span)
    if end < len(doc) and doc[end].text == "," and commas % 2:
        # Close a relative clause or an apposition.
        words[-1] += ","
    return " ".join(words)


def _is_initial(token: Token) -> bool:
    """Check whether a word starts a sentence, ignoring quotation marks."""
    while token.i and not token.is_sent_start and token.nbor(-1).is_punct:
        token = token.nbor(-1)
    return not token.i or bool(token.is_sent_start)
