from dataclasses import dataclass

import pytest
import torch
from torch.testing import assert_close

from spacy_sdp.model.inference import FirstOrder, Inference
from spacy_sdp.model.network import Network
from spacy_sdp.model.settings import Settings


@dataclass(frozen=True)
class Temperature(Inference):
    """A block without second-order scores, with a setting that nobody declared."""

    temperature: float = 2.0

    def refine(self, problem, is_train):
        assert problem.factors is None
        yield problem.scores / self.temperature


def run(inference, *, prune, train=False):
    torch.manual_seed(0)
    network = Network(8, 4, Settings(scores="joint", prune=prune), inference)
    network.train(train)
    return network(
        torch.randn(7, 8, generator=torch.Generator().manual_seed(1)), [4, 3]
    )


@pytest.mark.parametrize("prune", [0.0, 0.001])
def test_inference_needs_no_module_of_its_own(prune):
    plain, warm = (run(each, prune=prune) for each in (FirstOrder(), Temperature()))
    assert torch.equal(plain.arcs, warm.arcs)
    # Less sure of the absence of arcs, which is more probable.
    assert (warm.null < plain.null).all()
    training = run(Temperature(), prune=prune, train=True)
    finite = torch.isfinite(training.refined[0])
    assert_close(training.refined[1][finite], training.refined[0][finite] / 2)
