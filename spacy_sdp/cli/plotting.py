"""Plots of corpus statistics, for `python -m spacy sdp inspect --plot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..evaluation.statistics import Statistics, by_frequency, in_bands, quantile
from ..formats.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
COLOURS = ("#3b6ea5", "#e8953c")
MOST_LABELS = 20
MOST_HEADS = 6
LONGEST_ARC = 15
LENGTH_BANDS = 14


def check_plot(path: Path) -> None:
    """Check in advance whether a plot can be created.

    path (Path): The file to write.
    """
    if path.suffix not in FIGURE_SUFFIXES:
        raise ValueError(
            f"{path}: the name of a plot must end in {' or '.join(FIGURE_SUFFIXES)}"
        )
    if not path.parent.is_dir():
        raise ValueError(f"{path.parent}: the folder does not exist")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ValueError(
            '--plot requires matplotlib: pip install "spacy-sdp[plot]"'
        ) from None


def save_plot(corpora: Mapping[str, Statistics], path: Path) -> None:
    """Plot label frequencies, heads per token, arc lengths and sentence lengths.

    corpora (Mapping[str, Statistics]): One or two corpora, by name.
    path (Path): The file. The suffix decides the format, and an existing file is only
        replaced on success.
    """
    figure = draw(corpora)
    with atomic_write(path) as file:
        figure.savefig(file, format=path.suffix[1:], dpi=150)


def draw(corpora: Mapping[str, Statistics]) -> Figure:
    """Plot the four panels.

    corpora (Mapping[str, Statistics]): One or two corpora, by name.
    RETURNS (Figure): The figure.
    """
    # pyplot is not used, because it keeps global figures and settings.
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    every = list(corpora.values())
    layout = ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.15)
    figure = Figure(figsize=(12, 9), layout=layout)
    panels = figure.subplots(2, 2).flat
    _draw_labels(next(panels), corpora)
    for histograms, starts, title, unit in (
        (
            [each.heads_per_token for each in every],
            range(MOST_HEADS),
            "Heads per token",
            "tokens",
        ),
        (
            [each.arc_lengths for each in every],
            range(1, LONGEST_ARC + 1),
            "Length of an arc, in words",
            "arcs",
        ),
        (
            [each.sentence_lengths for each in every],
            _length_bands(every),
            "Length of a sentence, in words",
            "sentences",
        ),
    ):
        bands = [in_bands(histogram, starts) for histogram in histograms]
        _draw_columns(next(panels), bands, title, unit)
    figure.legend(loc="outside upper center", frameon=False)
    return figure


def _draw_labels(axes: Axes, corpora: Mapping[str, Statistics]) -> None:
    train = next(iter(corpora.values()))
    labels = [label for label, _ in by_frequency(train.labels)[:MOST_LABELS]]
    thickness = 0.8 / len(corpora)
    for number, (name, each) in enumerate(corpora.items()):
        axes.barh(
            [row + (number + 0.5) * thickness - 0.4 for row in range(len(labels))],
            _percentages([each.labels[label] for label in labels], each.arcs),
            height=thickness,
            color=COLOURS[number],
            # For the legend of the figure.
            label=f"{name}: {each.sentences:,} sentences, {each.tokens:,} tokens, "
            f"{each.arcs:,} arcs, {len(each.labels):,} labels",
        )
    # Labels may contain dollar signs, which are not formulas.
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel("% of the arcs")
    axes.set_title(f"Labels, the {len(labels)} most frequent")
    _tidy(axes, grid="x")


def _draw_columns(
    axes: Axes, bands: Sequence[Mapping[str, int]], title: str, unit: str
) -> None:
    thickness = 0.8 / len(bands)
    for number, counts in enumerate(bands):
        axes.bar(
            [
                column + (number + 0.5) * thickness - 0.4
                for column in range(len(counts))
            ],
            _percentages(list(counts.values()), sum(counts.values())),
            width=thickness,
            color=COLOURS[number],
        )
    names = list(bands[0])
    is_wide = any(len(name) > 3 for name in names)
    axes.set_xticks(range(len(names)), names, rotation=45 if is_wide else 0)
    axes.set_ylabel(f"% of the {unit}")
    axes.set_title(title)
    _tidy(axes, grid="y")


def _tidy(axes: Axes, grid: Literal["x", "y"]) -> None:
    axes.tick_params(labelsize="small", length=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color="#dddddd")
    axes.set_axisbelow(True)


def _percentages(counts: Sequence[int], total: int) -> list[float]:
    return [100 * count / total if total else 0.0 for count in counts]


def _length_bands(corpora: Sequence[Statistics]) -> list[int]:
    """Get bands of a multiple of 5 words, so that few sentences are in the last one."""
    longest = max(quantile(each.sentence_lengths, 0.99) for each in corpora)
    width = 5 * max(ceil(longest / (5 * LENGTH_BANDS)), 1)
    return [1, *range(width, max(longest, width) + 1, width)]
