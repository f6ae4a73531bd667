import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_sdp.graph.alignment import align_one_to_one
from spacy_sdp.graph.graph import SemanticGraph
from spacy_sdp.pipeline.scorer import make_sdp_scorer, score_examples


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


def with_frames(doc, arcs, frames):
    doc._.sdp = SemanticGraph.from_arcs(doc, arcs, [0], frames=frames)
    return doc


def test_frames_are_scored_by_themselves_and_with_all_arguments(nlp):
    words, tags = ["sleeps", "eats", "fish", "now"], ["VBZ", "VBZ", "NN", "RB"]
    gold_arcs = [(0, 2, "ARG1"), (1, 2, "ARG1"), (3, 0, "ARG1")]
    gold = with_frames(
        Doc(nlp.vocab, words=words, tags=tags),
        gold_arcs,
        {0: "v:e-x", 1: "v:e-x-x", 2: "n:x", 3: "a:e-e"},
    )
    # A frame is wrong, one is missing, and a verb has an argument too many.
    system = with_frames(
        Doc(nlp.vocab, words=words, tags=tags),
        [*gold_arcs, (1, 3, "ARG2")],
        {0: "v:e-x", 1: "v:e-x-x", 2: "n_of:x-x"},
    )
    scores = score_examples([Example(system, gold)])
    assert scores["sdp_frame_acc"] == 2 / 4
    assert scores["sdp_ff"] == 1 / 2
    # In PSD, ARG1 and ARG2 are no core arguments.
    assert make_sdp_scorer("psd")([Example(system, gold)])["sdp_ff"] == 1
    nothing = Doc(nlp.vocab, words=words, tags=tags)
    scores = score_examples([Example(nothing, gold)])
    assert scores["sdp_frame_acc"] == scores["sdp_ff"] == 0


def test_docs_without_gold_frames_have_no_part_in_the_scores_of_frames(nlp, cat):
    predicted = with_frames(cat.copy(), [(3, 2, "ARG1")], {3: "v:e-x-x"})
    scores = score_examples([Example(predicted, cat)])
    assert scores["sdp_lf"] > 0
    assert scores["sdp_frame_acc"] is None and scores["sdp_ff"] is None


def test_frames_of_other_tokens_are_aligned(nlp):
    gold = Doc(nlp.vocab, words=["do", "n't", "go"], tags=["VB", "RB", "VB"])
    system = Doc(nlp.vocab, words=["don't", "go"], tags=["VB", "VB"])
    with_frames(gold, [(2, 1, "x")], {1: "neg:e-h", 2: "v:e-x"})
    with_frames(system, [(1, 0, "x")], {0: "neg:e-h", 1: "v:e-x"})
    scores = score_examples([Example(system, gold)])
    assert scores["sdp_frame_acc"] == 1 / 2
    assert scores["sdp_ff"] == 0


def test_frames_are_scored_if_only_one_side_has_tags(nlp):
    words, tags, frames = ["He", "sleeps"], ["PRP", "VBZ"], {1: "v:e-x"}
    tagged = Doc(nlp.vocab, words=words, tags=tags)
    plain, arcs = Doc(nlp.vocab, words=words), [(1, 0, "ARG1")]
    for doc in (tagged, plain):
        with_frames(doc, arcs, frames)
    assert score_examples([Example(tagged, plain)])["sdp_ff"] == 1
    assert score_examples([Example(plain, tagged)])["sdp_ff"] == 1
    assert score_examples([Example(plain, plain)])["sdp_ff"] is None
