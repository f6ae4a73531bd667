import inspect
import json
import pickle

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_sdp import Arc, SemanticGraph, merge, split_sents

VOCAB = Vocab()


@pytest.fixture
def doc():
    return Doc(
        VOCAB,
        words=["Dogs", "bark", ".", "Cats", "sleep", "."],
        sent_starts=[True, False, False, True, False, False],
    )


@st.composite
def graphs(draw):
    size = draw(st.integers(0, 6))
    doc = Doc(VOCAB, words=[f"w{i}" for i in range(size)])
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    labels = st.text(min_size=1, max_size=3)
    scores = st.none() | st.floats(0, 1)
    arcs = [(*pair, draw(labels), draw(scores)) for pair in chosen]
    tops = draw(st.lists(st.sampled_from(range(size)), unique=True)) if size else []
    frames = {i: draw(labels) for i in tops}
    return SemanticGraph.from_arcs(doc, arcs, tops, frames=frames, predicates=tops)


def test_arcs_are_sorted_and_hold_tokens(doc):
    graph = SemanticGraph.from_arcs(
        doc, [(4, 3, "ARG1", 0.9), (1, 0, "ARG1")], tops=[4, 1]
    )
    assert len(graph) == 2
    assert list(graph) == [Arc(doc[1], doc[0], "ARG1"), Arc(doc[4], doc[3], "ARG1")]
    assert [arc.score for arc in graph] == [None, 0.9]
    assert graph.tops == (doc[1], doc[4])
    assert repr(next(iter(graph))) == "Arc(bark-ARG1->Dogs)"
    assert repr(graph) == "SemanticGraph(2 arcs, tops: bark, sleep)"


def test_heads_and_args_of_a_token(cat):
    graph = cat._.sdp
    assert [repr(arc) for arc in graph.heads(cat[2])] == [
        "Arc(The-BV->cat)",
        "Arc(shy-ARG1->cat)",
        "Arc(wants-ARG1->cat)",
        "Arc(eat-ARG1->cat)",
    ]
    assert [repr(arc) for arc in graph.args(cat[3])] == [
        "Arc(wants-ARG1->cat)",
        "Arc(wants-ARG2->eat)",
    ]
    assert graph.heads(cat[4]) == graph.args(cat[4]) == ()


def test_a_token_of_another_doc_is_refused(cat, doc):
    with pytest.raises(ValueError, match="'Dogs' belongs to another Doc"):
        cat._.sdp.heads(doc[0])


@pytest.mark.parametrize(
    "arc, reason",
    [
        ((1, 6, "A"), r"\(1, 6, 'A'\): dep 6 is not a token of the Doc, which has 6"),
        ((-2, 1, "A"), r"\(-2, 1, 'A'\): head -2 is not a token"),
        ((1, 1, "A"), r"\(1, 1, 'A'\): it is a self-loop"),
        ((1, 4, "A"), r"\(1, 4, 'A'\): it crosses a sentence boundary"),
        ((1, 0, "ARG1"), r"\(1, 0, 'ARG1'\): the same arc was already given"),
        ((1, 2, ""), r"\(1, 2, ''\): the label must be a non-empty string"),
        ((1, 2, 5), r"\(1, 2, 5\): the label must be a non-empty string"),
        ((1, 2), r"\(1, 2\): expected \(head, dep, label\)"),
        ((1.5, 2, "A"), r"\(1.5, 2, 'A'\): expected \(head, dep, label\)"),
    ],
)
def test_invalid_arcs_are_refused_by_name(doc, arc, reason):
    with pytest.raises(ValueError, match=f"Invalid arc {reason}"):
        SemanticGraph.from_arcs(doc, [(1, 0, "ARG1"), arc])


def test_invalid_tops_are_refused(doc):
    with pytest.raises(ValueError, match="Invalid top 6: the Doc has 6"):
        SemanticGraph.from_arcs(doc, [], tops=[6])
    for wrong in (1.7, "1", doc[1]):
        with pytest.raises(ValueError, match="expected the index of a token"):
            SemanticGraph.from_arcs(doc, [], tops=[wrong])
    with pytest.raises(ValueError, match="A top is given twice"):
        SemanticGraph.from_arcs(doc, [], tops=[1, 1])


def test_without_sentence_boundaries_the_doc_is_one_sentence():
    doc = Doc(VOCAB, words=["a", "b", "c"])
    assert len(SemanticGraph.from_arcs(doc, [(0, 2, "A")])) == 1


def test_a_top_by_itself_is_something(doc):
    assert SemanticGraph.from_arcs(doc, [], tops=[1])
    assert SemanticGraph.from_arcs(doc, [(1, 0, "ARG1")])
    assert not SemanticGraph.from_arcs(doc, [])


def test_one_pair_may_have_two_labels(doc):
    graph = SemanticGraph.from_arcs(doc, [(1, 0, "B"), (1, 0, "A")])
    assert [arc.label for arc in graph] == ["A", "B"]


