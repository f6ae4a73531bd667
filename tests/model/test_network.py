import weakref

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from util import make_settings

from spacy_sdp.model.arcs import split_by_pairs
from spacy_sdp.model.factors import RELATIONS
from spacy_sdp.model.labels import NULL, ROOT
from spacy_sdp.model.layers import BiLSTM, SharedDropout
from spacy_sdp.model.network import Network
from spacy_sdp.model.pruning import is_candidate
from spacy_sdp.model.settings import SCORES

WIDTH, N_LABELS, N_FRAMES = 8, 4, 3


def make_network(seed=0, **settings):
    torch.manual_seed(seed)
    n_frames = N_FRAMES if settings.get("frames") else 0
    return Network(WIDTH, N_LABELS, *make_settings(**settings), n_frames)


def random_words(lengths, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sum(lengths), WIDTH, generator=generator)


def hashes_of(words):
    """Hashes that are different for different words."""
    return (words[:, :2].detach() * 2**40).long()


PRUNE = {"prune": 0.03}
UNLABELLED = {"scores": "unlabelled"}
FACTORED = {"scores": "factored"}
FIRST_ORDER = {"inference": "first_order"}
BELIEFS = UNLABELLED | {"inference": "belief_propagation"}
FRAMES = {"frames": True}
VARIANTS = [
    {},
    PRUNE,
    FIRST_ORDER,
    UNLABELLED,
    UNLABELLED | PRUNE,
    UNLABELLED | FIRST_ORDER,
    BELIEFS,
    BELIEFS | PRUNE,
    {"tied": True},
    {"parts": ("co-parent",)},
    {"null_factors": True},
    {"null_factors": True} | PRUNE,
    {"exclude_self": False},
    {"lstm_depth": 0},
    {"bypass_lstm": True},
    FACTORED,
    FACTORED | PRUNE,
    {"supervise": "last"},
    {"predict_iterations": 9} | PRUNE,
    FRAMES,
    FRAMES | PRUNE,
    FRAMES | UNLABELLED | PRUNE,
    FRAMES | FIRST_ORDER | {"bypass_lstm": True},
]


