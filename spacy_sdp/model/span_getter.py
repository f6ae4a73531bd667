"""What a transformer sees at a time."""

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
    """Have a transformer read sentence by sentence.

    A parser is mostly trained on single sentences. With a fixed window it would see
    them together with their neighbours in a text, where it has never seen any, and so
    find less. A component before the transformer has to find the sentences; without
    boundaries, the whole Doc is one.

    window (int): Tokens of a sentence that are read at a time, at the most.
    stride (int): How many tokens later the next window begins; those in between are
        read twice.
    """
    if not 0 < stride <= window:
        raise ValueError(
            "The setting 'stride' has to be from 1 to 'window', so that no token is "
            f"left out, not {stride} with a window of {window}."
        )
    return partial(get_sentence_spans, window=window, stride=stride)


def get_sentence_spans(
    docs: Iterable[Doc], window: int, stride: int
) -> list[list[Span]]:
    """Give the sentences of each Doc, and the windows of those that are longer.

    docs (Iterable[Doc]): The documents.
    window (int): Tokens of a span, at the most.
    stride (int): How many tokens later the next span of a sentence begins.
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
