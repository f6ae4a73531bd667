from dataclasses import replace

import pytest

from spacy_sdp.evaluation.metrics import score_sentences
from spacy_sdp.formats import Record
from spacy_sdp.graph.alignment import align_sentence


def sentence(arcs, tops, *, frames=("f", "g", None, None), tags=None, id="1"):
    heads = {head for head, _, _ in arcs}
    return Record(
        words=["a", "b", "c", "d"],
        arcs=list(arcs),
        tops=list(tops),
        id=id,
        tags=tags or ["VB", "VBD", "NN", "NN"],
        frames=list(frames),
        predicates=[i in heads for i in range(4)],
    )


GOLD = sentence([(0, 2, "ARG1"), (0, 3, "ARG2"), (1, 2, "ARG1"), (2, 3, "of")], [0])


def test_scores_counted_by_hand():
    # Two arcs right, one with another label, one missed, one invented; a wrong top.
    system = sentence(
        [(0, 2, "ARG1"), (0, 3, "ARG3"), (1, 2, "ARG1"), (3, 2, "of")], [0, 1]
    )
    scores = score_sentences([GOLD], [system])
    with_tops, without = scores["with_tops"], scores["without_tops"]
    assert (with_tops["LP"], with_tops["LR"]) == (3 / 6, 3 / 5)
    assert with_tops["LF"] == pytest.approx(6 / 11)
    assert (with_tops["UP"], with_tops["UR"]) == (4 / 6, 4 / 5)
    assert (without["LP"], without["LR"], without["LF"]) == (0.5, 0.5, 0.5)
    assert (without["UP"], without["UR"], without["UF"]) == (0.75, 0.75, 0.75)
    assert with_tops["LM"] == with_tops["UM"] == 0
    # Of the verbs a and b, only b has all its arguments right. c and d are no verbs.
    for side in (with_tops, without):
        assert (side["PP"], side["PR"], side["PF"]) == (0.5, 0.5, 0.5)
        assert (side["FP"], side["FR"], side["FF"]) == (0.5, 0.5, 0.5)
    assert with_tops["per_label"]["ARG1"] == {
        "gold": 2,
        "system": 2,
        "common": 2,
        "p": 1.0,
        "r": 1.0,
        "f": 1.0,
    }
    assert with_tops["per_label"]["root"]["system"] == 2
    assert "root" not in without["per_label"]
    # The root stands before the first word, so its arcs here have lengths 1 and 2.
    lengths = {band: row["gold"] for band, row in with_tops["per_length"].items()}
    assert lengths == {"1": 1 + 1 + 1, "2": 1, "3": 1}


def test_exact_matches_are_shares_of_graphs():
    relabelled = sentence([(*arc[:2], "X") for arc in GOLD.arcs], [0])
    without_top = sentence(GOLD.arcs, [])
    scores = score_sentences([GOLD] * 3, [GOLD, relabelled, without_top])
    assert scores["with_tops"]["LM"] == pytest.approx(1 / 3)
    assert scores["with_tops"]["UM"] == pytest.approx(2 / 3)
    assert scores["without_tops"]["LM"] == pytest.approx(2 / 3)
    assert scores["without_tops"]["UM"] == 1


def test_frames_agree_in_sense_and_predications_need_not():
    system = sentence(GOLD.arcs, [0], frames=("other", "g", None, None))
    scores = score_sentences([GOLD], [system])["with_tops"]
    assert scores["PF"] == 1
    assert (scores["FP"], scores["FR"], scores["FF"]) == (0.5, 0.5, 0.5)


def test_the_tags_of_each_side_tell_its_verbs():
    system = sentence(GOLD.arcs, [0], tags=["VB", "NN", "NN", "NN"])
    scores = score_sentences([GOLD], [system])["with_tops"]
    assert (scores["PP"], scores["PR"]) == (1, 0.5)


@pytest.mark.parametrize("side", ["gold", "system", "both"])
def test_a_side_without_tags_has_the_verbs_of_the_other(side):
    gold, system = replace(GOLD), replace(GOLD)
    for sentence, name in ((gold, "gold"), (system, "system")):
        if side in (name, "both"):
            sentence.tags = []
    scores = score_sentences([gold], [system])["with_tops"]
    expected = 0 if side == "both" else 1
    assert (scores["PF"], scores["FF"]) == (expected, expected)


