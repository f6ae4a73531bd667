"""How the component learns: losses, gradients, listeners, determinism."""

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from util import TEXTS, add_parser, assert_same_graphs, small_model, train

from spacy_sdp.pipeline.parser import SemanticParser


def parser_gradients(nlp, name="sdp_meanfield"):
    network = nlp.get_pipe(name).model.get_ref("network").shims[0]._model
    return {
        key: None if each.grad is None else each.grad.clone()
        for key, each in network.named_parameters()
    }


def test_docs_without_gold_have_no_part_in_the_update(nlp, examples):
    add_parser(nlp, examples)
    no_gold = Example(
        Doc(nlp.vocab, words=["Nobody", "knows"]),
        Doc(nlp.vocab, words=["Nobody", "knows"]),
    )
    losses = nlp.update([no_gold])
    assert losses == {"sdp_meanfield": 0.0}
    assert not any(grad.any() for grad in parser_gradients(nlp).values())
    with_gold = nlp.update([examples[0], no_gold])["sdp_meanfield"]
    assert with_gold > 0
    blank = Doc(nlp.vocab, words=["\n"])
    assert nlp.update([Example(blank, blank.copy())]) == {"sdp_meanfield": 0.0}


@pytest.mark.parametrize("scores", ["factored", "joint", "unlabelled"])
@pytest.mark.parametrize("supervise", ["all", "last"])
@pytest.mark.parametrize("prune", [0.0, 0.02])
def test_the_gradient_is_that_of_the_loss(nlp, examples, scores, supervise, prune):
    examples = examples[:2]
    parser = add_parser(
        nlp,
        examples,
        scores=scores,
        supervise=supervise,
        prune=prune,
    )
    scores, _ = parser.model.begin_update([eg.predicted for eg in examples])
    if prune:
        assert 0 < len(scores.candidates) < len(scores.first_order)
    _, gradients = parser.get_loss(examples, scores)
    outputs = (scores.first_order, scores.refined, scores.labels, scores.frames)
    generator = numpy.random.default_rng(0)
    for output, gradient in zip(outputs, gradients, strict=True):
        finite = numpy.argwhere(numpy.isfinite(output))
        # Some at random, and those with the largest gradient.
        largest = numpy.argsort(-abs(gradient[tuple(finite.T)]))[:5]
        some = generator.integers(len(finite), size=5) if len(finite) else []
        for index in map(tuple, finite[[*largest, *some]]):
            before = output[index]
            losses = []
            for delta in (1e-2, -1e-2):
                output[index] = before + delta
                losses.append(parser.get_loss(examples, scores)[0])
            output[index] = before
            expected = (losses[0] - losses[1]) / 2e-2
            assert gradient[index] == pytest.approx(expected, rel=0.02, abs=2e-4)


def test_gold_tokens_are_aligned_and_the_rest_is_masked(nlp, examples):
    parser = add_parser(nlp, examples, prune=0.0)
    reference = Doc(nlp.vocab, words=["I", "do", "n't", "sleep"])
    reference._.sdp = [(3, 0, "ARG1"), (2, 3, "neg"), (-1, 3, "root")]
    predicted = Doc(nlp.vocab, words=["I", "don't", "sleep"])
    example = Example(predicted, reference)
    scores, _ = parser.model.begin_update([predicted])
    loss, gradient = parser.get_loss([example], scores)
    # Rows: heads root, I, don't, sleep; columns: dependents I, don't, sleep.
    known = gradient[1].any((0, -1)).reshape(4, 3)
    assert known.tolist() == [
        [True, False, True],
        [False, False, True],
        [False, False, False],
        [True, False, False],
    ]
    arg1 = 2 + parser.labels.index("ARG1")
    blocks = gradient[1].sum(0).reshape(4, 3, -1)
    assert blocks[3, 0, arg1] < 0 and blocks[0, 2, 1] < 0
    assert loss > 0
    negative = {tuple(map(int, index)) for index in numpy.argwhere(blocks < 0)}
    # Four pairs are known: two are arcs, and two are not.
    assert negative == {(3, 0, arg1), (0, 2, 1), (0, 0, 0), (1, 2, 0)}


def test_a_loss_of_sentences_that_are_cut_is_finite(nlp, examples):
    parser = add_parser(nlp, examples)
    words = ["Dogs", "bark", "Cats", "sleep"]
    reference = Doc(nlp.vocab, words=words)
    reference._.sdp = [(1, 0, "ARG1"), (3, 0, "ARG1"), (1, 2, "ARG2")]
    predicted = Doc(nlp.vocab, words=words, sent_starts=[True, False, True, False])
    scores, _ = parser.model.begin_update([predicted])
    loss, _ = parser.get_loss([Example(predicted, reference)], scores)
    assert numpy.isfinite(loss)


