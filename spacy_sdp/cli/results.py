"""Writing of parse results in all formats of `parse`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from spacy.tokens import Doc

from .. import formats
from ..display.layout import display_width
from ..display.page import draw_page
from ..display.picture import make_pictures
from ..formats import docbin
from ..formats.bridge import from_doc
from ..formats.files import STANDARD_STREAM, write_records
from ..graph.extensions import get_graph
from ..graph.graph import SemanticGraph
from ..graph.spans import sentences

OUTPUT_FORMAT_OF_SUFFIX = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".html": "html",
    **formats.SUFFIXES,
}
OUTPUT_FORMATS = tuple(dict.fromkeys(OUTPUT_FORMAT_OF_SUFFIX.values()))

# A Doc with a graph, and the other fields of the input.
Result = tuple[Doc, dict[str, Any]]


def find_output_format(path: Path, format: str | None) -> str:
    """Find the output format.

    path (Path): The file, or `-`, which defaults to text.
    format (Optional[str]): One of OUTPUT_FORMATS. By default, the suffix decides.
    RETURNS (str): One of OUTPUT_FORMATS.
    """
    if format is None and str(path) == STANDARD_STREAM:
        return "text"
    if format is None and path.suffix.lower() in OUTPUT_FORMAT_OF_SUFFIX:
        return OUTPUT_FORMAT_OF_SUFFIX[path.suffix.lower()]
    if format not in OUTPUT_FORMATS:
        what = f"no format {format!r}" if format else f"no format for {path.name!r}"
        raise typer.BadParameter(
            f"There is {what}: choose one of {', '.join(OUTPUT_FORMATS)} with --to."
        )
    return format


def write_results(
    results: Iterable[Result], path: Path, format: str, attr: str, title: str
) -> None:
    """Write parse results, either all of them or nothing.

    results (Iterable[Result]): The Docs.
    path (Path): The file, or `-` for standard output.
    format (str): One of OUTPUT_FORMATS.
    attr (str): The attribute with the graphs.
    title (str): The title of the page, for html.
    """
    if format == "spacy":
        docbin.write_docs((doc for doc, _ in results), path)
        return
    if format in formats.FORMATS:
        records = (each for doc, _ in results for each in from_doc(doc, attr))
        formats.write(records, path, attr, format)
        return
    if format == "html":
        graphs = (graph_of(doc, attr) for doc, _ in results)
        pieces = draw_page((p for each in graphs for p in make_pictures(each)), title)
    elif format == "jsonl":
        pieces = (_to_json(doc, attr, context) for doc, context in results)
    else:
        pieces = (_to_text(doc, attr) for doc, _ in results)
    write_records(pieces, path, lambda piece, _: piece)


def graph_of(doc: Doc, attr: str) -> SemanticGraph:
    """Get the graph of a parsed Doc. Raises an error if it has none."""
    graph = get_graph(doc, attr)
    if graph is None:
        raise ValueError(
            f"The pipeline did not set Doc._.{attr}. Check that it has a semantic "
            "parser. If the parser has another 'attr', specify it with --attr."
        )
    return graph


def to_record(doc: Doc, attr: str) -> dict[str, Any]:
    """Convert a Doc with its graph to JSON.

    doc (Doc): The Doc.
    attr (str): The attribute with the graph.
    RETURNS (Dict[str, Any]): The output of spaCy's `doc.to_json`, which
        `Doc.from_json` can read; the graph for `SemanticGraph.from_dict`, with `attr`
        as key; and readable `triples` of predicate, label and argument.
    """
    graph = graph_of(doc, attr)
    return {
        **doc.to_json(),
        attr: graph.to_dict(),
        "triples": [list(triple) for triple in graph.triples()],
    }


def _to_json(doc: Doc, attr: str, context: dict[str, Any]) -> str:
    record = {**context, **to_record(doc, attr)}
    return json.dumps(record, ensure_ascii=False) + "\n"


def _to_text(doc: Doc, attr: str) -> str:
    graph = graph_of(doc, attr)
    return "".join(f"{line}\n" for line in _lines(doc, graph))


def _lines(doc: Doc, graph: SemanticGraph) -> Iterator[str]:
    for span in sentences(doc):
        if not span.text.strip():
            continue
        yield " ".join(span.text.split())
        heads = [token for token in span if graph.args(token) or token in graph.tops]
        width = max((display_width(token.text) for token in heads), default=0)
        for token in heads:
            mark = "*" if token in graph.tops else " "
            args = [f"{arc.label} {arc.dep.text}" for arc in graph.args(token)]
            space = " " * (width - display_width(token.text))
            yield f" {mark} {token.text}{space}  {', '.join(args)}".rstrip()
        yield ""
