"""The functions of labels in a clause, and words that graphs do not distinguish."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Roles:
    """The functions of the labels of a formalism in a clause.

    A label marks an argument of the head, a modifier (the head modifies the dependent)
    or a part of the head. Coordination leads from one conjunct to the next.
    """

    name: str
    subject: str  # who does it, also in a passive
    objects: tuple[str, ...]  # in the order of the output
    compared: str  # adjective, or its degree -> what it is compared to
    negation: str  # negation -> negated word
    degrees: frozenset[str]  # "more", "enough" -> adjective
    modifiers: frozenset[str]  # modifier -> modified word
    parts: frozenset[str]  # head -> its part
    conjunct: str  # conjunct -> next conjunct
    conjunct_affixes: tuple[str, str]  # the same, around the name of the conjunction
    negative_conjuncts: frozenset[str]  # the next conjunct is negated
    joint_negations: frozenset[str]  # both conjuncts are negated
    alternatives: frozenset[str]  # only one of the conjuncts has to hold
    place: str  # place -> who or what is there
    owner: str  # owner -> what belongs to it
    adverbials: dict[str, str]  # the question that a modifier answers

    @property
    def arguments(self) -> tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): The labels of the arguments, subject first."""
        return self.subject, *self.objects

    def is_conjunct(self, label: str) -> bool:
        """Check whether a label leads to the next conjunct of a coordination."""
        prefix, suffix = self.conjunct_affixes
        return label == self.conjunct or (
            label.startswith(prefix) and label.endswith(suffix)
        )

    def knows(self, label: str) -> bool:
        """Check whether a label belongs to this formalism."""
        return (
            label in self.arguments
            or label in self.modifiers
            or label in self.parts
            or self.is_conjunct(label)
        )


DM = Roles(
    name="DM",
    subject="ARG1",
    objects=("ARG2", "ARG3", "ARG4", "than"),
    compared="than",
    negation="neg",
    degrees=_words("comp comp_enough comp_less comp_so comp_too"),
    modifiers=_words(
        "BV appos comp comp_enough comp_less comp_so comp_too compound loc manner "
        "measure neg parenthetical poss subord times"
    ),
    parts=_words("mwe of part plus"),
    conjunct="conj",
    conjunct_affixes=("_", "_c"),
    negative_conjuncts=_words(
        "_nor_c _not_c _and+not_c _but+not_c _rather+than_c _instead+of_c"
    ),
    joint_negations=frozenset({"_nor_c"}),
    alternatives=frozenset({"_or_c"}),
    place="loc",
    owner="poss",
    adverbials={"manner": "how"},
)

# To support another formalism, add it here.
FORMALISMS = (DM,)


def find_roles(labels: Counter[str]) -> Roles:
    """Find the formalism of a graph.

    labels (Counter[str]): How often the graph has each label.
    RETURNS (Roles): The formalism that has most of the labels.
    """
    best = max(FORMALISMS, key=lambda roles: _known(roles, labels))
    if 2 * _known(best, labels) < labels.total():
        unknown = next(label for label in labels if not best.knows(label))
        names = " or ".join(roles.name for roles in FORMALISMS)
        raise ValueError(
            f"Clauses can only be extracted from {names} graphs, but this one has "
            f"labels such as {unknown!r}. Use a pipeline that predicts {names}, or get "
            "the arcs themselves with graph.triples()."
        )
    return best


def _known(roles: Roles, counts: Counter[str]) -> int:
    return sum(count for label, count in counts.items() if roles.knows(label))


# DM treats these like any adverb, determiner or pronoun; only "not" has its own label.
NEGATIVE_ADVERBS = _words(
    "barely hardly n't neither never no nor not nowhere rarely scarcely seldom"
)
NEGATIVE_NOMINALS = _words("neither no nobody none nothing nor")
NEGATIVE_CONJUNCTIONS = _words("n't neither nor not")
# Words whose complement is a negated clause.
NEGATIVE_INTRODUCTIONS = _words("neither nor without")
# Nouns that negate a clause after a preposition and "no": "by no means".
NEGATED_NOUNS = _words("account accounts circumstance circumstances means way")
# "Not only" does not negate.
EXCLUSIVES = _words("merely only solely")

