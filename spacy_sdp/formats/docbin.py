"""spaCy's `.spacy` files, with the graphs in the Docs' user data."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from srsly.msgpack import Packer

from ..graph.extensions import DEFAULT_ATTR, storage_key
from ..graph.graph import SemanticGraph
from ..graph.record import Record, documents
from .bridge import from_doc, to_doc
from .files import (
    LONGEST_REASON,
    FormatError,
    atomic_write,
    check_unpacked,
    open_input,
)

# Bytes that are unpacked at a time.
PIECE = 2**20

# The key of Doc._.trf_data in the user data.
TRF_DATA = ("._.", "trf_data", None, None)


def read(path: Path | str, attr: str = DEFAULT_ATTR) -> Iterator[Record]:
    """Yield the sentences of all Docs of a `.spacy` file.

    path (Path): The file.
    attr (str): The attribute with the graphs.
    YIELDS (Record): The sentences.
    """
    for number, doc in enumerate(read_docs(path), start=1):
        yield from to_sentences(doc, attr, path, number)


def to_sentences(doc: Doc, attr: str, path: Path | str, number: int) -> list[Record]:
    """Give the sentences of a Doc of a `.spacy` file.

    doc (Doc): The Doc.
    attr (str): The attribute with the graph.
    path (Path): The file, for errors.
    number (int): The number of the Doc in it, for errors.
    RETURNS (List[Record]): The sentences.
    """
    try:
        stored = doc.user_data.get(storage_key(attr))  # type: ignore[call-overload]
        if stored is not None:
            SemanticGraph.from_dict(doc, stored)
        return list(from_doc(doc, attr))
    except FormatError as error:
        raise FormatError(f"Doc {number}: {error.reason}", path) from None
    except Exception as error:
        # The user data of a file can be anything.
        raise FormatError(
            f"Doc {number}: what is stored for Doc._.{attr} is no graph "
            f"({_quote(error)})",
            path,
        ) from None


def _quote(error: Exception) -> str:
    """Say what an error says; what it quotes may be all that was unpacked."""
    text = str(error)[:LONGEST_REASON]
    return text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"


def read_docs(path: Path | str, vocab: Vocab | None = None) -> Iterator[Doc]:
    """Yield the Docs of a `.spacy` file.

    path (Path): The file.
    vocab (Optional[Vocab]): The vocabulary of the Docs; without it, an own one.
    YIELDS (Doc): The Docs.
    """
    with open_input(path) as file:
        data = _read_packed(file, path)
    try:
        doc_bin = DocBin().from_bytes(data)
        yield from doc_bin.get_docs(vocab or Vocab())
    except Exception as error:
        # Whatever broke in unpacking depends on where the file is broken.
        raise _broken(error, path) from None


def _read_packed(file: BinaryIO, path: Path | str) -> bytes:
    """Read what is compressed; refuse what is not, or would fill the memory."""
    unpacker = zlib.decompressobj()
    pieces: list[bytes] = []
    unpacked = packed = 0
    try:
        while not unpacker.eof and (piece := file.read(PIECE)):
            pieces.append(piece)
            packed += len(piece)
            while piece:
                unpacked += len(unpacker.decompress(piece, PIECE))
                # Empty blocks unpack to nothing, however many there are.
                check_unpacked(max(packed, unpacked), path)
                piece = unpacker.unconsumed_tail
    except zlib.error as error:
        raise _broken(error, path) from None
    return b"".join(pieces)


def _broken(error: Exception, path: Path | str) -> FormatError:
    return FormatError(f"not a .spacy file, or a broken one ({_quote(error)})", path)


def write(
    sentences: Iterable[Record], path: Path | str, attr: str = DEFAULT_ATTR
) -> None:
    """Write sentences as a `.spacy` file, one Doc for each document.

    sentences (Iterable[Record]): The sentences.
    path (Path): The file; an existing one is replaced when all is written.
    attr (str): The attribute for the graphs.
    """
    write_docs(_to_docs(sentences, path, attr), path)


def _to_docs(sentences: Iterable[Record], path: Path | str, attr: str) -> Iterator[Doc]:
    vocab = Vocab()
    for document in documents(sentences):
        try:
            doc = to_doc(document, vocab, attr)
        except FormatError as error:
            reason = f"sentence {document[0].id}: {error.reason}"
            raise FormatError(reason, path) from None
        yield doc


def write_docs(docs: Iterable[Doc], path: Path | str) -> None:
    """Write Docs as a `.spacy` file, with all they have but a transformer's output.

    docs (Iterable[Doc]): The Docs.
    path (Path): The file; an existing one is replaced when all is written.
    """
    data = to_bytes(docs)
    with atomic_write(path) as file:
        file.write(data)


def to_bytes(docs: Iterable[Doc]) -> bytes:
    """Give what `write_docs` writes.

    docs (Iterable[Doc]): The Docs.
    RETURNS (bytes): What `DocBin.from_bytes` reads.
    """
    # What DocBin(store_user_data=True) does, but with one packer for all Docs: each
    # new one looks for its extensions anew, which takes longer than to pack a Doc.
    doc_bin = DocBin()
    packer = Packer(use_bin_type=True)
    for doc in docs:
        doc_bin.add(doc)
        # A transformer leaves kilobytes for each word, which nobody reads from a file.
        data = {key: doc.user_data[key] for key in doc.user_data if key != TRF_DATA}
        doc_bin.user_data.append(packer.pack(data))
    doc_bin.store_user_data = True
    return doc_bin.to_bytes()
