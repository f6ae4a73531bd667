"""The texts that are to be parsed, from arguments, files and standard input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from .. import formats
from ..formats import FormatError, docbin
from ..formats.files import STANDARD_STREAM, read_lines

SUFFIXES = {".txt": "text", ".jsonl": "jsonl", ".spacy": "spacy"}
# Halves of pairs, which JSON can have, but UTF-8 cannot.
SURROGATE = re.compile("[\\ud800-\\udfff]")
INPUT_FORMATS = ("text", "lines", "jsonl", "spacy")

# A text, or a Doc whose tokens are to be kept, and what else is known of it.
Input = tuple[str | Doc, dict[str, Any]]


def read_inputs(
    arguments: list[str], format: str | None, vocab: Vocab
) -> Iterator[Input]:
    """Yield the texts of a command line.

    arguments (List[str]): Texts, names of files, or `-` for standard input.
    format (Optional[str]): One of INPUT_FORMATS for all files; without it, the suffix
        tells, and what has none is plain text.
    vocab (Vocab): The vocabulary of Docs.
    YIELDS (Tuple[str | Doc, Dict[str, Any]]): The texts.
    """
    for argument in arguments:
        if is_file(argument):
            yield from _read_file(argument, format, vocab)
        else:
            yield argument, {}


def is_file(argument: str) -> bool:
    """Tell whether an argument is a file to read, and not a text.

    A word that ends like a file's name is one, too, so that a mistyped name is an
    error, and not a strange sentence.
    """
    if argument == STANDARD_STREAM:
        return True
    suffix = Path(argument).suffix.lower()
    if len(argument.split()) == 1 and suffix in (*SUFFIXES, *formats.SUFFIXES):
        return True
    try:
        return bool(argument) and Path(argument).exists()
    except (OSError, ValueError):
        # A text may be longer than the name of a file, or have a NUL.
        return False


def _read_file(path: str, format: str | None, vocab: Vocab) -> Iterator[Input]:
    suffix = Path(path).suffix.lower()
    if format is None and suffix in formats.SUFFIXES and suffix not in SUFFIXES:
        raise FormatError(
            "these are graphs, not texts: see sdp draw and sdp convert (or say what "
            "it is with --from)",
            path,
        )
    format = format or SUFFIXES.get(suffix, "text")
    if format == "spacy":
        return ((doc, {}) for doc in docbin.read_docs(path, vocab))
    if format == "jsonl":
        return _read_jsonl(path)
    if format == "lines":
        return ((line, {}) for _, line in read_lines(path) if line.strip())
    return _read_paragraphs(path)


def _read_paragraphs(path: str) -> Iterator[Input]:
    """Yield what stands between blank lines, whose line breaks mean nothing."""
    lines = (line for _, line in read_lines(path))
    for is_blank, block in groupby(lines, key=lambda line: not line.strip()):
        if not is_blank:
            yield " ".join(block), {}


def _read_jsonl(path: str) -> Iterator[Input]:
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not JSON ({error})", path, number) from None
        text = record.get("text") if isinstance(record, dict) else None
        if not isinstance(text, str):
            raise FormatError(
                'expected an object with a text, as in {"text": "..."}', path, number
            )
        if SURROGATE.search(text):
            raise FormatError("half of a surrogate pair is no character", path, number)
        yield text, record


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
