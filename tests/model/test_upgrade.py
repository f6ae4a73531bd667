import pytest
import torch
from torch.testing import assert_close

from spacy_sdp.model.factors import RELATIONS, SecondOrder
from spacy_sdp.model.upgrade import OLD_ORDER, VERSION, upgrade_state


def make_factors(relations=RELATIONS, *, tied=False):
    options = {"null_factors": True, "hidden": 3, "rank": 2, "dropout": 0.0}
    return SecondOrder(7, 4, relations, tied=tied, **options)


@pytest.mark.parametrize("relations", [RELATIONS, ("grandparent",)])
def test_factors_are_found_by_their_names(relations):
    """Each row of the old weights has the number of its part and factor."""
    second_order = make_factors(relations)
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
    found = upgrade_state(state, 1, second_order)
    assert found.keys() == expected.keys()
    for key, tensor in found.items():
        assert_close(tensor, expected[key])
    # What is saved now is loaded as it is.
    assert upgrade_state(expected, VERSION, second_order) is expected


def test_other_weights_stay_as_they_are():
    state = {"second_order.node_factors.weight": torch.randn(9, 3, 2)}
    assert upgrade_state(state, 1, make_factors(tied=True)) is state
    assert upgrade_state(state, 1, None) is state
