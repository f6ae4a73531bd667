from dataclasses import replace
from itertools import count

import pytest

from spacy_sdp.evaluation.mrp_metric import score_mrp
from spacy_sdp.formats import Record, mrp

GOLD = Record(
    words=["Cats", "do", "n't", "chase", "dogs", "."],
    arcs=[(3, 0, "ARG1"), (3, 4, "ARG2"), (2, 3, "neg")],
    tops=[2],
    lemmas=["cat", "do", "not", "chase", "dog", "_"],
    tags=["NNS", "VBP", "RB", "VB", "NNS", "."],
    frames=["n:x", None, "neg:e-h", "v:e-x-x", "n:x", None],
    id="1",
)


def common(system, gold=GOLD):
    """How many pieces of each kind gold and system have in common."""
    return {name: row["c"] for name, row in score_mrp([gold], [system]).items()}


def test_a_graph_has_all_of_itself():
    scores = score_mrp([GOLD], [GOLD])
    numbers = {"tops": 1, "labels": 4, "properties": 8, "anchors": 4, "edges": 3}
    assert {name: row["g"] for name, row in scores.items()} == {**numbers, "all": 20}
    assert all(row["g"] == row["s"] == row["c"] for row in scores.values())
    assert all(row["p"] == row["r"] == row["f"] == 1 for row in scores.values())


def test_scores_counted_by_hand_and_by_the_official_tool():
    system = replace(
        GOLD,
        arcs=[(3, 0, "ARG1"), (3, 4, "ARG3"), (1, 3, "aux"), (2, 3, "neg")],
        tops=[3],
        lemmas=["cat", "do", "not", "hunt", "DOG", "."],
        frames=["n:x", None, None, "V:E-X-X", "n:x", None],
    )
    scores = score_mrp([GOLD], [system])
    counts = {name: (row["g"], row["s"], row["c"]) for name, row in scores.items()}
    assert counts == {
        "tops": (1, 1, 0),
        "labels": (4, 5, 3),  # case does not count
        "properties": (8, 8, 7),  # without the frame of "n't", with the tag of "do"
        "anchors": (4, 5, 4),
        "edges": (3, 4, 2),
        "all": (20, 23, 16),
    }
    assert scores["labels"]["p"] == 3 / 5 and scores["labels"]["r"] == 3 / 4
    assert scores["all"]["f"] == pytest.approx(2 * 16 / (20 + 23))


def test_a_node_at_another_word_may_still_be_the_same_one():
    moved = replace(
        GOLD,
        arcs=[(3, 0, "ARG1"), (3, 4, "ARG2"), (1, 3, "neg")],
        tops=[1],
        lemmas=["cat", "not", None, "chase", "dog", None],
        tags=["NNS", "RB", None, "VB", "NNS", None],
        frames=["n:x", "neg:e-h", None, "v:e-x-x", "n:x", None],
    )
    # Only the anchor is wrong.
    assert common(moved) == {**common(GOLD), "anchors": 3, "all": 19}


def test_small_graphs_have_the_figures_of_the_official_tool():
    """Those of `mtool --read mrp --score mrp` for the files of these graphs."""
    extra = Record(
        words=["Mr", ".", "Cat", "slept", "."],
        arcs=[(2, 0, "compound"), (3, 2, "ARG1")],
        tops=[3],
        lemmas=["Mr", "_", "cat", "sleep", "_"],
        tags=["NNP", ".", "NN", "VBD", "."],
        frames=["n:x", None, "n:x", "v:e-x", None],
        text="Mr. Cat slept.",
        id="2",
    )
    system = replace(
        extra,
        words=["Mr.", "Cat", "slept", "."],
        arcs=[(1, 0, "compound"), (2, 1, "ARG2"), (2, 0, "ARG1")],
        tops=[1, 2],
        lemmas=["Mr.", "cat", "sleep", "_"],
        tags=["NNP", "NNP", "VBD", "."],
        frames=["n:x", "named:x-c", "v:e-x", None],
    )
    scores = score_mrp([GOLD, extra], [replace(GOLD, frames=[], tops=[]), system])
    counts = {name: (row["g"], row["s"], row["c"]) for name, row in scores.items()}
    assert counts == {
        "tops": (2, 2, 1),
        "labels": (7, 7, 6),
        "properties": (14, 10, 8),
        "anchors": (7, 7, 7),
        "edges": (5, 6, 4),
        "all": (35, 32, 26),
    }


def test_nodes_keep_the_order_of_the_words():
    one = Record(["a", "b", "c"], tops=[0, 2], lemmas=["x", None, "y"], id="1")
    swapped = replace(one, lemmas=["y", None, "x"])
    # The anchors and tops; to pair the labels would cross.
    assert common(swapped, one)["labels"] == 0
    assert common(swapped, one)["anchors"] == 2


