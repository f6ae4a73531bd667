"""Patterns in graphs."""

import json
import pickle

import pytest
from spacy.tokens import Doc

from spacy_sdp.graph.matcher import Match, SemanticMatcher

WHO_WHAT = {
    "nodes": {"act": {}, "who": {}, "what": {}},
    "arcs": [
        {"head": "act", "label": "ARG1", "dep": "who"},
        {"head": "act", "label": "ARG2", "dep": "what"},
    ],
}


@pytest.fixture
def matcher(nlp):
    return SemanticMatcher(nlp.vocab)


def find(matcher, doc, pattern):
    if "X" in matcher:
        matcher.remove("X")
    matcher.add("X", [pattern])
    return [
        {node: token.text for node, token in match.tokens.items()}
        for match in matcher(doc)
    ]


def test_arcs_and_labels(matcher, cat):
    assert find(matcher, cat, WHO_WHAT) == [
        {"act": "wants", "who": "cat", "what": "eat"}
    ]


def arc(head, dep, label=None, **keys):
    return {"head": head, "dep": dep, "label": label, **keys}


@pytest.mark.parametrize(
    "nodes, arcs, expected",
    [
        ({"a": {"LOWER": "wants"}, "b": {}}, [arc("a", "b")], ["cat", "eat"]),
        ({"a": {"LOWER": "wants"}, "b": {}}, [arc("a", "b", "ARG2")], ["eat"]),
        ({"a": {"LOWER": "wants"}, "b": {}}, [arc("a", "b", ["BV", "ARG1"])], ["cat"]),
        ({"a": {"LOWER": "cat"}, "b": {}}, [arc("b", "a", "ARG1")], "shy wants eat"),
        (
            {"a": {"LOWER": "eat"}, "b": {}},
            [arc("a", "b", direction="either")],
            ["cat", "wants"],
        ),
        (
            {"a": {"TEXT": {"REGEX": "^w"}}, "b": {"LENGTH": 3}},
            [arc("a", "b")],
            "cat eat",
        ),
        ({"a": {"LOWER": "eat"}, "b": {"LOWER": "dog"}}, [arc("a", "b")], []),
    ],
)
def test_nodes_are_token_patterns(matcher, cat, nodes, arcs, expected):
    found = find(matcher, cat, {"nodes": nodes, "arcs": arcs})
    expected = expected.split() if isinstance(expected, str) else expected
    assert [tokens["b"] for tokens in found] == expected


def test_a_triangle(matcher, cat):
    pattern = {
        "nodes": {"a": {}, "b": {}, "c": {}},
        "arcs": [arc("a", "b"), arc("a", "c"), arc("b", "c")],
    }
    assert find(matcher, cat, pattern) == [{"a": "wants", "b": "eat", "c": "cat"}]


def test_optional_arcs_may_be_missing(matcher, cat):
    pattern = {
        "nodes": {"act": {}, "who": {}, "what": {}},
        "arcs": [arc("act", "who", "ARG1"), arc("act", "what", "ARG2", op="?")],
    }
    assert find(matcher, cat, pattern) == [
        {"act": "shy", "who": "cat"},
        {"act": "wants", "who": "cat", "what": "eat"},
        {"act": "eat", "who": "cat"},
    ]


def test_negated_arcs_must_be_missing(matcher, cat):
    pattern = {
        "nodes": {"act": {}, "who": {}, "what": {}},
        "arcs": [arc("act", "who", "ARG1"), arc("act", "what", "ARG2", op="!")],
    }
    assert [tokens["act"] for tokens in find(matcher, cat, pattern)] == ["shy", "eat"]
    pattern["nodes"]["what"] = {"LOWER": "sleep"}
    assert len(find(matcher, cat, pattern)) == 3


def test_different_nodes_are_different_words(matcher, cat):
    pattern = {
        "nodes": {"a": {"LOWER": "wants"}, "b": {}, "c": {}},
        "arcs": [arc("a", "b"), arc("a", "c")],
    }
    found = find(matcher, cat, pattern)
    assert [(t["b"], t["c"]) for t in found] == [("cat", "eat"), ("eat", "cat")]


def test_a_single_word_is_a_pattern(matcher, cat):
    assert find(matcher, cat, {"nodes": {"a": {"LOWER": "cat"}}, "arcs": []}) == [
        {"a": "cat"}
    ]


