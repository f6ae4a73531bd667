import numpy
import pytest
import torch
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed, registry
from test_architecture import lookup
from thinc.api import NumpyOps
from torch.testing import assert_close
from util import make_settings, small_model

from spacy_sdp.graph.graph import SemanticGraph
from spacy_sdp.model.arcs import all_arcs
from spacy_sdp.model.batch import Batch, GoldFrames
from spacy_sdp.model.frames import (
    ARGUMENT_WIDTH,
    FrameClassifier,
    label_probabilities,
)
from spacy_sdp.model.gold import find_gold_frames
from spacy_sdp.model.loss import frame_loss
from spacy_sdp.model.network import Network


def make_model(docs, tok2vec, frames=4, **settings):
    fix_random_seed(0)
    config = small_model(frames=bool(frames), **settings)
    config |= {"tok2vec": tok2vec, "nO": 3}
    model = registry.resolve({"model": config})["model"]
    if frames:
        model.set_dim("nF", frames)
    model.initialize(X=docs)
    return model


@pytest.fixture
def docs(nlp):
    words = [["a", "bb", "ccc"], [], ["dddd", "\n", "bb"]]
    return [Doc(nlp.vocab, words=each) for each in words]


def test_label_probabilities_add_up():
    scores = torch.tensor([[0.0, -torch.inf, 1.0, 2.0]])
    joint = label_probabilities(scores, scores.new_empty(1, 0))
    assert_close(joint, scores.softmax(-1))
    labels = torch.tensor([[-torch.inf, -torch.inf, 1.0, 2.0]])
    apart = label_probabilities(torch.tensor([[0.0, 1.0]]), labels)
    assert apart[0].sum() == pytest.approx(1)
    assert apart[0, 0] == pytest.approx(1 - torch.tensor(1.0).sigmoid())
    assert apart[0, 3] / apart[0, 2] == pytest.approx(torch.tensor(1.0).exp())


def test_words_know_themselves_and_their_arguments():
    lengths, width, labels = [2, 1], 3, 2 + 2
    torch.manual_seed(0)
    settings, _ = make_settings(mlp_width=20)
    classifier = FrameClassifier(width, labels, 5, settings).eval()
    torch.nn.init.normal_(classifier.embedding.weight)
    states = torch.randn(3 + 2, width)
    hashes = torch.tensor([0, 5, -7, 0, 2**60]).unsqueeze(1) + torch.arange(2)
    arcs = all_arcs(lengths, states.device)
    probabilities = torch.zeros(len(arcs.head), labels)
    before = classifier(lengths, states, hashes, arcs, probabilities)
    assert before.shape == (3, 1 + 5)

    def changed(head, dep):
        """Which words get other scores if there is an arc."""
        some = probabilities.clone()
        some[(arcs.head == head) & (arcs.dep == dep), 3] = 1
        after = classifier(lengths, states, hashes, arcs, some)
        return (after != before).any(1).tolist()

    # The nodes are the root and two words, and the root and one word.
    assert changed(1, 2) == [True, False, False]
    assert changed(2, 1) == [False, True, False]
    assert changed(3, 4) == changed(0, 1) == changed(2, 2) == [False] * 3
    other_state, other_hash = states.clone(), hashes.clone()
    other_state[4] += 1
    other_hash[2] += 1
    for inputs, expected in (
        ((other_state, hashes), [False, False, True]),
        ((states, other_hash), [False, True, False]),
    ):
        after = classifier(lengths, *inputs, arcs, probabilities)
        assert (after != before).any(1).tolist() == expected
    # The first word is an argument of the second.
    probabilities[(arcs.head == 2) & (arcs.dep == 1), 3] = 1
    before = classifier(lengths, states, hashes, arcs, probabilities)
    other_state = states.clone()
    other_state[1] += 1
    after = classifier(lengths, other_state, hashes, arcs, probabilities)
    assert (after != before).any(1).tolist() == [True, True, False]


def test_frames_do_not_change_how_arcs_are_scored():
    lengths, words, hashes = [4, 2], torch.randn(6, 8), torch.arange(12).view(6, 2)
    dropouts = {"embed_dropout": 0.3, "lstm_dropout": 0.3, "mlp_dropout": 0.3}
    results = []
    for n_frames in (0, 3):
        torch.manual_seed(0)
        network = Network(8, 4, *make_settings(prune=0.01, **dropouts), n_frames)
        torch.manual_seed(1)
        results.append(network(words, lengths, None, hashes))
    without, with_frames = results
    assert all(map(torch.equal, without[:-1], with_frames[:-1]))
    assert without.frames.shape == (0, 0) and with_frames.frames.shape == (6, 4)


def test_nothing_is_learned_about_arcs_through_the_labels_of_arguments():
    network = Network(8, 4, *make_settings(), 3)
    hashes = torch.arange(6).view(3, 2)
    network(torch.randn(3, 8), [3], None, hashes).frames.sum().backward()
    assert network.labels.weight.grad is None
    assert network.second_order.node_factors.weight.grad is None
    assert network.lstm.stack[0].weight_ih_l0.grad.any()


