"""Parsing of batches of texts, some of which may raise an error."""

from __future__ import annotations

from spacy.language import Language
from spacy.tokens import Doc

# A Doc, or the reason why the text could not be parsed.
Parsed = Doc | str


def parse_batch(nlp: Language, texts: list[str | Doc]) -> list[Parsed]:
    """Parse a batch. If it fails, parse text by text to find the cause.

    nlp (Language): The pipeline.
    texts (List[str | Doc]): The texts, or Docs with tokens to keep.
    RETURNS (List[Doc | str]): The Doc of each text, or the error of the pipeline.
    """
    try:
        return list(nlp.pipe(map(_copy, texts), batch_size=len(texts)))
    except Exception:
        return [_parse_alone(nlp, text) for text in texts]


def _parse_alone(nlp: Language, text: str | Doc) -> Parsed:
    try:
        return nlp(_copy(text))
    except Exception as error:
        return f"the pipeline failed ({type(error).__name__}: {error})"


def _copy(text: str | Doc) -> str | Doc:
    # If a pipeline fails, Docs may be partly annotated.
    return text.copy() if isinstance(text, Doc) else text