def test_patterns_have_names_callbacks_and_files(matcher, cat, tmp_path):
    calls = []
    one = {"nodes": {"a": {"LOWER": "cat"}}, "arcs": []}
    matcher.add("WHO", [WHO_WHAT, one], on_match=lambda *args: calls.append(args))
    (tmp_path / "patterns.json").write_text(json.dumps({"FILE": [one]}))
    matcher.add_from_json(tmp_path / "patterns.json")
    matches = matcher(cat)
    assert [match.name for match in matches] == ["WHO", "WHO", "FILE"]
    assert matches[2] == Match("FILE", {"a": cat[2]})
    assert [(doc, i) for _, doc, i, _ in calls] == [(cat, 0), (cat, 1)]
    assert len(matcher) == 2 and "WHO" in matcher
    matcher.remove("WHO")
    assert [match.name for match in matcher(cat)] == ["FILE"]


def test_adding_extends_and_the_last_callback_counts(matcher, cat, tmp_path):
    calls = []
    one = {"nodes": {"a": {"LOWER": "cat"}}}
    matcher.add("X", [one])
    matcher.add("X", [WHO_WHAT], on_match=lambda *args: calls.append(args))
    path = tmp_path / "patterns.json"
    path.write_text(json.dumps({"X": [{"nodes": {"b": {"LOWER": "shy"}}}]}))
    matcher.add_from_json(path)
    found = [sorted(match.tokens) for match in matcher(cat)]
    assert found == [["a"], ["act", "what", "who"], ["b"]]
    assert [i for _, _, i, _ in calls] == [0, 1, 2]
    matcher.add("X", [one])
    assert len(matcher(cat)) == 4 and len(calls) == 3
    matcher.remove("X")
    assert matcher(cat) == []


def test_keys_can_be_asked_for(matcher):
    assert len(matcher) == 0 and not matcher.has_key("X")
    assert matcher.get("X") is None and matcher.get("X", 7) == 7
    matcher.add("X", [WHO_WHAT], on_match=print)
    matcher.add("X", [WHO_WHAT], on_match=repr)
    assert len(matcher) == 1 and matcher.has_key("X") and "X" in matcher
    on_match, patterns = matcher.get("X")
    assert on_match is repr and patterns == [WHO_WHAT, WHO_WHAT]
    patterns[0]["nodes"].clear()
    assert matcher.get("X")[1][0] == WHO_WHAT


def test_spans_are_matched_with_the_arcs_inside(matcher, cat):
    seen = []
    pattern = {"nodes": {"a": {}, "b": {"LOWER": "cat"}}, "arcs": [arc("a", "b")]}
    matcher.add("X", [pattern], on_match=lambda _, doc, *rest: seen.append(doc))
    assert [match.tokens["a"].i for match in matcher(cat)] == [0, 1, 3, 5]
    assert [match.tokens["a"].i for match in matcher(cat[1:4])] == [1, 3]
    assert all(doc is cat for doc in seen)
    assert matcher(cat[3:]) == [] and matcher(cat[2:2]) == []
    matcher.remove("X")
    matcher.add("X", [{"nodes": {"a": {"LOWER": "eat"}}}])
    assert [match.tokens["a"].i for match in matcher(cat[4:])] == [5]


def test_a_pickled_matcher_finds_the_same(matcher, cat):
    matcher.add("X", [WHO_WHAT])
    again = pickle.loads(pickle.dumps(matcher))
    assert [repr(match) for match in again(cat)] == [repr(m) for m in matcher(cat)]


