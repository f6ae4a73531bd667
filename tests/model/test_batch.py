import numpy
import pytest
import spacy
from spacy.tokens import Doc

from spacy_sdp.model.batch import Batch


@pytest.fixture
def docs():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    texts = ["Yes.", "", " \n ", "Dogs  bark. Old cats sleep now. No", "One two three"]
    return [nlp(text) for text in texts]


def test_sentences_are_words_without_whitespace_longest_first(docs):
    batch = Batch.from_docs(docs)
    words = [
        [docs[each.doc][int(i)].text for i in each.tokens] for each in batch.sentences
    ]
    assert words == [
        ["Old", "cats", "sleep", "now", "."],
        ["Dogs", "bark", "."],
        ["One", "two", "three"],
        ["Yes", "."],
        ["No"],
    ]
    assert batch.lengths == [5, 3, 3, 2, 1]
    assert batch.doc_lengths == [len(doc) for doc in docs]
    tokens = [token.text for doc in docs for token in doc]
    assert [tokens[row] for row in batch.word_rows] == [
        each for words_ in words for each in words_
    ]


def test_without_boundaries_a_doc_is_one_sentence():
    doc = Doc(spacy.blank("en").vocab, words=["a", ".", "b", "."])
    assert Batch.from_docs([doc]).lengths == [4]


def test_every_arc_can_be_located(docs):
    batch = Batch.from_docs(docs)
    rows = numpy.arange(batch.arc_offsets[-1])
    expected = [
        (each.doc, head, dep)
        for each in batch.sentences
        for head in [-1, *each.tokens.tolist()]
        for dep in each.tokens.tolist()
    ]
    assert batch.locate(rows) == expected
    assert batch.locate(rows[[3, 1]]) == [expected[3], expected[1]]


def test_batches_without_words(docs):
    for empty in ([], docs[1:3]):
        batch = Batch.from_docs(empty)
        assert batch.sentences == [] and batch.lengths == []
        assert len(batch.word_rows) == 0 and batch.arc_offsets.tolist() == [0]
        assert batch.locate(numpy.empty(0, dtype="int64")) == []
