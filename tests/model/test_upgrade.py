import pytest
import torch
from torch.testing import assert_close
from util import make_settings

from spacy_sdp.model.factors import RELATIONS
from spacy_sdp.model.frames import ARGUMENT_WIDTH, HASH_WIDTH
from spacy_sdp.model.network import Network
from spacy_sdp.model.upgrade import OLD_ORDER, VERSION, upgrade_state


def make_network(relations=RELATIONS, n_frames=0, **settings):
    settings = make_settings(parts=list(relations), null_factors=True, **settings)
    return Network(5, 2, *settings, n_frames).eval()


@pytest.mark.parametrize("relations", [RELATIONS, ("grandparent",)])
def test_factors_are_found_by_their_names(relations):
    """Each row of the old weights has the number of its part and factor."""
    network = make_network(relations)
    second_order = network.second_order
    state, expected = {"root.weight": torch.ones(1)}, {"root.weight": torch.ones(1)}
    for module, names in (
        ("node_factors", second_order.node_names),
        ("label_factors", second_order.label_names),
    ):
        number = {name: i for i, name in enumerate(names)}
        old = sorted(names, key=lambda name: OLD_ORDER.index(name[0]))
        for name, shape in (
            ("weight", (1, 3, 2)),
            ("bias", (1, 1, 2)),
            ("mlps.linear.weight", (3, 7)),
            ("mlps.linear.bias", (3,)),
        ):
            key = f"second_order.{module}.{name}"
            rows = [torch.full(shape, float(number[each])) for each in old]
            state[key] = torch.cat(rows)
            expected[key] = state[key].sort(dim=0).values
    found = upgrade_state(state, 1, network)
    assert found.keys() == expected.keys()
    for key, tensor in found.items():
        assert_close(tensor, expected[key])
    # What is saved now is loaded as it is.
    assert upgrade_state(expected, VERSION, network) is expected


def test_other_weights_stay_as_they_are():
    state = {"second_order.node_factors.weight": torch.randn(9, 3, 2)}
    first_order = Network(5, 2, *make_settings("first_order"))
    assert upgrade_state(state, 1, make_network(tied=True)) is state
    assert upgrade_state(state, 1, first_order) is state


def test_frames_of_version_2_are_the_same_ever_after():
    """They were found by the states, the hashes and the labels of arguments."""
    network = make_network(n_frames=3)
    lengths, vectors = [3, 1], torch.randn(4, 5)
    hashes = torch.randint(-(2**62), 2**62, (4, 2))
    frames = network.frames
    old_table = torch.randn(10_000, HASH_WIDTH)
    # The states, the vectors of words and the labels come first.
    old_width = frames.mlp.linear.in_features - ARGUMENT_WIDTH - HASH_WIDTH
    old_weight = frames.mlp.linear.weight[:, :old_width].detach().clone()
    state = network.state_dict()
    state["frames.embedding.weight"] = old_table
    state["frames.mlp.linear.weight"] = old_weight
    for name in ("argument.weight", "argument.bias", "role.weight"):
        del state[f"frames.{name}"]
    inputs = []
    frames.mlp.register_forward_hook(lambda mlp, given, _: inputs.append(given[0]))
    network.load_state_dict(upgrade_state(state, 2, network))
    network(vectors, lengths, None, hashes)
    words = slice(network.lstm.output_width, network.lstm.output_width + HASH_WIDTH)
    number = hashes[:, 0]
    expected = old_table[number % 10_000] + old_table[number // 10_000 % 10_000]
    assert_close(inputs[0][:, words], expected)
    found = frames.mlp.linear(inputs[0])
    assert_close(
        found, inputs[0][:, :old_width] @ old_weight.T + frames.mlp.linear.bias
    )