@pytest.mark.parametrize(
    "pattern, reason",
    [
        ([], "it must have the keys 'nodes' and 'arcs'"),
        ({"nodes": {}}, "'nodes' must map names to token patterns"),
        ({"nodes": {"a": {"OP": "?"}}}, "node 'a' must be a token pattern without"),
        ({"nodes": {"a": {"LOWR": "x"}}}, "node 'a' is not valid: "),
        ({"nodes": {"a": {"TEXT": {"REGEX": "("}}}}, "node 'a' is not valid: "),
        ({"nodes": {"a": {"_": {"nothing": 1}}}}, r"uses Token\._\.nothing, which"),
        (
            {"nodes": {"a": {}}, "arcs": [arc(["a"], "a")]},
            "the head of the arc .* is not a node",
        ),
        (
            {"nodes": {"a": {}, "b": {}}, "arcs": [arc("a", "b", [])]},
            "has an empty list of labels; use None",
        ),
        ({"nodes": {"a": {}}, "arcs": [["a"]]}, r"the arc \['a'\] must have 'head'"),
        (
            {"nodes": {"a": {}}, "arcs": [arc("a", "b")]},
            "the dep of the arc .* is not a node",
        ),
        ({"nodes": {"a": {}}, "arcs": [arc("a", "a")]}, "is a self-loop"),
        (
            {"nodes": {"a": {}, "b": {}}, "arcs": [arc("a", "b", 7)]},
            "or None, not 7",
        ),
        (
            {"nodes": {"a": {}, "b": {}}, "arcs": [arc("a", "b", op="*")]},
            r"the op must be .*, not '\*'",
        ),
        (
            {"nodes": {"a": {}, "b": {}}, "arcs": [arc("a", "b", direction="up")]},
            "'down' or 'either', not 'up'",
        ),
        ({"nodes": {"a": {}, "b": {}}, "arcs": []}, "no arc leads to the node 'b'"),
        (
            {"nodes": {"a": {}, "b": {}, "c": {}}, "arcs": [arc("b", "c")]},
            "the arc b -> c is not connected to the node 'a'",
        ),
        (
            {"nodes": {"a": {}, "b": {}, "c": {}}, "arcs": [arc("b", "c", op="!")]},
            "the negated arc b -> c is not connected to any other node",
        ),
    ],
)
def test_invalid_patterns_are_refused_when_they_are_added(matcher, pattern, reason):
    with pytest.raises(ValueError, match=rf"Invalid pattern 0 of 'X': .*{reason}"):
        matcher.add("X", [pattern])
    assert len(matcher) == 0


def test_other_mistakes_are_refused(matcher, nlp, tmp_path):
    with pytest.raises(
        ValueError, match="There are no patterns to add for the key 'X'"
    ):
        matcher.add("X", [])
    with pytest.raises(ValueError, match="The matcher has no patterns for the key 'X'"):
        matcher.remove("X")
    with pytest.raises(ValueError, match=r"no graph in Doc\._\.sdp"):
        matcher(nlp("Hello"))
    (tmp_path / "p.json").write_text("[")
    with pytest.raises(ValueError, match=r"p\.json: not valid JSON"):
        matcher.add_from_json(tmp_path / "p.json")
    (tmp_path / "p.json").write_text('{"X": 1}')
    with pytest.raises(ValueError, match="'X' must have a list of patterns"):
        matcher.add_from_json(tmp_path / "p.json")
    (tmp_path / "p.json").write_text('{"A": [{"nodes": {"a": {}}}], "B": [7]}')
    with pytest.raises(ValueError, match=r"p\.json: Invalid pattern 0 of 'B'"):
        matcher.add_from_json(tmp_path / "p.json")
    with pytest.raises(ValueError, match="must be a string, not 3"):
        matcher.add(3, [{"nodes": {"a": {}}}])
    with pytest.raises(ValueError, match="on_match of 'A' must be callable, not 3"):
        matcher.add("A", [{"nodes": {"a": {}}}], on_match=3)
    with pytest.raises(TypeError, match="Doc or a Span to match, not a str"):
        matcher("The cat")
    assert len(matcher) == 0


def test_patterns_that_match_too_often_are_refused(nlp):
    doc = Doc(nlp.vocab, words=["w"] * 60)
    doc._.sdp = [(0, i, "A") for i in range(1, 60)]
    matcher = SemanticMatcher(nlp.vocab, max_matches=1000)
    nodes = {name: {} for name in "abcd"}
    matcher.add("X", [{"nodes": nodes, "arcs": [arc("a", x) for x in "bcd"]}])
    with pytest.raises(ValueError, match="'X' matches more than 1000 times"):
        matcher(doc)


@pytest.mark.parametrize(
    "patterns, reason",
    [
        (5, "must be a list, not 5"),
        ([5], "NAME"),
        ([{"nodes": {1: {}}}], "the name of a node is 1, not a string"),
        ([{"nodes": {"a": {"_": 5}}}], "has 5 for '_'"),
        ([{"nodes": {"a": {"LOWER": {"REGEX": "("}}}}], "is not valid"),
        ([{"nodes": {"a": {"LOWER": {"IN": 5}}}}], "is not valid"),
        ([{"nodes": {"a": {}}, "arcs": 5}], "'arcs' must be a list, not 5"),
    ],
)
def test_patterns_of_any_wrong_shape_are_refused(patterns, reason, nlp):
    with pytest.raises(ValueError, match=reason):
        SemanticMatcher(nlp.vocab).add("NAME", patterns)


def test_json_that_is_too_deep_is_refused(nlp, tmp_path):
    path = tmp_path / "patterns.json"
    path.write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"patterns\.json: not valid JSON"):
        SemanticMatcher(nlp.vocab).add_from_json(path)
