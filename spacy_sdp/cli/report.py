"""The tables of `python -m spacy sdp inspect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import typer
from wasabi.tables import table

from ..evaluation.statistics import (
    SHORTEST_TELLING,
    Comparison,
    Statistics,
    by_frequency,
    in_bands,
    quantile,
)

BAR_WIDTH = 30
# The end of a bar: nothing, or one to seven eighths of a full block.
FULL_BLOCK, PARTIAL_BLOCKS = "█", ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
# Wider than any cell, so that tables do not truncate them.
WIDEST_CELL = 1000
MOST_UNALIGNED = 10
NO_TEXT = "The data have tokens but no text: training uses these tokens."

# The minimum value of each band.
HEADS = (0, 1, 2, 3)
TOPS = (0, 1, 2, 3)
ARC_LENGTHS = (1, 2, 3, 4, 5, 10)
SENTENCE_LENGTHS = (1, 10, 20, 30, 40, 50, 100, 151)


@dataclass(frozen=True)
class Cell:
    """A count, and the total that it is a share of."""

    count: int
    total: int | None = None


def print_report(corpora: Mapping[str, Statistics], most_labels: int) -> None:
    """Print the statistics of corpora side by side.

    corpora (Mapping[str, Statistics]): One or two corpora, by name. The second one is
        compared with the first.
    most_labels (int): Maximum number of labels to list.
    """
    _print_table("Corpus", {name: _counts(each) for name, each in corpora.items()})
    for title, attribute, starts in (
        ("Heads per token", "heads_per_token", HEADS),
        ("Tops per graph", "tops_per_graph", TOPS),
        ("Length of an arc, in words", "arc_lengths", ARC_LENGTHS),
        ("Length of a sentence, in words", "sentence_lengths", SENTENCE_LENGTHS),
    ):
        bands = {
            name: _cells(in_bands(getattr(each, attribute), starts))
            for name, each in corpora.items()
        }
        _print_table(title, bands, with_bars=True)
    if most_labels:
        _print_labels(corpora, most_labels)
    _print_tokenizer_fit(corpora)
    if len(corpora) > 1:
        train, dev = corpora.values()
        _print_comparison(Comparison.of(train, dev), dev)


def _counts(statistics: Statistics) -> dict[str, Cell]:
    words, lengths = statistics.sentence_lengths, statistics.arc_lengths
    sentences, arcs = statistics.sentences, statistics.arcs
    return {
        "Sentences": Cell(sentences),
        "Tokens": Cell(statistics.tokens),
        "Arcs": Cell(arcs),
        "Labels": Cell(len(statistics.labels)),
        "Words in a sentence, median": Cell(quantile(words, 0.5)),
        "Words in a sentence, at most": Cell(quantile(words, 1.0)),
        "Length of an arc, median": Cell(quantile(lengths, 0.5)),
        "Length of an arc, at most": Cell(quantile(lengths, 1.0)),
        "Re-entrant tokens": Cell(statistics.reentrant_tokens, statistics.tokens),
        "Crossing arcs": Cell(statistics.crossing_arcs, arcs),
        "Cyclic graphs": Cell(statistics.cyclic_graphs, sentences),
        "Graphs without arcs": Cell(statistics.graphs_without_arcs, sentences),
        "Word pairs with several labels": Cell(statistics.pairs_with_several_labels),
    }


def _print_labels(corpora: Mapping[str, Statistics], limit: int) -> None:
    train = next(iter(corpora.values()))
    most = [label for label, _ in by_frequency(train.labels)[:limit]]
    columns = {
        name: {label: Cell(each.labels[label], each.arcs) for label in most}
        for name, each in corpora.items()
    }
    _print_table("Labels", columns, with_bars=True)
    if more := len(train.labels) - len(most):
        typer.echo(f"… and {more:,} more\n")


def _print_tokenizer_fit(corpora: Mapping[str, Statistics]) -> None:
    fits = {name: each.tokenizer_fit for name, each in corpora.items()}
    columns = {
        name: {
            "Sentences without text": Cell(fit.sentences_without_text),
            "Tokens without counterpart": Cell(fit.unaligned.total(), fit.tokens),
            "Arcs lost": Cell(fit.lost_arcs, fit.arcs),
        }
        for name, fit in fits.items()
        if fit is not None and fit.tokens
    }
    if not columns:
        typer.secho("Tokens of spaCy's tokenizer", bold=True)
        typer.echo(f"\n{NO_TEXT}\n")
        return
    _print_table("Tokens of spaCy's tokenizer", columns)
    unaligned: Counter[str] = Counter()
    for fit in fits.values():
        unaligned.update(fit.unaligned if fit is not None else {})
    if unaligned:
        most = by_frequency(unaligned)[:MOST_UNALIGNED]
        names = ", ".join(f"{word} ({count:,})" for word, count in most)
        typer.echo(f"Most frequent without counterpart: {names}\n")


def _print_comparison(comparison: Comparison, dev: Statistics) -> None:
    missing = comparison.missing_labels
    repeated = f"Sentences also in train, of {SHORTEST_TELLING} words or more"
    cells = {
        "Labels missing from train": Cell(len(missing), len(dev.labels)),
        "Arcs with these labels": Cell(missing.total(), dev.arcs),
        repeated: Cell(comparison.common_sentences, comparison.telling_sentences),
    }
    _print_table("Comparison with train", {"Dev": cells})


def _print_table(
    title: str,
    columns: Mapping[str, Mapping[str, Cell]],
    *,
    with_bars: bool = False,
) -> None:
    """Print counts and percentages, with bars for the first column.

    Tables with bars leave out rows with zero counts in all columns.
    """
    first = next(iter(columns.values()))
    largest = max((cell.count for cell in first.values()), default=0)
    rows = []
    for name in first:
        cells = [column[name] for column in columns.values()]
        if with_bars and not any(cell.count for cell in cells):
            continue
        row = [name]
        for cell in cells:
            row += [f"{cell.count:,}", _percentage(cell)]
        if with_bars:
            row.append(_bar(cells[0].count, largest))
        rows.append(row)
    header = [""]
    aligns: list[Literal["l", "r"]] = ["l"]
    for name in columns:
        header += [name, "%"]
        aligns += ["r", "r"]
    if with_bars:
        header.append("")
        aligns.append("l")
    text = table(rows, header=header, divider=True, aligns=aligns, max_col=WIDEST_CELL)
    typer.secho(title, bold=True)
    typer.echo(text)


def _percentage(cell: Cell) -> str:
    if cell.total is None:
        return ""
    return f"{100 * cell.count / cell.total:.1f}" if cell.total else "0.0"


def _bar(count: int, largest: int) -> str:
    """Draw a bar. Any count above zero is visible."""
    eighths = round(8 * BAR_WIDTH * count / largest) if largest else 0
    eighths = max(eighths, min(count, 1))
    return FULL_BLOCK * (eighths // 8) + PARTIAL_BLOCKS[eighths % 8]


def _cells(counts: Mapping[str, int]) -> dict[str, Cell]:
    total = sum(counts.values())
    return {name: Cell(count, total) for name, count in counts.items()}
