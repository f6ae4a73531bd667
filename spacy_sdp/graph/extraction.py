"""Extraction of the clauses of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from spacy.tokens import Span, Token

from .adjuncts import ADJUNCTS, find_question, is_condition, words_of
from .arc import IndexedArc
from .clauses import Clause
from .index import GraphIndex
from .inflection import (
    find_aspect,
    find_tense,
    is_finite,
    is_infinitive,
    is_passive,
)
from .negation import find_negations
from .phrases import PREPOSITION_TAGS, Phrase
from .predicates import Predicates
from .propositions import propose
from .roles import (
    ASKING,
    BE_FORMS,
    CAUSATIVES,
    COMPLEMENTIZERS,
    HEDGES,
    INTERROGATIVES,
    SOURCES,
    Roles,
    find_roles,
)
from .spans import sentence_of

if TYPE_CHECKING:
    from .graph import SemanticGraph


def extract_clauses(
    graph: SemanticGraph, *, conjuncts: bool = False, span: Span | None = None
) -> list[Clause]:
    """Extract the clauses of a graph.

    graph (SemanticGraph): The graph, in DM.
    conjuncts (bool): Whether to distribute coordinated subjects and objects.
    span (Optional[Span]): Only extract the clauses whose verb is in this span.
    RETURNS (List[Clause]): The clauses, in the order of their verbs.
    """
    if not len(graph):
        return []
    if not graph.doc.has_annotation("TAG"):
        raise ValueError(
            "Extracting clauses requires part-of-speech tags (token.tag_), but this "
            "Doc has none. Add a tagger to the pipeline."
        )
    roles = find_roles(graph._index.labels)
    inside = graph.doc[:] if span is None else span
    return [
        clause
        for part in _parts(graph._index, inside)
        for clause in _Extraction(
            graph.subgraph(part)._index, part, roles, conjuncts
        ).clauses()
        if inside.start <= clause.verb.head.i < inside.end
    ]


def _parts(index: GraphIndex, span: Span) -> Iterator[Span]:
    """Yield the sentences of a span. Sentences with arcs between them are one part."""
    end = span.start
    while end < span.end:
        part = _join_sentences(index, sentence_of(span.doc, end))
        yield part
        end = part.end


def _join_sentences(index: GraphIndex, part: Span) -> Span:
    """Extend a sentence to the ones that have arcs to it, directly or indirectly."""
    queue = [*range(part.start, part.end)]
    for i in queue:
        for arc in (*index.by_head.get(i, ()), *index.by_dep.get(i, ())):
            other = arc.dep if arc.head == i else arc.head
            if not part.start <= other < part.end:
                sentence = sentence_of(part.doc, other)
                start = min(part.start, sentence.start)
                end = max(part.end, sentence.end)
                queue += [*range(start, part.start), *range(part.end, end)]
                part = part.doc[start:end]
    return part


class _Extraction:
    """The clauses of a part of a Doc, each created on demand."""

    def __init__(
        self, index: GraphIndex, part: Span, roles: Roles, conjuncts: bool
    ) -> None:
        self.doc, self.index, self.conjuncts = part.doc, index, conjuncts
        self.roles = roles
        self.predicates = Predicates(part, index, roles)
        self.tree = self.predicates.tree
        self.made: dict[int, list[Clause]] = {}

    def clauses(self) -> Iterator[Clause]:
        for head in self.predicates.heads:
            yield from self._make(head)

    def _make(self, head: int) -> list[Clause]:
        if head not in self.made:
            # Predicted graphs may have cycles, in which a clause cannot be complete.
            self.made[head] = []
            self.made[head] = list(self._distribute(head))
        return self.made[head]

    def _distribute(self, head: int) -> Iterator[Clause]:
        """Yield the clause of a word, or one for each combination of conjuncts."""
        particles = self.predicates.particles.get(head, ())
        args = [arc for arc in self.predicates.args(head) if arc.dep not in particles]
        choices = [list(self._parts(arc)) for arc in args]
        for choice in product(*choices):
            yield self._build(head, choice)

    def _parts(self, arc: IndexedArc) -> Iterator[_Argument]:
        """Yield the parts of a coordination, each as a separate argument."""
        if not self.conjuncts or self.predicates.clause_below(arc.dep) is not None:
            yield _Argument(arc, arc.dep)
            return
        parts: dict[int, IndexedArc | None] = {arc.dep: None}
        queue = [arc.dep]
        for part in queue:
            following = {
                conjunct.dep: conjunct
                for conjunct in self.predicates.below(part)
                if self.roles.is_conjunct(conjunct.label) and conjunct.dep not in parts
            }
            queue += following
            parts |= following
            yield _Argument(arc, part, parts[part], tuple(following))

    def _build(self, head: int, args: Sequence[_Argument]) -> Clause:
        predicates = self.predicates
        scope = predicates.scope(head)
        parts = _Parts(list(self._governors(scope)))
        parts.governor = self._governor(parts.governors)
        parts.arcs += [
            arc for i in scope for arc in predicates.below(i) if arc.dep in scope
        ]
        self._add_arguments(parts, head, args)
        self._add_modifiers(parts, scope, {arg.arc.dep for arg in args})
        verb = self._verb(head, scope, args)
        asked = self._asked(verb, scope, parts)
        self._add_governor(parts, head, scope, asked)
        negation = find_negations(
            predicates, head, [arg.conjunct for arg in args if arg.conjunct]
        )
        parts.arcs += [arc for i in negation for arc in predicates.below(i)]
        modality = tuple(self._modality(parts, head, scope))
        is_qualified = negation or modality or parts.attribution or parts.conditional
        made = Clause(
            sentence=sentence_of(self.doc, head),
            verb=verb,
            subject=parts.subject,
            objects=tuple(parts.objects),
            **{name: tuple(phrases) for name, phrases in parts.adjuncts.items()},
            negation=tuple(self.doc[i] for i in negation),
            modality=modality,
            tense=find_tense(predicates, head),
            aspect=find_aspect(predicates, head),
            voice="passive" if is_passive(predicates, head) else "active",
            attribution=parts.attribution,
            conditional=parts.conditional,
            asked=asked,
            asserted=not (
                is_qualified or asked or self._is_dependent(parts, scope, args)
            ),
            subject_clause=parts.subject_clause,
            object_clause=parts.object_clause,
            score=min(
                (arc.score for arc in parts.arcs if arc.score is not None),
                default=None,
            ),
        )
        return replace(made, _proposition=tuple(propose(made, predicates, scope)))

    def _add_arguments(
        self, parts: _Parts, head: int, args: Sequence[_Argument]
    ) -> None:
        for arg in args:
            parts.arcs += [arg.arc, arg.conjunct] if arg.conjunct else [arg.arc]
            phrase = self._argument(head, arg)
            below = self.predicates.clause_below(arg.head)
            clause = self._first_of(below)
            if below is None:
                parts.simple.append(phrase)
            if parts.subject is None and arg.arc.label in self._subject_labels:
                parts.subject, parts.subject_clause = phrase, clause
            elif below is None and self._is_adverbial(arg.head):
                self._add_adjunct(parts, arg.head, phrase)
            else:
                parts.objects.append(phrase)
                parts.object_clause = clause or parts.object_clause

    def _add_modifiers(self, parts: _Parts, scope: list[int], args: set[int]) -> None:
        seen = {*args}
        for arc in self._modifiers(scope):
            complements = self._complements(arc.head)
            parts.arcs += [arc, *complements]
            if arc.head in seen or args & {each.dep for each in complements}:
                continue
            # In "stopped smoking years ago", it modifies both verbs.
            seen.add(arc.head)
            phrase = self._adjunct(arc.head, scope)
            if self.doc[arc.head].lower_ in HEDGES:
                parts.hedges.append(phrase)
            elif is_condition(self.predicates, arc.head):
                parts.conditional = phrase
            elif words_of(self.predicates, arc.head) & SOURCES:
                parts.attribution = self._complement(arc.head) or phrase
            else:
                self._add_adjunct(parts, arc.head, phrase)
                parts.simple.append(phrase)

    def _add_adjunct(self, parts: _Parts, head: int, phrase: Phrase) -> None:
        parts.adjuncts[find_question(self.predicates, head)].append(phrase)

    def _add_governor(
        self, parts: _Parts, head: int, scope: list[int], asked: Phrase | None
    ) -> None:
        """Add who says it, or mark the clause of a condition."""
        for i in scope:
            for arc in self.predicates.above(i):
                if arc.label in self.roles.objects and is_condition(
                    self.predicates, arc.head
                ):
                    parts.conditional = self.tree.phrase(arc.head, self._heads_of(arc))
        governor = parts.governor
        if parts.attribution or asked or not is_finite(self.predicates, head):
            return
        if governor and self._reports(governor, head):
            parts.attribution = self._subject_of(governor.head)
            parts.arcs.append(governor)
        elif not parts.conditional:
            parts.attribution = self._attribution_of_main_clause(parts.governors)

    def _attribution_of_main_clause(
        self, governors: Iterable[IndexedArc]
    ) -> Phrase | None:
        """Find who says what an adverbial clause belongs to: "… because it rained"."""
        for arc in governors:
            if self.predicates.is_conjunction(arc.head):
                for head in self._heads_of(arc):
                    main = self._first_of(self.predicates.clause_below(head))
                    if main is not None and main.attribution is not None:
                        return main.attribution
        return None

    def _heads_of(self, arc: IndexedArc) -> list[int]:
        """Get the words that the head of an arc modifies."""
        below = self.predicates.below(arc.head)
        return [each.dep for each in below if each.label == self.roles.subject]

    def _reports(self, governor: IndexedArc, head: int) -> bool:
        """Check whether a verb with a clause as its object tells who says it.

        Copulas, indirect questions and bare infinitives do not.
        """
        verb, start = self.doc[governor.head], governor.dep
        if verb.lower_ in BE_FORMS:
            return False
        phrase = self.tree.phrase(start, [governor.head], clausal=True)
        if phrase.tokens[0].lower_ in INTERROGATIVES or phrase.tokens[0].tag_ == "WRB":
            return False
        bare = self.doc[head].tag_ in ("VB", "VBP") and not (
            self.predicates.auxiliaries_of(head)
            or phrase.tokens[0].lower_ in COMPLEMENTIZERS
        )
        return not (bare and verb.lemma_.lower() in CAUSATIVES)

    @property
    def _subject_labels(self) -> tuple[str, str]:
        return self.roles.subject, self.roles.place

    def _first_of(self, head: int | None) -> Clause | None:
        """Get the clause of a word, or the first one if it is distributed."""
        clauses = [] if head is None else self._make(head)
        return clauses[0] if clauses else None

    # Phrases

    def _argument(self, head: int, arg: _Argument) -> Phrase:
        clausal = self.predicates.clause_below(arg.head) is not None
        without = [*arg.left_out]
        if self.tree.is_below(head, arg.head):
            without.append(head)
            # "Apple" and "in California", in "Apple, which is based in California"
            without += [
                arc.dep
                for arc in self.predicates.args(head)
                if arc.dep != arg.arc.dep and self.tree.is_below(arc.dep, arg.head)
            ]
        phrase = self.tree.phrase(arg.head, without, clausal=clausal)
        if phrase.tokens[0].tag_ == "WP$" and not self._is_node(phrase.tokens[0]):
            phrase = replace(phrase, owner=self._owner(head, phrase))
        before = phrase.spans[0].start - 1
        if arg.arc.dep != arg.head or before <= head:
            return phrase
        marked = (
            not self.doc[before + 1].is_sent_start
            and (before not in self.tree.nodes or self._marks(before, arg.arc))
            and before not in self.tree.satellites
            and self.doc[before].tag_.startswith(PREPOSITION_TAGS)
            and (not clausal or self.doc[before].lower_ not in COMPLEMENTIZERS)
        )
        return replace(phrase, marker=self.doc[before]) if marked else phrase

    def _owner(self, head: int, phrase: Phrase) -> Phrase | None:
        """Get who a relative "whose" stands for: "the man" in "the man whose dog …"."""
        for token in phrase.tokens:
            for arc in self.predicates.above(token.i):
                if arc.label == self.roles.owner and arc.head < phrase.tokens[0].i:
                    owner = self.tree.phrase(arc.head)
                    words = [t for t in owner.tokens if t.i < phrase.tokens[0].i]
                    while len(words) > 1 and words[-1].is_punct:
                        words.pop()
                    return Phrase.from_indices(owner.head, [word.i for word in words])
        return None

    def _is_node(self, token: Token) -> bool:
        return token.i in self.tree.nodes

    def _marks(self, preposition: int, arc: IndexedArc) -> bool:
        """Check whether a preposition marks an argument: "sold the mill to a bank"."""
        below = {each.dep for each in self.predicates.below(preposition)}
        return arc.dep in below and arc.head in below

    def _adjunct(self, head: int, scope: list[int]) -> Phrase:
        """Get an adjunct with its preposition first, also in a relative clause."""
        without = [i for i in scope if self.tree.is_below(i, head)]
        phrase = self.tree.phrase(head, without)
        complements = [arc.dep for arc in self._complements(head)]
        for dep in complements:
            if dep < head and not self.tree.is_below(dep, head):
                noun = self.tree.phrase(dep, [head, *scope])
                return Phrase(self.doc[head], (*phrase.spans, *noun.spans))
        return phrase

    def _verb(self, head: int, scope: list[int], args: Sequence[_Argument]) -> Phrase:
        predicates = self.predicates
        words = {
            head,
            *predicates.auxiliaries_of(head),
            *predicates.particles.get(head, ()),
        }
        for i in scope:
            # An adjective after a verb such as "seems" has no other verb.
            if self.doc[i].tag_ == "MD" or (
                head not in predicates.auxiliaries
                and predicates.is_scopal(i)
                and not self.tree.is_verb(head)
            ):
                words |= {i, *predicates.auxiliaries.get(i, ())}
        if not self.tree.is_verb(head):
            # The words around the adjective: "is as tall as", "is very tall".
            words.update(self.tree.satellites_of(head))
            words |= {
                i
                for arc in predicates.above(head)
                if self._is_degree(arc, head)
                for i in self.tree.below(
                    arc.head,
                    [
                        i
                        for i in (head, *(arg.arc.dep for arg in args))
                        if self.tree.is_below(i, arc.head)
                    ],
                )
            }
        return Phrase.from_indices(self.doc[head], words)

    def _is_degree(self, arc: IndexedArc, head: int) -> bool:
        """Check whether an arc leads from a word such as "very" to an adjective."""
        return (
            not (self.tree.is_verb(head) or self.tree.is_noun(head))
            and self.tree.modifies(arc)
            and (
                arc.head == head - 1
                # "old enough"
                or (arc.head == head + 1 and arc.label in self.roles.degrees)
            )
            and self.doc[arc.head].tag_.startswith(("RB", "WRB", "JJ", "CD", "NN"))
            and not self.predicates.is_negative(arc.head)
            and arc.label != self.roles.negation
        )

    # Adjuncts

    def _modifiers(self, scope: list[int]) -> Iterator[IndexedArc]:
        """Yield the arcs from the modifiers of a clause: where, when, how, why."""
        leader = self.predicates.leaders.get(scope[0])
        for i in scope:
            for arc in self.predicates.above(i):
                if (
                    self.tree.modifies(arc)
                    # Conjuncts share what precedes the first one.
                    and (i != leader or arc.head < i)
                    and not self.predicates.is_scopal(arc.head)
                    and arc.head not in self.predicates.particles.get(scope[0], ())
                    and arc.label != self.roles.negation
                    and not self.predicates.is_negative(arc.head)
                    # "It is true that …" is a clause about a clause.
                    and not (
                        arc.label == self.roles.subject
                        and self.predicates.makes_clause(arc.head)
                    )
                    and not self._is_degree(arc, i)
                    and self.doc[arc.head].tag_ not in ("CC", "UH")
                    # A colon says something if a list follows.
                    and (self.doc[arc.head].tag_ != ":" or self._complements(arc.head))
                ):
                    yield arc

    def _is_adverbial(self, i: int) -> bool:
        return self.doc[i].tag_.startswith(PREPOSITION_TAGS) and i in self.index.by_head

    # Operators and governing verbs

    def _governor(self, governors: Iterable[IndexedArc]) -> IndexedArc | None:
        """Find the verb that a clause is an object of."""
        for arc in governors:
            # A verb can be mistagged as a noun.
            is_verb = self.tree.is_verb(arc.head) or (
                self.tree.is_noun(arc.head) and self.predicates.makes_clause(arc.head)
            )
            if is_verb and arc.label in self.roles.objects:
                return arc
        return None

    def _governors(self, scope: list[int]) -> Iterator[IndexedArc]:
        """Yield the arcs from the words that a clause is an argument of."""
        words = dict.fromkeys(self._with_leaders(scope))
        for i in words:
            for arc in self.predicates.above(i):
                if (
                    arc.label in self.roles.arguments
                    and arc.label != self.roles.compared
                    and arc.head not in scope
                    and (
                        self.predicates.makes_clause(arc.head)
                        or not (arc.head in words or self.tree.modifies(arc))
                    )
                ):
                    yield arc

    def _with_leaders(self, scope: list[int]) -> list[int]:
        """Add the adverbs of a clause, and the clauses that it is coordinated with."""
        words, seen = list(scope), set(scope)
        for i in words:
            for arc in self.predicates.above(i):
                if arc.head not in seen and (
                    (self.tree.modifies(arc) and self.tree.parents.get(i) == arc.head)
                    or self.roles.is_conjunct(arc.label)
                ):
                    words.append(arc.head)
                    seen.add(arc.head)
        return words

    def _subject_of(self, head: int) -> Phrase | None:
        for arc in self.predicates.args(head):
            if arc.label == self.roles.subject:
                return self._argument(head, _Argument(arc, arc.dep))
        return None

    def _complements(self, preposition: int) -> list[IndexedArc]:
        return [
            arc
            for arc in self.predicates.args(preposition)
            if arc.label in self.roles.objects
        ]

    def _complement(self, preposition: int) -> Phrase | None:
        for arc in self._complements(preposition):
            return self.tree.phrase(arc.dep, [preposition])
        return None

    def _modality(self, parts: _Parts, head: int, scope: list[int]) -> list[Phrase]:
        """Get modals, verbs such as "seem" and "try", and adverbs such as "perhaps"."""
        predicates = self.predicates
        found = {i for i in scope if predicates.is_scopal(i)}
        if not is_finite(predicates, head) or found:
            governor = parts.governor
            if governor is not None:
                shared = {arc.dep for arc in predicates.args(head)} & {
                    arc.dep for arc in predicates.args(governor.head)
                }
                if any(i < governor.head for i in shared):
                    found.add(governor.head)
                    parts.arcs.append(governor)
        phrases = [
            Phrase.from_indices(
                self.doc[i],
                {
                    i,
                    *predicates.auxiliaries.get(i, ()),
                    *predicates.particles.get(i, ()),
                },
            )
            for i in found
        ]
        return sorted([*phrases, *parts.hedges], key=lambda phrase: phrase.head.i)

    def _asked(self, verb: Phrase, scope: list[int], parts: _Parts) -> Phrase | None:
        """Find what a question asks for: the verb for yes/no questions."""
        sentence = sentence_of(self.doc, verb.head.i)
        is_question = any(token.text == "?" for token in sentence[-2:])
        is_main = any(i in self.index.tops for i in self._with_leaders(scope))
        # "How old" in "How old are you?"
        degree = {token.i for token in verb.tokens} - {
            *self.predicates.auxiliaries_of(verb.head.i)
        }
        for phrase in (*parts.simple, Phrase.from_indices(verb.head, degree)):
            words = [token for token in phrase.tokens if self._is_question_word(token)]
            if words and (
                # "Who do you think came?"
                (is_question and (is_main or words[0].i == sentence.start))
                or self._is_asked_about(parts.governors, phrase)
            ):
                return phrase
        return verb if is_question and is_main else None

    def _is_question_word(self, token: Token) -> bool:
        return (
            token.tag_.startswith("W")
            and token.i in self.tree.nodes
            and not self._complements(token.i)
        )

    def _is_asked_about(self, governors: Iterable[IndexedArc], phrase: Phrase) -> bool:
        """Check whether a clause is an indirect question: "I wonder who came".

        Only pronouns can also introduce other clauses: "He repeated what I said".
        """
        is_pronoun = len(phrase.tokens) == 1 and phrase.head.tag_ == "WP"
        for arc in governors:
            governor = self.doc[arc.head]
            if not is_pronoun:
                return governor.lower_ not in BE_FORMS
            if self.tree.is_verb(arc.head):
                return governor.lemma_.lower() in ASKING
            # "no idea who came", "sure who came"
            return self.tree.is_noun(arc.head) or (
                governor.tag_.startswith("JJ") and arc.label in self.roles.objects
            )
        return False

    def _is_dependent(
        self, parts: _Parts, scope: list[int], args: Sequence[_Argument]
    ) -> bool:
        """Check whether a clause is no statement of its own.

        It is an infinitive, an imperative, an alternative ("or") or a complement.
        """
        words = [*scope, *(arg.head for arg in args if arg.conjunct or arg.left_out)]
        alternative = any(
            arc.label in self.roles.alternatives
            for i in words
            for arc in (*self.predicates.above(i), *self.predicates.below(i))
        )
        return (
            alternative
            or is_infinitive(self.predicates, scope[0])
            or any(
                not self.predicates.is_scopal(arc.head)
                and not self.predicates.is_conjunction(arc.head)
                for arc in parts.governors
            )
        )


@dataclass
class _Parts:
    """The parts of a clause that have been found so far."""

    governors: list[IndexedArc]  # from the words that the clause is an argument of
    governor: IndexedArc | None = None  # from the verb that it is an object of
    subject: Phrase | None = None
    subject_clause: Clause | None = None
    object_clause: Clause | None = None
    attribution: Phrase | None = None
    conditional: Phrase | None = None
    objects: list[Phrase] = field(default_factory=list)
    hedges: list[Phrase] = field(default_factory=list)
    adjuncts: dict[str, list[Phrase]] = field(
        default_factory=lambda: {name: [] for name in ADJUNCTS}
    )
    # Phrases that are not clauses, which may contain question words.
    simple: list[Phrase] = field(default_factory=list)
    arcs: list[IndexedArc] = field(default_factory=list)  # for the score


@dataclass(frozen=True)
class _Argument:
    """An argument, or a part of a coordinated argument."""

    arc: IndexedArc
    head: int
    conjunct: IndexedArc | None = None  # the arc from the part before it
    left_out: tuple[int, ...] = ()  # the parts after it
