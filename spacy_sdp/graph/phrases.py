"""Phrases, from a spanning tree of the graph.

A word can have several heads, but belongs to one phrase only. The tree consists of the
shortest paths from the top: steps to arguments are short, steps to modifiers are
longer, and steps from an argument to its verb, as in relative clauses, are longest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, pairwise

from spacy.tokens import Doc, Span, Token

from .arc import IndexedArc
from .index import GraphIndex
from .roles import COMPLEMENTIZERS, CONTRACTIONS, CORRELATIVES, PAIRS, Roles
from .spelling import plain_spelling

VERB_TAGS = ("VB", "MD")
NOUN_TAGS = ("NN",)
PREPOSITION_TAGS = ("IN", "TO", "RP")

# The lengths of steps. Modifiers are closer to a noun than relative clauses, and a verb
# that is itself an argument is rarely a relative clause.
ARGUMENT, MODIFIER, MODIFIED, RELATIVE, DETOUR = 2, 3, 4, 8, 24


@dataclass(frozen=True)
class Phrase:
    """A word with the words that belong to it.

    A discontinuous phrase has several `spans`. `marker` is a preposition without a
    meaning of its own, such as "to" in "gave it to her". It is not part of `spans`.
    `owner` is who "whose" stands for.

    >>> clause = graph.clauses()[0]
    >>> clause.subject, clause.subject.head, clause.subject.spans
    (The shy cat, cat, (The shy cat,))
    """

    head: Token
    spans: tuple[Span, ...]
    marker: Token | None = None
    owner: Phrase | None = None

    @classmethod
    def from_indices(
        cls, head: Token, indices: Collection[int], marker: Token | None = None
    ) -> Phrase:
        """Create a phrase from tokens. Adjacent tokens are joined to spans.

        >>> Phrase.from_indices(doc[3], {1, 2, 5}).spans
        (shy cat, eat)
        """
        return cls(head, tuple(_to_spans(head.doc, sorted(indices))), marker)

    @property
    def text(self) -> str:
        """RETURNS (str): The words, with a space between separate spans.

        Halves of contractions are written in full ("will" in "won't"), and "whose" is
        replaced by its owner.

        >>> graph.clauses()[0].subject.text
        'The shy cat'
        """
        return " ".join(self.texts())

    def texts(self) -> list[str]:
        """Get the text of each span.

        >>> graph.clauses()[0].subject.texts()
        ['The shy cat']
        """
        texts = [_write_out(span) for span in self.spans]
        if self.owner is not None:
            whose = self.spans[0][0]
            texts[0] = _to_possessive(self.owner) + texts[0][len(whose) :]
        return texts

    @property
    def tokens(self) -> tuple[Token, ...]:
        """RETURNS (Tuple[Token, ...]): The words, in the order of the sentence.

        >>> graph.clauses()[0].subject.tokens
        (The, shy, cat)
        """
        return tuple(chain.from_iterable(self.spans))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def _write_out(span: Span) -> str:
    """Get the text of a span, with contractions in full that its edges cut."""
    first, last = span[0], span[-1]
    words = [token.text_with_ws for token in span]
    if plain_spelling(first.text).startswith("'"):
        words[0] = _full_form(first) + first.whitespace_
    elif not last.whitespace_:
        words[-1] = _full_form(last)
    return "".join(words).rstrip()


def _full_form(token: Token) -> str:
    """Get the full form of a part of a contraction: "will" for "wo" in "won't"."""
    word = plain_spelling(token.lower_)
    if not token.tag_.startswith(VERB_TAGS):
        return token.text
    if word == "'s":
        is_perfect = token.lemma_ == "have" or token.nbor().lower_ == "been"
        return "has" if is_perfect else "is"
    if word == "'d":
        return "would" if token.tag_ == "MD" else "had"
    full = CONTRACTIONS.get(word, token.text)
    return full.capitalize() if token.is_title else full


def _to_possessive(owner: Phrase) -> str:
    """Get the possessive of a phrase: "the dog's", "the dogs'"."""
    is_plural = owner.head.tag_.endswith("S") and owner.text.endswith("s")
    return f"{owner.text}'" if is_plural else f"{owner.text}'s"


def _to_spans(doc: Doc, indices: list[int]) -> Iterator[Span]:
    start = 0
    for position, i in enumerate(indices):
        if position + 1 == len(indices) or indices[position + 1] != i + 1:
            yield doc[indices[start] : i + 1]
            start = position + 1


class PhraseTree:
    """A tree of the words of a graph, in which each word has one parent."""

    def __init__(self, part: Span, index: GraphIndex, roles: Roles) -> None:
        """Build the tree.

        part (Span): Complete sentences without arcs to other sentences.
        index (GraphIndex): The part of the graph in them.
        roles (Roles): The functions of the labels.
        """
        self.part, self.doc, self.index, self.roles = part, part.doc, index, roles
        self.nodes = {*index.by_head, *index.by_dep, *index.tops, *index.predicates}
        # Words outside the graph that are part of a phrase, such as auxiliaries.
        self.satellites: set[int] = set()
        self._satellites_of: dict[int, list[int]] = {}
        self.parents: dict[int, int] = {}
        self.depths: dict[int, int] = {}
        self._pairs = self._find_pairs()
        self._find_parents()
        self.children: dict[int, list[int]] = {}
        for child, parent in self.parents.items():
            self.children.setdefault(parent, []).append(child)

    def attach(self, satellite: int, owner: int) -> None:
        """Attach a word outside the graph to the phrase of a word in the graph."""
        self.satellites.add(satellite)
        self._satellites_of.setdefault(owner, []).append(satellite)

    def satellites_of(self, i: int) -> list[int]:
        """Get the words outside the graph that belong to a word."""
        return self._satellites_of.get(i, [])

    def is_verb(self, i: int) -> bool:
        """Check whether a word is tagged as a verb, or is an infinitive after "to"."""
        tag = self.doc[i].tag_
        return tag.startswith(VERB_TAGS) or (
            # If the tag is wrong, the arguments in the graph reveal a verb.
            i > self.part.start
            and self.doc[i - 1].tag_ == "TO"
            and i - 1 not in self.nodes
            and any(
                arc.dep < i or not tag.startswith(NOUN_TAGS)
                for arc in self.index.by_head.get(i, ())
                if arc.label in self.roles.arguments
            )
        )

    def is_noun(self, i: int) -> bool:
        """Check whether a word is tagged as a noun."""
        return self.doc[i].tag_.startswith(NOUN_TAGS)

    def modifies(self, arc: IndexedArc) -> bool:
        """Check whether the head of an arc modifies its dependent.

        Adjectives, adverbs and prepositions modify with the label of a subject.
        """
        return arc.label in self.roles.modifiers or (
            arc.label == self.roles.subject
            and not self.is_verb(arc.head)
            and (not self.is_noun(arc.head) or self.is_preposition(arc.head))
        )

    def is_preposition(self, i: int) -> bool:
        """Check whether a word is a preposition, or the end of one: "in order to"."""
        return self.doc[i].tag_.startswith(PREPOSITION_TAGS) or any(
            arc.label in self.roles.parts
            and arc.dep < i
            and self.doc[arc.dep].tag_.startswith(PREPOSITION_TAGS)
            for arc in self.index.by_head.get(i, ())
        )

    def _find_parents(self) -> None:
        # Each component of the graph has a root: a top, or a word without heads.
        starts = [*self.index.tops]
        starts += [i for i in sorted(self.nodes) if i not in self.index.by_dep]
        starts += sorted(self.nodes)
        for start in starts:
            if start not in self.depths:
                self._find_parents_from(start)

    def _find_parents_from(self, start: int) -> None:
        queue = [(0, 0, start, -1)]
        while queue:
            depth, _, i, parent = heappop(queue)
            if i in self.depths:
                continue
            self.depths[i] = depth
            if parent >= 0:
                self.parents[i] = parent
            for length, other in self._ways(i):
                if other not in self.depths:
                    heappush(queue, (depth + length, abs(other - i), other, i))

    def _ways(self, i: int) -> Iterator[tuple[int, int]]:
        for arc in self.index.by_head.get(i, ()):
            yield MODIFIED if self.modifies(arc) else ARGUMENT, arc.dep
        for arc in self.index.by_dep.get(i, ()):
            if self.modifies(arc):
                yield MODIFIER, arc.head
            elif any(
                not self.modifies(other)
                for other in self.index.by_dep.get(arc.head, ())
            ):
                yield DETOUR, arc.head
            else:
                yield RELATIVE, arc.head

    def is_below(self, i: int, ancestor: int) -> bool:
        """Check whether a word is below another one in the tree, or the same."""
        while i != ancestor and i in self.parents:
            i = self.parents[i]
        return i == ancestor

    def below(self, head: int, without: Iterable[int] = ()) -> set[int]:
        """Get the words of a phrase that are in the graph.

        head (int): Its head.
        without (Iterable[int]): Words to exclude, together with the words below them
            and between them and the head.
        RETURNS (Set[int]): The words.
        """
        left_out = set()
        for i in without:
            while i != head and self.parents.get(i, head) != head:
                i = self.parents[i]
            left_out.add(i)
        found, stack = {head}, [head]
        while stack:
            for child in self.children.get(stack.pop(), ()):
                if child not in left_out and child != head:
                    found.add(child)
                    stack.append(child)
        return found

    def phrase(
        self, head: int, without: Iterable[int] = (), *, clausal: bool = False
    ) -> Phrase:
        """Get the phrase of a word.

        head (int): The word.
        without (Iterable[int]): Words to exclude, such as the predicate of a relative
            clause whose subject the word is.
        clausal (bool): Whether a word such as "that" or "to" may introduce it.
        RETURNS (Phrase): The phrase.
        """
        found = self.below(head, without)
        for i in tuple(found):
            found.update(self.satellites_of(i))
        self._fill_gaps(found)
        self._balance(found)
        # A colon at the end only announces what follows.
        if self.doc[max(found)].tag_ == ":" and max(found) != head:
            found.discard(max(found))
        introductions = set(COMPLEMENTIZERS) if clausal else set()
        if any(self.roles.is_conjunct(arc.label) for arc in self._args(head)):
            introductions |= CORRELATIVES
        before = min(found) - 1
        closing = self._pairs.get(before)
        if closing is not None and closing - 1 in found:
            # "that" precedes the quotation mark in: that "everything is fine"
            if self.doc[max(before - 1, self.part.start)].lower_ not in introductions:
                return Phrase.from_indices(self.doc[head], found)
            found |= {before, closing}
            before -= 1
        if (
            before >= self.part.start
            and self._is_free(before)
            and (
                self.doc[before].lower_ in introductions
                # The owner is the noun before a relative clause.
                or self.doc[before].tag_ == "WP$"
            )
        ):
            found.add(before)
        return Phrase.from_indices(self.doc[head], found)

    def _args(self, i: int) -> tuple[IndexedArc, ...]:
        return self.index.by_head.get(i, ())

    def _fill_gaps(self, found: set[int]) -> None:
        """Add the words in between that do not belong to another phrase."""
        for left, right in pairwise(sorted(found)):
            if all(map(self._is_free, range(left + 1, right))):
                found.update(range(left + 1, right))

    def _balance(self, found: set[int]) -> None:
        """Complete or remove each half of a pair of quotation marks or parentheses."""
        for start, end in self._pairs.items():
            if (start in found) != (end in found):
                if found.issuperset(range(start + 1, end)):
                    found |= {start, end}
                else:
                    found -= {start, end}

    def _find_pairs(self) -> dict[int, int]:
        """Find the pairs of quotation marks and parentheses: start -> end."""
        pairs: dict[int, int] = {}
        opened: dict[str, int] = {}
        for token in self.part:
            if token.is_sent_start:
                opened.clear()
            if token.i in self.nodes:
                continue
            closing = opened.pop(token.text, None)
            if closing is not None:
                pairs[closing] = token.i
            elif token.text in PAIRS:
                opened[PAIRS[token.text]] = token.i
        return pairs

    def _is_free(self, i: int) -> bool:
        return i not in self.nodes and i not in self.satellites
