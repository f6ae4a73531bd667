"""The JSON lines of `sdp parse`, with a Doc and its graph on each line.

A line is the output of spaCy's `doc.to_json()` with the graph, for example

    {"text": "Dogs bark.", "sents": [{"start": 0, "end": 10}],
     "tokens": [{"id": 0, "start": 0, "end": 4, "tag": "NNS"}, ...],
     "sdp": {"tokens": 3, "arcs": [[1, 0, "ARG1", 0.98]], "tops": [1]},
     "triples": [["bark", "ARG1", "Dogs"]],
     "clauses": [{"doc": 0, "sent": 0, "clause": 0, "subject": "Dogs", "verb": "bark",
                  ..., "sentence": "Dogs bark."}]}

The triples and clauses are for other programs, and are not read. "clauses" has the rows
of `parse --to clauses`, with the number of the line as "doc". It is omitted if clauses
cannot be extracted: without part-of-speech tags, or from graphs in another formalism
than DM.

Other keys are ignored, except for an "id". Lines with "relations" instead of a graph
are read as Prodigy's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..graph.extensions import DEFAULT_ATTR, get_graph, set_graph
from ..graph.graph import SemanticGraph
from ..graph.record import Record, documents
from ..graph.spans import sentences as sentences_of
from ..graph.table import clause_rows
from . import prodigy
from .bridge import from_doc, to_doc
from .files import FormatError, write_records
from .objects import (
    JsonObject,
    check_sentence,
    check_string,
    get_objects,
    read_objects,
)

EXPECTED = "a line that sdp parse or Prodigy has written"
# The columns of tokens, by the argument of Doc.
COLUMNS = {"tags": "tag", "pos": "pos", "morphs": "morph", "lemmas": "lemma"}


def read(
    path: Path | str,
    attr: str = DEFAULT_ATTR,
    left_out: Counter[str] | None = None,
) -> Iterator[Record]:
    """Read the sentences of a file.

    path (Path): The file.
    attr (str): The key of the graphs.
    left_out (Optional[Counter[str]]): Counts the lines that are left out, by reason.
    YIELDS (Record): The sentences.
    """
    vocab = Vocab()
    for number, row in read_objects(path, EXPECTED):
        try:
            if attr not in row and "relations" in row:
                sentences = prodigy.to_sentences(row, left_out)
            else:
                sentences = _to_sentences(row, vocab, attr)
        except FormatError as error:
            raise FormatError(error.reason, path, number) from None
        yield from sentences


def write(
    sentences: Iterable[Record], path: Path | str, attr: str = DEFAULT_ATTR
) -> None:
    """Write sentences as JSON lines, one for each document.

    sentences (Iterable[Record]): The sentences.
    path (Path): The file. An existing file is only replaced on success.
    attr (str): The key of the graphs.
    """
    vocab = Vocab()

    def format_document(document: list[Record], number: int) -> str:
        try:
            for sentence in document:
                check_sentence(sentence)
            doc = to_doc(document, vocab, attr)
            if len(sentences_of(doc)) != len(document):
                raise FormatError("a sentence with two syntactic roots is two in spaCy")
        except ValueError as error:
            raise FormatError(f"sentence {document[0].id}: {error}") from None
        graph = get_graph(doc, attr)
        assert graph is not None
        row: JsonObject = {}
        if len(document) == 1 and document[0].id is not None:
            row["id"] = document[0].id
        return format_object({**row, **to_object(doc, graph, attr, number - 1)})

    write_records(documents(sentences), path, format_document)


def to_object(
    doc: Doc,
    graph: SemanticGraph,
    attr: str,
    number: int = 0,
    *,
    conjuncts: bool = False,
) -> JsonObject:
    """Convert a Doc with its graph to JSON.

    doc (Doc): The Doc.
    graph (SemanticGraph): The graph.
    attr (str): The key of the graph.
    number (int): The number of the Doc, for the rows of its clauses.
    conjuncts (bool): Whether to distribute coordinated subjects and objects in clauses.
    RETURNS (Dict[str, Any]): The output of spaCy's `doc.to_json`, which
        `Doc.from_json` can read; the graph for `SemanticGraph.from_dict`, with `attr`
        as key; readable `triples` of predicate, label and argument; and `clauses` as
        rows of a table, if they can be extracted.
    """
    row = {
        **doc.to_json(),
        attr: graph.to_dict(),
        "triples": [list(triple) for triple in graph.triples()],
    }
    # Without tags, and from graphs in another formalism, there are no clauses.
    with suppress(ValueError):
        row["clauses"] = list(clause_rows(graph, number, conjuncts=conjuncts))
    return row


def format_object(row: JsonObject) -> str:
    """RETURNS (str): The line of an object.

    Values unknown to JSON become strings, and NaN and infinity become null.
    """
    options: dict[str, Any] = {"ensure_ascii": False, "default": str}
    try:
        return json.dumps(row, allow_nan=False, **options) + "\n"
    except ValueError:
        # Reading JSON calls a function for each constant that is not valid.
        dumped = json.dumps(row, **options)
        row = json.loads(dumped, parse_constant=lambda _: None)
        return json.dumps(row, **options) + "\n"


def _to_sentences(row: JsonObject, vocab: Vocab, attr: str) -> list[Record]:
    graph = row.get(attr)
    if not isinstance(graph, dict):
        raise FormatError(f"there is no graph in {attr!r}; expected {EXPECTED}")
    try:
        doc = _to_doc(row, vocab)
        set_graph(doc, SemanticGraph.from_dict(doc, graph), attr)
        sentences = list(from_doc(doc, attr))
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(str(error)) from None
    if (name := row.get("id")) is not None:
        name = check_string(str(name), "id")
        for number, sentence in enumerate(sentences, start=1):
            sentence.id = f"{name}.{number}" if len(sentences) > 1 else name
    return sentences


def _to_doc(row: JsonObject, vocab: Vocab) -> Doc:
    """Create the Doc. (`Doc.from_json` trusts its input and registers extensions.)"""
    text = check_string(row.get("text"), "text")
    tokens = get_objects(row, "tokens")
    words, spaces, starts = [], [], []
    end = 0
    for i, token in enumerate(tokens):
        start, last = token.get("start"), end
        end = _index(token.get("end"), len(text) + 1, "end of a token")
        if start != last or end <= last:
            raise FormatError(
                f"token {i} is from character {start!r} to {end}, but the text "
                f"continues at character {last}"
            )
        words.append(text[last:end])
        starts.append(last)
        spaces.append(text.startswith(" ", end))
        end += spaces[-1]
    if end != len(text):
        raise FormatError(
            f"the tokens end at character {end}, but the text has {len(text)}"
        )
    annotations: dict[str, Any] = {
        name: [check_string(token.get(key, ""), key) for token in tokens]
        for name, key in COLUMNS.items()
        if any(key in token for token in tokens)
    }
    if tokens and all("head" in token and "dep" in token for token in tokens):
        annotations["heads"] = [
            _index(token["head"], len(tokens), "head of a token") for token in tokens
        ]
        annotations["deps"] = [check_string(token["dep"], "dep") for token in tokens]
    elif sents := get_objects(row, "sents"):
        first = {
            _index(sent.get("start"), len(text), "start of a sentence")
            for sent in sents
        }
        annotations["sent_starts"] = [start in first for start in starts]
    return Doc(vocab, words=words, spaces=spaces, **annotations)


def _index(value: Any, size: int, what: str) -> int:
    if not isinstance(value, int) or not 0 <= value < size:
        raise FormatError(f"the {what} is {value!r}, expected a number below {size}")
    return value
