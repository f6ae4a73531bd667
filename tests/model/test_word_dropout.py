import numpy
import pytest
import spacy
from spacy.util import registry
from thinc.api import Model, fix_random_seed, set_dropout_rate

from spacy_sdp.model.word_dropout import word_dropout


def make_ones(width=3):
    """A layer that gives ones, and remembers the gradient that comes back."""

    def forward(model, docs, is_train):
        def backprop(gradients):
            model.attrs["gradients"] = gradients
            return docs

        return [numpy.ones((len(doc), width), dtype="f") for doc in docs], backprop

    return Model("ones", forward, dims={"nO": width})


@pytest.fixture
def docs():
    nlp = spacy.blank("en")
    return [nlp.make_doc("a b c d e " * 40), nlp.make_doc("")]


def test_words_are_dropped_as_a_whole_in_training_only(docs):
    fix_random_seed(0)
    layer = make_ones()
    model = word_dropout(layer, 0.25)
    set_dropout_rate(model, 0.9)  # what `spacy train` does
    vectors, backprop = model(docs, is_train=True)
    assert vectors[0].shape == (200, 3) and vectors[1].shape == (0, 3)
    assert set(vectors[0].sum(axis=1)) == {0.0, 3.0}
    assert 0.15 < 1 - vectors[0].mean() < 0.35
    assert vectors[0].dtype == numpy.float32
    # Words that were left out have no gradient.
    backprop([numpy.full_like(each, 2.0) for each in vectors])
    numpy.testing.assert_array_equal(layer.attrs["gradients"][0], 2 * vectors[0])
    assert (model.predict(docs)[0] == 1).all()
    assert (word_dropout(make_ones(), 0.0)(docs, True)[0][0] == 1).all()


def test_the_same_seed_drops_the_same_words(docs):
    results = []
    for _ in range(2):
        fix_random_seed(1)
        results.append(word_dropout(make_ones(), 0.5)(docs, True)[0][0])
    numpy.testing.assert_array_equal(*results)


def test_it_stands_in_configs_and_knows_its_width(docs):
    config = {
        "@layers": "spacy_sdp.word_dropout.v1",
        "rate": 0.15,
        "layer": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": 8,
            "attrs": ["TAG"],
            "rows": [10],
            "include_static_vectors": False,
        },
    }
    model = registry.resolve({"model": config})["model"]
    model.initialize(docs)
    assert model.get_dim("nO") == 8
    assert model.predict(docs)[0].shape == (200, 8)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_an_impossible_rate_is_refused(rate):
    with pytest.raises(ValueError, match=f"'rate' .* not {rate}"):
        word_dropout(make_ones(), rate)
