import pytest
from spacy.tokens import Doc
from spacy_transformers.util import registry

from spacy_sdp.model.span_getter import make_sentence_spans


def test_spans_are_sentences_and_the_windows_of_long_ones(nlp):
    starts = [i in (0, 2, 9) for i in range(11)]
    doc = Doc(nlp.vocab, words=list("abcdefghijk"), sent_starts=starts)
    get_spans = make_sentence_spans(window=4, stride=3)
    ((first, *windows, last),) = get_spans([doc])
    assert (first.start, first.end) == (0, 2)
    assert [(span.start, span.end) for span in windows] == [(2, 6), (5, 9)]
    assert (last.start, last.end) == (9, 11)


def test_a_doc_without_boundaries_is_one_span(nlp):
    get_spans = registry.span_getters.get("spacy_sdp.sentence_spans.v1")()
    doc = nlp("One sentence. And another.")
    assert get_spans([doc, nlp("")]) == [[doc[:]], []]


def test_no_token_may_fall_between_two_windows():
    with pytest.raises(ValueError, match=r"'stride'.* not 5 with a window of 4\."):
        make_sentence_spans(window=4, stride=5)
