import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_sdp.graph.alignment import align_one_to_one
from spacy_sdp.pipeline.scorer import score_examples


def example(nlp, gold_words, words, gold, system, **gold_args):
    reference = Doc(nlp.vocab, words=gold_words, **gold_args)
    predicted = Doc(nlp.vocab, words=words)
    reference._.sdp, predicted._.sdp = gold, system
    return Example(predicted, reference)


def test_examples_are_scored_with_tops(nlp):
    words = ["a", "b", "c"]
    eg = example(
        nlp,
        words,
        words,
        [(0, 1, "A"), (2, 1, "A"), (-1, 0, "root")],
        [(0, 1, "A"), (2, 1, "B"), (-1, 0, "root"), (-1, 2, "root")],
    )
    scores = score_examples([eg])
    assert scores["sdp_lp"] == 2 / 4 and scores["sdp_lr"] == 2 / 3
    assert scores["sdp_lf"] == pytest.approx(4 / 7)
    assert scores["sdp_up"] == 3 / 4 and scores["sdp_ur"] == 1
    assert scores["sdp_uf"] == pytest.approx(6 / 7)
    assert scores["sdp_lm"] == scores["sdp_um"] == 0
    assert scores["sdp_lf_per_type"] == {
        "A": {"p": 1.0, "r": 0.5, "f": pytest.approx(2 / 3)},
        "B": {"p": 0.0, "r": 0.0, "f": 0.0},
        "root": {"p": 0.5, "r": 1.0, "f": pytest.approx(2 / 3)},
    }


def test_the_prefix_is_the_attribute(nlp, cat):
    from spacy_sdp import register_extensions

    register_extensions("dm")
    other = cat.copy()
    cat._.dm, other._.dm = cat._.sdp, cat._.sdp
    scores = score_examples([Example(other, cat)], attr="dm")
    assert scores["dm_lf"] == scores["dm_lm"] == 1.0
    assert all(name.startswith("dm_") for name in scores)


def test_docs_without_gold_are_skipped(nlp, cat):
    right = Example(cat.copy(), cat)
    no_gold = example(nlp, ["a", "b"], ["a", "b"], None, [(0, 1, "A")])
    assert score_examples([right, no_gold])["sdp_lf"] == 1.0
    assert set(score_examples([no_gold]).values()) == {None}
    # Nothing predicted is not the same: everything is missed.
    no_prediction = Example(Doc(nlp.vocab, words=[t.text for t in cat]), cat)
    assert score_examples([no_prediction])["sdp_lr"] == 0.0


def test_an_arc_that_cannot_be_aligned_is_a_miss(nlp):
    eg = example(
        nlp,
        ["I", "do", "n't", "sleep"],
        ["I", "don't", "sleep"],
        [(3, 0, "ARG1"), (2, 3, "neg"), (-1, 3, "root")],
        [(2, 0, "ARG1"), (1, 2, "neg"), (-1, 2, "root")],
    )
    assert align_one_to_one(eg) == {0: 0, 2: 3}
    scores = score_examples([eg])
    assert scores["sdp_lp"] == scores["sdp_lr"] == 2 / 3
    assert scores["sdp_lf_per_type"]["neg"]["f"] == 0


def test_exact_match_is_by_gold_sentence(nlp):
    words = ["a", "b", "c", "d"]
    eg = example(
        nlp,
        words,
        words,
        [(0, 1, "A"), (2, 3, "A")],
        [(0, 1, "A"), (3, 2, "A")],
        sent_starts=[True, False, True, False],
    )
    assert score_examples([eg])["sdp_lm"] == 0.5