@pytest.mark.parametrize("scores", ["factored", "joint", "unlabelled"])
def test_numbers_that_are_not_numbers_are_reported(nlp, examples, scores):
    parser = add_parser(nlp, examples, scores=scores)
    network = parser.model.get_ref("network").shims[0]._model
    network.labels.heads.linear.bias.data[0] = float("nan")
    with pytest.raises(ValueError, match="loss of 'sdp_meanfield' is not a finite"):
        nlp.update(examples)
    with pytest.raises(ValueError, match="'sdp_meanfield' produced NaN scores"):
        nlp("The cat sleeps.")


def test_training_is_deterministic(examples):
    def run():
        nlp = spacy.blank("en")
        add_parser(nlp, examples, mlp_dropout=0.3, lstm_dropout=0.3, embed_dropout=0.3)
        train(nlp, examples, steps=3)
        return nlp.get_pipe("sdp_meanfield").model.to_bytes()

    assert run() == run()


def test_memory_is_bounded_by_pairs(nlp, examples):
    """Splitting a batch changes nothing but the memory."""
    results = []
    for max_pairs in (50_000, 10):
        nlp = spacy.blank("en")
        add_parser(nlp, examples, max_pairs=max_pairs)
        train(nlp, examples, steps=5)
        results.append(list(nlp.pipe(TEXTS)))
    assert_same_graphs(*results, tolerance=1e-3)


def listener_config(**features):
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": 24,
        "upstream": "tok2vec",
    }
    return small_model(tok2vec=listener, **features)


@pytest.fixture
def with_tok2vec(nlp, examples):
    fix_random_seed(0)
    tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 24, "depth": 1}
    tok2vec |= {"embed_size": 200, "window_size": 1, "maxout_pieces": 2}
    tok2vec |= {"subword_features": True, "pretrained_vectors": None}
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    nlp.add_pipe("sdp_meanfield", config={"model": listener_config()})
    nlp.initialize(lambda: examples)
    return nlp


def parameters(nlp, name):
    return {
        (node.name, param): node.get_param(param).copy()
        for node in nlp.get_pipe(name).model.walk()
        for param in node.param_names
        if node.has_param(param)
    }


def test_gradients_reach_a_shared_tok2vec(with_tok2vec, examples):
    before = parameters(with_tok2vec, "tok2vec")
    losses = train(with_tok2vec, examples, steps=40)
    after = parameters(with_tok2vec, "tok2vec")
    assert all((before[key] != after[key]).any() for key in before)
    assert losses[-1]["sdp_meanfield"] < 0.3 * losses[0]["sdp_meanfield"]


def test_a_batch_without_gold_leaves_the_gradient_of_others(with_tok2vec, examples):
    """Only the last listener starts the backward pass of the shared encoder."""
    nlp = with_tok2vec
    tagger = {"@architectures": "spacy.Tagger.v2"}
    tagger["tok2vec"] = listener_config()["tok2vec"]
    nlp.add_pipe("tagger", before="sdp_meanfield", config={"model": tagger})
    nlp.initialize(lambda: examples)
    before = parameters(nlp, "tok2vec")
    no_graph = []
    for example in examples:
        reference = example.reference.copy()
        reference._.sdp = None
        no_graph.append(Example(example.predicted.copy(), reference))
    # The tagger's weights begin at zero, so its first gradient stops there.
    losses = train(nlp, no_graph, steps=3)[-1]
    assert losses["sdp_meanfield"] == 0 and losses["tagger"] > 0
    after = parameters(nlp, "tok2vec")
    assert any((before[key] != after[key]).any() for key in before)


def test_listeners_can_be_replaced_and_pipes_sourced(with_tok2vec, examples, tmp_path):
    nlp = with_tok2vec
    train(nlp, examples, steps=10)
    expected = list(nlp.pipe(TEXTS))
    other = spacy.blank("en")
    nlp.replace_listeners("tok2vec", "sdp_meanfield", ["model.tok2vec"])
    other.add_pipe("sdp_meanfield", source=nlp)
    assert other.pipe_names == ["sdp_meanfield"]
    assert_same_graphs(other.pipe(TEXTS), expected)
    other.to_disk(tmp_path)
    assert_same_graphs(spacy.load(tmp_path).pipe(TEXTS), expected)


def test_an_uninitialized_pipeline_can_be_saved(nlp, tmp_path):
    nlp.add_pipe("sdp_meanfield", config={"model": small_model()})
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert isinstance(loaded.get_pipe("sdp_meanfield"), SemanticParser)
