"""Other spellings of the same training data."""

import random

import pytest
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_sdp.formats import Record, docbin
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.training.augmenter import make_spelling_augmenter, respell
from spacy_sdp.training.corpus import make_corpus

TEXT = "She said: \"It's <math/> -- or isn't it...\" ('So what?') - five-year plan"


@pytest.fixture
def doc(nlp):
    words = [token.text for token in nlp.make_doc(TEXT.replace("<math/>", "MATH"))]
    words = ["<math/>" if word == "MATH" else word for word in words]
    sentence = Record(
        words=words,
        text=TEXT,
        arcs=[(1, 0, "ARG1")],
        tops=[1],
        tags=[f"T{i}" for i in range(len(words))],
        heads=[1, -1] + [1] * (len(words) - 2),
        deps=["nsubj", "root"] + ["dep"] * (len(words) - 2),
    )
    return to_doc([sentence], nlp.vocab)


def test_spellings_are_those_that_people_use(doc):
    random.seed(0)
    texts = {" ".join(respell(doc)) for _ in range(200)}
    assert len(texts) > 50
    for text in texts:
        assert "<math/>" not in text and "five - year" in text
    for piece in ('"', "“", "``", " — ", " -- ", "…", "...", "’s", "'s", "‘ So"):  # noqa: RUF001
        assert any(piece in text for text in texts), piece
    # Quotes come in pairs of one kind.
    assert all(("“" in text) == ("”" in text) for text in texts)


def test_annotation_stays_what_it_is(nlp, doc):
    random.seed(0)
    augment = make_spelling_augmenter(level=1.0)
    (example,) = augment(nlp, Example(nlp.make_doc(doc.text), doc))
    new = example.reference
    assert new.text != doc.text and len(new) == len(doc)
    assert [token.tag_ for token in new] == [token.tag_ for token in doc]
    assert [token.head.i for token in new] == [token.head.i for token in doc]
    assert next(iter(new.sents)).text == new.text
    assert new._.sdp.indexed_arcs == doc._.sdp.indexed_arcs
    assert example.predicted.text == new.text


def test_nothing_is_lost_for_other_components(nlp):
    doc = nlp('"Ann sleeps"')
    doc.ents = [Span(doc, 1, 2, "PERSON")]
    doc.spans["verbs"] = [Span(doc, 2, 3, "VERB")]
    doc.cats = {"short": 1.0}
    augment = make_spelling_augmenter(level=1.0)
    (example,) = augment(nlp, Example(nlp.make_doc(doc.text), doc))
    new = example.reference
    assert [(span.text, span.label_) for span in new.ents] == [("Ann", "PERSON")]
    assert [(span.text, span.label_) for span in new.spans["verbs"]] == [
        ("sleeps", "VERB")
    ]
    assert new.cats == {"short": 1.0}


def test_a_doc_with_nothing_but_a_graph(nlp):
    doc = nlp("Dogs bark.")
    doc._.sdp = [(1, 0, "AGENT")]
    augment = make_spelling_augmenter(level=1.0)
    (example,) = augment(nlp, Example(nlp.make_doc(doc.text), doc))
    assert example.reference._.sdp.indexed_arcs == doc._.sdp.indexed_arcs


def test_quotes_with_a_direction_keep_it(nlp):
    words = ["Go", ",", "''", "she", "said", ".", "``", "Now", ".", "''"]
    random.seed(0)
    texts = {" ".join(respell(Doc(nlp.vocab, words=words))) for _ in range(30)}
    assert texts == {
        "Go , '' she said . `` Now . ''",
        "Go , ” she said . “ Now . ”",
        'Go , " she said . " Now . "',
    }


def test_gold_tokens_stay_gold_tokens_and_get_their_tags(nlp, doc, tmp_path):
    docbin.write_docs([doc], tmp_path / "one.spacy")
    random.seed(0)
    corpus = make_corpus(
        tmp_path,
        copy_attrs=["TAG"],
        gold_tokens=True,
        augmenter=make_spelling_augmenter(level=1.0),
    )
    (example,) = corpus(nlp)
    predicted = example.predicted
    assert predicted.text == example.reference.text != doc.text
    assert [token.tag_ for token in predicted] == [token.tag_ for token in doc]


def test_the_level_is_the_share_of_changed_texts(nlp, doc):
    example = Example(nlp.make_doc(doc.text), doc)
    assert list(make_spelling_augmenter(level=0.0)(nlp, example)) == [example]
    with pytest.raises(ValueError, match="'level' must be between 0 and 1, not 2"):
        make_spelling_augmenter(level=2)