@pytest.mark.parametrize(
    "representation, label, counts",
    [
        ("dm", "anything", True),
        ("pas", "verb_ARG2", True),
        ("pas", "noun_ARG1", False),
        ("psd", "PAT-arg", True),
        ("psd", "TWHEN", False),
    ],
)
def test_core_arguments_by_representation(representation, label, counts):
    gold = sentence([(0, 2, "ARG1"), (0, 3, label)], [])
    system = sentence([(0, 2, "ARG1")], [])
    scores = score_sentences([gold], [system], representation)
    assert scores["with_tops"]["PF"] == (0 if counts else 1)


def test_nothing_found_scores_zero():
    scores = score_sentences([GOLD], [sentence([], [])])["with_tops"]
    numbers = {key: value for key, value in scores.items() if len(key) == 2}
    assert set(numbers.values()) == {0.0} and len(numbers) == 14


@pytest.mark.parametrize(
    "gold, system, reason",
    [
        ([GOLD], [sentence([], [], id="2")], "has the id 1 .* but 2 in the system"),
        ([GOLD], [Record(list("abce"), id="1")], "token 4 is 'e' instead of 'd'"),
        ([GOLD], [Record(list("abc"), id="1")], "3 tokens instead of 4"),
        ([GOLD], [GOLD, GOLD, GOLD], "system side has 3 sentences, the other 1"),
        ([GOLD, GOLD], [], "gold side has 2 sentences, the other 0"),
        ([], [], "nothing to score"),
    ],
)
def test_what_cannot_be_compared_is_an_error(gold, system, reason):
    with pytest.raises(ValueError, match=reason):
        score_sentences(gold, system)


def test_unknown_representations_are_refused():
    with pytest.raises(ValueError, match="choose one of dm, pas, psd"):
        score_sentences([GOLD], [GOLD], "amr")


def test_other_tokens_of_the_same_text_are_aligned():
    gold = Record(
        words=["It", "\u2019s", "``", "odd", "''", "\u2013", "no", "?"],
        arcs=[(1, 0, "A"), (3, 0, "B"), (6, 7, "C")],
        tops=[1],
        tags=["PRP", "VBZ", "``", "JJ", "''", ":", "UH", "."],
        predicates=[False, True, False, True, False, False, True, False],
    )
    system = Record(
        words=["It", "'s", '"', "odd", '"', "--", "no?"],
        arcs=[(1, 0, "A"), (3, 0, "X"), (6, 0, "C")],
        tops=[1],
        tags=["PRP", "VBZ", "``", "JJ", "''", ":", "UH"],
        predicates=[False, True, False, True, False, False, True],
    )
    aligned = align_sentence(system, gold)
    # What has no counterpart is beyond the 8 gold tokens.
    assert aligned.arcs == [(1, 0, "A"), (3, 0, "X"), (14, 0, "C")]
    scores = score_sentences([gold], [system])
    assert scores["with_tops"]["LP"] == scores["with_tops"]["LR"] == 2 / 4
    assert scores["without_tops"]["UF"] == pytest.approx(2 / 3)
    assert scores["with_tops"]["PF"] == 1
    system.words[0] = "They"
    assert align_sentence(system, gold) is None
    with pytest.raises(ValueError, match=r"different text .*: token 1 is 'They'"):
        score_sentences([gold], [system])


def test_the_official_sample_scores_itself_with_one(shared_data):
    from spacy_sdp.formats import sdp

    path = shared_data / "sdp_sample" / "dm.sdp"
    scores = score_sentences(sdp.read(path), sdp.read(path))
    for side in scores.values():
        assert {v for k, v in side.items() if len(k) == 2} == {1.0}
    # What the official toolkit counts.
    assert scores["with_tops"]["per_label"]["root"]["gold"] == 88
    assert sum(r["gold"] for r in scores["with_tops"]["per_length"].values()) == 1566
    assert scores["with_tops"]["per_length"]["10-"]["gold"] == 87
