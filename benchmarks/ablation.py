"""Compare the systems of the paper, trained with several seeds, and the pipelines.

    python benchmarks/ablation.py train configs/small.cfg corpus/dm \\
        training/ablation/small --seeds 0 1 2

trains the systems of systems.py and parses the test data, with a separate folder for
each system and seed (labelled-0). To resume after an interruption, run the same command
again. Then

    python benchmarks/ablation.py table training/ablation corpus/dm

scores all existing parses. `python -m spacy project run ablation` runs all steps.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import spacy
from common import RESULTS, new_file, write_json, write_markdown
from experiment import add_options, parse_args, run_systems
from matplotlib.figure import Figure
from systems import COMPARED, SYSTEMS

from spacy_sdp.evaluation.metrics import score_sentences
from spacy_sdp.formats import Record, docbin
from spacy_sdp.formats.bridge import from_doc

# The folders of parses, with a suffix for the titles of the systems.
ENCODERS = {"small": "", "minilm": ", MiniLM"}
SPLITS = {"test": "WeScience", "ood": "Sherlock Holmes"}
SCORES = ("LF", "UF", "LM")
# The starts of ranges of sentence lengths, in words.
LENGTHS = (1, 11, 21, 31, 41, 10**9)
# The number of labels in the table, the most frequent ones first.
N_LABELS = 12

# The scores for each text, system and seed.
Results = dict[str, dict[str, list[dict[str, Any]]]]


def score(gold: list[Record], system: list[Record]) -> dict[str, Any]:
    """RETURNS (Dict[str, Any]): Percentages, also by label and by sentence length."""
    scores = score_sentences(gold, system)["with_tops"]
    labels = sorted(scores["per_label"].items(), key=lambda item: -item[1]["gold"])
    return {
        **{name: 100 * scores[name] for name in (*SCORES, "PF", "FF")},
        "by_length": dict(score_by_length(gold, system)),
        "by_label": {label: 100 * row["f"] for label, row in labels},
    }


def score_by_length(
    gold: list[Record], system: list[Record]
) -> Iterator[tuple[str, float]]:
    """YIELDS (Tuple[str, float]): LF1 for each range of sentence lengths."""
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


def collect(
    corpus: Path,
    splits: dict[str, str],
    systems: dict[str, list[Path]],
    pipelines: Sequence[str] = (),
) -> Results:
    """Score the existing parses, and pipelines.

    corpus (Path): The folder with the gold standard.
    splits (Dict[str, str]): The names of the files, without suffix, and their titles.
    systems (Dict[str, List[Path]]): The folders with parses of each system, by title.
    pipelines (Sequence[str]): Packages or folders of pipelines to apply now.
    RETURNS (Results): The scores by title.
    """
    results: Results = {}
    loaded = {name: spacy.load(name) for name in pipelines}
    for split, title in splits.items():
        found = {
            system: [
                path
                for folder in folders
                if (path := folder / f"{split}.spacy").exists()
            ]
            for system, folders in systems.items()
        }
        if not any(found.values()) and not loaded:
            continue
        gold = list(docbin.read(corpus / f"{split}.spacy"))
        results[title] = {
            system: [score(gold, list(docbin.read(path))) for path in paths]
            for system, paths in found.items()
            if paths
        }
        for name, nlp in loaded.items():
            docs = docbin.read_docs(corpus / f"{split}.spacy", nlp.vocab)
            system = [each for doc in nlp.pipe(docs) for each in from_doc(doc)]
            results[title][f"`{name}`"] = [score(gold, system)]
    return results


def find_systems(results: Results) -> list[str]:
    """RETURNS (List[str]): The systems that have any parses."""
    return [*dict.fromkeys(name for split in results.values() for name in split)]


def spread(values: list[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{mean(values):.2f} ± {stdev(values):.2f}"


def make_table(results: Results, scores: tuple[str, ...] = SCORES) -> list[str]:
    """RETURNS (List[str]): Lines of Markdown with the scores of each system."""
    header = [f"{split} {name}" for split in results for name in scores]
    rows = {
        system: [
            spread([seed[name] for seed in split[system]]) if system in split else ""
            for split in results.values()
            for name in scores
        ]
        for system in find_systems(results)
    }
    return [
        "Percentages, including tops; mean and standard deviation over the seeds.",
        "",
        *_table(header, rows),
    ]


def make_details(results: Results) -> list[str]:
    """RETURNS (List[str]): Lines of Markdown by sentence length and by label."""
    lines = []
    for split, systems in results.items():
        lines += ["", f"LF1 by the number of words in a sentence, {split}:", ""]
        lines += _table_of_means(systems, "by_length")
        lines += ["", f"F1 of the {N_LABELS} most frequent labels, {split}:", ""]
        lines += _table_of_means(systems, "by_label")
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
    """Plot LF1 by sentence length, as in the paper's error analysis."""
    n_rows = (len(results) + 1) // 2
    figure = Figure(figsize=(10, 0.6 + 4 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, 2, squeeze=False).flat
    # Each system has the same colour in all panels.
    titles = find_systems(results)
    lines: dict[str, Any] = {}
    for axes, (split, systems) in zip(panels, results.items(), strict=False):
        for number, system in enumerate(titles):
            if system in systems:
                lines[system] = _draw_line(axes, system, systems[system], f"C{number}")
        axes.set_xlabel("words in a sentence")
        axes.set_ylabel("LF1")
        axes.set_title(split)
        axes.grid(color="#dddddd")
    names = [system.strip("`") for system in lines]
    figure.legend([*lines.values()], names, loc="outside lower center", ncols=3)
    with new_file(path) as file:
        figure.savefig(file, format="png", dpi=150)


def _draw_line(axes: Any, system: str, seeds: list[dict[str, Any]], color: str) -> Any:
    bands = [*seeds[0]["by_length"]]
    values = [mean(seed["by_length"][band] for seed in seeds) for band in bands]
    style = "--" if system.endswith("MiniLM") else "-"
    (line,) = axes.plot(bands, values, style, marker="o", color=color)
    return line


def write_results(
    results: Results, folder: Path, name: str, scores: tuple[str, ...] = SCORES
) -> None:
    """Write tables, figure and scores, and print the tables.

    results (Results): The scores.
    folder (Path): The folder to write to.
    name (str): The name of the files, without suffix.
    scores (Tuple[str, ...]): The scores in the first table.
    """
    lines = make_table(results, scores) + make_details(results)
    write_json(folder / f"{name}.json", results)
    write_markdown(folder / f"{name}.md", lines)
    draw(results, folder / f"{name}.png")
    print("\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train systems and parse the test data")
    train.add_argument("config", type=Path)
    train.add_argument("corpus", type=Path)
    train.add_argument("output", type=Path)
    add_options(train, COMPARED)
    table = commands.add_parser("table", help="score the parses")
    table.add_argument("training", type=Path)
    table.add_argument("corpus", type=Path)
    table.add_argument("--pipelines", nargs="+", default=[])
    table.add_argument("--out", type=Path, default=RESULTS)
    args, overrides = parse_args(parser)
    if args.command == "train":
        run_systems(
            args.config,
            args.corpus,
            args.output,
            systems=args.systems,
            seeds=args.seeds,
            gpu_id=args.gpu_id,
            overrides=overrides,
        )
        return
    systems = {
        f"{SYSTEMS[system].title}{suffix}": sorted(
            (args.training / encoder).glob(f"{system}-[0-9]*")
        )
        for encoder, suffix in ENCODERS.items()
        for system in SYSTEMS
    }
    results = collect(args.corpus, SPLITS, systems, args.pipelines)
    if not results:
        parser.error(f"there are no parses in {args.training}")
    write_results(results, args.out, "ablation")


if __name__ == "__main__":
    main()
