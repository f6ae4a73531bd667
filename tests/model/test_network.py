import pytest
import torch
from torch.testing import assert_close

from spacy_sdp.model.network import (
    NULL,
    ROOT,
    BiLSTM,
    Network,
    Settings,
    SharedDropout,
    split_by_pairs,
)

SETTINGS = {
    "hidden_width": 0,
    "lstm_width": 7,
    "lstm_depth": 2,
    "mlp_width": 6,
    "rank": 5,
    "embed_dropout": 0.0,
    "lstm_dropout": 0.0,
    "mlp_dropout": 0.0,
    "inference": "mean_field",
    "train_iterations": 2,
    "predict_iterations": 3,
    "supervise": "all",
    "tied": False,
    "exclude_self": True,
    "null_factors": False,
    "max_pairs": 10_000,
}
WIDTH, N_LABELS = 8, 4


def make_network(seed=0, **settings):
    torch.manual_seed(seed)
    return Network(WIDTH, N_LABELS, Settings(**{**SETTINGS, **settings}))


def random_words(lengths, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sum(lengths), WIDTH, generator=generator)


VARIANTS = [
    {},
    {"inference": "none"},
    {"tied": True},
    {"null_factors": True},
    {"exclude_self": False},
    {"lstm_depth": 0},
    {"hidden_width": 9},
    {"lstm_depth": 0, "hidden_width": 9},
    {"supervise": "last"},
]


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_a_sentence_does_not_depend_on_its_batch(settings):
    network = make_network(**settings).eval()
    lengths = [6, 6, 3, 1]
    words = random_words(lengths)
    together = network(words, lengths)
    alone = [network(each, [len(each)]) for each in words.split(lengths)]
    expected = [torch.cat(parts) for parts in zip(*alone, strict=True)]
    assert_close(list(together), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("settings", VARIANTS, ids=str)
def test_pieces_change_neither_scores_nor_gradients(settings):
    lengths = [6, 6, 3, 1]
    results = []
    for max_pairs in (10_000, 1):
        network = make_network(max_pairs=max_pairs, **settings).train()
        words = random_words(lengths).requires_grad_()
        scores = network(words, lengths)
        scores.masked_fill(torch.isinf(scores), 0).square().sum().backward()
        gradients = [words.grad] + [each.grad for each in network.parameters()]
        results.append((scores.detach(), gradients))
    (scores, gradients), (piecewise, piecewise_gradients) = results
    assert_close(scores, piecewise, rtol=0, atol=1e-5)
    assert None not in gradients
    assert_close(gradients, piecewise_gradients, rtol=1e-3, atol=1e-3)


def test_batches_are_split_by_pairs_of_nodes():
    assert list(split_by_pairs([9, 3, 3, 2, 1], 24)) == [[9], [3, 3], [2, 1]]
    assert list(split_by_pairs([2, 2], 1)) == [[2], [2]]
    assert list(split_by_pairs([], 5)) == []


def test_packed_lstm_equals_one_without_packing():
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
    scores = network(random_words([3]), [3])[-1].view(4, 3, N_LABELS + 2)
    assert torch.isinf(scores[0, :, ROOT + 1 :]).all()
    assert torch.isfinite(scores[0, :, : ROOT + 1]).all()
    assert torch.isinf(scores[1:, :, ROOT]).all()
    assert torch.isfinite(scores[1:, :, NULL]).all()


def test_self_loops_are_never_probable():
    network = make_network().eval()
    null, label, probability = network(random_words([3]), [3])
    loops = [1 * 3 + 0, 2 * 3 + 1, 3 * 3 + 2]
    assert null[loops].tolist() == [1, 1, 1]
    assert probability[loops].tolist() == [0, 0, 0]
    assert (label >= ROOT).all()


def test_arcs_are_improbable_before_training():
    network = make_network().eval()
    null, _, _ = network(random_words([20]), [20])
    assert 0.85 < null.mean() < 0.99


@pytest.mark.parametrize("null_factors", [True, False])
def test_null_has_factors_only_if_asked_for(null_factors):
    network = make_network(null_factors=null_factors).train()
    history = network(random_words([4]), [4])
    changed = (history[0] != history[-1]) & torch.isfinite(history[0])
    assert changed[:, NULL].any() == null_factors
    assert changed[:, ROOT + 1 :].any()


def test_what_is_supervised():
    assert len(make_network().train()(random_words([2]), [2])) == 3
    last = make_network(supervise="last").train()(random_words([2]), [2])
    assert torch.equal(last[0], make_network().train()(random_words([2]), [2])[-1])
    assert len(make_network(inference="none").train()(random_words([2]), [2])) == 1


@pytest.mark.parametrize("tied", [True, False])
def test_every_parameter_moves(tied):
    """All five factors of a second-order score have to have a gradient."""
    network = make_network(tied=tied, hidden_width=5).train()
    before = {name: each.clone() for name, each in network.named_parameters()}
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    lengths = [5, 4]
    for _ in range(3):
        optimizer.zero_grad()
        scores = network(random_words(lengths), lengths)[-1]
        scores.log_softmax(-1)[:, NULL].mean().backward()
        optimizer.step()
    for name, parameter in network.named_parameters():
        assert not torch.equal(before[name], parameter), name


def test_messages_are_small_but_not_negligible_before_training():
    network = make_network(lstm_width=50, mlp_width=100, rank=100).train()
    history = network(random_words([12]), [12])
    finite = torch.isfinite(history[0])
    messages = (history[-1] - history[0])[finite].std()
    # The arc prior is a constant shift of all scores but NULL's.
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
        torch.manual_seed(0)
        one, other = network(words, [4]), network(words, [4])
        assert not torch.equal(one, other), name
        network.eval()
        assert torch.equal(network(words, [4])[0], network(words, [4])[0])


@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"rank": 0}, "'rank' has to be at least 1, not 0"),
        ({"mlp_width": -1}, "'mlp_width' has to be at least 1"),
        ({"lstm_depth": -1}, "'lstm_depth' has to be at least 0"),
        ({"train_iterations": -1}, "'train_iterations' has to be at least 0"),
        ({"mlp_dropout": 1.0}, "'mlp_dropout' is a rate"),
        ({"embed_dropout": -0.1}, "'embed_dropout' is a rate"),
        ({"inference": "exact"}, "'inference' has to be one of 'mean_field', 'none'"),
        ({"supervise": "first"}, "'supervise' has to be one of 'all', 'last'"),
        ({"max_pairs": 0}, "'max_pairs' has to be at least 1"),
    ],
)
def test_wrong_settings_are_refused(settings, reason):
    with pytest.raises(ValueError, match=reason):
        Settings(**{**SETTINGS, **settings})
