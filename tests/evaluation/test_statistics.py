from collections import Counter, defaultdict

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_sdp.evaluation.statistics import (
    Comparison,
    Statistics,
    count_crossing_arcs,
    in_bands,
    quantile,
)
from spacy_sdp.formats import Record, sdp
from spacy_sdp.graph.algorithms import has_cycle

# "He wants to eat", where "He" has two heads.
WANTS = Record(
    ["He", "wants", "to", "eat"],
    [(1, 0, "ARG1"), (1, 3, "ARG2"), (3, 0, "ARG1")],
    [1],
    id="1",
)
# Two arcs that cross, two tops, no id.
CROSSING = Record(list("abcde"), [(0, 2, "x"), (3, 1, "y"), (3, 4, "x")], [0, 3])
# A cycle of three words, with two labels on one of its arcs.
CYCLE = Record(
    list("abcd"), [(0, 1, "x"), (1, 2, "x"), (2, 0, "x"), (2, 0, "y")], id="1"
)
RAIN = Record(["Rain"], id="2")
SILENCE = Record(["Hm", "..."], id="3")


def sentence_of_pairs(pairs):
    return Record(["w"] * 9, [(head, dep, "x") for head, dep in pairs])


graphs = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda x: x[0] != x[1]),
    max_size=12,
).map(sentence_of_pairs)


def test_every_count_of_a_small_corpus():
    data = Statistics.collect([WANTS, CROSSING, CYCLE, RAIN, SILENCE]).to_dict()
    assert data == {
        "sentences": 5,
        "tokens": 16,
        "arcs": 10,
        "reentrant_tokens": 1,
        "crossing_arcs": 2,
        "cyclic_graphs": 1,
        "graphs_without_arcs": 1,
        "pairs_with_several_labels": 1,
        "repeated_ids": 1,
        "labels": {"x": 5, "ARG1": 2, "y": 2, "ARG2": 1},
        "heads_per_token": {0: 8, 1: 7, 2: 1},
        "tops_per_graph": {0: 3, 1: 1, 2: 1},
        "arc_lengths": {1: 4, 2: 5, 3: 1},
        "sentence_lengths": {1: 1, 2: 1, 4: 2, 5: 1},
    }
    assert list(data["labels"]) == ["x", "ARG1", "y", "ARG2"]


def test_nothing_at_all_is_counted_as_nothing():
    data = Statistics.collect([]).to_dict()
    assert not any(data.values())


@given(graphs)
def test_crossing_arcs_are_those_of_all_pairs_of_arcs(sentence):
    spans = [sorted(arc[:2]) for arc in sentence.arcs]
    crossing = [
        (a, b)
        for a, b in spans
        if any(a < c < b < d or c < a < d < b for c, d in spans)
    ]
    assert count_crossing_arcs(sentence) == len(crossing)


@given(graphs)
def test_a_graph_is_cyclic_if_some_word_reaches_itself(sentence):
    reachable = {arc[:2] for arc in sentence.arcs}
    for k in range(9):
        for i in range(9):
            if (i, k) in reachable:
                reachable |= {(i, j) for j in range(9) if (k, j) in reachable}
    assert has_cycle(sentence.arcs) == any((i, i) in reachable for i in range(9))


@given(st.lists(graphs, max_size=4))
def test_heads_are_counted_as_words(sentences):
    statistics = Statistics.collect(sentences)
    heads = defaultdict(set)
    for number, sentence in enumerate(sentences):
        for head, dep, _ in sentence.arcs:
            heads[number, dep].add(head)
    counts = Counter(len(each) for each in heads.values())
    counts[0] = 9 * len(sentences) - len(heads)
    assert statistics.heads_per_token == counts
    assert statistics.reentrant_tokens == sum(len(x) > 1 for x in heads.values())
    assert statistics.tokens == 9 * len(sentences)


