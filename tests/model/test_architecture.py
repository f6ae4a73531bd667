import numpy
import pytest
import torch
from spacy.tokens import Doc
from spacy.util import fix_random_seed, registry
from thinc.api import Model
from util import small_model

from spacy_sdp.model.batch import ArcPosteriors, ArcScores
from spacy_sdp.model.shim import NetworkShim


def lookup(width=5, seed=0):
    """A tok2vec without spaCy: one trainable vector a length of a word."""
    table = numpy.random.default_rng(seed).normal(size=(30, width)).astype("f")

    def forward(model, docs, is_train):
        rows = [[len(token.text) for token in doc] for doc in docs]

        def backprop(d_vectors):
            for ids, d_vector in zip(rows, d_vectors, strict=True):
                numpy.add.at(model.attrs["gradient"], ids, d_vector)
            return docs

        return [model.attrs["table"][ids].reshape(-1, width) for ids in rows], backprop

    return Model(
        "lookup",
        forward,
        dims={"nO": width},
        attrs={"table": table, "gradient": numpy.zeros_like(table)},
    )


def make_model(tok2vec=None, docs=None, **settings):
    fix_random_seed(0)
    config = small_model(**settings)
    config |= {"tok2vec": tok2vec or lookup(), "nO": 3}
    model = registry.resolve({"model": config})["model"]
    model.initialize(X=docs)
    return model


@pytest.fixture
def docs(nlp):
    words = [["a", "bb", "ccc"], [], ["dddd", "\n", "bb"]]
    return [Doc(nlp.vocab, words=each) for each in words]


def test_outputs_in_training_and_in_prediction(docs):
    model = make_model(docs=docs, prune=0.0)
    scores, _ = model.begin_update(docs)
    assert isinstance(scores, ArcScores)
    assert scores.batch.lengths == [3, 2]
    arcs = 4 * 3 + 3 * 2
    assert scores.first_order.shape == (arcs, 2)
    assert scores.refined.shape == (1 + 2, arcs, 3 + 2)
    posteriors = model.predict(docs)
    assert isinstance(posteriors, ArcPosteriors)
    assert posteriors.null.shape == posteriors.label.shape == (3 * 3 + 2 * 2,)


@pytest.mark.parametrize(
    "settings",
    [{"prune": 0.0}, {"prune": 0.001}, {"scores": "unlabelled"}],
    ids=str,
)
def test_the_gradient_of_the_vectors_is_that_of_finite_differences(docs, settings):
    """Across the boundary of thinc and torch, with a whitespace token in between."""
    tok2vec = lookup()
    model = make_model(tok2vec, docs, **settings)

    def outputs():
        scores = model.begin_update(docs)[0]
        return [scores.first_order, scores.refined, scores.labels, scores.frames]

    _, backprop = model.begin_update(docs)
    generator = numpy.random.default_rng(1)
    weights = [
        generator.normal(size=each.shape).astype("f") * numpy.isfinite(each)
        for each in outputs()
    ]
    backprop(tuple(weights))
    table = tok2vec.attrs["table"]

    def value():
        return sum(
            float((numpy.where(weight, each, 0) * weight).sum(dtype="float64"))
            for each, weight in zip(outputs(), weights, strict=True)
        )

    for row in range(5):
        for column in range(2):
            before = table[row, column]
            table[row, column] = before + 1e-2
            plus = value()
            table[row, column] = before - 1e-2
            minus = value()
            table[row, column] = before
            expected = (plus - minus) / 2e-2
            found = tok2vec.attrs["gradient"][row, column]
            assert found == pytest.approx(expected, rel=2e-2, abs=2e-2), (row, column)
    # Words of length 0 do not exist, and no gradient belongs to whitespace.
    assert not tok2vec.attrs["gradient"][0].any()


def test_docs_without_words_pass_zeros_back(nlp):
    tok2vec = lookup()
    docs = [Doc(nlp.vocab), Doc(nlp.vocab, words=["\n"])]
    model = make_model(tok2vec, docs)
    scores, backprop = model.begin_update(docs)
    assert len(scores.first_order) == 0
    backprop((scores.first_order, scores.refined, scores.labels, scores.frames))
    assert not tok2vec.attrs["gradient"].any()
    assert len(model.predict(docs).null) == 0


def test_a_model_that_was_not_initialized_says_so(docs):
    make = registry.architectures.get("spacy_sdp.MeanFieldParser.v2")
    with pytest.raises(ValueError, match="E109"):
        make(lookup()).predict(docs)


def test_gradients_are_clipped_by_their_global_norm(docs):
    model = make_model(docs=docs, grad_clip=0.5)
    scores, backprop = model.begin_update(docs)
    outputs = (scores.first_order, scores.refined, scores.labels, scores.frames)
    backprop(tuple(7 * numpy.isfinite(each).astype("f") for each in outputs))
    norms = []

    def record(key, weights, gradient):
        norms.append((gradient**2).sum())
        return weights, gradient

    model.get_ref("network").finish_update(record)
    assert numpy.sqrt(sum(norms)) == pytest.approx(0.5, rel=1e-3)
    with pytest.raises(ValueError, match="'grad_clip' must be at least 0, not -1"):
        make_model(docs=docs, grad_clip=-1)


def test_bytes_restore_the_network(docs):
    model = make_model(docs=docs)
    again = make_model(lookup(), docs).from_bytes(model.to_bytes())
    for one, other in zip(
        model.get_ref("network").shims[0]._model.state_dict().values(),
        again.get_ref("network").shims[0]._model.state_dict().values(),
        strict=True,
    ):
        assert torch.equal(one, other)


def test_weights_that_do_not_fit_the_settings_are_refused(docs):
    data = make_model(docs=docs).to_bytes()
    with pytest.raises(ValueError, match="do not fit its settings"):
        make_model(docs=docs, rank=5).from_bytes(data)
    # Settings without weights may differ.
    make_model(docs=docs, predict_iterations=9).from_bytes(data)


def test_weights_are_loaded_without_running_code(docs):
    class Attack:
        def __reduce__(self):
            return (print, ("attacked",))

    import io

    import srsly

    shim = make_model(docs=docs).get_ref("network").shims[0]
    buffer = io.BytesIO()
    torch.save({"weight": Attack()}, buffer)
    message = {"config": shim.cfg, "state": buffer.getvalue()}
    with pytest.raises(Exception, match=r"[Ww]eights"):
        shim.from_bytes(srsly.msgpack_dumps(message))


def test_names_of_parameters_are_not_those_of_a_transformer(docs):
    import re

    from spacy_sdp.training.optimizer import TRANSFORMER_PARAMETERS

    shim = make_model(docs=docs).get_ref("network").shims[0]
    assert isinstance(shim, NetworkShim)
    for name, _ in shim._model.named_parameters():
        # thinc keys the optimizer's state by names that could be those of its layers.
        assert "." in name
        assert not re.search(TRANSFORMER_PARAMETERS, name)


@pytest.mark.parametrize(
    ("inference", "longest"), [("mean_field", 1000), ("belief_propagation", 150)]
)
def test_sentences_are_not_too_long_for_exact_inference(docs, inference, longest):
    model = make_model(docs=docs, prune=0.0, inference=inference, scores="unlabelled")
    doc = Doc(docs[0].vocab, words=["a"] * (longest + 1))
    with pytest.raises(ValueError, match=rf"{longest + 1} words .* {longest} words"):
        model.predict([doc])
