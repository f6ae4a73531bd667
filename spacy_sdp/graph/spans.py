"""The sentences of a Doc, also where nobody has found any."""

from __future__ import annotations

from spacy.tokens import Doc, Span


def sentences(doc: Doc) -> list[Span]:
    """Give the sentences of a Doc; without boundaries, the whole Doc is one.

    doc (Doc): The document.
    RETURNS (List[Span]): The sentences.
    """
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]


def sentence_numbers(doc: Doc) -> list[int]:
    """Give the number of the sentence that each token is in.

    doc (Doc): The document.
    RETURNS (List[int]): The numbers; all 0 if the Doc has no sentence boundaries.
    """
    numbers = [0] * len(doc)
    for number, sentence in enumerate(sentences(doc)):
        numbers[sentence.start : sentence.end] = [number] * len(sentence)
    return numbers