def test_equality_is_that_of_words_arcs_and_tops(doc):
    graph = SemanticGraph.from_arcs(doc, [(1, 0, "A", 0.5)], [1])
    same = SemanticGraph.from_arcs(doc.copy(), [(1, 0, "A")], [1])
    assert graph == same and hash(graph) == hash(same)
    assert graph != SemanticGraph.from_arcs(doc, [(1, 0, "B")], [1])
    assert graph != SemanticGraph.from_arcs(doc, [(1, 0, "A")])
    other = Doc(VOCAB, words=["Cows", "moo", ".", "Cats", "sleep", "."])
    assert graph != SemanticGraph.from_arcs(other, [(1, 0, "A")], [1])
    assert graph != [(1, 0, "A")]


def test_numpy_indices_become_plain_numbers(doc):
    arcs = [(numpy.int64(1), numpy.int32(0), "A", numpy.float32(0.5))]
    data = SemanticGraph.from_arcs(doc, arcs, numpy.asarray([1])).to_dict()
    assert json.loads(json.dumps(data)) == {
        "tokens": 6,
        "arcs": [[1, 0, "A", 0.5]],
        "tops": [1],
    }


@given(graphs())
def test_dictionaries_keep_everything(graph):
    data = json.loads(json.dumps(graph.to_dict()))
    again = SemanticGraph.from_dict(graph.doc, data)
    assert again == graph
    assert again.to_dict() == graph.to_dict()


def test_dictionaries_are_checked(doc):
    with pytest.raises(ValueError, match="made for 5 tokens, but the Doc has 6"):
        SemanticGraph.from_dict(doc, {"tokens": 5, "arcs": [], "tops": []})
    with pytest.raises(ValueError, match=r"found \['edges'\]"):
        SemanticGraph.from_dict(doc, {"edges": []})
    with pytest.raises(ValueError, match="self-loop"):
        SemanticGraph.from_dict(doc, {"arcs": [[1, 1, "A", None]], "tops": []})


def test_frames_and_predicates_without_arguments(doc):
    graph = SemanticGraph.from_arcs(
        doc, [(1, 0, "A")], frames={1: "v:e-i"}, predicates=[1, 4]
    )
    assert graph.frame(doc[1]) == "v:e-i" and graph.frame(doc[0]) is None
    assert [graph.is_predicate(token) for token in doc] == [0, 1, 0, 0, 1, 0]


# What a graph can be asked for by operators and by notebooks.
PROTOCOLS = {
    "iter": iter,
    "len": len,
    "bool": bool,
    "==": lambda graph: graph == SemanticGraph.from_arcs(graph.doc, []),
    "== (right)": lambda graph: SemanticGraph.from_arcs(graph.doc, []) == graph,
    "_repr_html_": SemanticGraph._repr_html_,
    "_repr_svg_": SemanticGraph._repr_svg_,
}


def accessors(graph):
    """YIELDS each way to ask a graph for something, with its name."""
    arguments = {"Token | int": graph.doc[0], "Span": graph.doc[:2]}
    for name, member in vars(SemanticGraph).items():
        if name.startswith("_") or isinstance(member, classmethod):
            continue
        if isinstance(member, property):
            yield name, lambda name=name: getattr(graph, name)
            continue
        _, *parameters = inspect.signature(member).parameters.values()
        values = [
            arguments[each.annotation]
            for each in parameters
            if each.default is each.empty
        ]
        yield name, lambda name=name, values=values: getattr(graph, name)(*values)
    for name, function in PROTOCOLS.items():
        yield name, lambda function=function: function(graph)


def test_a_graph_that_is_older_than_the_tokens_of_its_doc_says_nothing(cat):
    for token in cat:
        token.tag_ = "NN"  # for clauses
    graph = cat._.sdp
    names = []
    for name, access in accessors(graph):
        access()
        names.append(name)
    assert {"heads", "tops", "triples", "subgraph", "to_dict", "len"} <= set(names)
    text, number = repr(graph), hash(graph)
    with cat.retokenize() as retokenizer:
        retokenizer.merge(cat[0:2])
    for name, access in accessors(graph):
        with pytest.raises(ValueError, match=r"for 7 tokens, .* it was retokenized"):
            pytest.fail(f"{name} gives {access()!r}")
    # A debugger shows what is the matter, and dictionaries still find their keys.
    assert text == "SemanticGraph(5 arcs, tops: wants)"
    assert repr(graph) == "SemanticGraph(of a Doc that was retokenized)"
    assert hash(graph) == number


def test_groups_of_arcs_cannot_be_changed(cat):
    for groups in (cat._.sdp.arcs_by_head, cat._.sdp.arcs_by_dep):
        with pytest.raises(TypeError):
            groups[5] = ()
    assert cat._.sdp.arcs_by_head[3] == ((3, 2, "ARG1", None), (3, 5, "ARG2", None))


