"""spaCy's `.spacy` files, with graphs in the user data of Docs."""

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

# Number of bytes to unpack at a time.
PIECE = 2**20

# The key of Doc._.trf_data in the user data.
TRF_DATA = ("._.", "trf_data", None, None)


def read(path: Path | str, attr: str = DEFAULT_ATTR) -> Iterator[Record]:
    """Read the sentences of all Docs in a `.spacy` file.

    path (Path): The file.
    attr (str): The attribute with the graphs.
    YIELDS (Record): The sentences.
    """
    for number, doc in enumerate(read_docs(path), start=1):
        yield from to_sentences(doc, attr, path, number)


def to_sentences(doc: Doc, attr: str, path: Path | str, number: int) -> list[Record]:
    """Get the sentences of a Doc from a `.spacy` file.

    doc (Doc): The Doc.
    attr (str): The attribute with the graph.
    path (Path): The file, for errors.
    number (int): The number of the Doc in the file, for errors.
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
        # The user data in a file can be anything.
        raise FormatError(
            f"Doc {number}: the value of Doc._.{attr} is not a graph ({_quote(error)})",
            path,
        ) from None


def _quote(error: Exception) -> str:
    """Get the message of an error, shortened because it may quote the whole file."""
    text = str(error)[:LONGEST_REASON]
    return text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"


def read_docs(path: Path | str, vocab: Vocab | None = None) -> Iterator[Doc]:
    """Read the Docs of a `.spacy` file.

    path (Path): The file.
    vocab (Optional[Vocab]): The vocabulary of the Docs. Defaults to a new one.
    YIELDS (Doc): The Docs.
    """
    with open_input(path) as file:
        data = _read_packed(file, path)
    try:
        doc_bin = DocBin().from_bytes(data)
        yield from doc_bin.get_docs(vocab or Vocab())
    except Exception as error:
        # The type of the error depends on where the file is broken.
        raise _broken(error, path) from None


def _read_packed(file: BinaryIO, path: Path | str) -> bytes:
    """Read compressed data, unless it is invalid or would exceed the memory limit."""
    unpacker = zlib.decompressobj()
    pieces: list[bytes] = []
    unpacked = packed = 0
    try:
        while not unpacker.eof and (piece := file.read(PIECE)):
            pieces.append(piece)
            packed += len(piece)
            while piece:
                unpacked += len(unpacker.decompress(piece, PIECE))
                # Empty blocks unpack to nothing, so limit the packed size as well.
                check_unpacked(max(packed, unpacked), path)
                piece = unpacker.unconsumed_tail
    except zlib.error as error:
        raise _broken(error, path) from None
    return b"".join(pieces)


def _broken(error: Exception, path: Path | str) -> FormatError:
    return FormatError(f"not a valid .spacy file ({_quote(error)})", path)


def write(
    sentences: Iterable[Record], path: Path | str, attr: str = DEFAULT_ATTR
) -> None:
    """Write sentences as a `.spacy` file, one Doc for each document.

    sentences (Iterable[Record]): The sentences.
    path (Path): The file. An existing file is only replaced on success.
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
    """Write Docs as a `.spacy` file, without the output of a transformer.

    docs (Iterable[Doc]): The Docs.
    path (Path): The file. An existing file is only replaced on success.
    """
    data = to_bytes(docs)
    with atomic_write(path) as file:
        file.write(data)


def to_bytes(docs: Iterable[Doc]) -> bytes:
    """Serialize Docs as `write_docs` does.

    docs (Iterable[Doc]): The Docs.
    RETURNS (bytes): The serialized Docs, which `DocBin.from_bytes` can read.
    """
    # Same as DocBin(store_user_data=True), but with one packer for all Docs. Creating
    # a packer looks up its extensions, which takes longer than packing a Doc.
    doc_bin = DocBin()
    packer = Packer(use_bin_type=True)
    for doc in docs:
        doc_bin.add(doc)
        # Transformer output takes kilobytes for each word and is not needed in files.
        data = {key: doc.user_data[key] for key in doc.user_data if key != TRF_DATA}
        doc_bin.user_data.append(packer.pack(data))
    doc_bin.store_user_data = True
    return doc_bin.to_bytes()
