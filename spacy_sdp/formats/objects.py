"""Shared code of the formats with a JSON object on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..graph.record import Record
from .files import FormatError, read_lines

JsonObject = dict[str, Any]
# JSON can have unpaired surrogates and NUL bytes, which cannot be written to files.
INVALID = re.compile("[\0\ud800-\udfff]")


def read_objects(path: Path | str, expected: str) -> Iterator[tuple[int, JsonObject]]:
    """Read the objects of a file with their line numbers. Blank lines are skipped.

    path (Path): The file.
    expected (str): What an object looks like, for errors.
    YIELDS (Tuple[int, Dict[str, Any]]): The line number and the object.
    """
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            loaded = json.loads(line)
        except RecursionError:
            reason = "the JSON is nested too deeply"
            raise FormatError(reason, path, number) from None
        except ValueError as error:
            reason = f"not valid JSON ({error}); expected one object per line"
            raise FormatError(reason, path, number) from None
        if not isinstance(loaded, dict):
            raise FormatError(f"not an object; expected {expected}", path, number)
        yield number, loaded


def get_objects(parent: JsonObject, key: str) -> list[JsonObject]:
    """Get a list of objects. A missing key is an empty list."""
    objects = parent.get(key) or []
    if not isinstance(objects, list) or not all(isinstance(o, dict) for o in objects):
        raise FormatError(f"'{key}' must be a list of objects")
    return objects


def check_string(value: Any, key: str) -> str:
    """Raise an error unless a value is a string that can be written to a file."""
    if not isinstance(value, str) or INVALID.search(value):
        raise FormatError(
            f"'{key}' must be a string of valid characters, not {value!r}"
        )
    return value


def check_sentence(sentence: Record) -> None:
    """Raise an error for strings that could be written, but not read again."""
    strings = [sentence.id, sentence.text, *sentence.words, *sentence.tags]
    strings += [*sentence.lemmas, *(label for *_, label in sentence.arcs)]
    for string in strings:
        if string is not None and INVALID.search(string):
            raise FormatError(f"{string!r} has a character that is not text")
    for word in sentence.words:
        if word != word.strip():
            raise FormatError(f"the word {word!r} begins or ends with whitespace")