def test_long_sentences_take_no_recursion_and_no_square_of_the_time():
    n = 100_000
    chain = [(i, i + 1, "x") for i in range(n - 1)]
    nested = [(i, n - 1 - i, "y") for i in range(n // 2 - 1)]
    sentence = Record(["w"] * n, chain + nested)
    statistics = Statistics.collect([sentence])
    assert (statistics.crossing_arcs, statistics.cyclic_graphs) == (0, 0)
    sentence.arcs += [(n - 1, 0, "x"), (n // 2 - 3, n - 1, "y")]
    statistics = Statistics.collect([sentence])
    # The new arc starts below all the nested ones but two, and ends outside of all but
    # the first, with which it shares a word.
    assert statistics.crossing_arcs == 1 + (n // 2 - 3) - 1
    assert statistics.cyclic_graphs == 1


def test_an_id_may_come_again_in_another_source():
    statistics = Statistics()
    statistics.add(WANTS, source="a.sdp")
    statistics.add(WANTS, source="b.sdp")
    assert statistics.repeated_ids == 0
    statistics.add(RAIN, source="b.sdp")
    statistics.add(WANTS, source="b.sdp")
    assert statistics.repeated_ids == 1


def test_comparison_of_train_and_dev():
    other = Record(list("abcdf"), [(0, 1, "z"), (1, 2, "z"), (2, 3, "u")])
    train = Statistics.collect([WANTS, CROSSING])
    dev = Statistics.collect([CROSSING, CROSSING, WANTS, other])
    # Sentences of less than five words are not compared, so WANTS does not count.
    assert Comparison.of(train, dev).to_dict() == {
        "labels_missing_from_train": {"z": 2, "u": 1},
        "dev_sentences_compared": 3,
        "dev_sentences_in_train": 2,
    }
    assert Comparison.of(dev, train).missing_labels == {}


def test_tokens_are_compared_with_those_of_the_tokenizer():
    # spaCy makes "ca", "n't" of "can't", and leaves "w/o" and "swim" as they are.
    sentence = Record(
        ["I", "can't", "swim", "w", "/", "o", "fins"],
        [(2, 0, "ARG1"), (1, 2, "ARG1"), (3, 2, "x"), (3, 6, "y")],
        [1],
        text="I can't  swim w/o fins",
    )
    fit = Statistics.collect([sentence, RAIN], spacy.blank("en")).tokenizer_fit
    assert fit is not None
    assert fit.to_dict() == {
        "lang": "en",
        "sentences_without_text": 1,
        "tokens": 7,
        "unaligned_tokens": 4,
        "arcs": 4,
        "lost_arcs": 3,
        "unaligned": {"/": 1, "can't": 1, "o": 1, "w": 1},
    }
    assert Statistics.collect([sentence]).tokenizer_fit is None


@pytest.mark.parametrize(
    "starts, expected",
    [
        ((0, 1, 2, 3), {"0": 2, "1": 1, "2": 0, "3+": 5}),
        ((1, 2, 5), {"1": 3, "2-4": 4, "5+": 1}),
        ((1,), {"1+": 8}),
    ],
)
def test_bands_of_a_histogram(starts, expected):
    assert in_bands(Counter({0: 2, 1: 1, 4: 4, 9: 1}), starts) == expected


@given(st.lists(st.integers(0, 20), min_size=1))
def test_quantiles_are_those_of_the_sorted_values(values):
    histogram, values = Counter(values), sorted(values)
    assert quantile(histogram, 0.5) == values[(len(values) - 1) // 2]
    assert quantile(histogram, 1.0) == values[-1]


def test_the_quantile_of_nothing_is_zero():
    assert quantile(Counter(), 0.5) == 0


@pytest.mark.parametrize(
    "name, sentences, tokens, arcs, labels, longest",
    [
        ("wescience.train", 8_019, 164_709, 116_159, 51, 78),
        ("wescience.dev", 544, 11_422, 8_132, 31, 61),
        ("wescience.test", 1_410, 31_001, 21_766, 40, 84),
        ("sherlock.ood", 553, 10_602, 7_049, 26, 76),
    ],
)
def test_facts_of_the_open_dm_corpus(
    shared_data, name, sentences, tokens, arcs, labels, longest
):
    path = shared_data / "open_dm" / f"{name}.dm.sdp"
    statistics = Statistics.collect(sdp.read(path))
    assert statistics.sentences == sentences
    assert statistics.tokens == tokens
    assert statistics.arcs == arcs
    assert len(statistics.labels) == labels
    assert max(statistics.sentence_lengths) == longest
    assert statistics.tops_per_graph == {1: sentences}
    assert statistics.cyclic_graphs == statistics.repeated_ids == 0
    if name == "wescience.train":
        bands = in_bands(statistics.heads_per_token, (0, 1, 2))
        shares = [round(100 * count / tokens) for count in bands.values()]
        assert shares == [62, 18, 20]
        assert statistics.reentrant_tokens == bands["2+"]
