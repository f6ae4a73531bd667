"""Texts to parse, from arguments, files and standard input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from math import isinf
from pathlib import Path
from typing import Any, BinaryIO

from spacy.tokens import Doc
from spacy.vocab import Vocab

from .. import formats
from ..formats import FormatError, docbin
from ..formats.files import (
    STANDARD_STREAM,
    atomic_write,
    decode_line,
    number_lines,
    open_input,
)
from ..formats.table import (
    DELIMITERS,
    TableRow,
    read_csv,
    read_paragraphs,
    read_parquet,
)

INPUT_FORMAT_OF_SUFFIX = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".spacy": "spacy",
}
# Unpaired surrogates, which are possible in JSON but not in UTF-8.
SURROGATE = re.compile("[\\ud800-\\udfff]")
INPUT_FORMATS = ("text", "lines", "jsonl", "csv", "tsv", "parquet", "spacy")
TEXT_COLUMN = "text"
# Maximum number of nested lists and objects in a row of JSONL.
DEEPEST_ROW = 100
# Maximum number of characters of a text or a file name in a message.
LONGEST_SOURCE = 200


@dataclass
class Input:
    """A text to parse.

    text (str | Doc): The text, or a Doc with tokens to keep.
    source (str): The argument that the text is from.
    place (Dict[str, int]): The position in a file: the `line`, or the `number` of the
        row or the `doc`.
    row (Optional[Dict[str, Any]]): The other columns, if the file has any.
    position (int): The size of the inputs up to the end of this text, in bytes.
    """

    text: str | Doc
    source: str
    place: dict[str, int] = field(default_factory=dict)
    row: dict[str, Any] | None = None
    position: int = 0


class Errors:
    """Handles texts that cannot be parsed: lists them in a file, or stops."""

    def __init__(self, file: BinaryIO | None) -> None:
        """Create the handler.

        file (Optional[BinaryIO]): The file to list texts in, as JSONL. If None, the
            first text raises an error.
        """
        self.file = file
        self.count = 0

    def add(
        self, source: str, place: dict[str, int], reason: str, **row: dict[str, Any]
    ) -> None:
        """Add a text to the list, or raise an error.

        source (str): The argument that the text is from.
        place (Dict[str, int]): The position in a file, as in `Input`.
        reason (str): Why the text cannot be parsed.
        row (Dict[str, Any]): The `row` of the file, if it has any.
        """
        if self.file is None:
            for key, name in (("doc", "Doc"), ("number", "row")):
                if key in place:
                    reason = f"{name} {place[key]}: {reason}"
            raise FormatError(reason, _shorten(source), place.get("line"))
        record = {"input": source, **place, "reason": reason, **row}
        # In ASCII, because unpaired surrogates cannot be encoded in UTF-8. Parquet has
        # values such as dates, which are written as text.
        self.file.write(f"{json.dumps(record, default=str)}\n".encode())
        self.count += 1


@contextmanager
def list_errors(path: Path | None) -> Iterator[Errors]:
    """YIELDS (Errors): The handler, which writes to a file if a path is given."""
    if path is None:
        yield Errors(None)
        return
    with atomic_write(path) as file:
        yield Errors(file)


def read_inputs(
    arguments: list[str],
    format: str | None,
    vocab: Vocab,
    text_column: str,
    errors: Errors,
) -> Iterator[Input]:
    """Read the texts of a command line.

    arguments (List[str]): Texts, names of files, or `-` for standard input.
    format (Optional[str]): One of INPUT_FORMATS for all files. By default, the suffix
        decides, and files without a known suffix are plain text.
    vocab (Vocab): The vocabulary of Docs.
    text_column (str): The column of the texts in tables, the key in JSONL.
    errors (Errors): Handles the rows and lines without text.
    YIELDS (Input): The texts.
    """
    position = 0
    for argument in arguments:
        if is_file(argument):
            texts = _read_file(argument, format, vocab, text_column, errors)
        else:
            texts = iter([Input(argument, argument)])
        for text in texts:
            text.position += position
            yield text
        position += _size(argument)


def total_size(arguments: list[str], format: str | None) -> int | None:
    """Get the size of all inputs, to compare with `Input.position`.

    arguments (List[str]): Texts, names of files, or `-` for standard input.
    format (Optional[str]): One of INPUT_FORMATS for all files, as in `read_inputs`.
    RETURNS (Optional[int]): The number of bytes, or None if the progress is unknown:
        for standard input, and for `.spacy` files, which are read as a whole.
    """
    for argument in filter(is_file, arguments):
        if argument == STANDARD_STREAM or _find_format(argument, format) == "spacy":
            return None
    return sum(map(_size, arguments))


def _size(argument: str) -> int:
    if argument == STANDARD_STREAM:
        return 0
    return Path(argument).stat().st_size if is_file(argument) else len(argument)


def is_file(argument: str) -> bool:
    """Check whether an argument is a file to read, and not a text.

    A single word with a known file suffix also counts as a file, so that a mistyped
    file name raises an error instead of being parsed.
    """
    if argument == STANDARD_STREAM:
        return True
    suffix = Path(argument).suffix.lower()
    suffixes = (*INPUT_FORMAT_OF_SUFFIX, *formats.SUFFIXES)
    if len(argument.split()) == 1 and suffix in suffixes:
        return True
    try:
        return bool(argument) and Path(argument).exists()
    except (OSError, ValueError):
        # A text may be too long for a file name, or contain a NUL byte.
        return False


def _find_format(path: str, format: str | None) -> str:
    suffix = Path(path).suffix.lower()
    if format is not None:
        return format
    if suffix in formats.SUFFIXES and suffix not in INPUT_FORMAT_OF_SUFFIX:
        raise FormatError(
            "the file has graphs, not texts: use sdp draw or sdp convert (or specify "
            "another format with --from)",
            path,
        )
    return INPUT_FORMAT_OF_SUFFIX.get(suffix, "text")


def _read_file(
    path: str, format: str | None, vocab: Vocab, text_column: str, errors: Errors
) -> Iterator[Input]:
    """Read the texts of a file, with their positions in it."""
    kind = _find_format(path, format)
    if kind == "spacy":
        for number, doc in enumerate(docbin.read_docs(path, vocab), start=1):
            yield Input(doc, path, {"doc": number})
        return
    with open_input(path) as file:
        if kind in DELIMITERS:
            columns, rows = read_csv(file, path, DELIMITERS[kind])
            _check_text_column(columns, text_column, path)
            yield from _to_inputs(rows, path, "line", text_column, errors)
        elif kind == "parquet":
            columns, rows = read_parquet(file, path)
            _check_text_column(columns, text_column, path)
            yield from _to_inputs(rows, path, "number", text_column, errors)
        elif kind == "jsonl":
            rows = _read_jsonl(file, path, errors)
            yield from _to_inputs(rows, path, "line", text_column, errors)
        else:
            lines = kind == "lines"
            rows = (
                _read_lines(file, path, errors)
                if lines
                else read_paragraphs(file, path)
            )
            for row in rows:
                if row.cells.strip():
                    place = {"line": row.number}
                    yield Input(row.cells, path, place, position=row.position)


def _check_text_column(columns: list[str], text_column: str, path: str) -> None:
    if text_column not in columns:
        raise FormatError(
            f"there is no column {text_column!r}; specify the column of the texts with "
            f"--text-column (found {', '.join(map(repr, columns))})",
            path,
        )


def _read_lines(file: BinaryIO, path: str, errors: Errors) -> Iterator[TableRow]:
    """Read the lines of a file, except for those that are not valid text."""
    position = 0
    for number, raw in number_lines(file, path):
        position += len(raw)
        try:
            line = decode_line(raw, path, number)
        except FormatError as error:
            errors.add(path, {"line": number}, error.reason)
        else:
            yield TableRow(number, line, position=position)


def _read_jsonl(file: BinaryIO, path: str, errors: Errors) -> Iterator[TableRow]:
    for row in _read_lines(file, path, errors):
        if not row.cells.strip():
            continue
        try:
            row.cells = json.loads(
                row.cells, parse_constant=_refuse, parse_float=_to_float
            )
        except (ValueError, RecursionError) as error:
            errors.add(path, {"line": row.number}, f"not JSON ({error})")
        else:
            yield row


def _to_inputs(
    rows: Iterable[TableRow], path: str, unit: str, text_column: str, errors: Errors
) -> Iterator[Input]:
    """Convert the rows of a table to texts, except for those that are not valid."""
    for row in rows:
        place, cells = {unit: row.number}, row.cells
        text: Any = cells.get(text_column) if isinstance(cells, dict) else None
        reason = row.reason
        if reason is None and not isinstance(text, str):
            if unit == "number" and text is None:
                reason = f"there is no text in {text_column!r}"
            elif unit == "number":
                kind = type(text).__name__
                reason = f"expected a text in {text_column!r}, found {kind}"
            else:
                key = json.dumps(text_column, ensure_ascii=False)
                reason = f'expected an object with a text, as in {{{key}: "..."}}'
        elif reason is None and SURROGATE.search(text):
            reason = "the text has an unpaired surrogate"
        if reason is None:
            others = {name: cells[name] for name in cells if name != text_column}
            # Any value can be in JSON. Values of Parquet have types.
            if unit == "line":
                reason = _find_fault(others)
        if reason is None:
            yield Input(text, path, place, others, row.position)
        else:
            errors.add(path, place, reason, row=cells)


def _find_fault(value: Any, depth: int = 0) -> str | None:
    """Find the reason why a value of JSON cannot be written to all outputs."""
    if isinstance(value, str) and SURROGATE.search(value):
        return "a column has an unpaired surrogate"
    if isinstance(value, (dict, list)):
        if depth > DEEPEST_ROW:
            return f"the JSON is nested more than {DEEPEST_ROW} levels deep"
        parts = chain(value, value.values()) if isinstance(value, dict) else value
        faults = (_find_fault(part, depth + 1) for part in parts)
        return next((fault for fault in faults if fault), None)
    return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _to_float(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"the number {_shorten(text)} is too large")
    return value


def _shorten(source: str) -> str:
    return source if len(source) <= LONGEST_SOURCE else f"{source[:LONGEST_SOURCE]}..."
