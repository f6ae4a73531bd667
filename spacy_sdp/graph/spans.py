"""Sentences of a Doc, with a fallback for Docs without sentence boundaries."""

from __future__ import annotations

from spacy.tokens import Doc, Span


def sentences(doc: Doc) -> list[Span]:
    """Get the sentences of a Doc, or the whole Doc if it has no boundaries.

    doc (Doc): The document.
    RETURNS (List[Span]): The sentences.
    """
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]


def sentence_of(doc: Doc, i: int) -> Span:
    """Get the sentence of a token, or the whole Doc if it has no boundaries.

    doc (Doc): The document.
    i (int): The index of the token.
    RETURNS (Span): The sentence.
    """
    return doc[i].sent if doc.has_annotation("SENT_START") else doc[:]


def sentence_numbers(doc: Doc) -> list[int]:
    """Get the sentence number of each token.

    doc (Doc): The document.
    RETURNS (List[int]): The numbers; all 0 if the Doc has no sentence boundaries.
    """
    numbers = [0] * len(doc)
    for number, sentence in enumerate(sentences(doc)):
        numbers[sentence.start : sentence.end] = [number] * len(sentence)
    return numbers
