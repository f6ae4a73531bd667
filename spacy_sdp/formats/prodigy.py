"""Prodigy's format of relations, for correcting graphs by hand.

Each line is a sentence as JSON, with token indices as heads and children:

    {"text": "Dogs bark.",
     "tokens": [{"text": "Dogs", "start": 0, "end": 4, "id": 0, "ws": true}, ...],
     "relations": [{"head": 1, "child": 0, "label": "ARG1"},
                   {"head": 1, "child": 1, "label": "root"}],
     "meta": {"id": "7"}, "answer": "accept"}

A relation of a token to itself marks a top, as it marks roots in Prodigy. Tags and
lemmas are additional keys of tokens. Prodigy keeps them, but does not show them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..graph.record import Record, column
from .bridge import find_words
from .files import FormatError, write_records
from .folding import join_labels, split_label
from .objects import (
    JsonObject,
    check_sentence,
    check_string,
    get_objects,
    read_objects,
)

EXPECTED = '{"text": ..., "tokens": ..., "relations": ...}'
TOP = "root"
# Answers of annotators to leave out.
LEFT_OUT = {"reject": "rejected in Prodigy", "ignore": "ignored in Prodigy"}


def read(path: Path | str, left_out: Counter[str] | None = None) -> Iterator[Record]:
    """Read the sentences of a file, except for those that annotators rejected.

    path (Path): The file.
    left_out (Optional[Counter[str]]): Counts the sentences that are left out, by
        reason.
    YIELDS (Record): The sentences.
    """
    for number, task in read_objects(path, EXPECTED):
        try:
            sentences = to_sentences(task, left_out)
        except FormatError as error:
            raise FormatError(error.reason, path, number) from None
        yield from sentences


def write(sentences: Iterable[Record], path: Path | str) -> None:
    """Write sentences as tasks for Prodigy.

    sentences (Iterable[Record]): The sentences.
    path (Path): The file. An existing file is only replaced on success.
    """
    write_records(sentences, path, format_sentence)


def format_sentence(sentence: Record, number: int = 1) -> str:
    """Format a sentence as a line of a file.

    sentence (Record): The sentence.
    number (int): The number of the sentence in the file, for errors.
    RETURNS (str): The line.
    """
    text = " ".join(sentence.words) if sentence.text is None else sentence.text
    try:
        check_sentence(sentence)
        spans = find_words(sentence.words, text)
    except FormatError as error:
        raise FormatError(f"sentence {number}: {error.reason}") from None
    columns = {"tag": sentence.tags, "lemma": sentence.lemmas}
    tokens = [
        {
            "text": word,
            "start": start,
            "end": end,
            "id": i,
            "ws": text[end : end + 1].isspace(),
            **{key: each[i] for key, each in columns.items() if each and each[i]},
        }
        for i, (word, (start, end)) in enumerate(
            zip(sentence.words, spans, strict=True)
        )
    ]
    arcs = [(top, top, TOP) for top in sentence.tops]
    arcs += (
        (head, dep, label)
        for head, dep, labels in sentence.arcs
        for label in split_label(labels)
    )
    task: JsonObject = {
        "text": text,
        "tokens": tokens,
        "relations": [
            {"head": head, "child": dep, "label": label} for head, dep, label in arcs
        ],
    }
    if sentence.id is not None:
        task["meta"] = {"id": sentence.id}
    return json.dumps(task, ensure_ascii=False) + "\n"


def to_sentences(task: JsonObject, left_out: Counter[str] | None) -> list[Record]:
    """Convert a task to a sentence.

    task (Dict[str, Any]): The task.
    left_out (Optional[Counter[str]]): Counts the tasks that are left out, by reason.
    RETURNS (List[Record]): The sentence, or an empty list if it was rejected.
    """
    reason = LEFT_OUT.get(str(task.get("answer")))
    if reason is None:
        return [_to_sentence(task)]
    if left_out is not None:
        left_out[reason] += 1
    return []


def _to_sentence(task: JsonObject) -> Record:
    text = check_string(task.get("text"), "text")
    tokens = get_objects(task, "tokens")
    # spaCy's tokens can be whitespace, which is not a word.
    words = {
        i: word
        for i, token in enumerate(tokens)
        if (word := check_string(token.get("text"), "text of a token").strip())
    }
    if not words:
        raise FormatError("the text has no words")
    index = {i: number for number, i in enumerate(words)}
    tops: set[int] = set()
    labels: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for relation in get_objects(task, "relations"):
        head, dep = (_find(relation.get(end), index) for end in ("head", "child"))
        label = check_string(relation.get("label"), "label")
        if head == dep:
            tops.add(head)
        elif not label or label in labels[head, dep]:
            raise FormatError(
                f"the relation from token {relation['head']} to token "
                f"{relation['child']} has {'no label' if not label else 'a duplicate'}"
            )
        else:
            labels[head, dep].append(label)
    sentence = Record(
        words=list(words.values()),
        arcs=[(h, d, join_labels(several)) for (h, d), several in labels.items()],
        tops=sorted(tops),
        text=text,
        tags=column(_value(tokens[i], "tag") for i in words),
        lemmas=column(_value(tokens[i], "lemma") for i in words),
    )
    find_words(sentence.words, text)
    meta = task.get("meta")
    if isinstance(meta, dict) and meta.get("id") is not None:
        sentence.id = check_string(str(meta["id"]), "id")
    return sentence


def _value(token: JsonObject, key: str) -> str | None:
    return check_string(token[key], key) if token.get(key) else None


def _find(i: Any, index: dict[int, int]) -> int:
    if not isinstance(i, int) or i not in index:
        raise FormatError(f"a relation has the token {i!r}, which is not a word")
    return index[i]
