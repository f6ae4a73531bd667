"""The metrics of the SDP tasks, as in the official toolkit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..graph.alignment import align_sentence, same_forms
from ..graph.arc import ROOT_INDEX, ROOT_LABEL
from ..graph.record import Record

PAS_CORE_ARGUMENTS = frozenset(
    f"{kind}_{role}"
    for kind, roles in (
        ("adj", ("ARG1", "ARG2", "MOD")),
        ("coord", ("ARG1", "ARG2")),
        ("prep", ("ARG1", "ARG2", "ARG3", "MOD")),
        ("verb", ("ARG1", "ARG2", "ARG3", "ARG4", "MOD")),
    )
    for role in roles
)

# Which arguments belong to a predication, by representation.
IS_CORE_ARGUMENT: dict[str, Callable[[str], bool]] = {
    "dm": lambda label: True,
    "pas": PAS_CORE_ARGUMENTS.__contains__,
    "psd": lambda label: label.endswith("-arg"),
}

# Head, dependent and label. Nodes are token indices, or names of nodes without index.
ScoredArc = tuple[Hashable, Hashable, str]

LENGTH_BANDS = ("1", "2", "3", "4", "5-9", "10-")


@dataclass
class Overlap:
    """The number of gold, system and common items."""

    gold: int = 0
    system: int = 0
    common: int = 0

    def add(self, gold: set, system: set) -> None:
        self.gold += len(gold)
        self.system += len(system)
        self.common += len(gold & system)

    @property
    def precision(self) -> float:
        return self.common / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.common / self.gold if self.gold else 0.0

    @property
    def f_score(self) -> float:
        # The harmonic mean of precision and recall, without dividing by zero.
        total = self.gold + self.system
        return 2 * self.common / total if total else 0.0


@dataclass
class ArcOverlap:
    """Labelled and unlabelled overlap of arcs, summed over graphs."""

    graphs: int = 0
    labelled_matches: int = 0
    unlabelled_matches: int = 0
    labelled: Overlap = field(default_factory=Overlap)
    unlabelled: Overlap = field(default_factory=Overlap)
    by_label: dict[str, Overlap] = field(default_factory=dict)

    def add(
        self,
        gold: set[ScoredArc],
        system: set[ScoredArc],
    ) -> None:
        """Count the arcs `(head, dep, label)` of one graph."""
        gold_pairs = {arc[:2] for arc in gold}
        system_pairs = {arc[:2] for arc in system}
        self.graphs += 1
        self.labelled_matches += gold == system
        self.unlabelled_matches += gold_pairs == system_pairs
        self.labelled.add(gold, system)
        self.unlabelled.add(gold_pairs, system_pairs)
        _add_by_class(self.by_label, gold, system, lambda arc: arc[2])

    @property
    def labelled_match(self) -> float:
        return self.labelled_matches / self.graphs if self.graphs else 0.0

    @property
    def unlabelled_match(self) -> float:
        return self.unlabelled_matches / self.graphs if self.graphs else 0.0


def _add_by_class(
    overlaps: dict[str, Overlap], gold: set, system: set, get_class: Callable
) -> None:
    counts = (
        Counter(map(get_class, gold)),
        Counter(map(get_class, system)),
        Counter(map(get_class, gold & system)),
    )
    for name in counts[0] | counts[1]:
        overlap = overlaps.setdefault(name, Overlap())
        overlap.gold += counts[0][name]
        overlap.system += counts[1][name]
        overlap.common += counts[2][name]


def score_sentences(
    gold: Iterable[Record], system: Iterable[Record], representation: str = "dm"
) -> dict[str, dict[str, Any]]:
    """Score sentences as the official toolkit of the SDP tasks does.

    gold (Iterable[Record]): The gold standard.
    system (Iterable[Record]): The output of a parser for the same sentences.
    representation (str): "dm", "pas" or "psd": which arguments count in complete
        predications and semantic frames.
    RETURNS (Dict[str, Dict[str, Any]]): For "with_tops" and "without_tops" the scores
        LP LR LF LM UP UR UF UM PP PR PF FP FR FF as fractions, and the tables
        "per_label" and "per_length".
    """
    if representation not in IS_CORE_ARGUMENT:
        raise ValueError(
            f"Unknown representation {representation!r}: choose one of "
            f"{', '.join(IS_CORE_ARGUMENT)}."
        )
    arcs = {"with_tops": ArcOverlap(), "without_tops": ArcOverlap()}
    lengths: dict[str, dict[str, Overlap]] = {name: {} for name in arcs}
    predications, frames = Overlap(), Overlap()
    for one, unaligned in pair_sentences(gold, system):
        other = _with_tokens_of(one, unaligned)
        for name, overlap in arcs.items():
            gold_arcs, system_arcs = _arcs(one), _arcs(other)
            if name == "with_tops":
                gold_arcs |= _top_arcs(one)
                system_arcs |= _top_arcs(other)
            overlap.add(gold_arcs, system_arcs)
            _add_by_class(lengths[name], gold_arcs, system_arcs, _length_band)
        # Tags show which predicates are verbs. A side without tags uses the other's.
        one = replace(one, tags=one.tags or other.tags)
        other = replace(other, tags=other.tags or one.tags)
        predications.add(
            _predications(one, representation), _predications(other, representation)
        )
        frames.add(
            _predications(one, representation, with_frame=True),
            _predications(other, representation, with_frame=True),
        )
    return {
        name: {
            **_prf("L", overlap.labelled),
            "LM": overlap.labelled_match,
            **_prf("U", overlap.unlabelled),
            "UM": overlap.unlabelled_match,
            **_prf("P", predications),
            **_prf("F", frames),
            "per_label": {
                label: _table_row(overlap.by_label[label])
                for label in sorted(overlap.by_label)
            },
            "per_length": {
                band: _table_row(lengths[name][band])
                for band in LENGTH_BANDS
                if band in lengths[name]
            },
        }
        for name, overlap in arcs.items()
    }


def pair_sentences(
    gold: Iterable[Record], system: Iterable[Record]
) -> Iterator[tuple[Record, Record]]:
    """Pair gold and system sentences. Raises an error if their ids or texts differ.

    gold (Iterable[Record]): The gold standard.
    system (Iterable[Record]): The same sentences in the same order. Tokens may differ.
    YIELDS (Tuple[Record, Record]): The gold and the system sentence.
    """
    one, other = iter(gold), iter(system)
    number = 0
    while True:
        left, right = next(one, None), next(other, None)
        if left is None and right is None:
            break
        number += 1
        if left is None or right is None:
            longer, rest = ("gold", one) if right is None else ("system", other)
            count = number + sum(1 for _ in rest)
            raise ValueError(
                f"The gold standard and the system output differ in length: the "
                f"{longer} side has {count} sentences, the other {number - 1}."
            )
        ids = [each.id.strip() for each in (left, right) if each.id is not None]
        if len(set(ids)) > 1:
            raise ValueError(
                f"Sentence {number} has the id {ids[0]} in the gold standard, but "
                f"{ids[1]} in the system output."
            )
        if same_forms(left, right) is None:
            raise ValueError(
                f"Sentence {number} (id {left.id}) has a different text in the system "
                f"output than in the gold standard: {_first_difference(left, right)}."
            )
        yield left, right
    if not number:
        raise ValueError("There is nothing to score: both sides have no sentences.")


def _with_tokens_of(gold: Record, system: Record) -> Record:
    if system.words == gold.words:
        return system
    aligned = align_sentence(system, gold)
    assert aligned is not None, "the texts were compared before"
    return aligned


def _first_difference(left: Record, right: Record) -> str:
    for i, (a, b) in enumerate(zip(left.words, right.words, strict=False), start=1):
        if a != b:
            return f"token {i} is {b!r} instead of {a!r}"
    return f"{len(right.words)} tokens instead of {len(left.words)}"


def _arcs(sentence: Record) -> set[ScoredArc]:
    return set(sentence.arcs)


def _top_arcs(sentence: Record) -> set[ScoredArc]:
    return {(ROOT_INDEX, top, ROOT_LABEL) for top in sentence.tops}


def _length_band(arc: tuple[int, int, str]) -> str:
    # The root precedes the first token, so its arc to token 0 has length 1.
    length = abs(arc[0] - arc[1])
    return str(length) if length <= 4 else "5-9" if length < 10 else "10-"


def _predications(
    sentence: Record, representation: str, *, with_frame: bool = False
) -> set[tuple]:
    """Get verbal predicates with all core arguments, and optionally the sense."""
    flags_and_tags = zip(sentence.predicates, sentence.tags, strict=False)
    verbs = [i for i, (flag, tag) in enumerate(flags_and_tags) if flag and is_verb(tag)]
    frames = dict(enumerate(sentence.frames)) if with_frame else {}
    return find_predications(verbs, sentence.arcs, frames, representation)


def is_verb(tag: str | None) -> bool:
    """Check whether predications with a tag are scored."""
    return tag is not None and tag.startswith("V")


def find_predications(
    predicates: Iterable[Hashable],
    arcs: Iterable[ScoredArc],
    frames: Mapping[Any, str | None],
    representation: str,
) -> set[tuple]:
    """Get predicates with all their core arguments and their frames.

    predicates (Iterable[Hashable]): The predicates.
    arcs (Iterable[Tuple[Hashable, Hashable, str]]): All arcs.
    frames (Mapping[Hashable, Optional[str]]): The frames.
    representation (str): "dm", "pas" or "psd": which arguments count.
    RETURNS (Set[tuple]): The predications, which count as correct if both graphs have
        the same.
    """
    is_core = IS_CORE_ARGUMENT[representation]
    arguments: dict[Hashable, set] = {predicate: set() for predicate in predicates}
    for head, dep, label in arcs:
        if head in arguments and is_core(label):
            arguments[head].add((dep, label))
    return {
        (head, frozenset(args), frames.get(head)) for head, args in arguments.items()
    }


def _prf(prefix: str, overlap: Overlap) -> dict[str, float]:
    return {
        f"{prefix}P": overlap.precision,
        f"{prefix}R": overlap.recall,
        f"{prefix}F": overlap.f_score,
    }


def _table_row(overlap: Overlap) -> dict[str, float]:
    return {
        "gold": overlap.gold,
        "system": overlap.system,
        "common": overlap.common,
        "p": overlap.precision,
        "r": overlap.recall,
        "f": overlap.f_score,
    }
