"""Tables and plots of the results of `inference.py`."""

from __future__ import annotations

from pathlib import Path

import torch
from common import write_plot

# The rank of the random factors.
RANK = 300

SYSTEMS = {
    ("dense", False): "w/o CPD",
    ("published", False): "w/ CPD, as published",
    ("exact", False): "ours, exact",
    ("exact", True): "ours, exact, without self",
    ("pruned", True): "ours, pruned",
}


def summary(rows: list[dict], batch_words: int) -> list[str]:
    """Format the tables and a summary."""
    lines: list[str] = []
    for mode in ("forward", "backward"):
        lines += [
            f"**Seconds for 100 runs**, n = 40, rank {RANK}, 3 iterations, {mode}:",
            "",
            *table(rows, "figure", "labels", 0.1, mode=mode),
            "",
        ]
    lines += [
        "**Milliseconds by sentence length** n, 3 iterations, 91 labels. The factors "
        f"are random and of rank {RANK}; the pruned column uses those of the pipeline "
        "and excludes the choice of the candidates:",
        "",
        *table(rows, "growth", "n"),
        "",
        "**Peak memory in MB**, in the same setting:",
        "",
        *table(rows, "growth", "n", value="peak_mb"),
        "",
    ]
    exponents = [
        f"{name} {exponent(rows, *system):.2f}"
        for system, name in SYSTEMS.items()
        if system[0] != "dense"
    ]
    lines += [
        f"Exponent of the time in n, from n = 40 on: {'; '.join(exponents)}.",
        "",
        f"**Milliseconds for a batch** of {batch_words:,} words in sentences of mixed "
        "lengths, with the factors of the pipeline, including the choice of the "
        "candidates:",
        "",
        *table(rows, "batch", "iterations", mode="forward"),
        "",
        "The same, forward and backward:",
        "",
        *table(rows, "batch", "iterations", mode="backward"),
        "",
        "**Milliseconds for a parse**, by the parser alone:",
        "",
        "| part | ms | share |",
        "|---|---|---|",
    ]
    for each in rows:
        if each["experiment"] == "share":
            cells = [each["system"], number(each["ms"]), f"{100 * each['share']:.1f}%"]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def table(
    rows: list[dict],
    experiment: str,
    by: str,
    scale: float = 1.0,
    *,
    mode: str = "forward",
    value: str = "ms",
) -> list[str]:
    """Format a table with a column for each system that was measured."""
    values: dict[tuple, dict] = {}
    for each in rows:
        if (each["experiment"], each["mode"]) == (experiment, mode):
            system = (each["system"], each["exclude_self"])
            values.setdefault(system, {})[each[by]] = each[value]
    systems = [system for system in SYSTEMS if system in values]
    lines = [
        f"| {by} | " + " | ".join(SYSTEMS[system] for system in systems) + " |",
        "|---" * (len(systems) + 1) + "|",
    ]
    for key in values[systems[0]]:
        cells = [number(values[system][key], scale) for system in systems]
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return lines


def limit(rows: list[dict], gflops: float) -> list[str]:
    """Compare the time with that of the matrix multiplications alone."""
    n, labels = 40, 91
    flops = 3 * 4 * 2 * 2 * (n + 1) * n * labels * RANK
    best = flops / gflops / 1e6
    (ms,) = (
        r["ms"]
        for r in rows
        if r["experiment"] == "figure"
        and (r["system"], r["labels"], r["mode"]) == ("exact", labels, "forward")
        and not r["exclude_self"]
    )
    return [
        f"**Upper bound**: this machine reaches {gflops:.0f} GFLOP/s in one large "
        "matrix multiplication. At that speed, the multiplications of exact inference "
        f"(n = {n}, {labels} labels, 3 iterations) take {best:.1f} ms; inference takes "
        f"{ms:.1f} ms in total."
    ]


def number(value: float | None, scale: float = 1.0) -> str:
    return "does not fit" if value is None else f"{scale * value:.3g}"


def exponent(rows: list[dict], system: str, exclude_self: bool) -> float:
    """Fit the exponent of the time, by linear regression on logarithms."""
    points = [
        (each["n"], each["ms"])
        for each in rows
        if each["experiment"] == "growth"
        and (each["system"], each["exclude_self"]) == (system, exclude_self)
        and each["n"] >= 40
    ]
    x, y = torch.tensor(points).log().T
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def plot(folder: Path, rows: list[dict]) -> None:
    """Plot the time of a run by number of labels, and by sentence length."""
    axes = {"ylabel": "ms a run", "yscale": "log"}
    write_plot(
        folder / "inference-figure.png",
        to_lines(rows, "figure", "labels"),
        xlabel="labels",
        **axes,
    )
    write_plot(
        folder / "inference-growth.png",
        to_lines(rows, "growth", "n"),
        xlabel="words in the sentence",
        xscale="log",
        **axes,
    )


def to_lines(
    rows: list[dict], experiment: str, by: str
) -> dict[str, list[tuple[float, float]]]:
    """Get the points of each system that was measured."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for each in rows:
        if (each["experiment"], each["mode"]) != (experiment, "forward"):
            continue
        if each["ms"] is not None:
            name = SYSTEMS[each["system"], each["exclude_self"]]
            lines.setdefault(name, []).append((each[by], each["ms"]))
    return lines
