"""Time and memory of functions, and of the parts of a parse."""

from __future__ import annotations

import cProfile
import ctypes
import pstats
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from contestants import Problem

from spacy_sdp.model import architecture
from spacy_sdp.model.factors import SecondOrder
from spacy_sdp.model.layers import Biaffine, BiLSTM
from spacy_sdp.model.mean_field import ExactMeanField, PrunedMeanField
from spacy_sdp.model.pruning import is_candidate
from spacy_sdp.model.shim import ThreadSafeShim
from spacy_sdp.pipeline.parser import SemanticParser


def measure(
    systems: Mapping[str, Callable[[], object] | None],
    problem: Problem,
    mode: str,
    *,
    quick: bool,
) -> dict[str, float | None]:
    """Measure the median time of each system. The systems take turns."""
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
    """Measure the peak memory of a run on Linux, in MB."""
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
    """Measure the speed of a large matrix multiplication."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return 2 * size**3 / min(times) / 1e9


# The functions to time for each part of a parse.
PARTS: dict[str, tuple[Callable, ...]] = {
    "LSTM": (BiLSTM.forward,),
    "first-order scores": (Biaffine.tables, Biaffine.forward),
    "second-order factors": (SecondOrder.of_nodes, SecondOrder.of_labels),
    "candidates": (is_candidate,),
    "labels of candidates": (Biaffine.score_pairs,),
    "mean field": (
        ExactMeanField.__init__,
        ExactMeanField.__call__,
        PrunedMeanField.__init__,
        PrunedMeanField.__call__,
    ),
    "writing to the Doc": (SemanticParser.set_annotations,),
}


def time_parts(run: Callable[[], object]) -> dict[str, float]:
    """Measure the seconds of a parse and of its parts."""
    profile = cProfile.Profile()
    profile.runcall(run)
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    cumulative = {place: row[3] for place, row in stats.items()}

    def seconds(*functions: Callable) -> float:
        codes = [function.__code__ for function in functions]  # type: ignore[attr-defined]
        places = [(c.co_filename, c.co_firstlineno, c.co_name) for c in codes]
        return sum(cumulative.get(place, 0.0) for place in places)

    parts = {name: seconds(*functions) for name, functions in PARTS.items()}
    encoder = seconds(architecture.forward) - seconds(ThreadSafeShim.predict)
    total = seconds(SemanticParser.predict, SemanticParser.set_annotations)
    rest = total - encoder - sum(parts.values())
    return {"encoder": encoder, **parts, "decoding and the rest": rest, "all": total}
