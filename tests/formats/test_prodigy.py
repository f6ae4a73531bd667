"""Prodigy's relations, written for annotators and read back."""

import json

import pytest
from util import run

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import FormatError, docbin, prodigy, read, sdp
from spacy_sdp.graph.record import Record

# What Prodigy gives back, with keys of its own.
TASK = {
    "text": "Dogs bark \n.",
    "tokens": [
        {"text": "Dogs", "start": 0, "end": 4, "id": 0, "ws": True},
        {"text": "bark", "start": 5, "end": 9, "id": 1, "ws": True, "disabled": False},
        {"text": "\n", "start": 10, "end": 11, "id": 2, "ws": False},
        {"text": ".", "start": 11, "end": 12, "id": 3, "ws": False},
    ],
    "relations": [
        {"head": 1, "child": 0, "label": "ARG1", "head_span": {}, "color": "#ffd882"},
        {"head": 1, "child": 1, "label": "ROOT"},
        {"head": 3, "child": 1, "label": "x"},
    ],
    "spans": [],
    "meta": {"id": 7},
    "_task_hash": 5,
    "answer": "accept",
}


def write_tasks(path, *tasks):
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return path


def test_a_task_is_a_sentence(tmp_path):
    (sentence,) = read(write_tasks(tmp_path / "a.jsonl", TASK))
    assert sentence.words == ["Dogs", "bark", "."]
    # Whitespace is no word, so the full stop is word 2.
    assert sentence.arcs == [(1, 0, "ARG1"), (2, 1, "x")]
    assert (sentence.tops, sentence.id) == ([1], "7")
    assert sentence.text == TASK["text"] and sentence.tags == []


def test_a_sentence_is_a_task():
    sentence = Record(
        words=["Dogs", "bark", "."],
        arcs=[(1, 0, "ARG1|x")],
        tops=[1],
        text="Dogs bark.",
        tags=["NNS", "VBP", None],
        id="7",
    )
    assert json.loads(prodigy.format_sentence(sentence)) == {
        "text": "Dogs bark.",
        "tokens": [
            {"text": "Dogs", "start": 0, "end": 4, "id": 0, "ws": True, "tag": "NNS"},
            {"text": "bark", "start": 5, "end": 9, "id": 1, "ws": False, "tag": "VBP"},
            {"text": ".", "start": 9, "end": 10, "id": 2, "ws": False},
        ],
        "relations": [
            {"head": 1, "child": 1, "label": "root"},
            {"head": 1, "child": 0, "label": "ARG1"},
            {"head": 1, "child": 0, "label": "x"},
        ],
        "meta": {"id": "7"},
    }


def test_there_and_back(tmp_path):
    tasks = tmp_path / "tasks.jsonl"
    assert run("convert", EXAMPLES, tasks, "--to", "prodigy")[0] == 0
    assert run("convert", tasks, tmp_path / "b.sdp")[0] == 0
    assert (tmp_path / "b.sdp").read_bytes() == EXAMPLES.read_bytes()
    assert list(prodigy.read(tasks)) == list(read(tasks))


def test_rejected_tasks_are_left_out(tmp_path):
    answers = ["accept", "reject", "ignore", "accept"]
    path = write_tasks(tmp_path / "a.jsonl", *({**TASK, "answer": a} for a in answers))
    code, out, _ = run("convert", path, tmp_path / "a.spacy")
    assert code == 0 and "2 sentences" in out
    left_out = "1 (rejected in Prodigy), 1 (ignored in Prodigy)"
    assert f"sentences left out: {left_out}" in out
    texts = [doc.text for doc in docbin.read_docs(tmp_path / "a.spacy")]
    assert texts == [TASK["text"]] * 2


def test_parse_writes_a_task_for_each_sentence(tmp_path):
    output = tmp_path / "tasks.jsonl"
    arguments = ["--model", "en_sdp_dm_sm", "--to", "prodigy", "-o", output]
    assert run("parse", "She did not sleep. He slept.", *arguments)[0] == 0
    first, second = read(output)
    assert (first.text, second.text) == ("She did not sleep.", "He slept.")
    assert first.tags == ["PRP", "VBD", "RB", "VB", "."]
    assert first.arcs == [(2, 3, "neg"), (3, 0, "ARG1")] and first.tops == [2]


@pytest.mark.parametrize(
    "key, value, reason",
    [
        ("text", None, "'text' must be a string of valid characters, not None"),
        ("text", "Dogs purr.", "the text 'Dogs purr.' does not match the word 'bark'"),
        ("tokens", [], "the text has no words"),
        ("tokens", [{"id": 0}], "'text of a token' must be a string of valid"),
        ("relations", "x", "'relations' must be a list of objects"),
        ("relations", [{"head": 1, "child": 9, "label": "x"}], "a relation has the"),
        ("relations", [{"head": 2, "child": 1, "label": "x"}], "a relation has the"),
        ("relations", [{"head": 1, "child": 0}], "'label' must be a string of valid"),
        ("relations", [{"head": 1, "child": 0, "label": ""}], "the relation from tok"),
        ("relations", [TASK["relations"][0]] * 2, "the relation from token 1 to token"),
    ],
)
def test_broken_tasks_are_named(key, value, reason, tmp_path):
    path = write_tasks(tmp_path / "a.jsonl", TASK, {**TASK, key: value})
    with pytest.raises(FormatError) as error:
        list(read(path))
    assert str(error.value).startswith(f"{path}, line 2: {reason}")


def test_sentences_without_text_have_spaces_between_words(tmp_path):
    prodigy.write(sdp.read(EXAMPLES), tmp_path / "a.jsonl")
    assert next(read(tmp_path / "a.jsonl")).text == "The shy cat wants to eat ."
