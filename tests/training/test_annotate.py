import math

import pytest
from spacy.tokens import Doc
from util import add_parser, train

from spacy_sdp import SemanticGraph
from spacy_sdp.training.annotate import annotate, confidence


@pytest.fixture
def trained(nlp, examples):
    nlp.add_pipe("sentencizer")
    add_parser(nlp, examples)
    train(nlp, examples[:8], steps=20)
    return nlp


TEXTS = ["The shy cat wants to eat. It rains. Hm.", "Colorless green ideas sleep."]


def test_the_most_confident_sentences_are_kept(trained):
    everything = annotate(trained, TEXTS, share=1)
    assert {doc.text.strip() for doc in everything.docs} == {
        "The shy cat wants to eat.",
        "It rains.",
        "Colorless green ideas sleep.",
    }
    assert (everything.wrong_length, everything.unsure) == (1, 0)
    scores = [confidence(doc) for doc in everything.docs]
    assert scores == sorted(scores, reverse=True)
    half = annotate(trained, TEXTS, share=0.7)
    assert [each.text for each in half.docs] == [
        each.text for each in everything.docs[:2]
    ]
    assert half.unsure == 1


def test_long_sentences_are_left_out(trained):
    found = annotate(trained, TEXTS, share=1, max_length=6)
    assert (len(found.docs), found.wrong_length) == (2, 2)


def test_sentences_are_not_repeated_nor_taken_from_the_test_data(trained):
    held_out = [["It", "RAI", "NS", "."]]
    found = annotate(trained, [*TEXTS, TEXTS[1].upper()], share=1, held_out=held_out)
    assert {doc.text.strip() for doc in found.docs} == {
        "The shy cat wants to eat.",
        "Colorless green ideas sleep.",
    }
    assert (found.repeated, found.wrong_length) == (2, 1)


def test_docs_keep_their_tokens_and_sentences(trained):
    doc = Doc(trained.vocab, words=["It", "rains", ".", "It", "rai", "ns"])
    for token in doc:
        token.is_sent_start = token.i == 0
    (kept,) = annotate(trained, [doc], share=1).docs
    assert [token.text for token in kept] == [token.text for token in doc]


def test_confidence_is_the_mean_log_probability(cat):
    data = {"arcs": [[0, 2, "BV", 0.5], [1, 2, "ARG1", 0.25]], "tops": []}
    cat._.sdp = SemanticGraph.from_dict(cat, data)
    assert confidence(cat) == pytest.approx((math.log(0.5) + math.log(0.25)) / 2)
    cat._.sdp = []
    assert confidence(cat) == -math.inf
