"""Span getter for transformers that read one sentence at a time."""

from collections.abc import Callable, Iterable
from functools import partial

from spacy.tokens import Doc, Span
from spacy_transformers import registry

from ..graph.spans import sentences


# spacy-transformers adds this registry to spaCy's own ones.
@registry.span_getters("spacy_sdp.sentence_spans.v1")  # type: ignore[attr-defined]
def make_sentence_spans(
    window: int = 128, stride: int = 96
) -> Callable[[Iterable[Doc]], list[list[Span]]]:
    """Create a span getter that lets a transformer read one sentence at a time.

    Parsers are mostly trained on single sentences. With fixed windows, the transformer
    would see the neighbours of a sentence in running text, which it has not seen in
    training, and accuracy would drop. A component before the transformer must set
    sentence boundaries. Without boundaries, the whole Doc is one sentence.

    window (int): Maximum number of tokens that are read at a time.
    stride (int): Distance between the starts of two windows in a long sentence, which
        overlap if it is smaller than `window`.
    """
    if not 0 < stride <= window:
        raise ValueError(
            "The setting 'stride' must be between 1 and 'window', so that no token is "
            f"left out, not {stride} with a window of {window}."
        )
    return partial(get_sentence_spans, window=window, stride=stride)


def get_sentence_spans(
    docs: Iterable[Doc], window: int, stride: int
) -> list[list[Span]]:
    """Get the sentences of each Doc, and split long sentences into windows.

    docs (Iterable[Doc]): The documents.
    window (int): Maximum number of tokens in a span.
    stride (int): Distance between the starts of two spans of a sentence.
    RETURNS (List[List[Span]]): The spans of each Doc.
    """
    return [
        [span for found in sentences(doc) for span in _windows(found, window, stride)]
        for doc in docs
    ]


def _windows(sentence: Span, window: int, stride: int) -> list[Span]:
    last = max(0, len(sentence) - window)
    starts = range(0, last + stride, stride)
    return [sentence[start : start + window] for start in starts]
