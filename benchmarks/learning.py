"""Learning curves: how much does second-order inference help, and from which step?

    python benchmarks/learning.py TRAIN.sdp DEV.sdp --out benchmarks/results

trains the systems one after the other with `configs/quick.cfg`, the same seed and the
same number of steps, and writes `learning.json`, `learning.md` and `learning.png`. The
parsers use the tags in the files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from common import RESULTS, write_json, write_markdown, write_plot
from spacy.util import load_config
from systems import COMPARED, SYSTEMS, configure
from tqdm import tqdm

CONFIG = Path(__file__).parent.parent / "configs" / "quick.cfg"
MODEL = "components.sdp_meanfield.model"
TAGS = {
    f"{MODEL}.tok2vec.attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE", "TAG"],
    f"{MODEL}.tok2vec.rows": [5000, 1000, 2500, 2500, 100],
    "corpora.train.copy_attrs": ["TAG"],
    "corpora.dev.copy_attrs": ["TAG"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("train", type=Path, help="training data, .sdp or .spacy")
    parser.add_argument("dev", type=Path, help="data to score on, .sdp or .spacy")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--words", type=int, default=800, help="words in a batch")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=COMPARED)
    parser.add_argument("--models", type=Path, help="folder to keep the pipelines in")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = args.models or Path(folder)
        data = {
            name: to_spacy(getattr(args, name), Path(folder) / f"{name}.spacy")
            for name in ("train", "dev")
        }
        rows = []
        for name in tqdm(args.systems, desc="systems"):
            rows += train(name, data, models, args)
    path = args.out / "learning.json"
    others = [] if not path.exists() else json.loads(path.read_text())
    trained = {SYSTEMS[name].title for name in args.systems}
    rows = [row for row in others if row["system"] not in trained] + rows
    write_json(path, rows)
    write_markdown(args.out / "learning.md", to_table(rows))
    write_plot(
        args.out / "learning.png",
        to_lines(rows),
        xlabel="step",
        ylabel="labelled F1, dev",
    )


def to_spacy(path: Path, output: Path) -> Path:
    if path.suffix == ".spacy":
        return path.resolve()
    command = [sys.executable, "-m", "spacy", "sdp", "convert", path, output]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return output


def train(
    name: str, data: dict[str, Path], models: Path, args: argparse.Namespace
) -> list[dict]:
    output = models / name
    log = output / "log.jsonl"
    output.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    overrides = {
        "paths.train": str(data["train"]),
        "paths.dev": str(data["dev"]),
        "training.max_steps": args.steps,
        "training.eval_frequency": max(args.steps // 12, 1),
        "training.batcher.size": args.words,
        "training.logger.output_file": str(log),
        **TAGS,
    }
    config = load_config(CONFIG, overrides=overrides, interpolate=False)
    configure(config, SYSTEMS[name]).to_disk(output / "config.cfg")
    command = [sys.executable, "-m", "spacy", "train", output / "config.cfg"]
    command += ["--output", output]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return read_log(SYSTEMS[name].title, log)


def read_log(name: str, log: Path) -> list[dict]:
    """Read the scores of a system, which the logger writes as percentages."""
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return [
        {
            "system": name,
            "step": row["step"],
            "lf": row["scores"]["sdp_lf"] / 100,
            "uf": row["scores"]["sdp_uf"] / 100,
        }
        for row in rows
        if row.get("scores")
    ]


def to_table(rows: list[dict]) -> list[str]:
    systems = list(dict.fromkeys(row["system"] for row in rows))
    steps = sorted({row["step"] for row in rows})
    lf = {(row["system"], row["step"]): row["lf"] for row in rows}
    lines = [
        "Labelled F1 on the development data, tops included:",
        "",
        "| step | " + " | ".join(systems) + " |",
        "|---" * (len(systems) + 1) + "|",
    ]
    for step in steps:
        cells = [
            f"{100 * lf[system, step]:.2f}" if (system, step) in lf else ""
            for system in systems
        ]
        lines.append(f"| {step} | " + " | ".join(cells) + " |")
    return lines


def to_lines(rows: list[dict]) -> dict[str, list[tuple[float, float]]]:
    """Get the points of the curve of each system."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        lines.setdefault(row["system"], []).append((row["step"], 100 * row["lf"]))
    return lines


if __name__ == "__main__":
    main()
