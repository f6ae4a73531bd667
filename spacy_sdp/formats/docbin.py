"""spaCy's `.spacy` files, with graphs in the user data of Docs."""

from __future__ import annotations

import gc
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import srsly
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
    max_unpacked,
    open_input,
)

# Number of bytes to unpack at a time.
PIECE = 2**20

# Memory of a value of msgpack, and of a string, a Doc or a token, in bytes. These are
# upper bounds, as most values take less.
VALUE_SIZE = 100
OBJECT_SIZE = 400
# The values of shorter data fit into memory, whatever they are.
SHORT_DATA = 2**16

# Codes of msgpack: the size of numbers and extensions of fixed size, and the size of
# the length of strings, bytes, extensions, arrays and maps.
FIXED_SIZES = {0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2}
FIXED_SIZES |= {0xD2: 4, 0xD3: 8, 0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17}
LENGTH_SIZES = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2}
LENGTH_SIZES |= {0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}

# What msgpack raises for values of unknown types, invalid strings and large numbers.
PACKING_ERRORS = (TypeError, ValueError, OverflowError)
# Number of characters of a text to quote in errors.
LONGEST_QUOTE = 40

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
    if text and isinstance(error, ValueError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def read_docs(path: Path | str, vocab: Vocab | None = None) -> Iterator[Doc]:
    """Read the Docs of a `.spacy` file.

    path (Path): The file.
    vocab (Optional[Vocab]): The vocabulary of the Docs. Defaults to a new one.
    YIELDS (Doc): The Docs.
    """
    with open_input(path) as file:
        data = _read_packed(file, path)
    collects_garbage = gc.isenabled()
    try:
        _check_objects(zlib.decompress(data), path)
        doc_bin = DocBin().from_bytes(data)
        yield from doc_bin.get_docs(vocab or Vocab())
    except FormatError:
        raise
    except Exception as error:
        # The type of the error depends on where the file is broken.
        raise _broken(error, path) from None
    finally:
        # After an error, srsly leaves garbage collection disabled.
        if collects_garbage:
            gc.enable()


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


def _check_objects(data: bytes, path: Path | str) -> None:
    """Raise an error if the objects in unpacked data would exceed the memory limit."""
    check_unpacked(VALUE_SIZE * _count_values(data), path)
    content = srsly.msgpack_loads(data)
    lengths = np.frombuffer(content["lengths"], dtype="int32")
    if len(lengths) != len(content["cats"]):
        raise ValueError(f"{len(lengths)} lengths for {len(content['cats'])} Docs")
    objects = len(content["strings"]) + len(lengths) + int(lengths.max(initial=0))
    check_unpacked(OBJECT_SIZE * objects, path)
    # Docs are unpacked one after the other.
    for name in ("span_groups", "user_data"):
        for packed in content.get(name, ()):
            if packed is not None and len(packed) > SHORT_DATA:
                check_unpacked(VALUE_SIZE * _count_values(packed), path)


def _count_values(data: bytes) -> int:
    """Count the values in msgpack data, without unpacking them.

    Headers of containers count, not values, because memory for all values of a
    container is allocated at once, whether they follow or not.
    """
    most = max_unpacked() // VALUE_SIZE
    count, seen, position = 1, 0, 0
    while seen < count <= most and position < len(data):
        code = data[position]
        seen += 1
        position += 1
        if 0x80 <= code <= 0x8F:
            count += 2 * (code & 0x0F)
        elif 0x90 <= code <= 0x9F:
            count += code & 0x0F
        elif 0xA0 <= code <= 0xBF:
            position += code & 0x1F
        elif code in FIXED_SIZES:
            position += FIXED_SIZES[code]
        elif code in LENGTH_SIZES:
            end = position + LENGTH_SIZES[code]
            length = int.from_bytes(data[position:end], "big")
            position = end
            if code >= 0xDC:
                count += length if code <= 0xDD else 2 * length
            else:
                # Extensions have a type in addition to their data.
                position += length + (0xC7 <= code <= 0xC9)
    return count


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
        try:
            packed = packer.pack(data)
        except PACKING_ERRORS as error:
            raise ValueError(_explain(error, doc, data)) from None
        doc_bin.user_data.append(packed)
    doc_bin.store_user_data = True
    return doc_bin.to_bytes()


def _explain(error: Exception, doc: Doc, data: dict[Any, Any]) -> str:
    """Explain why the user data of a Doc cannot be packed."""
    keys = (key for key, value in data.items() if not _can_be_packed(key, value))
    name = "".join(f"user_data[{key!r}]" for key in islice(keys, 1)) or "user_data"
    return (
        f"Doc {doc.text[:LONGEST_QUOTE]!r}: {name} cannot be serialized ("
        f"{_quote(error)}). Add a component to the end of the pipeline that deletes "
        "it, or store only numbers, strings and lists in it."
    )


def _can_be_packed(key: Any, value: Any) -> bool:
    try:
        Packer(use_bin_type=True).pack({key: value})
    except PACKING_ERRORS:
        return False
    return True
