"""Reading and writing semantic graphs, one file a format.

Each format has `read(path)`, which yields sentences one by one, and
`write(sentences, path)`, which writes all or nothing. The functions here choose the
format by the suffix of the file's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..extensions import DEFAULT_ATTR
from . import docbin, sdp
from .files import FormatError
from .sentence import Sentence

SUFFIXES = (".sdp", ".spacy")


def read(path: Path | str, attr: str = DEFAULT_ATTR) -> Iterator[Sentence]:
    """Yield the sentences of a file.

    path (Path): The file; its suffix tells the format.
    attr (str): For `.spacy` files, the attribute with the graphs.
    YIELDS (Sentence): The sentences.
    """
    if _suffix(path) == ".spacy":
        return docbin.read(path, attr)
    return sdp.read(path)


def write(
    sentences: Iterable[Sentence], path: Path | str, attr: str = DEFAULT_ATTR
) -> None:
    """Write sentences to a file, all or nothing.

    sentences (Iterable[Sentence]): The sentences.
    path (Path): The file; its suffix tells the format.
    attr (str): For `.spacy` files, the attribute for the graphs.
    """
    if _suffix(path) == ".spacy":
        docbin.write(sentences, path, attr)
    else:
        sdp.write(sentences, path)


def _suffix(path: Path | str) -> str:
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise FormatError(
            f"unknown format {suffix!r}; the name has to end in "
            f"{' or '.join(SUFFIXES)}",
            path,
        )
    return suffix


__all__ = ["FormatError", "Sentence", "read", "write"]
