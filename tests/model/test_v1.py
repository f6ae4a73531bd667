"""Pipelines that were trained with the first version of the architecture."""

import pytest
import torch
from spacy.util import registry
from torch.testing import assert_close

from spacy_sdp.model.factors import (
    LABEL_FACTORS,
    NODE_FACTORS,
    RELATIONS,
    factor_names,
)
from spacy_sdp.model.inference import BeliefPropagation, FirstOrder, MeanField
from spacy_sdp.model.v1 import OLD_ORDER, reorder_factors

TOK2VEC = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1}
TOK2VEC |= {"embed_size": 50, "window_size": 1, "maxout_pieces": 2}
TOK2VEC |= {"subword_features": True, "pretrained_vectors": None}

pytestmark = pytest.mark.filterwarnings("ignore:.*MeanFieldParser.v1 is deprecated")


def shim_of(**settings):
    config = {"@architectures": "spacy_sdp.MeanFieldParser.v1", **settings}
    model = registry.resolve({"model": {**config, "tok2vec": TOK2VEC}})["model"]
    return model.get_ref("network").shims[0]


@pytest.mark.parametrize(
    ("settings", "scores", "inference"),
    [
        ({}, "factored", MeanField()),
        ({"factored": False, "label_width": 5}, "joint", MeanField()),
        ({"labelled": False, "null_factors": True}, "unlabelled", MeanField()),
        ({"inference": "lbp", "rank": 5}, "unlabelled", BeliefPropagation(rank=5)),
        ({"inference": "none"}, "factored", FirstOrder()),
        (
            {"tied": True, "parts": ["sibling"], "predict_iterations": 9},
            "factored",
            MeanField(tied=True, parts=["sibling"], predict_iterations=9),
        ),
    ],
    ids=str,
)
def test_old_settings_have_new_names(settings, scores, inference):
    shim = shim_of(**settings)
    assert shim.settings.scores == scores
    found = {**vars(shim.inference)}
    expected = {**vars(inference)}
    for each in (found, expected):
        each["parts"] = list(each.get("parts", ()))
    assert type(shim.inference) is type(inference) and found == expected


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"damping": 0.3}, "'damping' no longer exists: only 0.0 is accepted, not 0.3"),
        ({"hidden_width": 9}, "'hidden_width' no longer exists"),
        ({"max_heads": 3}, "'max_heads' no longer exists"),
        ({"inference": "exact"}, "one of 'mean_field', 'lbp', 'none', not 'exact'"),
    ],
)
def test_settings_that_are_gone_are_refused_unless_they_are_off(settings, reason):
    with pytest.raises(ValueError, match=reason):
        shim_of(**settings)


def test_it_is_deprecated():
    with pytest.warns(DeprecationWarning, match=r"use spacy_sdp\.MeanFieldParser\.v2"):
        shim_of(tolerance=0.5)


@pytest.mark.parametrize("relations", [RELATIONS, ("grandparent",)])
def test_factors_are_found_by_their_names(relations):
    """Each row of the old weights has the number of its part and factor."""
    state, expected = {}, {}
    for module, factors in (
        ("node_factors", NODE_FACTORS),
        ("label_factors", LABEL_FACTORS),
    ):
        names = factor_names(relations, factors, tied=False)
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
    found = reorder_factors(state, relations)
    assert found.keys() == expected.keys()
    for key, tensor in found.items():
        assert_close(tensor, expected[key])
