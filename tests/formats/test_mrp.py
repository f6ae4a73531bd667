"""MRP graphs between words."""

import json
import re

import pytest

from spacy_sdp.formats import FormatError, Record, mrp, sdp
from spacy_sdp.formats.bridge import from_doc, to_doc

TEXT = "Didn't Dr. Li's U.S. cats  -- all 1,000 of 'em -- eat?!"


def node(number, word, start=0, text=TEXT, **keys):
    start = text.index(word, start)
    return {"id": number, "anchors": [{"from": start, "to": start + len(word)}], **keys}


GRAPH = {
    "id": "7",
    "flavor": 0,
    "framework": "psd",
    "version": 0.9,
    "time": "2019-04-09 (14:47)",
    "input": TEXT,
    "tops": [9],
    "nodes": [
        node(9, "eat", label="eat", properties=["pos", "frame"], values=["VB", "ev-1"]),
        node(4, "cats", label="cat", properties=["pos"], values=["NNS"]),
        node(3, "U.S."),
        node(2, "n't", label="#Neg"),
    ],
    "edges": [
        {"source": 9, "target": 4, "label": "ACT-arg", "id": 0},
        {"source": 4, "target": 3, "label": "APP"},
        {"source": 4, "target": 3, "label": "RSTR"},
        {"source": 9, "target": 2, "label": "RHEM"},
    ],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.mrp"


def read(path, *graphs):
    path.write_text("".join(json.dumps(graph) + "\n" for graph in graphs))
    return list(mrp.read(path))


def test_what_no_node_covers_is_tokenized_and_marked(path):
    (sentence,) = read(path, GRAPH)
    assert sentence.words == (
        [
            "Did",
            "n't",
            "Dr",
            ".",
            "Li",
            "'s",
            "U.S.",
            "cats",
            "--",
            "all",
            "1,000",
            "of",
            "'",
            "em",
            "--",
            "eat",
            "?",
            "!",
        ]
    )
    assert sentence.text == TEXT
    nodes = [w for w, flag in zip(sentence.words, sentence.nodes, strict=True) if flag]
    assert nodes == ["n't", "U.S.", "cats", "eat"]


def test_nodes_become_words_with_their_properties(path):
    (sentence,) = read(path, GRAPH)
    words = sentence.words
    cats, eat, us = words.index("cats"), words.index("eat"), words.index("U.S.")
    assert sentence.id == "7" and sentence.comments == [" framework = psd"]
    assert sentence.lemmas[eat] == "eat" and sentence.lemmas[us] is None
    assert sentence.tags[cats] == "NNS" and sentence.frames[eat] == "ev-1"
    assert sentence.tops == [eat]
    assert sorted(sentence.arcs) == [
        (cats, us, "APP|RSTR"),
        (eat, 1, "RHEM"),
        (eat, cats, "ACT-arg"),
    ]
    assert [w for w, p in zip(words, sentence.predicates, strict=True) if p] == [
        "cats",
        "eat",
    ]


def test_docs_have_the_true_text(nlp, path):
    (sentence,) = read(path, GRAPH)
    doc = to_doc([sentence], nlp.vocab)
    assert doc.text == TEXT
    assert [token.i for token in doc if token.text == " "] == [8]
    assert list(from_doc(doc)) == [sentence]


def test_files_keep_everything(path):
    (sentence,) = read(path, GRAPH)
    mrp.write([sentence], path)
    assert list(mrp.read(path)) == [sentence]
    again = json.loads(path.read_text())
    assert again["framework"] == "psd" and again["flavor"] == 0
    assert len(again["nodes"]) == 4 and len(again["edges"]) == 4
    anchors = [tuple(n["anchors"][0].values()) for n in again["nodes"]]
    assert [TEXT[a:b] for a, b in anchors] == ["n't", "U.S.", "cats", "eat"]


def test_graphs_of_other_formats_can_be_written(path):
    sentence = Record(
        words=["Dogs", "bark", "."],
        arcs=[(1, 0, "ARG1")],
        tops=[1],
        tags=["NNS", "V", "."],
    )
    mrp.write([sentence], path)
    graph = json.loads(path.read_text())
    assert graph == {
        "id": "1",
        "flavor": 0,
        "framework": "dm",
        "version": 1.1,
        "time": "2019-01-01",
        "input": "Dogs bark .",
        "tops": [1],
        "nodes": [
            {
                "id": 0,
                "properties": ["pos"],
                "values": ["NNS"],
                "anchors": [{"from": 0, "to": 4}],
            },
            {
                "id": 1,
                "properties": ["pos"],
                "values": ["V"],
                "anchors": [{"from": 5, "to": 9}],
            },
        ],
        "edges": [{"source": 1, "target": 0, "label": "ARG1"}],
    }


@pytest.mark.parametrize("name", ["dm", "psd"])
def test_the_sample_agrees_with_its_sdp_version(shared_data, path, name):
    folder = shared_data / "sdp_sample"
    tokens = nodes = 0
    graphs = list(mrp.read(folder / f"{name}.mrp"))
    for graph, sentence in zip(graphs, sdp.read(folder / f"{name}.sdp"), strict=True):
        assert graph.id == sentence.id
        ends = {i for head, dep, _ in sentence.arcs for i in (head, dep)}
        anchored = sorted(ends | set(sentence.tops))
        marked = [i for i, flag in enumerate(graph.nodes) if flag]
        to_sdp = dict(zip(marked, anchored, strict=True))
        assert {(to_sdp[h], to_sdp[d], label) for h, d, label in graph.arcs} == set(
            sentence.arcs
        )
        assert [to_sdp[top] for top in graph.tops] == sentence.tops
        assert [graph.tags[i] for i in marked] == [sentence.tags[i] for i in anchored]
        # The words between the nodes are those of the SDP file, too.
        assert len(graph.words) == len(sentence.words)
        tokens += len(graph.words)
        nodes += len(marked)
    assert (tokens, nodes) == (1968, {"dm": 1968 - 419, "psd": 1259}[name])
    mrp.write(graphs, path)
    assert list(mrp.read(path)) == graphs


def changed(**keys):
    return {**GRAPH, **keys}


@pytest.mark.parametrize(
    "graph, reason",
    [
        ([], 'not an object; expected {"id": ...'),
        (changed(flavor=1, framework="eds"), "a graph of flavor 1 (framework 'eds')"),
        (changed(input=None), "'input' must be a string of valid characters, not None"),
        (changed(input="\ud800"), "'input' must be a string of valid characters"),
        (changed(input="", nodes=[], edges=[], tops=[]), "the input has no words"),
        (changed(nodes={"id": 0}), "'nodes' must be a list of objects"),
        (changed(nodes=[{"id": 0}]), "node 0 has 0 anchors, expected one word"),
        (
            changed(nodes=[{"id": 0, "anchors": [{"from": 0, "to": 99}]}]),
            "node 0 is anchored from 0 to 99, not at a word of the input",
        ),
        (
            changed(nodes=[node(1, "cats"), node(2, "at")]),
            "two nodes are anchored at character",
        ),
        (
            changed(nodes=[node(1, "cats"), node(1, "eat")]),
            "the node id 1 is not a number",
        ),
        (changed(tops=[5]), "an edge or a top refers to node 5, which does not exist"),
        (changed(tops=7), "'tops' must be a list of node ids"),
        (changed(edges=[{"source": 9, "target": 4}]), "'label' must be a string"),
        (
            changed(edges=[{"source": 9, "target": 9, "label": "A"}]),
            "the edge from node 9 to node 9 is a self-loop",
        ),
        (
            changed(edges=[{"source": 9, "target": 4, "label": "A"}] * 2),
            "the edge from node 9 to node 4 with the label 'A' is a duplicate",
        ),
    ],
)
def test_broken_files_are_refused(path, graph, reason):
    with pytest.raises(FormatError, match=re.escape(reason)) as error:
        read(path, GRAPH, graph)
    assert str(error.value).startswith(f"{path}, line 2: ")


@pytest.mark.parametrize(
    "line, reason",
    [
        (
            "{",
            r"line 1: not valid JSON \(Expecting property name.*; expected one object",
        ),
        ("[" * 100_000, "line 1: the JSON is nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused(path, line, reason):
    path.write_text(line)
    with pytest.raises(FormatError, match=reason):
        list(mrp.read(path))
