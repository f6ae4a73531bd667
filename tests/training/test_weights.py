import numpy as np
import pytest
import spacy
import torch
from util import add_parser, train

from spacy_sdp.training.weights import average_weights, get_weights, round_weights


def weights_of(nlp):
    """RETURNS the weights of the parser, of thinc's layers and of torch's."""
    weights = get_weights(nlp.get_pipe("sdp_meanfield"))
    assert len(weights) > 20
    return weights


def test_all_weights_are_found(nlp, examples):
    model = add_parser(nlp, examples).model
    sizes = [
        node.get_param(name).size
        for node in model.walk()
        for name in node.param_names
        if node.has_param(name)
    ]
    network = model.get_ref("network").shims[0]._model
    sizes += [each.numel() for each in network.parameters()]
    assert sum(each.numel() for each in weights_of(nlp)) == sum(sizes)


def test_rounded_weights_have_eight_significant_bits(nlp, examples):
    add_parser(nlp, examples)
    train(nlp, examples[:8], steps=20)
    text = "The shy cat wants to eat."
    before = nlp(text)._.sdp
    nlp.vocab.set_vector("cat", np.array([1 + 2**-3, -0.25 - 2**-9], dtype="f"))
    round_weights(nlp)
    assert nlp.vocab.get_vector("cat").tolist() == [1 + 2**-3, -0.25]
    assert all(torch.equal(a, a.bfloat16().float()) for a in weights_of(nlp))
    assert nlp(text)._.sdp == before


def test_the_average_is_the_mean_of_pipelines_fine_tuned_from_one(
    nlp, examples, tmp_path
):
    add_parser(nlp, examples)
    nlp.to_disk(tmp_path)
    pipelines = [spacy.load(tmp_path) for _ in range(3)]
    for i, pipeline in enumerate(pipelines):
        train(pipeline, examples[4 * i : 4 * i + 4], steps=3)
    before = [weights_of(pipeline) for pipeline in pipelines]
    found = weights_of(average_weights(pipelines))
    for mean, each in zip(found, zip(*before, strict=True), strict=True):
        torch.testing.assert_close(mean, sum(each) / 3)
    moved = [not torch.equal(a, b) for a, b in zip(found, weights_of(nlp), strict=True)]
    assert all(moved)


@pytest.mark.parametrize(
    "other, message",
    [
        ({"name": "other"}, "component names differ"),
        ({"rank": 5}, "the weights of 'sdp_meanfield' have different shapes"),
        ({"seed": 1}, "did not start from the same weights"),
    ],
)
def test_only_pipelines_fine_tuned_from_one_are_averaged(nlp, examples, other, message):
    add_parser(nlp, examples)
    different = spacy.blank("en")
    add_parser(different, examples, **other)
    with pytest.raises(ValueError, match=message):
        average_weights([nlp, different])
