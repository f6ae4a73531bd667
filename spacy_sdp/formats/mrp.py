"""MRP, the format of the CoNLL 2019 and 2020 shared tasks, for bi-lexical graphs.

Each line is a graph as JSON:

    {"id": "7", "flavor": 0, "framework": "dm", "input": "Dogs bark.", "tops": [1],
     "nodes": [{"id": 0, "label": "dog", "properties": ["pos"], "values": ["NNS"],
                "anchors": [{"from": 0, "to": 4}]}, ...],
     "edges": [{"source": 1, "target": 0, "label": "ARG1"}]}

Only graphs of flavor 0 are between words: DM, PSD and PAS. The format has the raw text,
but only the words that are nodes. The text between nodes is split into words and
punctuation marks, and `Record.nodes` says which words are nodes.

The framework is kept as a comment, `framework = psd`; without one, `dm` is written.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..graph.record import Record, column
from .bridge import find_words
from .files import FormatError, write_records
from .folding import join_labels, split_label
from .objects import JsonObject, check_string, get_objects, read_objects

FRAMEWORK = " framework = "
DEFAULT_FRAMEWORK = "dm"
# English clitics, initials (U.S.), words with inner punctuation (1,000, four-color),
# and repeated marks (...).
CLITIC = r"['\u2019](?:s|re|ve|ll|d|m)\b"
NEGATION = r"n['\u2019]t\b"
WORD = re.compile(
    rf"{NEGATION}|{CLITIC}|\w+?(?={NEGATION})"
    rf"|(?:\w\.){{2,}}|\w+(?:[.,-]\w+|(?!{CLITIC})['\u2019]\w+)*|([^\w\s])\1*"
)

EXPECTED = '{"id": ..., "input": ..., "nodes": ...}'
Span = tuple[int, int]


def read(path: Path | str) -> Iterator[Record]:
    """Read the sentences of an MRP file.

    path (Path): The file.
    YIELDS (Record): The sentences.
    """
    for number, graph in read_objects(path, EXPECTED):
        try:
            sentence = _parse(graph)
        except FormatError as error:
            raise FormatError(error.reason, path, number) from None
        yield sentence


def write(sentences: Iterable[Record], path: Path | str) -> None:
    """Write sentences as an MRP file.

    The nodes are the words that the record lists as nodes, words with an arc or a
    sense, and tops.

    sentences (Iterable[Record]): The sentences. Missing ids are set to numbers.
    path (Path): The file. An existing file is only replaced on success.
    """
    write_records(sentences, path, format_sentence)


def format_sentence(sentence: Record, number: int = 1) -> str:
    """Format a sentence as a line of an MRP file.

    sentence (Record): The sentence.
    number (int): The id to use if the sentence has none.
    RETURNS (str): The line.
    """
    try:
        graph = _to_json(sentence, number)
    except FormatError as error:
        raise FormatError(f"sentence {number}: {error.reason}") from None
    return json.dumps(graph, ensure_ascii=False) + "\n"


def _parse(graph: JsonObject) -> Record:
    if graph.get("flavor", 0) != 0:
        raise FormatError(
            f"a graph of flavor {graph['flavor']!r} (framework "
            f"{graph.get('framework')!r}); only graphs of flavor 0, such as dm, psd "
            "and pas, are supported"
        )
    text = check_string(graph.get("input"), "input")
    nodes = get_objects(graph, "nodes")
    anchors = [_anchor(node, text) for node in nodes]
    spans = _all_words(anchors, text)
    if not spans:
        raise FormatError("the input has no words")
    place = {span: i for i, span in enumerate(spans)}
    words_of_nodes = [place[anchor] for anchor in anchors]
    index: dict[int, int] = {}
    for node, word in zip(nodes, words_of_nodes, strict=True):
        node_id = node.get("id")
        if not isinstance(node_id, int) or node_id in index:
            raise FormatError(f"the node id {node_id!r} is not a number or not unique")
        index[node_id] = word
    tops = graph.get("tops") or []
    if not isinstance(tops, list):
        raise FormatError("'tops' must be a list of node ids")
    sentence = Record(
        words=[text[start:end] for start, end in spans],
        arcs=_arcs(graph, index),
        tops=sorted({_find(top, index) for top in tops}),
        text=text,
        nodes=[False] * len(spans),
    )
    if graph.get("id") is not None:
        sentence.id = check_string(str(graph["id"]), "id")
    if graph.get("framework") is not None:
        framework = check_string(graph["framework"], "framework")
        sentence.comments.append(f"{FRAMEWORK}{framework}")
    columns: defaultdict[str, list[str | None]]
    columns = defaultdict(lambda: [None] * len(spans))
    for node, word in zip(nodes, words_of_nodes, strict=True):
        sentence.nodes[word] = True
        for name, value in _properties(node).items():
            columns[name][word] = value
    sentence.lemmas = column(columns["label"])
    sentence.tags = column(columns["pos"])
    sentence.frames = column(columns["frame"])
    heads = {head for head, _, _ in sentence.arcs}
    sentence.predicates = [i in heads for i in range(len(spans))]
    return sentence


def _arcs(graph: JsonObject, index: dict[int, int]) -> list[tuple[int, int, str]]:
    labels: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for edge in get_objects(graph, "edges"):
        head, dep = (_find(edge.get(end), index) for end in ("source", "target"))
        label = check_string(edge.get("label"), "label")
        where = f"the edge from node {edge['source']} to node {edge['target']}"
        if head == dep:
            raise FormatError(f"{where} is a self-loop")
        if not label:
            raise FormatError(f"{where} has an empty label")
        if label in labels[head, dep]:
            raise FormatError(f"{where} with the label {label!r} is a duplicate")
        labels[head, dep].append(label)
    return [
        (head, dep, join_labels(several))
        for (head, dep), several in sorted(labels.items())
    ]


def _all_words(anchors: list[Span], text: str) -> list[Span]:
    """Get the words of the nodes, and the words between them."""
    spans: list[Span] = []
    end = 0
    for anchor in sorted(anchors):
        if anchor[0] < end:
            raise FormatError(f"two nodes are anchored at character {anchor[0]}")
        spans += (match.span() for match in WORD.finditer(text, end, anchor[0]))
        spans.append(anchor)
        end = anchor[1]
    spans += (match.span() for match in WORD.finditer(text, end))
    return spans


def _anchor(node: JsonObject, text: str) -> Span:
    anchors = get_objects(node, "anchors")
    if len(anchors) != 1:
        raise FormatError(
            f"node {node.get('id')!r} has {len(anchors)} anchors, expected one word"
        )
    start, end = anchors[0].get("from"), anchors[0].get("to")
    if (
        isinstance(start, int)
        and isinstance(end, int)
        and 0 <= start < end <= len(text)
    ):
        word = text[start:end]
        if word == word.strip():
            return start, end
    raise FormatError(
        f"node {node.get('id')!r} is anchored from {start!r} to {end!r}, not at "
        f"a word of the input, which has {len(text)} characters"
    )


def _properties(node: JsonObject) -> dict[str, str]:
    """Get the label and the properties of a node."""
    names, values = node.get("properties") or [], node.get("values") or []
    if not isinstance(names, list) or not isinstance(values, list):
        raise FormatError(
            f"node {node.get('id')!r}: properties and values must be lists"
        )
    pairs = [("label", node.get("label")), *zip(names, values, strict=False)]
    return {
        check_string(name, "properties"): check_string(value, "values")
        for name, value in pairs
        if value not in (None, "")
    }


def _find(node_id: Any, index: dict[int, int]) -> int:
    if not isinstance(node_id, int) or node_id not in index:
        raise FormatError(
            f"an edge or a top refers to node {node_id!r}, which does not exist"
        )
    return index[node_id]


def _to_json(sentence: Record, number: int) -> JsonObject:
    text = " ".join(sentence.words) if sentence.text is None else sentence.text
    check_string(text, "input")
    for word in sentence.words:
        if not word or word != word.strip():
            raise FormatError(f"{word!r} begins or ends with whitespace")
    spans = find_words(sentence.words, text)
    nodes = []
    for i in sentence.node_indices():
        start, end = spans[i]
        node: JsonObject = {"id": i}
        columns = {
            "label": sentence.lemmas,
            "pos": sentence.tags,
            "frame": sentence.frames,
        }
        values = {
            name: check_string(each[i], name)
            for name, each in columns.items()
            if each and each[i]
        }
        if label := values.pop("label", None):
            node["label"] = label
        if values:
            node["properties"], node["values"] = list(values), list(values.values())
        node["anchors"] = [{"from": start, "to": end}]
        nodes.append(node)
    frameworks = [
        comment.removeprefix(FRAMEWORK)
        for comment in sentence.comments
        if comment.startswith(FRAMEWORK)
    ]
    return {
        "id": check_string(str(number) if sentence.id is None else sentence.id, "id"),
        "flavor": 0,
        "framework": frameworks[0] if frameworks else DEFAULT_FRAMEWORK,
        "version": 1.1,
        # The official tool requires a date, which is fixed for reproducible files.
        "time": "2019-01-01",
        "input": text,
        "tops": list(sentence.tops),
        "nodes": nodes,
        "edges": [
            {"source": head, "target": dep, "label": check_string(label, "label")}
            for head, dep, composite in sorted(sentence.arcs)
            for label in split_label(composite)
        ],
    }
