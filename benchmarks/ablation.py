"""Compare the systems of the paper, trained with several seeds, and the pipelines.

    python -m spacy project run ablation

trains the systems, and calls

    python benchmarks/ablation.py training corpus/dm

where training/ablation has a folder for each system and seed (labelled-0), with its
parses of test.spacy and ood.spacy, and so have training/small and training/minilm if
the pipelines were made.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from common import RESULTS, write_json, write_markdown
from matplotlib.figure import Figure

from spacy_sdp.formats import Sentence, docbin
from spacy_sdp.formats.files import atomic_write
from spacy_sdp.scoring import score_sentences

# Where the parses are, and what made them.
SYSTEMS = {
    "ablation/first-order-*": "first order",
    "ablation/unlabelled-*": "unlabelled mean field",
    "ablation/lbp-*": "unlabelled belief propagation",
    "ablation/labelled-*": "labelled mean field",
    "ablation/minilm-first-order-*": "first order, MiniLM",
    "ablation/minilm-unlabelled-*": "unlabelled mean field, MiniLM",
    "ablation/minilm-lbp-*": "unlabelled belief propagation, MiniLM",
    "ablation/minilm-labelled-*": "labelled mean field, MiniLM",
    "small": "`en_sdp_dm_sm`",
    "minilm": "`en_sdp_dm_md`",
}
SPLITS = {"test": "WeScience", "ood": "Sherlock Holmes"}
SCORES = ("LF", "UF", "LM")
# Where ranges of sentence lengths begin, in words.
LENGTHS = (1, 11, 21, 31, 41, 10**9)
# How many labels stand in the table, the most frequent ones first.
N_LABELS = 12

# For each split and system, the scores of its seeds.
Results = dict[str, dict[str, list[dict[str, Any]]]]


def score(gold: list[Sentence], system: list[Sentence]) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Percentages, also by label and by length."""
    scores = score_sentences(gold, system)["with_tops"]
    labels = sorted(scores["per_label"].items(), key=lambda item: -item[1]["gold"])
    return {
        **{name: 100 * scores[name] for name in SCORES},
        "by_length": dict(score_by_length(gold, system)),
        "by_label": {label: 100 * row["f"] for label, row in labels},
    }


def score_by_length(
    gold: list[Sentence], system: list[Sentence]
) -> Iterator[tuple[str, float]]:
    """YIELDS (Tuple[str, float]): LF1 for each range of words in a sentence."""
    for start, end in pairwise(LENGTHS):
        chosen = [
            pair
            for pair in zip(gold, system, strict=True)
            if start <= len(pair[0].words) < end
        ]
        if chosen:
            name = f"{start}+" if end == LENGTHS[-1] else f"{start}-{end - 1}"
            scores = score_sentences(*map(list, zip(*chosen, strict=True)))
            yield name, 100 * scores["with_tops"]["LF"]


def collect(training: Path, corpus: Path) -> Results:
    """RETURNS (Results): The scores of all systems that were trained."""
    results: Results = {}
    for split in SPLITS:
        gold = list(docbin.read(corpus / f"{split}.spacy"))
        results[split] = {}
        for pattern, title in SYSTEMS.items():
            paths = sorted(training.glob(f"{pattern}/{split}.spacy"))
            if paths:
                results[split][title] = [
                    score(gold, list(docbin.read(path))) for path in paths
                ]
    return results


def spread(values: list[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{mean(values):.2f} ± {stdev(values):.2f}"


def make_tables(results: Results) -> list[str]:
    """RETURNS (List[str]): Lines of Markdown."""
    header = [f"{title} {name}" for title in SPLITS.values() for name in SCORES]
    rows = {
        system: [
            spread([seed[name] for seed in results[split][system]])
            for split in SPLITS
            for name in SCORES
        ]
        for system in results["test"]
    }
    lines = ["Percentages, tops included; mean and deviation over the seeds.", ""]
    lines += _table(header, rows)
    for split, title in SPLITS.items():
        lines += ["", f"LF1 by the number of words in a sentence, {title}:", ""]
        lines += _table_of_means(results[split], "by_length")
        lines += ["", f"F1 of the {N_LABELS} most frequent labels, {title}:", ""]
        lines += _table_of_means(results[split], "by_label")
    return lines


def _table_of_means(systems: dict[str, list[dict[str, Any]]], name: str) -> list[str]:
    keys = [*next(iter(systems.values()))[0][name]][:N_LABELS]
    rows = {
        system: [f"{mean(seed[name][key] for seed in seeds):.1f}" for key in keys]
        for system, seeds in systems.items()
    }
    return _table(keys, rows)


def _table(header: list[str], rows: dict[str, list[str]]) -> list[str]:
    return [
        f"| system | {' | '.join(header)} |",
        "|---" * (len(header) + 1) + "|",
        *(f"| {system} | {' | '.join(cells)} |" for system, cells in rows.items()),
    ]


def draw(results: Results, path: Path) -> None:
    """Draw LF1 by sentence length, as in the paper's analysis of errors."""
    figure = Figure(figsize=(10, 4.6), layout="constrained")
    for axes, (split, title) in zip(figure.subplots(1, 2), SPLITS.items(), strict=True):
        for system, seeds in results[split].items():
            bands = [*seeds[0]["by_length"]]
            values = [mean(seed["by_length"][band] for seed in seeds) for band in bands]
            style = "--" if system.endswith("MiniLM") else "-"
            axes.plot(bands, values, style, marker="o", label=system.strip("`"))
        axes.set_xlabel("words in a sentence")
        axes.set_ylabel("LF1")
        axes.set_title(title)
        axes.grid(color="#dddddd")
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=3
    )
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("training", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    results = collect(args.training, args.corpus)
    if not results["test"]:
        parser.error(
            f"there are no parses in {args.training}: `python -m spacy project run "
            "ablation` makes them"
        )
    lines = make_tables(results)
    write_json(args.out / "ablation.json", results)
    write_markdown(args.out / "ablation.md", lines)
    draw(results, args.out / "ablation.png")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
