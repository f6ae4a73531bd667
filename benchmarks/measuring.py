"""Time and memory of functions, and of the parts of a parse."""

from __future__ import annotations

import contextlib
import ctypes
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import torch
from contestants import Problem

from spacy_sdp.model import network as network_module
from spacy_sdp.model.layers import Biaffine, BiLSTM
from spacy_sdp.model.network import Network
from spacy_sdp.pipeline.parser import SemanticParser


def measure(
    systems: Mapping[str, Callable[[], object] | None],
    problem: Problem,
    mode: str,
    *,
    quick: bool,
) -> dict[str, float | None]:
    """The median time of each system, taking turns."""
    budget, most = (0.7, 5) if quick else (3.0, 100)
    times: dict[str, list[float]] = {name: [] for name in systems}
    tensors = [problem.scores, *(t for part in problem.parts for t in part[1:])]
    for tensor in tensors:
        tensor.requires_grad_(mode == "backward")
    running = {name for name, run in systems.items() if run is not None}
    while running:
        for name in list(running):
            with torch.set_grad_enabled(mode == "backward"):
                start = time.perf_counter()
                output = systems[name]()  # type: ignore[misc]
                if mode == "backward":
                    outputs = output if isinstance(output, list) else [output]
                    finite = [o.masked_fill(torch.isinf(o), 0).sum() for o in outputs]
                    sum(finite).backward()
                times[name].append(time.perf_counter() - start)
            # The first run warms up.
            if len(times[name]) > most or sum(times[name]) > budget:
                running.discard(name)
    for tensor in tensors:
        tensor.requires_grad_(False)
        tensor.grad = None
    return {
        name: 1000 * statistics.median(each[1:] or each) if each else None
        for name, each in times.items()
    }


def peak_mb(run: Callable[[], object]) -> float | None:
    """How much memory a run takes at its peak, as Linux counts it."""
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    before = _status("VmRSS")
    with torch.no_grad():
        run()
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise ValueError(f"/proc/self/status has no {name}.")


def peak_gflops(size: int = 1024) -> float:
    """What the machine reaches in one large multiplication of matrices."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return 2 * size**3 / min(times) / 1e9


@contextlib.contextmanager
def timed_parts(parser: SemanticParser, seconds: dict[str, float]) -> Iterator[None]:
    """Add up the time that is spent in the parts of a parse."""
    seconds.clear()
    network = parser.model.get_ref("network").shims[0]._model
    second_order = type(network.second_order)
    places = (
        (BiLSTM, "forward", "LSTM"),
        (Biaffine, "tables", "first-order scores"),
        (Biaffine, "forward", "first-order scores"),
        (second_order, "of_nodes", "second-order factors"),
        (second_order, "of_labels", "second-order factors"),
        (Biaffine, "score_pairs", "labels of candidates"),
        (network_module, "is_candidate", "candidates"),
        (Network, "_infer_all", "mean field"),
        (SemanticParser, "set_annotations", "writing to the Doc"),
    )
    tok2vec = parser.model.get_ref("tok2vec")
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    original_encoder = tok2vec._func

    def timed(function: Callable, key: str) -> Callable:
        def wrapper(*args: object, **kwargs: object) -> object:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = time.perf_counter() - start
                seconds[key] = seconds.get(key, 0.0) + elapsed

        return wrapper

    tok2vec._func = timed(original_encoder, "encoder")
    for owner, name, key in places:
        setattr(owner, name, timed(getattr(owner, name), key))
    try:
        yield
    finally:
        tok2vec._func = original_encoder
        for owner, name, function in originals:
            setattr(owner, name, function)
