"""Writing of parse results in all formats of `parse`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer
from spacy.tokens import Doc

from .. import formats
from ..formats import docbin, jsonl
from ..formats.bridge import from_doc
from ..formats.files import STANDARD_STREAM, write_records
from ..formats.table import import_pyarrow
from ..graph.extensions import get_graph
from ..graph.graph import SemanticGraph
from ..graph.spans import sentences
from ..graph.table import (
    CLAUSE_COLUMNS,
    DETAIL_COLUMNS,
    MAIN_COLUMNS,
    TRIPLE_COLUMNS,
    Row,
    clause_rows,
    triple_rows,
)
from ..graph.terminal import display_width
from .table_writer import TABLE_KIND_OF_SUFFIX, find_table_kind, write_table

OUTPUT_FORMAT_OF_SUFFIX = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".html": "html",
    **formats.SUFFIXES,
    **dict.fromkeys((".csv", ".tsv", ".parquet"), "clauses"),
}
# The tables, with their columns. The suffix decides between CSV, JSONL and so on, but
# "csv" is always CSV, also on standard output.
TABLES: dict[str, dict[str, type]] = {
    "clauses": CLAUSE_COLUMNS,
    "triples": TRIPLE_COLUMNS,
    "csv": CLAUSE_COLUMNS,
}
OUTPUT_FORMATS = tuple(
    dict.fromkeys((*OUTPUT_FORMAT_OF_SUFFIX.values(), "prodigy", *TABLES))
)
TABLE_SUFFIXES = (*TABLE_KIND_OF_SUFFIX, ".txt")

# A Doc with a graph, and the other columns of the input.
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
    is_stream = str(path) == STANDARD_STREAM
    suffixes = (".csv",) if format == "csv" else TABLE_SUFFIXES
    if format in TABLES and not is_stream and path.suffix.lower() not in suffixes:
        raise typer.BadParameter(
            f"--to {format}: the file must end in {', '.join(suffixes)}, not "
            f"{path.name!r}."
        )
    return format


def check_output_format(path: Path, format: str) -> None:
    """Raise an error if a package that the output requires is missing."""
    if format in TABLES and find_table_kind(path) == "parquet":
        import_pyarrow()


def write_results(
    results: Iterable[Result],
    path: Path,
    format: str,
    attr: str,
    title: str,
    *,
    conjuncts: bool = False,
) -> None:
    """Write parse results, either all of them or none.

    results (Iterable[Result]): The Docs.
    path (Path): The file, or `-` for standard output.
    format (str): One of OUTPUT_FORMATS.
    attr (str): The attribute with the graphs.
    title (str): The title of the page, for html.
    conjuncts (bool): Whether to distribute coordinated subjects and objects in tables
        of clauses and JSON.
    """
    kind = "csv" if format == "csv" else find_table_kind(path)
    if format in TABLES and kind != "text":
        rows = _to_rows(results, format, attr, conjuncts)
        write_table(rows, TABLES[format], path, kind)
        return
    if format == "spacy":
        docbin.write_docs((doc for doc, _ in results), path)
        return
    if format in formats.FORMATS and format != "jsonl":
        records = (each for doc, _ in results for each in from_doc(doc, attr))
        formats.write(records, path, attr, format)
        return
    if format == "html":
        pieces = _to_page(results, attr, title)
    elif format == "jsonl":
        pieces = _to_lines(results, attr, conjuncts)
    elif format in TABLES:
        pieces = (_to_table(doc, format, attr, conjuncts) for doc, _ in results)
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


def _to_page(results: Iterable[Result], attr: str, title: str) -> Iterator[str]:
    # Other outputs do not require the code for drawing.
    from ..display.page import draw_page
    from ..display.picture import make_pictures

    pictures = (
        picture
        for number, (doc, _) in enumerate(results)
        for picture in make_pictures(graph_of(doc, attr), number=number)
    )
    return draw_page(pictures, title)


def _to_lines(results: Iterable[Result], attr: str, conjuncts: bool) -> Iterator[str]:
    for number, (doc, context) in enumerate(results):
        row = jsonl.to_object(
            doc, graph_of(doc, attr), attr, number, conjuncts=conjuncts
        )
        yield jsonl.format_object({**context, **row})


def _to_text(doc: Doc, attr: str) -> str:
    graph = graph_of(doc, attr)
    return "".join(f"{line}\n" for line in _lines(doc, graph))


def _rows_of(
    doc: Doc, number: int, format: str, attr: str, conjuncts: bool
) -> Iterator[Row]:
    graph = graph_of(doc, attr)
    if format == "triples":
        return triple_rows(graph, number)
    return clause_rows(graph, number, conjuncts=conjuncts)


def _to_rows(
    results: Iterable[Result], format: str, attr: str, conjuncts: bool
) -> Iterator[Row]:
    """Yield the rows of a table, with the columns of the input first."""
    for number, (doc, context) in enumerate(results):
        others = _rename(context, TABLES[format])
        for row in _rows_of(doc, number, format, attr, conjuncts):
            yield {**others, **row}


def _rename(context: dict[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """Rename columns of the input that the table also has."""
    taken = {*columns}
    renamed = {}
    for name, value in context.items():
        while name in taken:
            name = f"input_{name}"
        taken.add(name)
        renamed[name] = value
    return renamed


def _to_table(doc: Doc, format: str, attr: str, conjuncts: bool) -> str:
    """Format the rows of a Doc as text, below their sentences."""
    rows: dict[int, list[list[str]]] = {}
    for row in _rows_of(doc, 0, format, attr, conjuncts):
        if format == "clauses":
            cells = [row[name] for name in MAIN_COLUMNS]
            cells.append("; ".join(_others(row)))
        else:
            cells = [row[name] for name in ("predicate", "label", "argument")]
        rows.setdefault(row["sent"], []).append([" ".join(c.split()) for c in cells])
    lines = []
    for number, span in enumerate(sentences(doc)):
        if span.text.strip():
            lines += [" ".join(span.text.split()), *_align(rows.get(number, [])), ""]
    return "".join(f"{line}\n" for line in lines)


def _others(row: Row) -> Iterator[str]:
    """Yield the other columns of a clause that are not empty, with their names."""
    for name in DETAIL_COLUMNS:
        if value := row[name]:
            yield name if value is True else f"{name}: {value}"


def _align(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell + " " * (width - display_width(cell))
            for cell, width in zip(row, widths, strict=True)
        ]
        yield f"   {'  '.join(cells)}".rstrip()


def _lines(doc: Doc, graph: SemanticGraph) -> Iterator[str]:
    tops = {*graph.tops}
    for span in sentences(doc):
        if not span.text.strip():
            continue
        yield " ".join(span.text.split())
        heads = [token for token in span if graph.args(token) or token in tops]
        width = max((display_width(token.text) for token in heads), default=0)
        for token in heads:
            mark = "*" if token in tops else " "
            args = [f"{arc.label} {arc.dep.text}" for arc in graph.args(token)]
            space = " " * (width - display_width(token.text))
            yield f" {mark} {token.text}{space}  {', '.join(args)}".rstrip()
        yield ""
