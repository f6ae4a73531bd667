import warnings

import pytest
import spacy
from util import LISTENER, add_parser, small_model

TAGS = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 8,
    "attrs": ["NORM", "TAG", "LEMMA"],
    "rows": [100, 100, 100],
    "include_static_vectors": False,
}


def test_missing_tags_and_lemmas_are_named_once(nlp, examples):
    add_parser(nlp, examples, tok2vec=TAGS)
    with pytest.warns(UserWarning) as found:
        nlp("The cat eats.")
    assert [str(each.message) for each in found] == [
        "The graphs of 'sdp_meanfield' will be wrong: it needs Token.tag_, set by a "
        "component such as 'tagger' and Token.lemma_, set by a component such as "
        "'lemmatizer', which no Doc has. Is this component missing, disabled, or after "
        "the parser in the pipeline?"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("The cat eats.")


def test_there_is_no_warning_if_one_doc_has_tags_or_there_are_no_words(nlp, examples):
    parser = add_parser(nlp, examples, tok2vec=TAGS)
    docs = [nlp.make_doc("The cat eats."), nlp.make_doc("Dogs")]
    docs[1][0].tag_, docs[1][0].lemma_ = "NNS", "dog"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser.predict(docs)
        parser.predict([nlp.make_doc(""), nlp.make_doc(" \n ")])


@pytest.mark.parametrize("pipeline", [LISTENER], indirect=True, ids=["alone"])
def test_a_missing_transformer_is_named(pipeline):
    nlp, _ = pipeline
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("The cat eats.")
    with (
        nlp.select_pipes(disable="transformer"),
        pytest.warns(UserWarning, match="needs the vectors of 'transformer', which"),
    ):
        nlp("The cat eats.")


def test_a_missing_tok2vec_is_named(nlp, examples):
    nlp.add_pipe("tok2vec")
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": 96,
        "upstream": "tok2vec",
    }
    nlp.add_pipe("sdp_meanfield", config={"model": small_model(tok2vec=listener)})
    nlp.initialize(lambda: examples)
    with (
        nlp.select_pipes(disable="tok2vec"),
        pytest.warns(UserWarning, match="needs the vectors of 'tok2vec', which"),
    ):
        nlp("The cat eats.")


@pytest.mark.parametrize(
    "model, disabled, reason",
    [
        ("en_sdp_dm_md", "transformer", "the vectors of 'transformer'"),
        ("en_sdp_dm_sm", "tagger", "Token.tag_"),
    ],
)
def test_the_shipped_pipelines_name_what_is_missing(model, disabled, reason):
    pytest.importorskip(model, reason=f"{model} is not installed")
    nlp = spacy.load(model, disable=[disabled])
    with pytest.warns(UserWarning, match=reason):
        nlp("The cat eats.")


def test_missing_word_vectors_are_named():
    source = spacy.load("en_sdp_dm_sm")
    nlp = spacy.blank("en")
    nlp.add_pipe("sdp_meanfield", source=source)
    with (
        pytest.warns(UserWarning, match="needs the word vectors of nlp.vocab"),
        pytest.raises(IndexError),
    ):
        nlp("Dogs bark.")
