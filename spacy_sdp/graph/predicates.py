"""The heads of the clauses in a graph, with their auxiliaries and operators.

A clause also has auxiliaries, which are not in the graph, and operators above its head:
negations, modals and verbs such as "seem", which modify the clause instead of its
subject.
"""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Span

from .arc import IndexedArc
from .index import GraphIndex
from .phrases import PREPOSITION_TAGS, PhraseTree
from .roles import COMPLEMENTIZERS, EXCLUSIVES, NEGATIVE_ADVERBS, Roles

ADVERB_TAGS = ("RB", "WRB")
NOMINAL_TAGS = ("NN", "PRP", "DT", "WP")
PARTICLE_TAGS = ("RP", "IN", "RB", "TO")
FINITE_VERB_TAGS = ("VBD", "VBP", "VBZ")


class Predicates:
    """The heads of the clauses in a graph, in the order of the sentence."""

    def __init__(self, part: Span, index: GraphIndex, roles: Roles) -> None:
        """Find the heads.

        part (Span): Complete sentences without arcs to other sentences.
        index (GraphIndex): The part of the graph in them.
        roles (Roles): The functions of the labels.
        """
        self.doc, self.index, self.roles = part.doc, index, roles
        self.tree = PhraseTree(part, index, roles)
        self.auxiliaries: dict[int, list[int]] = {}
        self.particles: dict[int, list[int]] = {}
        self._claim_correlatives()
        self._claim_units()
        self._claim_auxiliaries()
        self._heads: set[int] = set()
        # In this order, because a conjunct depends on the one before it.
        for i in sorted(self.tree.nodes):
            if self._makes_clause(i):
                self._heads.add(i)
        self.heads = sorted(self._heads)
        # The conjuncts that share the auxiliaries of an earlier one.
        self.leaders: dict[int, int] = {}
        self._find_leaders()
        for head in self.heads:
            self._claim_particles(head)

    def args(self, i: int) -> Iterator[IndexedArc]:
        """Yield the arcs from a word to its arguments, subject first."""
        for label in self.roles.arguments:
            yield from (arc for arc in self.below(i) if arc.label == label)
        if i in self.auxiliaries:
            # In "is more interesting than the film", the arc is that of "more".
            yield from (
                compared
                for arc in self.above(i)
                if arc.label in self.roles.modifiers
                for compared in self.below(arc.head)
                if compared.label == self.roles.compared and compared.dep > i
            )
            # "Everyone is here": a copula turns a place into a predicate.
            yield from (arc for arc in self.below(i) if arc.label == self.roles.place)

    def below(self, i: int) -> tuple[IndexedArc, ...]:
        """Get the arcs from a word."""
        return self.index.by_head.get(i, ())

    def above(self, i: int) -> tuple[IndexedArc, ...]:
        """Get the arcs to a word."""
        return self.index.by_dep.get(i, ())

    def _claim_correlatives(self) -> None:
        """Find the first "as" of "as tall as", which is not in the graph."""
        for arc in self.index.arcs:
            first = arc.head - 1
            if (
                arc.label == self.roles.compared
                and first >= self.tree.part.start
                and first not in self.tree.nodes
                and self.doc[first].lower_ == "as"
            ):
                self.tree.attach(first, arc.head)

    def _claim_units(self) -> None:
        """Find the units of times, which are not in the graph: "9 a.m."."""
        for i in range(self.tree.part.start + 1, self.tree.part.end):
            if (
                i not in self.tree.nodes
                and i - 1 in self.tree.nodes
                and self.tree.is_noun(i)
                and self.doc[i - 1].tag_ == "CD"
            ):
                self.tree.attach(i, i - 1)

    # Auxiliaries

    def _claim_auxiliaries(self) -> None:
        """Find the predicate of each auxiliary, a verb that is not in the graph."""
        tree = self.tree
        for i in range(tree.part.start, tree.part.end):
            if i in tree.nodes or not tree.is_verb(i):
                continue
            owner = self._owner(i)
            if owner is not None:
                self.auxiliaries.setdefault(owner, []).append(i)
                tree.attach(i, owner)

    def _owner(self, auxiliary: int) -> int | None:
        inverted = in_relative = False
        relative: int | None = None
        candidates: list[int] = []
        for i in self._rest_of_sentence(auxiliary):
            token = self.doc[i]
            if i not in self.tree.nodes:
                # A relative clause has its own auxiliaries.
                is_relative = token.tag_ in ("WP", "WP$", "WDT")
                if is_relative or (inverted and token.lower_ == "that"):
                    in_relative = not candidates
                    inverted = inverted or in_relative
                continue
            can_have = self._can_have_auxiliaries(i)
            if in_relative and can_have:
                relative, in_relative = i, False
            if relative is not None and self.tree.is_below(i, relative):
                continue
            if can_have:
                if not inverted:
                    return i
                if any(
                    auxiliary < arc.dep < i and self.tree.parents.get(i) != arc.dep
                    for arc in self.args(i)
                ):
                    candidates.append(i)
            elif token.tag_ == "IN" and not inverted and self._modified_later(i):
                return self._modified_later(i)
            elif not self._is_part(i) and not self._modifies_later(i):
                inverted = True
        if candidates:
            return min(candidates, key=self.tree.depths.__getitem__)
        return self._fronted(auxiliary)

    def _modified_later(self, preposition: int) -> int | None:
        """Find the predicate after a prepositional phrase: "by no means certain"."""
        for arc in self.below(preposition):
            if (
                self.tree.modifies(arc)
                and arc.dep > preposition
                and self._can_have_auxiliaries(arc.dep)
                # "It was in Paris that they met"
                and not any(
                    preposition < arg.dep < arc.dep for arg in self.args(arc.dep)
                )
            ):
                return arc.dep
        return None

    def _fronted(self, auxiliary: int) -> int | None:
        """Find the adjective before an auxiliary: "How expensive are the tickets?"."""
        for i in range(auxiliary - 1, -1, -1):
            if (
                self.doc[i].tag_.startswith("JJ")
                and not self._is_prenominal(i)
                and any(self.doc[arc.head].tag_ == "WRB" for arc in self.above(i))
                and any(arc.label == self.roles.subject for arc in self.below(i))
            ):
                return i
            if self.doc[i].is_sent_start:
                break
        return None

    def _rest_of_sentence(self, i: int) -> Iterator[int]:
        for token in self.doc[i + 1 :]:
            if token.is_sent_start:
                return
            yield token.i

    def _can_have_auxiliaries(self, i: int) -> bool:
        """Check whether a word can follow "be", "have" or "do"."""
        arcs = self.below(i)
        if self.tree.is_verb(i):
            return not self._is_prenominal(i)
        if self.doc[i].tag_.startswith(("DT", "PRP$", "PDT", "CD", "WDT", "POS")):
            return False
        if self.doc[i].tag_.startswith("JJ") and i in self.index.tops and not arcs:
            # "It is late"
            return True
        return any(
            arc.dep < i and arc.label in (self.roles.subject, self.roles.place)
            for arc in arcs
        ) or any(
            # "Is it true that …", unlike "How competent is Abrams?"
            arc.dep > i
            and arc.label == self.roles.subject
            and self.tree.is_verb(arc.dep)
            for arc in arcs
            if self.doc[i].tag_.startswith("JJ")
        )

    def _modifies_later(self, i: int) -> bool:
        """Check whether a word only modifies later words, as most adjectives do."""
        arcs = [
            arc
            for arc in self.below(i)
            if arc.label != self.roles.compared
            and arc.label not in self.roles.parts
            and not self.roles.is_conjunct(arc.label)
        ]
        return bool(arcs) and all(
            self.tree.modifies(arc) and arc.dep > i for arc in arcs
        )

    def _is_prenominal(self, i: int) -> bool:
        """Check whether a word is a prenominal modifier, such as an adjective."""
        parent = self.tree.parents.get(i)
        return (
            parent is not None
            and parent > i
            and self.tree.is_noun(parent)
            and any(arc.dep == parent for arc in self.below(i))
            and not any(arc.dep < i for arc in self.args(i))
            and all(
                self.tree.is_below(j, parent)
                for j in range(i + 1, parent)
                if j in self.tree.nodes
            )
            and not any(
                not self.tree.modifies(arc) and self.tree.is_verb(arc.head)
                for arc in self.above(i)
            )
        )

    # Heads of clauses

    def makes_clause(self, i: int) -> bool:
        """Check whether a word is the head of a clause."""
        return i in self._heads

    def _makes_clause(self, i: int) -> bool:
        if self.is_scopal(i) or self._is_prenominal(i) or self._is_part(i):
            return False
        if i in self.auxiliaries:
            return True
        has_args = any(True for _ in self.args(i))
        if self.tree.is_verb(i):
            return has_args or (self._is_said(i) and not self._is_bare_gerund(i))
        if not self._is_said(i) or not any(
            # "He works harder than anyone"
            arc.label != self.roles.compared
            for arc in self.args(i)
        ):
            return False
        if any(arc.dep == self.tree.parents.get(i) for arc in self.args(i)):
            # "a man angry about taxes", unlike the last part of "is rich and angry"
            return any(
                self.roles.is_conjunct(arc.label) and self.makes_clause(arc.head)
                for arc in self.above(i)
            )
        # A verb that is mistagged as a noun, or "like" as a preposition, has its
        # subject before it.
        return self.doc[i].tag_.startswith("JJ") or (
            (self.tree.is_noun(i) or i in self.index.tops)
            and any(
                arc.label == self.roles.subject
                and arc.dep < i
                # The subject of a conjunction such as "because" is another clause.
                and self.doc[arc.dep].tag_.startswith(NOMINAL_TAGS)
                and (self.tree.is_noun(i) or not self._governs(arc.dep))
                for arc in self.args(i)
            )
        )

    def _is_bare_gerund(self, i: int) -> bool:
        """Check whether a word is a gerund that says nothing: "gave up smoking"."""
        return self.doc[i].tag_ == "VBG" and all(
            (self.tree.is_verb(arc.head) or self.makes_clause(arc.head))
            and not self.is_scopal(arc.head)
            for arc in self.above(i)
        )

    def _governs(self, i: int) -> bool:
        """Check whether a word has arguments, not only conjuncts and modified words."""
        return any(
            not self.roles.is_conjunct(arc.label)
            and arc.label not in self.roles.modifiers
            for arc in self.below(i)
        )

    def _is_part(self, i: int) -> bool:
        """Check whether a word is part of an expression, as in "according to"."""
        return any(arc.label in self.roles.parts for arc in self.above(i))

    def _is_said(self, i: int) -> bool:
        """Check whether a word is in the position of a clause, not in a noun phrase."""
        if i in self.index.tops:
            return True
        for arc in self.above(i):
            if (
                arc.label == self.roles.negation
                or self._is_operator(arc.head)
                or (arc.label in self.roles.objects and self.tree.is_verb(i))
                or (
                    self.tree.is_verb(arc.head)
                    and arc.label in self.roles.arguments
                    and not self.tree.is_noun(i)
                )
                or (self.roles.is_conjunct(arc.label) and self.makes_clause(arc.head))
            ):
                return True
        return False

    def is_scopal(self, i: int) -> bool:
        """Check whether a word only modifies a clause.

        These words are modals, and words such as "seem" in "The children seem to like
        it", where the subject belongs to the other verb.
        """
        tag = self.doc[i].tag_
        arcs = list(self.args(i))
        if tag == "MD":
            return bool(arcs)
        if len(arcs) != 1 or not tag.startswith(("VB", "JJ")):
            return False
        below = self.below_scope(i)
        return (
            min(arcs[0].dep, below) > i
            and any(arc.dep < i for arc in self.args(below))
            and not self.is_negative(i)
            and (
                self.tree.is_verb(below)
                or below in self.auxiliaries
                # "The soup smells good" also shares the adjective's subject.
                or (self.doc[below].tag_.startswith("JJ") and self.tree.is_verb(i))
            )
        )

    def below_scope(self, i: int) -> int:
        """Get the head of the clause that a negation, modal or adverb modifies."""
        seen: set[int] = set()
        while i not in seen:
            seen.add(i)
            arcs = self.below(i)
            args = list(self.args(i))
            raising = (
                # Such as "seem", whose only argument is a later verb.
                len(args) == 1
                and self.doc[i].tag_.startswith(("VB", "JJ"))
                and args[0].dep > i
                and any(True for _ in self.args(args[0].dep))
            )
            for arc in arcs:
                if (
                    arc.label == self.roles.negation
                    or (arc.label == self.roles.subject and self._is_operator(i))
                    or (raising and arc == args[0])
                ):
                    i = arc.dep
                    break
        return i

    def _is_operator(self, i: int) -> bool:
        """Check whether a word can be an operator, such as a modal or an adverb."""
        if i in self.auxiliaries:
            return False
        return self.doc[i].tag_ == "MD" or (
            not self.tree.is_verb(i)
            and (
                self.doc[i].tag_.startswith(("CC", "UH", *ADVERB_TAGS))
                or self.tree.is_preposition(i)
            )
        )

    def is_conjunction(self, i: int) -> bool:
        """Check whether a word introduces an adverbial clause: "because", "by"."""
        return self.tree.is_preposition(i) or self.doc[i].tag_.startswith(ADVERB_TAGS)

    # Operators

    def scope(self, head: int) -> list[int]:
        """Get the head of a clause and its operators.

        head (int): The head of the clause.
        RETURNS (List[int]): The head, its modals, its negations and verbs such as
            "seem", including those of a coordinated clause with the same auxiliaries.
        """
        leader = self.leaders.get(head)
        found = [head] if leader is None else [head, leader]
        for i in found:
            for arc in self.above(i):
                if arc.head in found or self.roles.is_conjunct(arc.label):
                    continue
                if (
                    arc.label == self.roles.negation
                    or self.is_scopal(arc.head)
                    or (self.tree.modifies(arc) and self.is_negative(arc.head))
                    # In "can be used to learn", the modal is above the purpose.
                    or (self._is_operator(arc.head) and self._is_scoped(arc))
                ):
                    found.append(arc.head)
        return found

    def _is_scoped(self, arc: IndexedArc) -> bool:
        """Check whether a modifier is itself negated or below a modal."""
        return self.tree.modifies(arc) and any(
            (other.label == self.roles.negation and not self.is_exclusive(other.head))
            or self.doc[other.head].tag_ == "MD"
            for other in self.above(arc.head)
        )

    def _find_leaders(self) -> None:
        """Find the first of the conjuncts that share auxiliaries and operators."""
        for i in self.heads:
            for arc in self.above(i):
                if (
                    self.roles.is_conjunct(arc.label)
                    and arc.label not in self.roles.negative_conjuncts
                    and self._shares_auxiliaries(arc.head, i)
                ):
                    self.leaders[i] = self.leaders.get(arc.head, arc.head)

    def _shares_auxiliaries(self, first: int, second: int) -> bool:
        """Check whether a clause shares the auxiliaries of a coordinated clause."""
        return (
            first < second
            and second not in self.auxiliaries
            and not self.doc[second].tag_.startswith(FINITE_VERB_TAGS)
            # It has no modal of its own.
            and not any(
                self.doc[arc.head].tag_ == "MD" and arc.head > first
                for arc in self.above(second)
            )
        )

    def auxiliaries_of(self, head: int) -> list[int]:
        """Get the auxiliaries of a clause, including shared ones of a coordination."""
        return self.auxiliaries.get(self.leaders.get(head, head), [])

    def is_exclusive(self, i: int) -> bool:
        """Check whether a negation only belongs to "only", as in "not only sings"."""
        return (
            self.doc[i].lower_ == "not"
            and i + 1 < len(self.doc)
            and self.doc[i + 1].lower_ in EXCLUSIVES
        )

    def is_negative(self, i: int) -> bool:
        """Check whether an adverb negates, such as "never" and "no longer"."""
        return self.doc[i].tag_.startswith(("RB", "CC", "DT", "JJR")) and any(
            self.doc[j].lower_ in NEGATIVE_ADVERBS and not self.is_exclusive(j)
            for j in self.expression(i)
        )

    def expression(self, i: int) -> Iterator[int]:
        """Yield the words of a fixed expression, such as "according to"."""
        yield i
        for arc in self.below(i):
            if arc.label in self.roles.parts:
                yield arc.dep

    # Particles

    def _claim_particles(self, head: int) -> None:
        """Find the particles and prepositions that belong to a verb."""
        objects = {arc.dep: arc.label for arc in self.args(head)}
        for i in self._rest_of_sentence(head):
            token = self.doc[i]
            if i in self.tree.nodes or not token.tag_.startswith(PARTICLE_TAGS):
                break
            if self._introduces(i, head):
                break
            self._claim(i, head)
        # In the graph: "The price went up", unlike "The price went up the hill"
        particles = [arc.head for arc in self.above(head) if not self.above(arc.head)]
        particles += [arc.dep for arc in self.args(head)]
        self.particles.setdefault(head, []).extend(
            i
            for i in particles
            if self.doc[i].tag_.startswith(PREPOSITION_TAGS)
            and not any(arc.dep != head for arc in self.below(i))
            and (self.doc[i].tag_ == "RP" or not self.below(i))
        )
        ends = [max(self.tree.below(dep, [head])) for dep in objects if dep > head]
        for end in ends:
            i = end + 1
            if (
                i < len(self.doc)
                and not self.doc[i].is_sent_start
                and i not in self.tree.nodes
                and i not in self.tree.satellites
                and self.doc[i].tag_.startswith(("RP", "IN", "RB"))
                and (
                    i + 1 == len(self.doc)
                    or i + 1 not in self.tree.nodes
                    # "up from school"
                    or self.doc[i + 1].tag_.startswith(("IN", "TO"))
                )
            ):
                self._claim(i, head)

    def _claim(self, particle: int, head: int) -> None:
        self.tree.attach(particle, head)
        self.particles.setdefault(head, []).append(particle)

    def _introduces(self, i: int, head: int) -> bool:
        """Check whether a word outside the graph introduces an argument."""
        word = self.doc[i].lower_
        following = next(
            (j for j in self._rest_of_sentence(i) if j in self.tree.nodes), None
        )
        if following is None:
            return False
        if word == "by":
            return any(
                arc.label == self.roles.subject and arc.dep > head
                for arc in self.args(head)
            )
        later = [arc for arc in self.args(head) if arc.dep >= following]
        if (
            word in COMPLEMENTIZERS
            and self.doc[following].tag_ != "VBG"
            and any(self.clause_below(arc.dep) is not None for arc in later)
        ):
            return True
        # "Who did you invite to the party?", unlike "looked into the matter"
        return bool(later) and any(
            arc.label in self.roles.objects and arc.dep < following
            for arc in self.args(head)
        )

    def clause_below(self, i: int) -> int | None:
        """Get the head of the clause that an argument is, or None."""
        below = self.below_scope(i)
        if self.makes_clause(below):
            return below
        return None
