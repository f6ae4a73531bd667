"""Composite labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_sdp.formats import FormatError, Record
from spacy_sdp.formats.folding import (
    MAX_EMPTY_NODES,
    fold,
    fold_label,
    folding_losses,
    unfold,
    unfold_label,
)
from spacy_sdp.graph.record import EmptyNode

NOTHING = ["_"] * 8


def folded(heads, empty_nodes=None, size=None):
    """A sentence from the heads of its words and of its empty nodes."""
    size = size or max(int(node) for node in heads)
    sentence = Record(words=[f"w{i}" for i in range(1, size + 1)])
    sentence.empty_nodes = [
        EmptyNode(node, list(NOTHING), own) for node, own in (empty_nodes or {}).items()
    ]
    fold(heads, sentence)
    return sentence


@pytest.mark.parametrize(
    "paths, label",
    [
        ([("obj",)], "obj"),
        ([("nmod:of",)], "nmod:of"),
        ([("obj",), ("nsubj",)], "nsubj|obj"),
        ([("conj:and", "nsubj")], "conj:and>nsubj"),
        ([("conj", "obj"), ("dep",)], "conj>obj|dep"),
        ([("a>b",)], r"a\>b"),
        ([("a|b", "c\\")], "a\\|b>c\\\\"),
    ],
)
def test_labels_fold_and_unfold(paths, label):
    assert fold_label(paths) == label
    assert sorted(unfold_label(label)) == sorted(paths)


@given(st.sets(st.lists(st.text(min_size=1), min_size=1).map(tuple), min_size=1))
def test_any_labels_fold_and_unfold(paths):
    assert set(unfold_label(fold_label(paths))) == paths


@given(st.text(min_size=1))
def test_what_is_no_composite_label_stands_for_itself(label):
    paths = unfold_label(label)
    assert paths == ((label,),) or fold_label(paths).count(">") == label.count(">")


@pytest.mark.parametrize("label", [">", "a>", "|a", "a||b", "\\", "a\\b"])
def test_broken_composite_labels_stand_for_themselves(label):
    assert unfold_label(label) == ((label,),)


def test_a_path_through_an_empty_node_becomes_a_label():
    # Kim reads books and Lee (reads) papers.
    sentence = folded(
        {
            "1": [("2", "nsubj")],
            "2": [("0", "root")],
            "3": [("2", "obj")],
            "4": [("5.1", "cc")],
            "5": [("5.1", "nsubj")],
            "6": [("5.1", "obj")],
        },
        {"5.1": [("2", "conj:and")]},
    )
    assert sorted(sentence.arcs) == [
        (1, 0, "nsubj"),
        (1, 2, "obj"),
        (1, 3, "conj:and>cc"),
        (1, 4, "conj:and>nsubj"),
        (1, 5, "conj:and>obj"),
    ]
    assert sentence.tops == [1]
    assert sentence.empty_nodes[0].args == [("4", "cc"), ("5", "nsubj"), ("6", "obj")]
    # Without the node, one is made up for all three.
    sentence.empty_nodes = []
    heads, nodes = unfold(sentence)
    assert [(node.id, node.heads) for node in nodes] == [("3.1", [("2", "conj:and")])]
    assert [heads[word] for word in "456"] == [
        [("3.1", "cc")],
        [("3.1", "nsubj")],
        [("3.1", "obj")],
    ]


def test_a_path_from_the_root_makes_a_top():
    heads = {"1": [("0.1", "nsubj")], "2": [("0.1", "obj")]}
    sentence = folded(heads, {"0.1": [("0", "root")]})
    assert sentence.arcs == [] and sentence.tops == [0, 1]
    assert unfold(sentence)[0] == heads
    with pytest.raises(FormatError, match="word 1 is a root twice"):
        folded({"1": [("0.1", "obj"), ("0", "root")]}, {"0.1": [("0", "root")]})


def test_losses_are_counted():
    sentence = folded(
        {"1": [("1.1", "obj")], "2": []},
        {"1.1": [("1", "conj")], "2.1": [("1", "dep")]},
        size=2,
    )
    assert sentence.arcs == []
    assert folding_losses(sentence) == {
        "paths that fold to a self-loop": 1,
        "empty nodes without arguments": 1,
    }
    heads, nodes = unfold(sentence)
    assert heads["1"] == [("1.1", "obj")] and [node.id for node in nodes] == [
        "1.1",
        "2.1",
    ]


def test_changed_graphs_lose_what_only_the_old_one_had():
    heads = {"1": [("0", "root")], "2": [("2.1", "obj")], "3": [("2.1", "obl")]}
    sentence = folded(heads, {"2.1": [("1", "conj"), ("3", "dep")]})
    assert sorted(sentence.arcs) == [
        (0, 1, "conj>obj"),
        (0, 2, "conj>obl"),
        (2, 1, "dep>obj"),
    ]
    # Of the two paths to word 2, one is gone: the other gets a node of its own.
    sentence.arcs.remove((2, 1, "dep>obj"))
    again, nodes = unfold(sentence)
    assert [node.id for node in nodes] == ["1.1", "2.1"]
    assert again["2"] == [("1.1", "obj")] and again["3"] == [("2.1", "obl")]


@pytest.mark.parametrize("count", [MAX_EMPTY_NODES + 1, 10_000])
def test_absurdly_long_paths_are_refused(count):
    chain = {f"0.{i}": [(f"0.{i + 1}", "dep")] for i in range(1, count + 1)}
    chain[f"0.{count + 1}"] = [("2", "dep")]
    with pytest.raises(FormatError, match="empty nodes in a row"):
        folded({"1": [("0.1", "obj")], "2": [("0", "root")]}, chain)


def test_absurdly_many_paths_are_refused():
    names = [f"0.{i}" for i in range(1, 9)]
    nodes = {
        name: [("2", "dep"), *((other, "dep") for other in names if other != name)]
        for name in names
    }
    with pytest.raises(FormatError, match="more than 1000 paths"):
        folded({"1": [("0.1", "obj")], "2": [("0", "root")]}, nodes)


LABELS = st.sampled_from(["a", "b:c", "d>e", "f|g", "h\\"])


@st.composite
def enhanced(draw):
    """Any enhanced graph of a few words and empty nodes."""
    words = [str(i + 1) for i in range(draw(st.integers(1, 4)))]
    empty = [f"{i}.1" for i in range(draw(st.integers(0, 3)))]

    def heads(node):
        pairs = st.tuples(
            st.sampled_from([w for w in words + empty if w != node] or ["0"]), LABELS
        )
        chosen = draw(st.sets(pairs, max_size=3))
        return sorted((h, "root" if h == "0" else label) for h, label in chosen)

    return {w: heads(w) for w in words}, {e: heads(e) for e in empty}


def as_sets(heads):
    return {node: set(own) for node, own in heads.items()}


@given(enhanced())
def test_unfolding_restores_any_graph(graph):
    heads, empty = graph
    sentence = folded(heads, empty)
    pairs = [(head, dep) for head, dep, _ in sentence.arcs]
    assert len(set(pairs)) == len(pairs)
    again, nodes = unfold(sentence)
    assert as_sets(again) == as_sets(heads)
    assert {node.id: set(node.heads) for node in nodes} == as_sets(empty)


@given(enhanced())
def test_made_up_nodes_fold_to_the_same_graph(graph):
    sentence = folded(*graph)
    sentence.empty_nodes = []
    heads, nodes = unfold(sentence)
    again = folded(heads, {n.id: n.heads for n in nodes}, len(sentence.words))
    assert sorted(again.arcs) == sorted(sentence.arcs)
    assert again.tops == sentence.tops
