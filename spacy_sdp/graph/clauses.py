"""Who did what to whom: a clause, with its parts as phrases."""

from __future__ import annotations

from dataclasses import dataclass, field

from spacy.tokens import Span, Token

from .adjuncts import ADJUNCTS
from .phrases import Phrase
from .propositions import to_text

DECIMALS = 4  # of scores in tables


@dataclass(frozen=True)
class Clause:
    """A proposition of a sentence: who did what to whom.

    >>> clause = graph.clauses()[0]
    >>> clause
    Clause(The shy cat | wants | to eat)
    >>> clause.subject.head, clause.objects, clause.object_clause
    (cat, (to eat,), Clause(The shy cat | eat))
    """

    sentence: Span
    verb: Phrase  # with auxiliaries and particles; "is tall" for adjectives
    subject: Phrase | None = None  # who does it, also in a passive
    objects: tuple[Phrase, ...] = ()
    where: tuple[Phrase, ...] = ()
    when: tuple[Phrase, ...] = ()
    why: tuple[Phrase, ...] = ()
    how: tuple[Phrase, ...] = ()
    others: tuple[Phrase, ...] = ()  # other adjuncts
    negation: tuple[Token, ...] = ()  # the words that negate it
    modality: tuple[Phrase, ...] = ()  # "must", "seem", "tried"
    tense: str = ""  # "past", "present", "future"
    aspect: str = ""  # "perfect", "progressive", "perfect progressive"
    voice: str = "active"  # or "passive"
    attribution: Phrase | None = None  # who said or thought it
    conditional: Phrase | None = None  # the condition under which it holds
    asked: Phrase | None = None  # what a question asks for, or the verb (yes/no)
    asserted: bool = True  # whether the text presents it as a fact
    subject_clause: Clause | None = None  # the subject, if it is a clause
    object_clause: Clause | None = None  # the last object that is a clause
    score: float | None = None  # the probability of the least certain arc
    # The phrases of the plain proposition, in order.
    _proposition: tuple[Phrase, ...] = field(default=(), repr=False, compare=False)

    @property
    def negated(self) -> bool:
        """RETURNS (bool): Whether the clause is negated.

        >>> graph.clauses()[0].negated
        False
        """
        return bool(self.negation)

    @property
    def text(self) -> str:
        """RETURNS (str): The clause as a plain proposition.

        >>> graph.clauses()[0].text
        'the shy cat wants to eat'
        """
        return to_text(self._proposition)

    def to_dict(self) -> dict[str, str | bool | float | None]:
        """Convert the clause to a row of a table.

        RETURNS (Dict[str, str | bool | float | None]): The fields by name: `negated`
            and `asserted` as bool, `score` as float or None, and the others as text.
            Missing parts are "".

        >>> row = graph.clauses()[0].to_dict()
        >>> row["subject"], row["verb"], row["objects"], row["negated"], row["tense"]
        ('The shy cat', 'wants', 'to eat', False, 'present')
        """
        return {
            "subject": str(self.subject or ""),
            "verb": str(self.verb),
            **{
                name: "; ".join(map(str, getattr(self, name)))
                for name in ("objects", *ADJUNCTS)
            },
            "negated": self.negated,
            "asserted": self.asserted,
            "modality": "; ".join(map(str, self.modality)),
            "tense": self.tense,
            "aspect": self.aspect,
            "voice": self.voice,
            "attribution": str(self.attribution or ""),
            "conditional": str(self.conditional or ""),
            "asked": str(self.asked or ""),
            "score": None if self.score is None else round(self.score, DECIMALS),
            "text": self.text,
            "sentence": self.sentence.text.strip(),
        }

    def __repr__(self) -> str:
        parts = [self.subject, self.verb, *self.objects]
        return f"Clause({' | '.join(str(part or '') for part in parts)})"
