"""Compare the systems of the paper, trained with several seeds.

    python -m spacy project run ablation

trains them, and calls

    python benchmarks/ablation.py training/ablation corpus/dm

where training/ablation has a folder for each system and seed (labelled-0), with its
parses of test.spacy and ood.spacy.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from common import write_json, write_markdown
from matplotlib.figure import Figure

from spacy_sdp.formats import Sentence, docbin
from spacy_sdp.formats.files import atomic_write
from spacy_sdp.scoring import score_sentences

RESULTS = Path(__file__).parent / "results"
SYSTEMS = {
    "first-order": "first order",
    "unlabelled": "unlabelled mean field",
    "lbp": "unlabelled belief propagation",
    "labelled": "labelled mean field",
}
SPLITS = {"test": "WeScience", "ood": "Sherlock Holmes"}
SCORES = ("LF", "UF", "LM")
# The least number of words in each group of sentences.
LENGTHS = (1, 11, 21, 31, 41)


def score(gold: list[Sentence], system: list[Sentence]) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Percentages, also by label and by length."""
    scores = score_sentences(gold, system)["with_tops"]
    by_length = {}
    for start, following in zip(LENGTHS, (*LENGTHS[1:], 10**9), strict=True):
        chosen = [start <= len(each.words) < following for each in gold]
        if any(chosen):
            some = [
                [each for each, flag in zip(side, chosen, strict=True) if flag]
                for side in (gold, system)
            ]
            by_length[start] = 100 * score_sentences(*some)["with_tops"]["LF"]
    return {
        **{name: 100 * scores[name] for name in SCORES},
        "by_length": by_length,
        "by_label": {
            label: 100 * row["f"] for label, row in scores["per_label"].items()
        },
    }


def collect(training: Path, corpus: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """RETURNS (dict): For each split and system, the scores of its seeds."""
    results: dict[str, dict[str, list]] = {}
    for split in SPLITS:
        gold = list(docbin.read(corpus / f"{split}.spacy"))
        results[split] = defaultdict(list)
        for name in SYSTEMS:
            for path in sorted(training.glob(f"{name}-[0-9]*/{split}.spacy")):
                system = list(docbin.read(path))
                results[split][name].append(score(gold, system))
    return results


def spread(values: list[float]) -> str:
    deviation = stdev(values) if len(values) > 1 else 0.0
    return f"{mean(values):.2f} ± {deviation:.2f}"


def make_table(results: dict[str, dict[str, list[dict[str, Any]]]]) -> list[str]:
    header = [f"{title} {name}" for title in SPLITS.values() for name in SCORES]
    lines = [f"| system | {' | '.join(header)} |", "|---" * (len(header) + 1) + "|"]
    for name, title in SYSTEMS.items():
        cells = [
            spread([seed[score] for seed in results[split][name]])
            for split in SPLITS
            for score in SCORES
            if results[split][name]
        ]
        if cells:
            lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def draw(results: dict[str, dict[str, list[dict[str, Any]]]], path: Path) -> None:
    """Draw LF1 by sentence length, as in the paper's analysis of errors."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, (split, title) in zip(figure.subplots(1, 2), SPLITS.items(), strict=True):
        for name, seeds in results[split].items():
            starts = list(seeds[0]["by_length"])
            values = [
                mean(seed["by_length"][start] for seed in seeds) for start in starts
            ]
            axes.plot(range(len(starts)), values, marker="o", label=SYSTEMS[name])
        names = [f"{start}-{start + 9}" for start in starts[:-1]] + [f"{starts[-1]}+"]
        axes.set_xticks(range(len(names)), names)
        axes.set_xlabel("words in a sentence")
        axes.set_ylabel("LF1")
        axes.set_title(title)
        axes.grid(color="#dddddd")
    axes.legend()
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("training", type=Path)
    parser.add_argument("corpus", type=Path)
    args = parser.parse_args()
    results = collect(args.training, args.corpus)
    lines = make_table(results)
    write_json(RESULTS / "ablation.json", results)
    write_markdown(RESULTS / "ablation.md", lines)
    draw(results, RESULTS / "ablation.png")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
