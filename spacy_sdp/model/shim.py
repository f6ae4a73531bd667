"""The boundary between thinc and torch."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from io import BytesIO
from itertools import chain
from typing import Any

import srsly
import torch
from thinc.api import ArgsKwargs, Optimizer, PyTorchShim, get_torch_default_device

from .inference import Inference
from .network import Network
from .settings import Settings
from .upgrade import VERSION, upgrade_state

# A forked process does not have torch's threads, and would wait for them forever. This
# does not affect new processes, and a forked process can choose another number itself.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))


class ThreadSafeShim(PyTorchShim):
    """A shim whose `predict` can be called from several threads concurrently.

    thinc's own shim switches the module to evaluation mode and back, so one thread can
    enable dropout while another one predicts. Here the module is always in evaluation
    mode. Each update runs on a new copy in training mode that shares all parameters.
    Predictions between an update and its backward pass, and computations that are
    repeated in the backward pass, therefore use the right mode. Copying takes a few
    milliseconds, and the copy is never out of date, even if layers are replaced.
    """

    def predict(self, inputs: ArgsKwargs) -> Any:
        with torch.no_grad(), torch.autocast("cuda", enabled=self._mixed_precision):
            return self._model(*inputs.args, **inputs.kwargs)

    def begin_update(self, inputs: ArgsKwargs) -> tuple[Any, Callable[..., Any]]:
        shared = chain(self._model.parameters(), self._model.buffers())
        trainer = PyTorchShim(
            deepcopy(self._model, memo={id(tensor): tensor for tensor in shared}),
            mixed_precision=self._mixed_precision,
            grad_scaler=self._grad_scaler,
        )
        return trainer.begin_update(inputs)


class NetworkShim(ThreadSafeShim):
    """A shim whose network is built when the labels are known.

    The input width and the number of labels are saved with the weights. The settings
    are not saved: they are in the config, and settings that do not affect the weights
    can be changed when a pipeline is loaded.
    """

    def __init__(self, settings: Settings, inference: Inference) -> None:
        super().__init__(None)
        self.settings = settings
        self.inference = inference

    @property
    def is_built(self) -> bool:
        return self._model is not None

    def check_length(self, words: int) -> None:
        """Raise an error if a sentence would need too much memory.

        words (int): The length of the sentence.
        """
        longest = self.inference.longest_unpruned
        if not self.settings.prune and words > longest:
            raise ValueError(
                f"A sentence of {words} words is too long for a parser with prune = 0, "
                f"which holds all pairs of words in memory: the limit is {longest} "
                "words. Set sentence boundaries before the parser, or set 'prune' to a "
                "small probability such as 0.01."
            )

    @property
    def network(self) -> Network:
        """The network, once it is built."""
        return self._model

    def build(self, input_width: int, n_labels: int, n_frames: int = 0) -> None:
        """Build the network with fresh weights.

        input_width (int): Width of the token vectors.
        n_labels (int): Number of labels of the corpus.
        n_frames (int): Number of frames of the corpus; 0 if they are not predicted.
        """
        if bool(n_frames) != self.settings.frames:
            raise ValueError(
                "The setting 'frames' of the parser's model is "
                f"{str(self.settings.frames).lower()}, but it was initialized for "
                f"{n_frames} frames: undo the change, or train the parser again."
            )
        self.cfg = {
            "input_width": input_width,
            "n_labels": n_labels,
            "n_frames": n_frames,
        }
        network = Network(settings=self.settings, inference=self.inference, **self.cfg)
        self._model = network.to(get_torch_default_device()).eval()

    def finish_update(self, optimizer: Optimizer) -> None:
        if self.settings.grad_clip:
            torch.nn.utils.clip_grad_norm_(
                self._model.parameters(), self.settings.grad_clip
            )
        super().finish_update(optimizer)

    def to_bytes(self) -> bytes:
        state = None
        if self.is_built:
            buffer = BytesIO()
            torch.save(self._model.state_dict(), buffer)
            state = buffer.getvalue()
        return srsly.msgpack_dumps(
            {"config": self.cfg, "state": state, "version": VERSION}
        )

    def from_bytes(self, bytes_data: bytes) -> NetworkShim:
        message = srsly.msgpack_loads(bytes_data)
        if message["state"] is None:
            self.cfg, self._model = {}, None
            return self
        self.build(**message["config"])
        state = torch.load(
            BytesIO(message["state"]),
            map_location=get_torch_default_device(),
            weights_only=True,
        )
        state = upgrade_state(state, message.get("version", 1), self.network)
        try:
            self._model.load_state_dict(state)
        except RuntimeError as error:
            raise ValueError(
                "The saved weights of the parser do not fit its settings. Widths, "
                "rank, depth, 'scores', 'bypass_lstm', 'parts', 'tied' and the kind of "
                "inference cannot be changed after training: undo the change in the "
                f"section of the parser's model. ({error})"
            ) from None
        return self
