"""Statistics of a corpus of graphs, computed sentence by sentence.

Only histograms and hashes are stored, not the sentences. All statistics take O(n log n)
time or less in the length of a sentence.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..graph.algorithms import has_cycle
from ..graph.alignment import align_one_to_one
from ..graph.record import Record
from ..graph.spelling import plain_spelling

Ints = NDArray[numpy.int64]

# Minimum length of sentences to compare. Shorter ones, such as greetings, occur in most
# corpora.
SHORTEST_TELLING = 5


@dataclass
class TokenizerFit:
    """A comparison of the tokens of a corpus with those of a pipeline's tokenizer.

    Training leaves out tokens without a counterpart. Sentences without text are trained
    on their own tokens, so they are only counted.

    nlp (Language): The pipeline with the tokenizer.
    """

    nlp: Language
    sentences_without_text: int = 0
    tokens: int = 0
    arcs: int = 0
    lost_arcs: int = 0
    unaligned: Counter[str] = field(default_factory=Counter)

    def add(self, sentence: Record) -> None:
        """Compare the tokens of a sentence with those of the tokenizer.

        sentence (Record): The sentence.
        """
        if sentence.text is None:
            self.sentences_without_text += 1
            return
        reference = Doc(self.nlp.vocab, words=sentence.words)
        example = Example(self.nlp.make_doc(sentence.text), reference)
        aligned = set(align_one_to_one(example).values())
        self.tokens += len(sentence.words)
        self.arcs += len(sentence.arcs)
        self.lost_arcs += sum(
            head not in aligned or dep not in aligned for head, dep, _ in sentence.arcs
        )
        self.unaligned.update(
            token.text for token in reference if token.i not in aligned
        )

    def to_dict(self) -> dict[str, Any]:
        """Get the counts as JSON-serializable data.

        RETURNS (Dict[str, Any]): The counts, with all unaligned tokens by frequency.
        """
        return {
            "lang": self.nlp.lang,
            "sentences_without_text": self.sentences_without_text,
            "tokens": self.tokens,
            "unaligned_tokens": self.unaligned.total(),
            "arcs": self.arcs,
            "lost_arcs": self.lost_arcs,
            "unaligned": dict(by_frequency(self.unaligned)),
        }


@dataclass
class Statistics:
    """Counts of a corpus, updated one sentence at a time.

    The virtual arcs from the root to the tops are not counted. Heads are counted as
    words: two arcs between the same words with different labels count as one head.
    """

    tokenizer_fit: TokenizerFit | None = None
    # Arcs that cross at least one other arc when drawn above the words.
    crossing_arcs: int = 0
    cyclic_graphs: int = 0
    # Graphs of several words, because a single word cannot have arcs.
    graphs_without_arcs: int = 0
    pairs_with_several_labels: int = 0
    repeated_ids: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    heads_per_token: Counter[int] = field(default_factory=Counter)
    tops_per_graph: Counter[int] = field(default_factory=Counter)
    arc_lengths: Counter[int] = field(default_factory=Counter)
    sentence_lengths: Counter[int] = field(default_factory=Counter)
    _word_hashes: Counter[int] = field(default_factory=Counter, repr=False)
    _id_hashes: set[int] = field(default_factory=set, repr=False)

    @classmethod
    def collect(
        cls, sentences: Iterable[Record], nlp: Language | None = None
    ) -> Statistics:
        """Count sentences.

        sentences (Iterable[Record]): The sentences.
        nlp (Optional[Language]): A pipeline whose tokenizer to compare the tokens with.
        RETURNS (Statistics): The counts.
        """
        statistics = cls(None if nlp is None else TokenizerFit(nlp))
        for sentence in sentences:
            statistics.add(sentence)
        return statistics

    def add(self, sentence: Record, source: str = "") -> None:
        """Count a sentence.

        sentence (Record): The sentence.
        source (str): The file of the sentence. Ids only have to be unique in a file.
        """
        size = len(sentence.words)
        pairs = {(head, dep) for head, dep, _ in sentence.arcs}
        heads = Counter(dep for _, dep in pairs)
        self.sentence_lengths[size] += 1
        self.tops_per_graph[len(sentence.tops)] += 1
        self.heads_per_token.update(heads.values())
        self.heads_per_token[0] += size - len(heads)
        self.labels.update(label for _, _, label in sentence.arcs)
        self.arc_lengths.update(abs(head - dep) for head, dep, _ in sentence.arcs)
        self.crossing_arcs += count_crossing_arcs(sentence)
        self.cyclic_graphs += has_cycle(sentence.arcs)
        self.graphs_without_arcs += size > 1 and not pairs
        labels_of_pairs = Counter((head, dep) for head, dep, _ in set(sentence.arcs))
        self.pairs_with_several_labels += sum(n > 1 for n in labels_of_pairs.values())
        if size >= SHORTEST_TELLING:
            # The same sentence may have different quotes in another format.
            words = tuple(map(plain_spelling, sentence.words))
            self._word_hashes[hash(words)] += 1
        if sentence.id is not None:
            id_hash = hash((source, sentence.id))
            self.repeated_ids += id_hash in self._id_hashes
            self._id_hashes.add(id_hash)
        if self.tokenizer_fit is not None:
            self.tokenizer_fit.add(sentence)

    @property
    def sentences(self) -> int:
        """RETURNS (int): The number of sentences, each with a graph."""
        return self.sentence_lengths.total()

    @property
    def tokens(self) -> int:
        """RETURNS (int): The number of tokens."""
        return self.heads_per_token.total()

    @property
    def arcs(self) -> int:
        """RETURNS (int): The number of arcs between tokens."""
        return self.labels.total()

    @property
    def reentrant_tokens(self) -> int:
        """RETURNS (int): The number of tokens with more than one head."""
        return sum(count for n, count in self.heads_per_token.items() if n > 1)

    def to_dict(self) -> dict[str, Any]:
        """Get the counts as JSON-serializable data.

        RETURNS (Dict[str, Any]): The counts. Labels are sorted by frequency, the other
            histograms by value.
        """
        data: dict[str, Any] = {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "arcs": self.arcs,
            "reentrant_tokens": self.reentrant_tokens,
            "crossing_arcs": self.crossing_arcs,
            "cyclic_graphs": self.cyclic_graphs,
            "graphs_without_arcs": self.graphs_without_arcs,
            "pairs_with_several_labels": self.pairs_with_several_labels,
            "repeated_ids": self.repeated_ids,
            "labels": dict(by_frequency(self.labels)),
            "heads_per_token": _sorted(self.heads_per_token),
            "tops_per_graph": _sorted(self.tops_per_graph),
            "arc_lengths": _sorted(self.arc_lengths),
            "sentence_lengths": _sorted(self.sentence_lengths),
        }
        if self.tokenizer_fit is not None:
            data["tokenizer"] = self.tokenizer_fit.to_dict()
        return data


@dataclass
class Comparison:
    """A comparison of development data with training data."""

    # The labels that only the development data have, with their counts.
    missing_labels: Counter[str]
    # Development sentences of SHORTEST_TELLING words or more, and how many of them are
    # also in the training data.
    telling_sentences: int
    common_sentences: int

    @classmethod
    def of(cls, train: Statistics, dev: Statistics) -> Comparison:
        """Compare two corpora.

        train (Statistics): The training data.
        dev (Statistics): The development data.
        RETURNS (Comparison): The comparison.
        """
        known = train._word_hashes
        return cls(
            Counter({x: n for x, n in dev.labels.items() if x not in train.labels}),
            dev._word_hashes.total(),
            sum(count for words, count in dev._word_hashes.items() if words in known),
        )

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): The comparison as JSON-serializable data."""
        return {
            "labels_missing_from_train": dict(by_frequency(self.missing_labels)),
            "dev_sentences_compared": self.telling_sentences,
            "dev_sentences_in_train": self.common_sentences,
        }