def test_punctuation_around_an_anchor_does_not_count():
    gold = Record(["Mr", ".", "Cat"], [(2, 0, "x")], [2], id="1")
    system = Record(["Mr.", "Cat"], [(1, 0, "x")], [1], id="1")
    assert common(system, gold) == {
        "tops": 1,
        "labels": 0,
        "properties": 0,
        "anchors": 2,
        "edges": 1,
        "all": 4,
    }


def test_other_tokens_of_the_same_dots_are_the_same_text():
    gold = Record(["Wait", "...", "."], tops=[0], id="1")
    system = Record(["Wait", "...."], tops=[0], id="1")
    assert common(system, gold)["all"] == 2
    spelled = Record(["Wait", "…", "."], tops=[0], id="1")
    assert common(spelled, gold)["all"] == 2


def test_a_graph_without_nodes_is_missed_or_invented():
    nothing = Record(GOLD.words, id="1")
    assert score_mrp([GOLD], [nothing])["all"]["f"] == 0
    assert score_mrp([nothing], [GOLD])["all"]["p"] == 0
    with pytest.raises(ValueError, match="token 1 is 'Dogs' instead of 'Cats'"):
        score_mrp([GOLD], [replace(GOLD, words=["Dogs", *GOLD.words[1:]])])


@pytest.mark.parametrize("name", ["dm", "psd"])
def test_the_official_sample_is_as_its_gold_standard(shared_data, name):
    folder = shared_data / "sdp_sample"
    scores = score_mrp(
        mrp.read(folder / f"{name}.mrp"), mrp.read(folder / f"{name}.mrp")
    )
    pieces = {"dm": 7762, "psd": 5338}
    assert scores["all"]["g"] == scores["all"]["c"] == pieces[name]


def with_mistakes(sentences):
    """Make mistakes of all kinds at regular intervals."""
    numbers = count()

    def is_nth(n):
        return next(numbers) % n == 0

    for sentence in sentences:
        words = range(len(sentence.words))
        columns = (sentence.lemmas, sentence.tags, sentence.frames)
        rows = {
            i: [column[i] if column else None for column in columns]
            for i in words
            if sentence.nodes[i]
        }
        # Delete nodes, add nodes, and move nodes to the previous word.
        place = {i: i for i in rows if not is_nth(29)}
        for i in words:
            if i not in rows and is_nth(7):
                rows[i], place[i] = ["new", "NN", "n:x"], i
            elif i in place and i and i - 1 not in rows and is_nth(3):
                place[i] = i - 1
        for row in rows.values():
            if is_nth(11):
                row[0] = "other"
            if is_nth(17):
                row[1] = "XX"
            if is_nth(13):
                row[2] = None
            elif is_nth(19):
                row[2] = "v:e-i-h"
        arcs = set()
        for head, dep, label in sentence.arcs:
            if head not in place or dep not in place or is_nth(12):
                continue
            if is_nth(10):
                head, dep = dep, head
            arcs.add((place[head], place[dep], "ARG9" if is_nth(9) else label))
        tops = [place[i] for i in sentence.tops if i in place and not is_nth(8)]
        if place and is_nth(6):
            tops.append(max(place.values()))
        by_place = {j: rows[i] for i, j in place.items()}
        lemmas, tags, frames = (
            [by_place[i][k] if i in by_place else None for i in words] for k in range(3)
        )
        yield replace(
            sentence,
            arcs=sorted(arcs),
            tops=sorted({*tops}),
            lemmas=lemmas,
            tags=tags,
            frames=frames,
            nodes=[i in by_place for i in words],
        )


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        (
            "dm",
            {
                "tops": (88, 95, 82),
                "labels": (1549, 1559, 1358),
                "properties": (3098, 2979, 2705),
                "anchors": (1549, 1559, 1417),
                "edges": (1478, 1336, 934),
                "all": (7762, 7528, 6496),
            },
        ),
        (
            "psd",
            {
                "tops": (97, 90, 75),
                "labels": (1259, 1308, 1095),
                "properties": (1466, 1631, 1318),
                "anchors": (1259, 1308, 1064),
                "edges": (1257, 1138, 815),
                "all": (5338, 5475, 4367),
            },
        ),
    ],
)
def test_graphs_with_mistakes_have_the_figures_of_the_official_tool(
    shared_data, tmp_path, name, figures
):
    """Those of `mtool --read mrp --score mrp --gold NAME.mrp mistakes.mrp`."""
    path, mistakes = shared_data / "sdp_sample" / f"{name}.mrp", tmp_path / "out.mrp"
    mrp.write(with_mistakes(mrp.read(path)), mistakes)
    scores = score_mrp(mrp.read(path), mrp.read(mistakes))
    counts = {name: (row["g"], row["s"], row["c"]) for name, row in scores.items()}
    assert counts == figures
