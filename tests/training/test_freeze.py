import re

import pytest
import torch
from spacy.util import registry
from util import add_parser, save_tiny_bert, train

from spacy_sdp.training.freeze import make_freeze_parameters


def parameters(nlp):
    shims = nlp.get_pipe("sdp_meanfield").model.get_ref("network").shims
    return dict(shims[0]._model.named_parameters())


def test_frozen_parameters_have_no_gradient_and_stay_as_they_are(nlp, examples):
    add_parser(nlp, examples)
    make_freeze_parameters("sdp_meanfield", r"^lstm\.")(nlp)
    before = {name: tensor.clone() for name, tensor in parameters(nlp).items()}
    train(nlp, examples[:4], steps=3)
    for name, tensor in parameters(nlp).items():
        frozen = name.startswith("lstm.")
        assert (tensor.grad is None) == frozen
        assert torch.equal(tensor, before[name]) == frozen, name
    assert any(name.startswith("lstm.") for name in before)


def test_by_default_it_is_the_vectors_of_word_pieces(nlp, tmp_path):
    save_tiny_bert(tmp_path / "bert", ["the", "cat"])
    config = {"model": {"name": str(tmp_path / "bert")}}
    transformer = nlp.add_pipe("transformer", config=config)
    nlp.config["initialize"]["after_init"] = {
        "@callbacks": "spacy_sdp.freeze_parameters.v1"
    }
    nlp.initialize()
    frozen = [
        name
        for name, tensor in transformer.model.transformer.named_parameters()
        if not tensor.requires_grad
    ]
    assert frozen == ["embeddings.word_embeddings.weight"]


def test_components_that_are_disabled_are_found(nlp, examples):
    add_parser(nlp, examples)
    with nlp.select_pipes(disable=["sdp_meanfield"]):
        make_freeze_parameters("sdp_meanfield", "^root")(nlp)
    assert not parameters(nlp)["root.weight"].requires_grad


@pytest.mark.parametrize(
    ("component", "pattern", "message"),
    [
        (
            "transformer",
            "x",
            "no such component (found: sentencizer, sdp_meanfield). Change",
        ),
        ("sdp_meanfield", "^wte$", "'^wte$' matches none of the names of its"),
        ("sentencizer", "x", "it has no torch parameters. Change 'component'"),
    ],
)
def test_what_cannot_be_frozen_is_named(nlp, examples, component, pattern, message):
    nlp.add_pipe("sentencizer")
    add_parser(nlp, examples)
    with pytest.raises(ValueError, match=re.escape(message)):
        make_freeze_parameters(component, pattern)(nlp)


def test_a_broken_pattern_is_refused():
    make = registry.callbacks.get("spacy_sdp.freeze_parameters.v1")
    with pytest.raises(ValueError, match=r"'pattern' is not a regular .*: '\('"):
        make(pattern="(")
