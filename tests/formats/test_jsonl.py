"""The JSON lines of `parse`: what it has written can be read again."""

import json

import pytest
from spacy.tokens import Doc
from util import graph_data, run, save_chain

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import FormatError, docbin, jsonl, read, sdp

LINE = {
    "text": "Dogs bark.",
    "tokens": [
        {"id": 0, "start": 0, "end": 4, "tag": "NNS", "lemma": "dog"},
        {"id": 1, "start": 5, "end": 9, "tag": "VBP", "lemma": "bark"},
        {"id": 2, "start": 9, "end": 10, "tag": ".", "lemma": "."},
    ],
    "sdp": {"arcs": [[1, 0, "ARG1", 0.5]], "tops": [1]},
}


def write_lines(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_line_is_a_document(tmp_path):
    (sentence,) = jsonl.read(write_lines(tmp_path / "a.jsonl", {**LINE, "id": 7}))
    assert sentence.words == ["Dogs", "bark", "."]
    assert sentence.arcs == [(1, 0, "ARG1")] and sentence.tops == [1]
    assert sentence.tags == ["NNS", "VBP", "."]
    assert sentence.lemmas == ["dog", "bark", "."]
    assert (sentence.id, sentence.text) == ("7", "Dogs bark.")


def test_clauses_are_written_if_there_are_tags_and_not_read(tmp_path):
    paths = [tmp_path / f"{name}.jsonl" for name in "abc"]
    jsonl.write(jsonl.read(write_lines(paths[0], LINE, LINE)), paths[1])
    lines = [json.loads(line) for line in paths[1].read_text().splitlines()]
    found = [
        [(row["doc"], row["subject"], row["negated"]) for row in line["clauses"]]
        for line in lines
    ]
    assert found == [[(0, "Dogs", False)], [(1, "Dogs", False)]]
    lines[0]["clauses"] = "nothing"
    (first, second) = jsonl.read(write_lines(paths[2], *lines))
    assert first.arcs == second.arcs == [(1, 0, "ARG1")]
    bare = {**LINE, "tokens": [{**each, "tag": ""} for each in LINE["tokens"]]}
    jsonl.write(jsonl.read(write_lines(paths[0], bare)), paths[1])
    assert "clauses" not in json.loads(paths[1].read_text())


def test_what_parse_has_written_can_be_converted_drawn_and_scored(tmp_path):
    model, parsed = save_chain(tmp_path / "chain"), tmp_path / "parsed.jsonl"
    texts = "Dogs  bark. Cats\tpurr. ", "", "Fish swim."
    for output in (parsed, tmp_path / "parsed.spacy"):
        assert run("parse", *texts, "--model", model, "-o", output)[0] == 0
    code, out, _ = run("convert", parsed, tmp_path / "again.spacy")
    assert code == 0 and "3 sentences, 9 tokens, 6 arcs, 3 tops" in out
    again = list(docbin.read_docs(tmp_path / "again.spacy"))
    parsed_docs = list(docbin.read_docs(tmp_path / "parsed.spacy"))
    # A text without words has no sentence to convert.
    assert [doc.text for doc in again] == [texts[0], texts[2]]
    for one, other in zip(again, [parsed_docs[0], parsed_docs[2]], strict=True):
        assert [token.text for token in one] == [token.text for token in other]
        assert graph_data(one) == graph_data(other)
    scores = json.loads(run("evaluate", tmp_path / "again.spacy", parsed, "--json")[1])
    assert scores["with_tops"]["LF"] == scores["with_tops"]["LM"] == 1.0
    assert run("draw", parsed, "-o", tmp_path / "a.html")[0] == 0
    assert (tmp_path / "a.html").read_text().count("<svg") == 3


def test_columns_trees_and_frames_are_kept(nlp, tmp_path):
    doc = Doc(
        nlp.vocab,
        words=["Dogs", "bark", "Cats", "purr"],
        spaces=[True, True, True, False],
        tags=["NNS", "VBP", "NNS", "VBP"],
        pos=["NOUN", "VERB", "NOUN", "VERB"],
        morphs=["Number=Plur", "Tense=Pres", "Number=Plur", "Tense=Pres"],
        lemmas=["dog", "bark", "cat", "purr"],
        heads=[1, 1, 3, 3],
        deps=["nsubj", "ROOT", "nsubj", "ROOT"],
    )
    doc._.sdp = [(1, 0, "ARG1"), (-1, 1, "root"), (3, 2, "ARG1"), (-1, 3, "root")]
    docbin.write_docs([doc], tmp_path / "a.spacy")
    expected = list(read(tmp_path / "a.spacy"))
    jsonl.write(expected, tmp_path / "a.jsonl")
    assert list(read(tmp_path / "a.jsonl")) == expected
    framed = {**LINE, "sdp": {**LINE["sdp"], "frames": [[1, "v:e-i"]]}}
    (sentence,) = read(write_lines(tmp_path / "b.jsonl", framed))
    assert sentence.frames == [None, "v:e-i", None]


def test_ids_are_kept(tmp_path):
    jsonl.write(sdp.read(EXAMPLES), tmp_path / "a.jsonl")
    ids = [sentence.id for sentence in sdp.read(EXAMPLES)]
    assert [sentence.id for sentence in read(tmp_path / "a.jsonl")] == ids
    two = {**LINE, "id": "n", "sents": [{"start": 0, "end": 4}, {"start": 5, "end": 9}]}
    two["sdp"] = {"arcs": [], "tops": []}
    sentences = read(write_lines(tmp_path / "b.jsonl", two))
    assert [(each.id, each.starts_document) for each in sentences] == [
        ("n.1", True),
        ("n.2", False),
    ]


def test_the_key_of_the_graph_can_be_chosen(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {**LINE, "psd": {"arcs": [], "tops": [0]}})
    assert next(read(path, "psd")).tops == [0]
    code, _, err = run("convert", path, tmp_path / "b.sdp", "--attr", "dm")
    assert code == 1 and "a.jsonl, line 1: there is no graph in 'dm'" in err


def changed(key, value, *path):
    line = json.loads(json.dumps(LINE))
    part = line
    for each in path:
        part = part[each]
    part[key] = value
    return line


@pytest.mark.parametrize(
    "line, reason",
    [
        ([1], "not an object; expected a line that sdp parse or Prodigy has written"),
        ({"text": "Dogs bark."}, "there is no graph in 'sdp'; expected a line that"),
        (changed("text", 5), "'text' must be a string of valid characters, not 5"),
        (changed("text", "Dogs \ud800."), "'text' must be a string of valid"),
        (changed("text", "Dogs bark!!"), "the tokens end at character 10, but the te"),
        (changed("start", 6, "tokens", 1), "token 1 is from character 6 to 9, but"),
        (changed("end", 99, "tokens", 2), "the end of a token is 99, expected a num"),
        (changed("tag", 1, "tokens", 0), "'tag' must be a string of valid characters"),
        (changed("sents", [{"start": []}]), "the start of a sentence is [], expected"),
        (changed("tokens", [5]), "'tokens' must be a list of objects"),
        (changed("arcs", [[0, 9, "x"]], "sdp"), "Invalid arc (0, 9, 'x'): dep 9 is n"),
        (changed("tokens", 8, "sdp"), "The graph was made for 8 tokens, but the Doc"),
    ],
)
def test_broken_lines_are_named(line, reason, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", LINE, line)
    with pytest.raises(FormatError) as error:
        list(jsonl.read(path))
    assert str(error.value).startswith(f"{path}, line 2: {reason}")
