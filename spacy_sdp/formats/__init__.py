"""Reading and writing of semantic graphs, with one module for each format.

Each format has `read(path)`, which yields sentences one by one, and
`write(sentences, path)`, which writes either all sentences or none. The functions
here select the format by name, or else by file suffix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from ..graph.extensions import DEFAULT_ATTR
from ..graph.record import Record
from . import conllu, docbin, jsonl, mrp, prodigy, sdp, semeval2016
from .erg import profile as erg
from .files import STANDARD_STREAM, FormatError

FORMATS: dict[str, ModuleType] = {
    "sdp": sdp,
    "conllu": conllu,
    "mrp": mrp,
    "semeval2016": semeval2016,
    "erg": erg,
    "jsonl": jsonl,
    "prodigy": prodigy,
    "spacy": docbin,
}
SUFFIXES = {
    ".sdp": "sdp",
    ".conllu": "conllu",
    ".mrp": "mrp",
    ".conll": "semeval2016",
    ".jsonl": "jsonl",
    ".spacy": "spacy",
}


def read(
    path: Path | str,
    attr: str = DEFAULT_ATTR,
    format: str | None = None,
    left_out: Counter[str] | None = None,
) -> Iterator[Record]:
    """Read the sentences of a file.

    path (Path): The file, `-` for standard input, or the folder of an ERG profile.
    attr (str): For `.spacy` and `.jsonl` files, the attribute with the graphs.
    format (Optional[str]): One of FORMATS. By default, the suffix decides.
    left_out (Counter[str]): Counts the sentences that are left out, by reason.
    YIELDS (Record): The sentences.
    """
    name = find_format(path, format)
    if name == "spacy":
        return docbin.read(path, attr)
    if name == "jsonl":
        return jsonl.read(path, attr, left_out)
    if name == "erg":
        return erg.read(path, left_out)
    if name == "prodigy":
        return prodigy.read(path, left_out)
    return FORMATS[name].read(path)


def write(
    sentences: Iterable[Record],
    path: Path | str,
    attr: str = DEFAULT_ATTR,
    format: str | None = None,
) -> None:
    """Write sentences to a file, either all of them or none.

    sentences (Iterable[Record]): The sentences.
    path (Path): The file, or `-` for standard output.
    attr (str): For `.spacy` and `.jsonl` files, the attribute for the graphs.
    format (Optional[str]): One of FORMATS. By default, the suffix decides.
    """
    name = find_format(path, format)
    if name == "erg":
        raise FormatError("ERG profiles can be read, but not written", path)
    if name == "spacy":
        docbin.write(sentences, path, attr)
    elif name == "jsonl":
        jsonl.write(sentences, path, attr)
    else:
        FORMATS[name].write(sentences, path)


def find_format(path: Path | str, format: str | None = None) -> str:
    """Find the format of a file.

    path (Path): The file.
    format (Optional[str]): The format, if it is known.
    RETURNS (str): One of FORMATS.
    """
    if format is not None:
        if format not in FORMATS:
            raise FormatError(
                f"unknown format {format!r}; choose one of {', '.join(FORMATS)}"
            )
        return format
    if str(path) == STANDARD_STREAM:
        raise FormatError(
            "standard input and output have no suffix: specify the format "
            f"({', '.join(FORMATS)})"
        )
    if erg.is_profile(path):
        return "erg"
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FormatError(
            f"unknown suffix {suffix!r}; use one of {', '.join(SUFFIXES)}, or specify "
            f"the format ({', '.join(FORMATS)})",
            path,
        )
    return SUFFIXES[suffix]


def find_files(path: Path | str, format: str | None = None) -> list[Path]:
    """Find the files in a folder and its subfolders that can be read.

    path (Path): The folder. A file, `-`, or an ERG profile is returned as it is.
    format (Optional[str]): Only find files of this format.
    RETURNS (List[Path]): The files, sorted.
    """
    path = Path(path)
    if str(path) == STANDARD_STREAM or not path.is_dir() or erg.is_profile(path):
        return [path]
    files = [
        each
        for each in sorted(path.rglob("*"))
        if (each.suffix.lower() in SUFFIXES and each.is_file()) or erg.is_profile(each)
    ]
    found = [each for each in files if format in (None, find_format(each))]
    if not found:
        raise FormatError(
            f"no file in this folder ends in {', '.join(SUFFIXES)}"
            if format is None
            else f"no file in this folder is of the format {format}",
            path,
        )
    return found


__all__ = [
    "FORMATS",
    "FormatError",
    "Record",
    "find_files",
    "find_format",
    "read",
    "write",
]
