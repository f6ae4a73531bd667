"""spaCy's `.spacy` files, with the graphs in the Docs' user data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from ..extensions import DEFAULT_ATTR
from .files import FormatError, atomic_write, open_input
from .sentence import Sentence, documents, to_doc


def read(path: Path | str, attr: str = DEFAULT_ATTR) -> Iterator[Sentence]:
    """Yield the sentences of all Docs of a `.spacy` file.

    path (Path): The file.
    attr (str): The attribute with the graphs.
    YIELDS (Sentence): The sentences.
    """
    with open_input(path) as file:
        data = file.read()
    try:
        doc_bin = DocBin().from_bytes(data)
    except Exception as error:
        # Whatever broke in unpacking depends on where the file is broken.
        raise FormatError(
            f"not a .spacy file, or a broken one ({error})", path
        ) from None
    for number, doc in enumerate(doc_bin.get_docs(Vocab()), start=1):
        try:
            yield from Sentence.from_doc(doc, attr)
        except FormatError as error:
            raise FormatError(f"Doc {number}: {error.reason}", path) from None


def write(
    sentences: Iterable[Sentence], path: Path | str, attr: str = DEFAULT_ATTR
) -> None:
    """Write sentences as a `.spacy` file, one Doc for each document.

    sentences (Iterable[Sentence]): The sentences.
    path (Path): The file; an existing one is replaced when all is written.
    attr (str): The attribute for the graphs.
    """
    vocab = Vocab()
    doc_bin = DocBin(store_user_data=True)
    for document in documents(sentences):
        doc_bin.add(to_doc(document, vocab, attr))
    with atomic_write(path) as file:
        file.write(doc_bin.to_bytes())
