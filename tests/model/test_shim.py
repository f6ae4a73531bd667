"""Prediction changes no shared state: threads, and prediction during an update."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest
import spacy
import torch
import torch.utils.checkpoint
from thinc.api import ArgsKwargs
from torch import nn

from spacy_sdp.model.shim import ThreadSafeShim


class Noisy(nn.Module):
    """A module whose output tells its mode."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.dropout = nn.Dropout(0.5)

    def forward(self, rows):
        return self.dropout(self.linear(rows))


def make_shim():
    torch.manual_seed(0)
    return ThreadSafeShim(Noisy().eval())


def inputs(rows=50):
    tensor = torch.ones(rows, 4, requires_grad=True)
    return ArgsKwargs(args=(tensor,), kwargs={})


def gradients(shim, between=lambda: None):
    """The gradient of an update, with something done before the backward pass."""
    torch.manual_seed(1)
    output, backprop = shim.begin_update(inputs())
    between()
    backprop(
        ArgsKwargs(
            args=((output,),), kwargs={"grad_tensors": (torch.ones_like(output),)}
        )
    )
    grads = [each.grad.clone() for each in shim._model.parameters()]
    for each in shim._model.parameters():
        each.grad = None
    return output, grads


def update(shim):
    output, backprop = shim.begin_update(inputs())
    backprop(
        ArgsKwargs(
            args=((output,),), kwargs={"grad_tensors": (torch.ones_like(output),)}
        )
    )
    shim.finish_update(lambda key, weights, gradient: (weights - gradient, gradient))


def test_a_prediction_that_ends_during_another_one_does_not_change_it():
    shim = make_shim()
    expected = shim.predict(inputs())
    nested = []

    def predict_meanwhile(module, args):
        if not nested:
            nested.append(True)
            other = Thread(target=lambda: nested.append(shim.predict(inputs())))
            other.start()
            other.join()

    # Between the linear layer and the dropout of one thread, another one predicts.
    shim._model.dropout.register_forward_pre_hook(predict_meanwhile)
    assert torch.equal(shim.predict(inputs()), expected)
    assert torch.equal(nested[1], expected)


def test_updates_have_dropout_and_predictions_do_not():
    shim = make_shim()
    expected = shim.predict(inputs())
    output, grads = gradients(shim)
    assert (output == 0).any() and (output != 0).any()
    assert all(grad.any() for grad in grads)
    assert torch.equal(shim.predict(inputs()), expected)
    assert not shim._model.training


def test_a_prediction_between_an_update_and_its_backward_pass_changes_nothing():
    shim = make_shim()
    expected = shim.predict(inputs())
    found = []
    one = gradients(shim)
    other = gradients(shim, between=lambda: found.append(shim.predict(inputs())))
    assert torch.equal(found[0], expected)
    assert torch.equal(one[0], other[0])
    assert all(map(torch.equal, one[1], other[1]))


def test_what_is_computed_again_in_the_backward_pass_has_dropout():
    class Checkpointed(Noisy):
        def forward(self, rows):
            again.append(self.training)
            return torch.utils.checkpoint.checkpoint(
                super().forward, rows, use_reentrant=False
            )

    again = []
    plain = make_shim()
    torch.manual_seed(0)
    shim = ThreadSafeShim(Checkpointed().eval())
    one = gradients(plain)
    other = gradients(shim, between=lambda: shim.predict(inputs()))
    assert again == [True, False]
    assert torch.equal(one[0], other[0])
    assert all(map(torch.equal, one[1], other[1]))


def test_updates_change_the_weights_that_predict():
    shim = make_shim()
    before = shim.predict(inputs())
    update(shim)
    assert not torch.equal(shim.predict(inputs()), before)


def replace_module(shim):
    shim._model = Noisy().eval()


def replace_layer(shim):
    shim._model.linear = nn.Linear(4, 4)


def replace_parameter(shim):
    shim._model.linear.weight = nn.Parameter(torch.ones(4, 4))


def load(shim):
    shim.from_bytes(make_shim().to_bytes())


@pytest.mark.parametrize(
    "change", [replace_module, replace_layer, replace_parameter, load]
)
def test_what_is_replaced_after_an_update_is_trained(change):
    shim = make_shim()
    gradients(shim)
    change(shim)
    assert all(grad.any() for grad in gradients(shim)[1])
    before = [each.detach().clone() for each in shim._model.parameters()]
    update(shim)
    after = shim._model.parameters()
    assert not any(map(torch.equal, before, after))


def test_settings_of_layers_can_be_changed_after_an_update():
    shim = make_shim()
    gradients(shim)
    shim._model.dropout.p = 0.0
    assert torch.equal(gradients(shim)[0], shim.predict(inputs()))


FORK = """
import os
import torch
from thinc.api import ArgsKwargs
from spacy_sdp.model.shim import ThreadSafeShim

torch.set_num_threads(2)
shim = ThreadSafeShim(torch.nn.Linear(500, 500).eval())
inputs = ArgsKwargs(args=(torch.ones(2000, 500),), kwargs={})
expected = shim.predict(inputs)
child = os.fork()
if not child:
    same = torch.allclose(shim.predict(inputs), expected)
    os._exit(0 if same and torch.get_num_threads() == 1 else 3)
assert os.waitpid(child, 0)[1] == 0 and torch.get_num_threads() == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_wait_for_the_threads_of_torch():
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FORK], start_new_session=True
    ) as process:
        try:
            assert process.wait(timeout=60) == 0
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)


SAFE = {"components.transformer.model.@architectures": "spacy_sdp.TransformerModel.v1"}


@pytest.mark.parametrize(
    ("model", "config"), [("en_sdp_dm_sm", {}), ("en_sdp_dm_md", SAFE)]
)
def test_threads_get_the_graphs_of_one_thread(model, config):
    pytest.importorskip(model, reason=f"{model} is not installed")
    nlp = spacy.load(model, config=config)
    texts = [
        "The shy cat wants to eat.",
        "Nobody who knows her believes that she left. They met in Paris, of course.",
        "Kim promised Sandy to read the book that Lee had written.",
    ]
    expected = [nlp(text)._.sdp.to_dict() for text in texts]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: nlp(text)._.sdp.to_dict(), texts * 8))
    assert found == expected * 8
