"""Tense, aspect and voice of a clause, from its auxiliaries and tags."""

from __future__ import annotations

from .predicates import Predicates
from .roles import BE_FORMS, FUTURE_FORMS, HAVE_FORMS, PAST_FORMS

FINITE_TAGS = ("VBD", "VBP", "VBZ", "MD")


def is_passive(predicates: Predicates, head: int) -> bool:
    """Check whether a clause is passive."""
    doc = predicates.doc
    tag, auxiliaries = doc[head].tag_, predicates.auxiliaries_of(head)
    if not tag.startswith(("VBN", "VBD")):
        return False
    if auxiliaries:
        return doc[auxiliaries[-1]].lower_ in BE_FORMS
    # A reduced relative clause, as in "the letter written by Tom".
    return tag == "VBN" and not any(
        arc.label == predicates.roles.subject and arc.dep < head
        for arc in predicates.args(head)
    )


def find_tense(predicates: Predicates, head: int) -> str:
    """Get the tense of a clause, from its first auxiliary or its verb."""
    doc, auxiliaries = predicates.doc, predicates.auxiliaries_of(head)
    for i in sorted({*auxiliaries, *predicates.scope(head)}):
        word, tag = doc[i].lower_, doc[i].tag_
        if word in FUTURE_FORMS:
            return "future"
        if tag == "VBD" or (word in PAST_FORMS and tag != "MD"):
            return "past"
        if tag in ("VBP", "VBZ"):
            return "present"
        if tag == "MD":
            return ""
        if tag == "VBN" and i == head and not auxiliaries:
            # Taggers confuse the two forms in "-ed".
            return "" if is_passive(predicates, head) else "past"
    return ""


def find_aspect(predicates: Predicates, head: int) -> str:
    """Get the aspect of a clause: perfect, progressive, or both."""
    doc = predicates.doc
    words = {doc[i].lower_ for i in predicates.auxiliaries_of(head)}
    # "been" also reveals the perfect of "'s".
    perfect = "been" in words or words & HAVE_FORMS
    progressive = "being" in words or (doc[head].tag_ == "VBG" and words & BE_FORMS)
    names = ["perfect"] if perfect else []
    return " ".join([*names, "progressive"] if progressive else names)


def is_infinitive(predicates: Predicates, head: int) -> bool:
    """Check whether a clause is an infinitive or an imperative."""
    doc = predicates.doc
    first = min({*predicates.auxiliaries_of(head), *predicates.scope(head)})
    if first and doc[first - 1].tag_ == "TO":
        return True
    return doc[first].tag_ == "VB" and not any(
        arc.label == predicates.roles.subject for arc in predicates.args(head)
    )


def is_finite(predicates: Predicates, head: int) -> bool:
    """Check whether a clause has a tense or a modal."""
    doc, auxiliaries = predicates.doc, predicates.auxiliaries_of(head)
    for i in sorted({*auxiliaries, *predicates.scope(head)}):
        if doc[i].tag_.startswith(("VB", "MD")):
            return doc[i].tag_ in FINITE_TAGS
    # A verb that is mistagged as a noun is finite, unless it follows "to".
    return not doc[head].tag_.startswith("JJ") and (
        head == 0 or doc[head - 1].tag_ != "TO"
    )