CONDITIONS = _words("assuming if lest provided providing unless")
# The same, in several words.
CONDITION_PHRASES = ({"as", "long"}, {"so", "long", "as"}, {"in", "case"})
SOURCES = frozenset({"according"})

# DM graphs do not include auxiliaries, so they are recognized by their forms.
BE_FORMS = _words("am are be been being get gets got is 'm 're 's was were")
HAVE_FORMS = _words("had has have having 'd 've")
PAST_FORMS = _words("was were did had 'd")
FUTURE_FORMS = _words("'ll shall sha will wo")

# Words without meaning that introduce a clause, unlike prepositions.
COMPLEMENTIZERS = _words("for if that to whether")
INTERROGATIVES = _words("if whether")
# Verbs whose object is a question if it starts with "who" or "what", unlike "repeat" in
# "He repeated what I had said".
ASKING = _words(
    "ask ascertain consider decide determine discover doubt explain find forget guess "
    "imagine inquire know learn realize remember say see show tell understand wonder"
)
# Verbs whose object is a bare infinitive, which taggers confuse with the present tense.
CAUSATIVES = _words("have hear help let make watch")
# Words before a coordination that are not in the graph.
CORRELATIVES = _words("both either neither")

# The words of contractions in full; "'s" and "'d" depend on their tags.
CONTRACTIONS = {
    "ca": "can",
    "wo": "will",
    "sha": "shall",
    "'m": "am",
    "'re": "are",
    "'ve": "have",
    "'ll": "will",
}

# Quotation marks and parentheses, with their counterparts.
PAIRS = {'"': '"', "``": "''", "“": "”", "«": "»", "(": ")", "[": "]"}

# The question that an adjunct answers, by the word that introduces it …
QUESTIONS = {
    "where": "above across along among around at away back behind below beside between "
    "from here home in inside into near off on onto opposite out outside over past "
    "somewhere there through throughout to toward towards under up upon where",
    "when": "after afterwards ago already always before daily during earlier early "
    "ever finally frequently hourly immediately lately later monthly never "
    "now often once rarely recently shortly since sometimes soon still then "
    "today tomorrow tonight until usually weekly when whenever while yearly "
    "yesterday yet",
    "why": "because cause due so that thanks therefore why",
    "how": "by how like together via well with without",
}
# Adverbs in "-ly" that do not tell how something is done.
SENTENCE_ADVERBS = _words(
    "actually basically certainly clearly definitely especially evidently exactly "
    "fortunately generally hopefully luckily mainly merely mostly naturally nearly "
    "obviously only particularly really simply strangely surely surprisingly "
    "undoubtedly unfortunately"
)
# Adverbs that weaken a clause, like a modal.
HEDGES = _words(
    "allegedly apparently likely maybe perhaps possibly presumably probably reportedly "
    "supposedly"
)
ANSWERS = {word: role for role, words in QUESTIONS.items() for word in words.split()}

# … unless it is a clause: "to learn", "so that it works" …
PURPOSES = _words("for order so to")
# … or, for times, by its noun.
TIMES = _words(
    "a.m. am o'clock p.m. pm "
    "afternoon age century date day dawn decade end evening friday future hour january "
    "february march april may june july august september october november december "
    "midnight minute moment monday month morning night noon past period saturday "
    "season second spring summer sunday thursday time today tomorrow tonight tuesday "
    "autumn fall war wednesday week weekend winter year yesterday"
)
ENTITIES_OF_TIME = frozenset({"DATE", "TIME"})  # in pipelines with an entity recognizer
