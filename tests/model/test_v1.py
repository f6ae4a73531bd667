"""Pipelines that were trained with the first version of the architecture."""

from dataclasses import fields

import pytest
import spacy
from spacy.util import load_config, registry

from spacy_sdp.model.inference import BeliefPropagation, FirstOrder, MeanField

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


def parse(nlp):
    return nlp("The shy cat wants to eat.")._.sdp.to_dict()


def test_the_config_of_a_trained_pipeline_can_be_converted(nlp, examples, tmp_path):
    """As the changelog shows it."""
    settings = {"lstm_width": 10, "mlp_width": 12, "factor_width": 8, "rank": 4}
    old = {"@architectures": "spacy_sdp.MeanFieldParser.v1", "tok2vec": TOK2VEC}
    # Find arcs without training.
    component = {"model": {**old, **settings}, "threshold": 0.01}
    nlp.add_pipe("sdp_meanfield", config=component)
    nlp.initialize(lambda: examples)
    expected = parse(nlp)
    assert expected["arcs"]
    nlp.to_disk(tmp_path)
    assert parse(spacy.load(tmp_path)) == expected
    config = load_config(tmp_path / "config.cfg")
    model = config["components"]["sdp_meanfield"]["model"]
    for name in (
        *("hidden_width", "damping", "tolerance", "max_heads", "label_weight"),
        *("inference", "labelled", "factored"),
    ):
        model.pop(name)
    block = {"@misc": "spacy_sdp.mean_field.v1"}
    for field in fields(MeanField):
        if field.name in model:
            block[field.name] = model.pop(field.name)
    model |= {"@architectures": "spacy_sdp.MeanFieldParser.v2", "inference": block}
    config.to_disk(tmp_path / "config.cfg")
    assert parse(spacy.load(tmp_path)) == expected