def count_crossing_arcs(sentence: Record) -> int:
    """Count the arcs that cross at least one other arc when drawn above the words.

    Arcs that share a word do not cross. The time is O(n log n).

    sentence (Record): The sentence.
    RETURNS (int): The number of arcs.
    """
    # No arc can cross an arc between neighbours, which has no word below it.
    spans = [
        (head, dep) if head < dep else (dep, head)
        for head, dep, _ in sentence.arcs
        if abs(head - dep) > 1
    ]
    if len(spans) < 2:
        return 0
    left, right = numpy.array(spans, dtype=numpy.int64).T
    # For each word, the furthest other end of its arcs to the right and to the left.
    furthest_right = numpy.arange(len(sentence.words))
    furthest_left = numpy.arange(len(sentence.words))
    numpy.maximum.at(furthest_right, left, right)
    numpy.minimum.at(furthest_left, right, left)
    leaves_to_right = _range_max(furthest_right, left + 1, right) > right
    leaves_to_left = _range_max(-furthest_left, left + 1, right) > -left
    return int((leaves_to_right | leaves_to_left).sum())


def _range_max(values: Ints, starts: Ints, stops: Ints) -> Ints:
    """Get the maximum of each range. Ranges must not be empty."""
    result = numpy.empty_like(starts)
    # Two windows whose width is a power of 2 cover a range, one at each end.
    exponents = numpy.frexp(stops - starts)[1] - 1
    for exponent in range(int(exponents.max()) + 1):
        # values[i] is now the maximum of the `width` original values from i on.
        width = 2**exponent
        chosen = exponents == exponent
        result[chosen] = numpy.maximum(
            values[starts[chosen]], values[stops[chosen] - width]
        )
        values = numpy.maximum(values[:-width], values[width:])
    return result


def in_bands(histogram: Counter[int], starts: Sequence[int]) -> dict[str, int]:
    """Add up a histogram in bands such as "1", "2-4" and "5+".

    histogram (Counter[int]): How often each value occurs.
    starts (Sequence[int]): The minimum of each band, sorted. Lower values belong to the
        first band.
    RETURNS (Dict[str, int]): The count of each band.
    """
    counts = [0] * len(starts)
    for value, count in histogram.items():
        counts[max(bisect_right(starts, value) - 1, 0)] += count
    names = [
        str(start) if start == following - 1 else f"{start}-{following - 1}"
        for start, following in pairwise(starts)
    ]
    return dict(zip([*names, f"{starts[-1]}+"], counts, strict=True))


def quantile(histogram: Counter[int], share: float) -> int:
    """Get a quantile of a histogram.

    histogram (Counter[int]): How often each value occurs.
    share (float): The share of values up to the quantile: 0.5 is the median, 1.0 the
        maximum.
    RETURNS (int): The value, or 0 if the histogram is empty.
    """
    rest = share * histogram.total()
    result = 0
    for value, count in sorted(histogram.items()):
        if rest <= 0:
            break
        result = value
        rest -= count
    return result


def by_frequency(counts: Counter[str]) -> list[tuple[str, int]]:
    """Sort names by count, and alphabetically if counts are equal.

    counts (Counter[str]): The counts.
    RETURNS (List[Tuple[str, int]]): The names and counts, most frequent first.
    """
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _sorted(histogram: Counter[int]) -> dict[int, int]:
    return {value: count for value, count in sorted(histogram.items()) if count}