def test_graphs_can_be_pickled(cat):
    graph = cat._.sdp
    assert graph.roots == (cat[0], cat[1], cat[3])
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph and again.doc is not cat
    assert again.heads(again.doc[5]) == (Arc(again.doc[3], again.doc[5], "ARG2"),)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "changes, reason",
    [
        (5, "A graph dictionary must have the keys"),
        ([("arcs", []), ("tops", [])], "A graph dictionary must have the keys"),
        ({1: 2, "x": 3}, r"found \['1', 'arcs', 'tops', 'x'\]"),
        ({"arcs": 5}, "Expected a list of arcs, found 5"),
        ({"arcs": {"a": 1}}, "Expected a list of arcs"),
        ({"arcs": [5]}, "Invalid arc 5"),
        ({"arcs": [[True, 2, "BV"]]}, "Invalid arc"),
        ({"arcs": [[0, 2, 7]]}, "the label must be a non-empty string"),
        ({"arcs": [[0, 2, ["BV"]]]}, "the label must be a non-empty string"),
        ({"arcs": [[-1, 2, "BV"]]}, "head -1 is not a token"),
        ({"arcs": [[0, 2, "BV", 10**400]]}, "Invalid arc"),
        ({"tops": None}, "Expected a list of tops, found None"),
        ({"tops": [3, 3]}, "A top is given twice"),
        ({"tops": "3"}, "Expected a list of tops"),
        ({"frames": 3}, r"Expected the frames as a list of \[index, frame\]"),
        ({"frames": [[3, 4]]}, "Invalid frame of token 3: expected a string, found 4"),
        ({"frames": [[3, "v"], [3, "n"]]}, "A token has two frames"),
        ({"predicates": 0}, "Expected a list of predicates"),
        ({"tokens": "x"}, "The graph was made for x tokens"),
    ],
)
def test_dictionaries_of_any_wrong_shape_are_refused(changes, reason, cat):
    data = changes
    if isinstance(changes, dict):
        data = {"arcs": [], "tops": [], **changes}
    with pytest.raises(ValueError, match=reason):
        SemanticGraph.from_dict(cat, data)


@pytest.mark.parametrize("score", ["0.5", True, float("nan"), float("inf")])
def test_scores_are_finite_numbers(cat, score):
    with pytest.raises(ValueError, match="Invalid arc"):
        SemanticGraph.from_dict(cat, {"arcs": [[3, 2, "ARG1", score]], "tops": []})


def test_frames_may_be_any_pairs(cat):
    data = {"arcs": [], "tops": [2], "frames": iter([[2, "n:x"]])}
    assert SemanticGraph.from_dict(cat, data).frame(2) == "n:x"


def test_what_is_quoted_may_be_deep(cat):
    with pytest.raises(ValueError, match="Invalid arc"):
        SemanticGraph.from_dict(cat, {"arcs": [nested(5000)], "tops": []})


def test_methods_take_a_token_or_its_index(cat):
    graph = cat._.sdp
    for token in cat:
        for method in (graph.args, graph.heads, graph.frame, graph.is_predicate):
            assert method(token.i) == method(token)
    assert graph.path(1, numpy.int64(5)) == graph.path(cat[1], cat[5])
    for i in (7, -1):
        with pytest.raises(IndexError, match=f"no token {i}: the Doc has 7 tokens"):
            graph.args(i)
    with pytest.raises(TypeError, match="Expected a Token or its index, not 'cat'"):
        graph.heads("cat")
    with pytest.raises(TypeError, match="not The shy"):
        graph.heads(cat[:2])


def test_frames_that_are_not_annotated_are_not_those_that_no_word_has(cat):
    words = [token.text for token in cat]
    cat = Doc(cat.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])
    arcs = [(3, 2, "ARG1")]
    unknown = SemanticGraph.from_arcs(cat, arcs)
    empty = SemanticGraph.from_arcs(cat, arcs, frames={})
    assert not unknown.has_frames and "frames" not in unknown.to_dict()
    assert empty.has_frames and empty.to_dict()["frames"] == []
    for graph in (unknown, empty):
        again = SemanticGraph.from_dict(cat, graph.to_dict())
        assert (
            again.has_frames is graph.has_frames is again.subgraph(cat[:2]).has_frames
        )
        assert graph.frame(cat[3]) is None
        cat._.sdp = graph
        for doc in (merge([cat, cat]), next(split_sents(cat))):
            assert doc._.sdp.has_frames is graph.has_frames


def test_predicates_have_their_frames(cat):
    graph = SemanticGraph.from_arcs(
        cat, [(3, 2, "ARG1"), (5, 2, "ARG1")], frames={3: "v:e-i-h", 2: "n:x"}
    )
    wants, eat = graph.predicates()
    assert (wants.frame, eat.frame) == ("v:e-i-h", None)
    assert wants.to_dict() == {"predicate": "wants", "frame": "v:e-i-h", "ARG1": "cat"}
    assert eat.to_dict() == {"predicate": "eat", "ARG1": "cat"}
    assert SemanticGraph.from_dict(cat, graph.to_dict()).frame(cat[2]) == "n:x"
