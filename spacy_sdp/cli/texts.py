"""The texts that are to be parsed, from arguments, files and standard input."""

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
# Tables, which are no running text.
TABLES = (".csv", ".tsv")
# Halves of pairs, which JSON can have, but UTF-8 cannot.
SURROGATE = re.compile("[\\ud800-\\udfff]")
INPUT_FORMATS = ("text", "lines", "jsonl", "spacy")
TEXT_COLUMN = "text"
# Characters of a text, or of the name of a file, in a message.
LONGEST_SOURCE = 200


@dataclass
class Input:
    """A text that is to be parsed.

    text (str | Doc): The text, or a Doc whose tokens are to be kept.
    source (str): The argument that it is from.
    place (Dict[str, int]): Where it is in a file: the `line`, or the `doc`.
    row (Dict[str, Any]): What else is known of it.
    """

    text: str | Doc
    source: str
    place: dict[str, int] = field(default_factory=dict)
    row: dict[str, Any] = field(default_factory=dict)


class Errors:
    """What to do with texts that cannot be parsed: list them in a file, or stop."""

    def __init__(self, file: BinaryIO | None) -> None:
        """Make a list.

        file (Optional[BinaryIO]): Where to list them, as JSONL; None is to stop at the
            first one.
        """
        self.file = file
        self.count = 0

    def add(
        self, source: str, place: dict[str, int], reason: str, **row: dict[str, Any]
    ) -> None:
        """Add a text, or raise the error.

        source (str): The argument that it is from.
        place (Dict[str, int]): Where it is in a file: the `line`, or the `doc`.
        reason (str): Why it cannot be parsed.
        row (Dict[str, Any]): The `row` of the file, if it is JSON.
        """
        if self.file is None:
            if "doc" in place:
                reason = f"Doc {place['doc']}: {reason}"
            raise FormatError(reason, _shorten(source), place.get("line"))
        record = {"input": source, **place, "reason": reason, **row}
        # In ASCII, as half of a surrogate pair cannot be encoded.
        self.file.write(f"{json.dumps(record)}\n".encode())
        self.count += 1


@contextmanager
def list_errors(path: Path | None) -> Iterator[Errors]:
    """YIELDS (Errors): A list that is written to a file, if there is one."""
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
    """Yield the texts of a command line.

    arguments (List[str]): Texts, names of files, or `-` for standard input.
    format (Optional[str]): One of INPUT_FORMATS for all files; without it, the suffix
        tells, and what has none is plain text.
    vocab (Vocab): The vocabulary of Docs.
    text_column (str): The key of the text in JSONL.
    errors (Errors): Gets the rows and lines that have no text.
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
    """Tell whether an argument is a file to read, and not a text.

    A word that ends like a file's name is one, too, so that a mistyped name is an
    error, and not a strange sentence.
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
        # A text may be longer than the name of a file, or have a NUL.
        return False


def _find_format(path: str, format: str | None) -> str:
    suffix = Path(path).suffix.lower()
    if format is not None:
        return format
    if suffix in formats.SUFFIXES and suffix not in INPUT_FORMAT_OF_SUFFIX:
        raise FormatError(
            "these are graphs, not texts: see sdp draw and sdp convert (or say what "
            "it is with --from)",
            path,
        )
    if suffix in TABLES:
        raise FormatError(
            f"{suffix} files are not supported; convert it to JSONL, with an object "
            "for each row (see --text-column), or use --from text or --from lines if "
            "it is plain text",
            path,
        )
    return INPUT_FORMAT_OF_SUFFIX.get(suffix, "text")


def _read_paragraphs(path: str) -> Iterator[Input]:
    """Yield what stands between blank lines, whose line breaks mean nothing."""
    for block in read_blocks(path, is_blank=lambda line: not line.strip()):
        (first, *_), texts = zip(*block, strict=True)
        yield Input(" ".join(texts), path, {"line": first})


def _read_lines(path: str, errors: Errors) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, but for those that are no text."""
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
            reason = "half of a surrogate pair is no character"
            errors.add(path, place, reason, row=row)
        else:
            yield Input(text, path, place, row)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _shorten(source: str) -> str:
    return source if len(source) <= LONGEST_SOURCE else f"{source[:LONGEST_SOURCE]}..."
