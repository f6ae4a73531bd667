"""Texts to parse, from arguments, files and standard input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    read_blocks,
)

INPUT_FORMAT_OF_SUFFIX = {".txt": "text", ".jsonl": "jsonl", ".spacy": "spacy"}
# Tables, which are not supported.
TABLES = (".csv", ".tsv")
# Unpaired surrogates, which are possible in JSON but not in UTF-8.
SURROGATE = re.compile("[\\ud800-\\udfff]")
INPUT_FORMATS = ("text", "lines", "jsonl", "spacy")
TEXT_COLUMN = "text"
# Maximum number of characters of a text or a file name in a message.
LONGEST_SOURCE = 200


@dataclass
class Input:
    """A text to parse.

    text (str | Doc): The text, or a Doc with tokens to keep.
    source (str): The argument that the text is from.
    place (Dict[str, int]): The position in a file: the `line` or the `doc`.
    row (Dict[str, Any]): The other fields of the input.
    """

    text: str | Doc
    source: str
    place: dict[str, int] = field(default_factory=dict)
    row: dict[str, Any] = field(default_factory=dict)


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
        place (Dict[str, int]): The position in a file: the `line` or the `doc`.
        reason (str): Why the text cannot be parsed.
        row (Dict[str, Any]): The `row` of the file, if it is JSON.
        """
        if self.file is None:
            if "doc" in place:
                reason = f"Doc {place['doc']}: {reason}"
            raise FormatError(reason, _shorten(source), place.get("line"))
        record = {"input": source, **place, "reason": reason, **row}
        # In ASCII, because unpaired surrogates cannot be encoded in UTF-8.
        self.file.write(f"{json.dumps(record)}\n".encode())
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
    text_column (str): The key of the text in JSONL.
    errors (Errors): Handles the rows and lines without text.
    YIELDS (Input): The texts.
    """
    for argument in arguments:
        if not is_file(argument):
            yield Input(argument, argument)
            continue
        kind = _find_format(argument, format)
        if kind == "spacy":
            docs = enumerate(docbin.read_docs(argument, vocab), start=1)
            yield from (Input(doc, argument, {"doc": number}) for number, doc in docs)
        elif kind == "jsonl":
            yield from _read_jsonl(argument, text_column, errors)
        elif kind == "lines":
            for number, line in _read_lines(argument, errors):
                if line.strip():
                    yield Input(line, argument, {"line": number})
        else:
            yield from _read_paragraphs(argument)


def is_file(argument: str) -> bool:
    """Check whether an argument is a file to read, and not a text.

    A single word with a known file suffix also counts as a file, so that a mistyped
    file name raises an error instead of being parsed.
    """
    if argument == STANDARD_STREAM:
        return True
    suffix = Path(argument).suffix.lower()
    suffixes = (*INPUT_FORMAT_OF_SUFFIX, *TABLES, *formats.SUFFIXES)
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
    if suffix in TABLES:
        raise FormatError(
            f"{suffix} files are not supported; convert the file to JSONL, with an "
            "object for each row (see --text-column), or use --from text or --from "
            "lines if it is plain text",
            path,
        )
    return INPUT_FORMAT_OF_SUFFIX.get(suffix, "text")


def _read_paragraphs(path: str) -> Iterator[Input]:
    """Read paragraphs between blank lines, and ignore their line breaks."""
    for block in read_blocks(path, is_blank=lambda line: not line.strip()):
        (first, *_), texts = zip(*block, strict=True)
        yield Input(" ".join(texts), path, {"line": first})


def _read_lines(path: str, errors: Errors) -> Iterator[tuple[int, str]]:
    """Read the lines of a file, except for those that are not valid text."""
    with open_input(path) as file:
        for number, raw in number_lines(file, path):
            try:
                line = decode_line(raw, path, number)
            except FormatError as error:
                errors.add(path, {"line": number}, error.reason)
            else:
                yield number, line


def _read_jsonl(path: str, text_column: str, errors: Errors) -> Iterator[Input]:
    for number, line in _read_lines(path, errors):
        if not line.strip():
            continue
        place = {"line": number}
        try:
            row = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            errors.add(path, place, f"not JSON ({error})")
            continue
        text = row.get(text_column) if isinstance(row, dict) else None
        if not isinstance(text, str):
            key = json.dumps(text_column, ensure_ascii=False)
            reason = f'expected an object with a text, as in {{{key}: "..."}}'
            errors.add(path, place, reason, row=row)
        elif SURROGATE.search(text):
            reason = "the text has an unpaired surrogate"
            errors.add(path, place, reason, row=row)
        else:
            yield Input(text, path, place, row)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _shorten(source: str) -> str:
    return source if len(source) <= LONGEST_SOURCE else f"{source[:LONGEST_SOURCE]}..."