def total(scores):
    """A number that depends on all scores that are trained."""
    first_order, _, refined, labels, frames = scores
    return sum(
        each.masked_fill(torch.isinf(each), 0).square().sum()
        for each in (first_order, refined, labels, frames)
    )


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_a_sentence_does_not_depend_on_its_batch(settings):
    network = make_network(**settings).eval()
    lengths = [6, 6, 3, 1]
    words = random_words(lengths)
    together = network(words, lengths, None, hashes_of(words))
    alone, first = [], 0
    for each in words.split(lengths):
        posteriors = network(each, [len(each)], None, hashes_of(each))
        alone.append(posteriors._replace(arcs=posteriors.arcs + first))
        first += (len(each) + 1) * len(each)
    expected = [torch.cat(parts) for parts in zip(*alone, strict=True)]
    assert_close(list(together), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_strips_do_not_change_posteriors(settings):
    lengths = [9, 6, 6, 3, 1]
    words = random_words(lengths)
    inputs = (words, lengths, None, hashes_of(words))
    expected = make_network(max_pairs=10_000, **settings).eval()(*inputs)
    for max_pairs in (25, 1):
        found = make_network(max_pairs=max_pairs, **settings).eval()(*inputs)
        assert_close(list(found), list(expected), rtol=0, atol=1e-5)


class PeakMemory(TorchDispatchMode):
    """The largest number of bytes that new tensors take at the same time."""

    def __init__(self):
        super().__init__()
        self.sizes, self.now, self.peak = {}, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        output = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(output):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                if storage._cdata not in self.sizes:
                    self.sizes[storage._cdata] = storage.nbytes()
                    self.now += storage.nbytes()
                    weakref.finalize(storage, self.free, storage._cdata)
        self.peak = max(self.peak, self.now)
        return output

    def free(self, storage):
        self.now -= self.sizes.pop(storage)


@pytest.mark.parametrize("settings", [{}, FACTORED, UNLABELLED, FRAMES], ids=str)
def test_memory_is_linear_in_the_length_of_a_sentence(settings):
    network = make_network(max_pairs=5000, **PRUNE, **settings).eval()
    peaks = []
    for length in (200, 400):
        words = random_words([length])
        with torch.no_grad(), PeakMemory() as memory:
            posteriors = network(words, [length], None, hashes_of(words))
        # All words have the largest number of candidates.
        assert len(posteriors.arcs) == 10 * length
        peaks.append(memory.peak)
    assert 1.5 < peaks[1] / peaks[0] < 2.1


def test_a_score_that_is_no_number_is_seen_in_any_strip():
    network = make_network(max_pairs=1, **PRUNE).eval()
    words = random_words([6])
    with torch.no_grad():
        network.labels.deps.linear.weight[:] = float("nan")
    assert network(words, [6]).null.isnan().all()


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_pieces_change_neither_scores_nor_gradients(settings):
    lengths = [6, 6, 3, 1]
    results = []
    for max_pairs in (10_000, 1):
        network = make_network(max_pairs=max_pairs, **settings).train()
        words = random_words(lengths).requires_grad_()
        scores = network(words, lengths, None, hashes_of(words))
        total(scores).backward()
        gradients = [words.grad] + [each.grad for each in network.parameters()]
        results.append((list(scores), gradients))
    (scores, gradients), (piecewise, piecewise_gradients) = results
    assert_close(scores, piecewise, rtol=0, atol=1e-5)
    assert all(gradient is not None for gradient in gradients)
    assert_close(gradients, piecewise_gradients, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("scores", ["factored", "joint"])
def test_candidates_of_training_and_prediction_are_the_same(scores):
    network = make_network(scores=scores, **PRUNE)
    with torch.no_grad():
        # Otherwise all arcs have about the same probability before training.
        (network.arcs or network.labels).weight[:-1] *= 100
    lengths = [6, 3]
    words = random_words(lengths)
    gold = torch.zeros(42 + 12, dtype=torch.bool)
    gold[[5, 50]] = True
    scores = network(words, lengths, gold)
    assert {5, 50} <= set(scores.candidates.tolist())
    assert 2 < len(scores.candidates) < 54 - 9
    scores = network(words, lengths)
    posteriors = network.eval()(words, lengths)
    assert torch.equal(posteriors.arcs, scores.candidates)
    assert (posteriors.label > NULL).all() and (posteriors.probability > 0).all()


def test_candidates_are_probable_and_not_too_many():
    block = torch.full((5, 4), -9.0)
    block[:, 2] = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    block[3, 0] = -3.0  # a probability of about 0.05

    def found(**settings):
        kept = is_candidate(block.unsqueeze(0), 1, **settings)
        in_strips = torch.cat(
            [
                is_candidate(block[None, :, i : i + 1], i + 1, **settings)
                for i in range(4)
            ],
            dim=2,
        )
        assert torch.equal(kept, in_strips)
        return kept[0].nonzero().tolist()

    # Word 3 cannot be its own head.
    assert found(prune=0.01, max_heads=3) == [[1, 2], [2, 2], [3, 0], [4, 2]]
    assert found(prune=0.1, max_heads=1) == [[4, 2]]
    assert len(found(prune=0.0, max_heads=1)) == 16
    block[:] = 0  # no more of them if all are as probable
    assert len(found(prune=0.1, max_heads=2)) == 8


def test_batches_are_split_by_pairs_of_nodes():
    assert list(split_by_pairs([9, 3, 3, 2, 1], 24)) == [[9], [3, 3], [2, 1]]
    assert list(split_by_pairs([2, 2], 1)) == [[2], [2]]
    assert list(split_by_pairs([], 5)) == []


@pytest.mark.parametrize("nodes_in_bucket", [1, 8, 1000])
def test_lstm_in_buckets_equals_one_without_padding(monkeypatch, nodes_in_bucket):
    monkeypatch.setattr("spacy_sdp.model.layers.NODES_IN_BUCKET", nodes_in_bucket)
    torch.manual_seed(0)
    lstm = BiLSTM(WIDTH, 5, 2, dropout=0.0)
    sizes = [4, 3, 3, 1]
    rows = torch.randn(sum(sizes), WIDTH)
    sentence_of = torch.arange(4).repeat_interleave(torch.tensor(sizes))
    found = lstm(rows, sentence_of, sizes)
    for states, sentence in zip(found.split(sizes), rows.split(sizes), strict=True):
        for layer in lstm.stack:
            sentence = layer(sentence.unsqueeze(1))[0].squeeze(1)
        assert_close(states, sentence, rtol=0, atol=1e-6)


def test_labels_of_the_root_and_of_words_exclude_each_other():
    network = make_network().train()
    scores = network(random_words([3]), [3]).refined[-1].view(4, 3, N_LABELS + 2)
    assert torch.isinf(scores[0, :, ROOT + 1 :]).all()
    assert torch.isfinite(scores[0, :, : ROOT + 1]).all()
    assert torch.isinf(scores[1:, :, ROOT]).all()
    assert torch.isfinite(scores[1:, :, NULL]).all()


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("inference", ["mean_field", "first_order"])
def test_self_loops_are_no_candidates(scores, inference):
    network = make_network(scores=scores, inference=inference, prune=0.0).eval()
    arcs = network(random_words([3]), [3]).arcs
    loops = {1 * 3 + 0, 2 * 3 + 1, 3 * 3 + 2}
    assert sorted(arcs.tolist()) == sorted({*range(12)} - loops)


@pytest.mark.parametrize("scores", SCORES)
def test_arcs_are_improbable_before_training(scores):
    network = make_network(scores=scores).eval()
    null = network(random_words([20]), [20]).null
    assert 0.85 < null.mean() < 0.99


@pytest.mark.parametrize("null_factors", [True, False])
def test_null_has_factors_only_if_asked_for(null_factors):
    network = make_network(null_factors=null_factors).train()
    scores = network(random_words([4]), [4])
    changed = (scores.first_order != scores.refined[-1]) & torch.isfinite(
        scores.first_order
    )
    assert changed[:, NULL].any() == null_factors
    assert changed[:, ROOT + 1 :].any()


def test_what_is_supervised():
    def refined(**settings):
        return make_network(**settings).train()(random_words([2]), [2]).refined

    assert len(refined()) == 3 and len(refined(train_iterations=5)) == 6
    assert torch.equal(refined(supervise="last")[0], refined()[-1])
    assert len(refined(**FIRST_ORDER)) == len(refined(train_iterations=0)) == 1


@pytest.mark.parametrize("prune", [0.0, 0.01])
@pytest.mark.parametrize(
    "settings",
    [{}, {"tied": True}, FACTORED, UNLABELLED, BELIEFS, FRAMES],
    ids=str,
)
def test_every_parameter_moves(settings, prune):
    """All factors of a second-order score have to have a gradient."""
    network = make_network(**settings, prune=prune).train()
    before = {name: each.clone() for name, each in network.named_parameters()}
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    lengths = [5, 4]
    for _ in range(3):
        optimizer.zero_grad()
        words = random_words(lengths)
        total(network(words, lengths, None, hashes_of(words))).backward()
        optimizer.step()
    for name, parameter in network.named_parameters():
        assert not torch.equal(before[name], parameter), name


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("part", RELATIONS)
def test_there_are_no_factors_without_use(part, tied):
    network = make_network(parts=(part,), tied=tied).train()
    total(network(random_words([5, 4]), [5, 4])).backward()
    for factors in (
        network.second_order.node_factors,
        network.second_order.label_factors,
    ):
        assert factors.weight.grad.flatten(1).any(1).all()


@pytest.mark.parametrize("scores", ["joint", "unlabelled"])
def test_messages_are_small_but_not_negligible_before_training(scores):
    network = make_network(lstm_width=50, factor_width=100, rank=100, scores=scores)
    scores = network(random_words([12]), [12])
    finite = torch.isfinite(scores.first_order)
    messages = (scores.refined[-1] - scores.first_order)[finite].std()
    assert 0.001 < messages < 1


def test_dropout_is_shared_by_the_nodes_of_a_sentence():
    torch.manual_seed(0)
    sentence_of = torch.tensor([0, 0, 0, 1, 1])
    dropped = SharedDropout(0.5)(torch.ones(5, 200), sentence_of)
    assert torch.equal(dropped[0], dropped[2]) and torch.equal(dropped[3], dropped[4])
    assert not torch.equal(dropped[0], dropped[3])
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert dropped.mean() == pytest.approx(1, abs=0.15)
    assert torch.equal(SharedDropout(0.5).eval()(dropped, sentence_of), dropped)


def test_each_dropout_has_an_effect_in_training_only():
    words = random_words([4])
    for name in ("embed_dropout", "lstm_dropout", "mlp_dropout"):
        network = make_network(**{name: 0.5})
        one, other = network(words, [4]), network(words, [4])
        assert not torch.equal(one.first_order, other.first_order), name
        network.eval()
        assert torch.equal(network(words, [4]).null, network(words, [4]).null)


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"rank": 0}, "'rank' must be at least 1, not 0"),
        ({"mlp_width": -1}, "'mlp_width' must be at least 1"),
        ({"label_width": 0}, "'label_width' must be at least 1"),
        ({"lstm_depth": -1}, "'lstm_depth' must be at least 0"),
        ({"train_iterations": -1}, "'train_iterations' must be at least 0"),
        ({"mlp_dropout": 1.0}, "'mlp_dropout' must be less than 1, not 1.0"),
        ({"embed_dropout": -0.1}, "'embed_dropout' must be at least 0"),
        ({"prune": 1.0}, "'prune' must be less than 1, not 1.0"),
        ({"prune": float("nan")}, "'prune' must be at least 0, not nan"),
        ({"grad_clip": -1.0}, "'grad_clip' must be at least 0"),
        ({"scores": "both"}, "one of 'factored', 'joint', 'unlabelled', not 'both'"),
        ({"label_width": 3}, "'label_width' has no effect with scores = 'joint'"),
        (
            {"parts": ("uncle",)},
            r"'parts' must contain at least one of .*, not \['uncle'\]",
        ),
        ({"parts": ()}, r"'parts' must contain .*, not \[\]"),
        ({"supervise": "first"}, "'supervise' must be one of 'all', 'last'"),
        ({"max_pairs": 0}, "'max_pairs' must be at least 1"),
    ],
)
def test_wrong_settings_are_refused(settings, reason):
    with pytest.raises(ValueError, match=reason):
        make_settings(**settings)


def test_in_factored_scores_labels_do_not_decide_about_arcs():
    lengths = [5, 3]
    words = random_words(lengths)
    results = []
    for scale in (1.0, 5.0):
        network = make_network(**FIRST_ORDER, **FACTORED).eval()
        with torch.no_grad():
            network.labels.weight.mul_(scale)
        results.append(network(words, lengths))
    one, other = results
    assert_close(one.null, other.null)
    assert not torch.allclose(one.probability, other.probability)


@pytest.mark.parametrize(
    ("settings", "labels", "arcs"),
    [
        (FACTORED, 6, 6),
        (FACTORED | {"label_width": 3}, 3, 6),
        (UNLABELLED | {"label_width": 3}, 3, 6),
        ({"scores": "joint"}, 6, None),
    ],
)
def test_where_arcs_are_scored_apart_labels_have_a_width_of_their_own(
    settings, labels, arcs
):
    network = make_network(mlp_width=6, **settings)
    assert network.labels.weight.shape[0] == labels + 1
    assert (network.arcs and network.arcs.weight.shape[0] - 1) == arcs
