"""Warnings about problems in training data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from .statistics import SHORTEST_TELLING, Comparison, Statistics, by_frequency

FEW_SENTENCES = 100
FEW_EXAMPLES = 10
MANY_LABELS = 500
# The limit of the paper.
LONG_SENTENCE = 150
# Shares above which a problem is reported.
MANY_GRAPHS = 0.05
MANY_LOST_ARCS = 0.01
MANY_COMMON_SENTENCES = 0.01
# Maximum number of examples in a warning.
NAMED = 10


def find_problems(train: Statistics, dev: Statistics | None = None) -> list[str]:
    """Find problems in training data.

    train (Statistics): The training data.
    dev (Optional[Statistics]): The development data.
    RETURNS (List[str]): The warnings.
    """
    problems = [*_of_size(train), *_of_graphs(train), *_of_labels(train)]
    problems += _of_tokens(train)
    if dev is not None:
        problems += _of_comparison(Comparison.of(train, dev), dev)
    return problems


def _of_size(train: Statistics) -> Iterator[str]:
    if train.sentences < FEW_SENTENCES:
        yield (
            f"Number of training sentences: {train.sentences}. That is enough to try "
            "things out, but expect a usable parser from 1,000 sentences."
        )
    lengths = train.sentence_lengths
    if long := sum(count for n, count in lengths.items() if n > LONG_SENTENCE):
        yield (
            f"{_have(long, 'sentence')} more than {LONG_SENTENCE} words (the longest: "
            f"{max(lengths):,}). Memory grows quadratically with the length: split "
            "them, or leave them out."
        )
    if train.repeated_ids:
        yield (
            f"{_have(train.repeated_ids, 'sentence')} the id of another one in the "
            "same file. Does the file contain duplicates?"
        )


def _of_graphs(train: Statistics) -> Iterator[str]:
    if not train.arcs:
        yield "No graph has an arc: there is nothing to learn."
        return
    if train.graphs_without_arcs >= MANY_GRAPHS * train.sentences:
        yield (
            f"{_have(train.graphs_without_arcs, 'sentence', train.sentences)} several "
            "words, but no arc. If they are not annotated, leave them out; otherwise, "
            "the parser learns to predict empty graphs."
        )
    without_top = train.tops_per_graph[0]
    if without_top == train.sentences:
        yield (
            "No graph has a top, so the parser will not predict any. If the annotation "
            "has tops, check the conversion."
        )
    elif without_top >= MANY_GRAPHS * train.sentences:
        yield (
            f"{_have(without_top, 'graph', train.sentences)} no top, so the parser "
            "learns to predict graphs without tops. If all graphs should have one, "
            "check the conversion."
        )
    if pairs := train.pairs_with_several_labels:
        yield (
            f"{_have(pairs, 'word pair')} several labels in the same direction. The "
            "parser predicts one, and training stops at such a pair: join them into "
            "one label."
        )


def _of_labels(train: Statistics) -> Iterator[str]:
    if len(train.labels) > MANY_LABELS:
        yield (
            f"There are {len(train.labels):,} labels, and time and memory grow with "
            "their number. Leave out details, such as prepositions in labels."
        )
    rare = [each for each in by_frequency(train.labels) if each[1] < FEW_EXAMPLES]
    if rare:
        share = sum(count for _, count in rare) / train.arcs
        yield (
            f"{_have(len(rare), 'label', len(train.labels))} fewer than {FEW_EXAMPLES} "
            f"examples, {100 * share:.2f}% of the arcs in total. Do not expect the "
            f"parser to predict them: {_counted(rare)}."
        )
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for label in sorted(train.labels):
        spellings["".join(label.split()).casefold()].append(repr(label))
    groups = [" and ".join(group) for group in spellings.values() if len(group) > 1]
    if groups:
        yield (
            "Some labels differ only in case or whitespace, and are different labels "
            f"to the parser. Join them if they mean the same: {_listed(groups)}."
        )


def _of_tokens(train: Statistics) -> Iterator[str]:
    fit = train.tokenizer_fit
    if fit is not None and fit.lost_arcs > MANY_LOST_ARCS * fit.arcs:
        yield (
            f"{_have(fit.lost_arcs, 'arc', fit.arcs)} an end at a token that spaCy's "
            f"tokenizer ('{fit.nlp.lang}') does not produce. They are left out of "
            "training and cannot be predicted: adapt the tokenizer, or specify another "
            "--lang."
        )


def _of_comparison(comparison: Comparison, dev: Statistics) -> Iterator[str]:
    if missing := comparison.missing_labels:
        share = missing.total() / dev.arcs
        yield (
            f"The development data have labels that the training data lack, "
            f"{100 * share:.2f}% of the arcs. The parser cannot predict them: "
            f"{_counted(by_frequency(missing))}."
        )
    common, total = comparison.common_sentences, comparison.telling_sentences
    if common > MANY_COMMON_SENTENCES * total:
        yield (
            f"{_have(common, 'development sentence', total)} a duplicate in the "
            f"training data (of those with {SHORTEST_TELLING} words or more). Scores "
            "will be too high: remove them from one of the corpora."
        )


def _have(count: int, noun: str, total: int | None = None) -> str:
    """Begin a sentence: "1 arc has", "2 arcs have", "2 of 10 arcs (20.0%) have"."""
    verb = "has" if count == 1 else "have"
    if total is None:
        return f"{count:,} {noun}{'' if count == 1 else 's'} {verb}"
    plural = "" if total == 1 else "s"
    return f"{count:,} of {total:,} {noun}{plural} ({100 * count / total:.1f}%) {verb}"


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return _listed([f"{name} ({count})" for name, count in counts])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
