"""Graphs for other tools."""

import networkx
import pytest
from penman import decode
from spacy.tokens import Doc

import spacy_sdp
from spacy_sdp import SemanticGraph
from spacy_sdp.graph.extensions import register_extensions


def test_networkx_has_all_nodes_and_arcs(cat):
    graph = cat._.sdp.to_networkx()
    assert sorted(graph.nodes) == [0, 1, 2, 3, 5]
    assert graph.nodes[3] == {"text": "wants", "lemma": "", "tag": "", "top": True}
    assert sorted(graph.edges(data="label")) == [
        (0, 2, "BV"),
        (1, 2, "ARG1"),
        (3, 2, "ARG1"),
        (3, 5, "ARG2"),
        (5, 2, "ARG1"),
    ]
    assert networkx.is_directed_acyclic_graph(graph)


def test_penman_is_what_penman_reads(cat):
    triples = decode(cat._.sdp.to_penman()).triples
    assert {t for t in triples if t[1] != ":instance"} == {
        ("t0", ":BV", "t2"),
        ("t1", ":ARG1", "t2"),
        ("t3", ":ARG1", "t2"),
        ("t3", ":ARG2", "t5"),
        ("t5", ":ARG1", "t2"),
    }
    assert {t[2] for t in triples if t[1] == ":instance"} == {
        *("The", "shy", "cat", "wants", "eat"),
    }


def with_frames(graph, frames):
    return SemanticGraph.from_arcs(
        graph.doc, graph.indexed_arcs, [top.i for top in graph.tops], frames=frames
    )


def test_networkx_has_frames_where_the_graph_has_them(cat):
    frames = {2: "n:x", 3: "v:e-x-h", 6: "x:e"}
    graph = with_frames(cat._.sdp, frames).to_networkx()
    # The full stop has a frame, but no arc.
    assert dict(graph.nodes(data="frame")) == {0: None, 1: None, 5: None, **frames}
    assert graph.degree(6) == 0
    graph = with_frames(cat._.sdp, {}).to_networkx()
    assert set(dict(graph.nodes(data="frame")).values()) == {None}
    assert all("frame" in node for _, node in graph.nodes(data=True))


def test_penman_has_frames_as_attributes(cat):
    graph = with_frames(cat._.sdp, {2: "n:x", 3: 'v:"e"-x', 6: "x:e"})
    first, last = (decode(part) for part in graph.to_penman().split("\n\n"))
    assert {t for t in first.triples if t[1] == ":frame"} == {
        ("t2", ":frame", '"n:x"'),
        ("t3", ":frame", r'"v:\"e\"-x"'),
    }
    assert set(first.triples) >= set(decode(cat._.sdp.to_penman()).triples)
    assert last.triples == [("t6", ":instance", "."), ("t6", ":frame", '"x:e"')]


def test_penman_writes_every_part_and_any_word(nlp):
    words = ["a", '"', "b/c", "d", "(", "e", "f"]
    doc = Doc(nlp.vocab, words=words)
    doc._.sdp = [(1, 0, "conj:and>x"), (0, 1, "A"), (3, 2, "B"), (-1, 6, "root")]
    parts = [decode(text) for text in doc._.sdp.to_penman().split("\n\n")]
    assert [part.top for part in parts] == ["t0", "t3", "t6"]
    assert set(parts[0].triples) == {
        ("t0", ":instance", "a"),
        ("t1", ":instance", r'"\""'),
        ("t0", ":A", "t1"),
        ("t1", ":conj_and>x", "t0"),
    }
    assert ("t2", ":instance", '"b/c"') in parts[1].triples
    doc._.sdp = []
    assert doc._.sdp.to_penman() == ""


def test_a_very_long_chain_can_be_written(nlp):
    doc = Doc(nlp.vocab, words=["x"] * 3000)
    doc._.sdp = [(i, i + 1, "A") for i in range(2999)]
    assert doc._.sdp.to_penman().count("(") == 3000


def test_merging_and_splitting_keep_everything(nlp):
    nlp.add_pipe("sentencizer")
    first, second = nlp("Dogs bark. Cats purr."), nlp("It rains.")
    first._.sdp = [(1, 0, "ARG1"), (-1, 1, "root"), (4, 3, "ARG1"), (-1, 4, "root")]
    second._.sdp = [(-1, 1, "root")]
    merged = spacy_sdp.merge([first, nlp(""), second])
    assert merged.text == "Dogs bark. Cats purr. It rains."
    assert [repr(arc) for arc in merged._.sdp] == [
        "Arc(bark-ARG1->Dogs)",
        "Arc(purr-ARG1->Cats)",
    ]
    assert [token.text for token in merged._.sdp.tops] == ["bark", "purr", "rains"]
    again = list(spacy_sdp.split_sents(merged))
    assert [doc.text.strip() for doc in again] == [
        "Dogs bark.",
        "Cats purr.",
        "It rains.",
    ]
    assert [len(doc._.sdp) for doc in again] == [1, 1, 0]
    assert again[1]._.sdp.tops[0].text == "purr"


def test_merging_warns_of_what_it_does_not_keep(nlp):
    nlp.add_pipe("sentencizer")
    register_extensions("other")
    doc = nlp("It rains.")
    doc._.sdp = doc._.other = [(-1, 1, "root")]
    with pytest.warns(UserWarning, match=r"\[W101\]") as caught:
        spacy_sdp.merge([doc, doc])
    assert {str(each.message).split("'")[1] for each in caught} == {"other"}


def test_what_cannot_be_merged_is_refused(nlp, cat):
    with pytest.raises(ValueError, match="none of the Docs has any tokens"):
        spacy_sdp.merge([])
    with pytest.raises(ValueError, match=r"'Hello' has no graph in Doc\._\.sdp"):
        spacy_sdp.merge([nlp("Hello")])
    with pytest.raises(ValueError, match="without sentence boundaries"):
        spacy_sdp.merge([cat, cat])


def test_a_span_has_its_part_of_the_graph(nlp, cat):
    assert [repr(arc) for arc in cat[2:6]._.sdp] == [
        "Arc(wants-ARG1->cat)",
        "Arc(wants-ARG2->eat)",
        "Arc(eat-ARG1->cat)",
    ]
    assert cat[:3]._.sdp.tops == ()
    assert nlp("Hello")[:1]._.sdp is None
    with pytest.raises(ValueError, match="belongs to another Doc"):
        cat._.sdp.subgraph(nlp("Hello")[:1])
