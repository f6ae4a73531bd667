import pytest
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.augment import create_lower_casing_augmenter

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import Record, docbin, sdp
from spacy_sdp.training.corpus import make_corpus


@pytest.fixture
def path(tmp_path):
    docbin.write(sdp.read(EXAMPLES), tmp_path / "examples.spacy")
    return tmp_path / "examples.spacy"


def test_examples_keep_their_graphs_and_tokens(nlp, path):
    examples = list(make_corpus(path)(nlp))
    assert len(examples) == 24
    first = examples[0]
    assert repr(next(iter(first.reference._.sdp))) == "Arc(The-BV->cat)"
    assert [t.text for t in first.predicted] == [t.text for t in first.reference]
    assert first.predicted._.sdp is None and not first.predicted.has_annotation("TAG")


def test_attributes_can_be_copied(nlp, path):
    example = next(make_corpus(path, copy_attrs=["TAG", "LEMMA"])(nlp))
    assert [token.tag_ for token in example.predicted][:4] == ["DT", "JJ", "NN", "VBZ"]
    assert [token.lemma_ for token in example.predicted][3:] == [
        "want",
        "to",
        "eat",
        "",
    ]


def test_copies_are_aligned(nlp, tmp_path):
    doc = nlp("I don't sleep")
    for token, tag in zip(doc, ["PRP", "VBP", "RB", "VB"], strict=True):
        token.tag_ = tag
    doc._.sdp = []
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "one.spacy")
    nlp.tokenizer.rules = {}
    example = next(make_corpus(tmp_path, copy_attrs=["TAG"])(nlp))
    assert [(t.text, t.tag_) for t in example.predicted] == [
        ("I", "PRP"),
        ("don't", ""),
        ("sleep", "VB"),
    ]


def test_long_docs_are_left_out_and_not_split(nlp, path):
    lengths = [len(eg.reference) for eg in make_corpus(path, max_length=7)(nlp)]
    assert max(lengths) == 7 and 3 < len(lengths) < 24
    assert all(eg.reference._.sdp is not None for eg in make_corpus(path)(nlp))
    assert len(list(make_corpus(path, limit=5)(nlp))) == 5


def test_the_limit_is_one_for_all_files(nlp, path):
    for name in ("second", "third"):
        docbin.write(sdp.read(EXAMPLES), path.with_name(f"{name}.spacy"))
    assert len(list(make_corpus(path.parent, limit=5)(nlp))) == 5


def test_leaving_out_is_said_once(nlp, path, caplog):
    corpus = make_corpus(path, max_length=7)
    kept = len(list(corpus(nlp)))
    assert kept == len(list(corpus(nlp)))
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: left out {24 - kept} Docs with a sentence of more than 7 tokens"
    ]


def test_the_limit_is_for_sentences_not_for_docs(nlp, tmp_path):
    sentences = list(sdp.read(EXAMPLES))
    for number, sentence in enumerate(sentences):
        sentence.starts_document = number % 6 == 0
    docbin.write(sentences, tmp_path / "docs.spacy")
    examples = list(make_corpus(tmp_path, max_length=20)(nlp))
    assert len(examples) == 4
    assert all(len(eg.reference) > 20 and eg.reference._.sdp for eg in examples)


def test_tokens_are_those_of_the_tokenizer_or_of_the_data(nlp, tmp_path):
    text = Record(words=["one", "-way"], text="one-way", arcs=[(0, 1, "A")])
    docbin.write([text], tmp_path / "text.spacy")
    (example,) = make_corpus(tmp_path)(nlp)
    assert [token.text for token in example.predicted] == ["one", "-", "way"]
    (example,) = make_corpus(tmp_path, gold_tokens=True)(nlp)
    assert [token.text for token in example.predicted] == ["one", "-way"]
    assert example.predicted.text == "one-way"
    lower = create_lower_casing_augmenter(1.0)
    (example,) = make_corpus(tmp_path, gold_tokens=True, augmenter=lower)(nlp)
    assert [token.text for token in example.predicted] == ["one", "-way"]


def test_augmenters_do_not_lose_graphs(nlp, path):
    lower = create_lower_casing_augmenter(1.0)
    examples = list(make_corpus(path, augmenter=lower)(nlp))
    assert len(examples) == 24
    assert all(eg.reference._.sdp is not None for eg in examples)
    assert examples[0].reference[0].text == "the"

    def shorten(nlp, example):
        yield Example(example.predicted[:1].as_doc(), example.reference[:1].as_doc())

    with pytest.raises(
        ValueError, match="changed the number of tokens from 7 to 1, so the graph"
    ):
        list(make_corpus(path, augmenter=shorten)(nlp))


def test_wrong_settings_are_refused(nlp, path, tmp_path):
    with pytest.raises(ValueError, match=r"--paths\.train"):
        make_corpus(None)
    for name in ("TAGS", "SENT_START"):
        with pytest.raises(
            ValueError, match=f"'copy_attrs' cannot contain '{name}': use"
        ):
            make_corpus(path, copy_attrs=[name])
    with pytest.raises(ValueError, match="'max_length' is -3; use 0 for no limit"):
        make_corpus(path, max_length=-3)
    with pytest.raises(ValueError, match="'copy_attrs' contains POS, but no token of"):
        list(make_corpus(path, copy_attrs=["POS"])(nlp))