def test_the_gradient_of_the_vectors_is_that_of_finite_differences(docs):
    tok2vec = lookup()
    model = make_model(docs, tok2vec)
    network = model.get_ref("network").shims[0].network
    with torch.no_grad():
        # What comes by way of arcs has no gradient on purpose.
        network.frames.mlp.linear.weight[:, -3 - ARGUMENT_WIDTH :] = 0
    scores, backprop = model.begin_update(docs)
    weights = numpy.random.default_rng(1).normal(size=scores.frames.shape).astype("f")
    others = (scores.first_order, scores.refined, scores.labels)
    backprop((*map(numpy.zeros_like, others), weights))
    table = tok2vec.attrs["table"]
    for row, column in ((1, 0), (2, 1), (4, 3)):
        values = []
        for delta in (1e-2, -1e-2):
            table[row, column] += delta
            values.append((model.begin_update(docs)[0].frames * weights).sum())
            table[row, column] -= delta
        expected = (values[0] - values[1]) / 2e-2
        found = tok2vec.attrs["gradient"][row, column]
        assert found == pytest.approx(expected, rel=2e-2, abs=1e-2)
        assert found != 0


def test_the_gradient_of_the_loss_is_that_of_finite_differences(docs):
    scores, _ = make_model(docs, lookup(), frame_weight=0.7).begin_update(docs)
    gold = GoldFrames(
        numpy.array([2, 0, 4, 1, 3]), numpy.array([1, 1, 0, 1, 1], dtype="f")
    )
    _, gradient = frame_loss(NumpyOps(), scores, gold)
    assert not gradient[2].any() and gradient[[0, 1, 3, 4]].all()
    for index in numpy.ndindex(scores.frames.shape):
        losses = []
        for delta in (1e-2, -1e-2):
            scores.frames[index] += delta
            losses.append(frame_loss(NumpyOps(), scores, gold)[0])
            scores.frames[index] -= delta
        expected = (losses[0] - losses[1]) / 2e-2
        assert gradient[index] == pytest.approx(expected, rel=0.02, abs=2e-4)


def test_docs_without_words_have_no_frames(nlp):
    docs = [Doc(nlp.vocab), Doc(nlp.vocab, words=["\n"])]
    tok2vec = lookup()
    model = make_model(docs, tok2vec)
    scores, backprop = model.begin_update(docs)
    backprop((scores.first_order, scores.refined, scores.labels, scores.frames))
    assert len(model.predict(docs).frame) == 0


def test_words_are_told_apart_by_their_hashes(nlp):
    words = ["Mary", "started", "mary", "\n", "start"]
    docs = [Doc(nlp.vocab), Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=["a"])]
    hashes = Batch.from_docs(docs).hashes
    assert hashes.dtype == "int64" and hashes.shape == (5, 2)
    assert (hashes[0] == hashes[2]).all()
    # The same prefix.
    assert hashes[1, 0] != hashes[3, 0] and hashes[1, 1] == hashes[3, 1]
    assert len(set(hashes.ravel())) == 7
    assert Batch.from_docs([]).hashes.shape == (0, 2)


def test_gold_frames_are_those_of_nodes_whose_frame_is_known(nlp):
    words = ["I", "do", "n't", "sleep", "well", "."]
    reference = Doc(nlp.vocab, words=words)
    frames = {1: "v:e", 2: "neg:e-h", 3: "v:e-i", 4: "rare:x"}
    arcs = [(3, 0, "ARG1"), (2, 3, "ARG1"), (4, 3, "ARG1")]
    predicted = Doc(nlp.vocab, words=["I", "don't", "\n", "sleep", "well", "."])
    example = Example(predicted, reference)
    batch = Batch.from_docs([Doc(nlp.vocab), predicted])

    def find():
        empty = Example(batch.docs[0], batch.docs[0].copy())
        names = ["neg:e-h", "v:e", "v:e-i"]
        return find_gold_frames([empty, example], batch, names, "sdp")

    assert not find().known.any()
    reference._.sdp = SemanticGraph.from_arcs(reference, arcs)
    assert not find().known.any()
    reference._.sdp = SemanticGraph.from_arcs(reference, arcs, frames=frames)
    # A node without frame, one that was split, a frame, one that is not learned, and
    # what is no node.
    assert find().known.tolist() == [1, 0, 1, 0, 0]
    assert find().frames.tolist() == [0, 0, 3, 0, 0]


def test_a_network_that_was_saved_without_frames_is_loaded(docs):
    model = make_model(docs, lookup(), frames=0)
    shim = model.get_ref("network").shims[0]
    del shim.cfg["n_frames"]  # as older versions saved it
    again = make_model(docs, lookup(), frames=0).from_bytes(model.to_bytes())
    assert again.predict(docs).frame.shape == (0,)


@pytest.mark.parametrize("frames", [0, 4])
def test_the_setting_cannot_be_changed_after_training(docs, frames):
    data = make_model(docs, lookup(), frames).to_bytes()
    config = small_model(frames=not frames) | {"tok2vec": lookup(), "nO": 3}
    other = registry.resolve({"model": config})["model"]
    with pytest.raises(ValueError, match=f"'frames' .* for {frames} frames: undo"):
        other.from_bytes(data)
