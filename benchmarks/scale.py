"""What does Ray cost, and how do time and memory grow?

    python benchmarks/scale.py --model en_sdp_dm_sm

parses the same texts with `nlp.pipe` in one process, in two processes side by side and
with `n_process=2`, and with `spacy_sdp.distributed.apply` with one and two workers. The
time to start processes and to load the pipeline is not included. In addition to the
elapsed time, it prints the CPU time, which is comparable even on a busy machine; it
includes Ray's own processes (on Linux). With several `--rounds`, each system has the
figures of its best round. With `--growth`, two workers parse increasing numbers of
words instead.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
import torch
from common import RESULTS, write_json, write_markdown

from spacy_sdp.data import EXAMPLES
from spacy_sdp.distributed import apply
from spacy_sdp.distributed.worker import Report, peak_memory
from spacy_sdp.formats import sdp

# The systems: how they parse, with how many processes, and whether with clauses.
SYSTEMS = {
    "nlp.pipe": ("pipe", 1, False),
    "two nlp.pipe side by side": ("side by side", 2, False),
    "nlp.pipe, n_process=2": ("pipe", 2, False),
    "apply, without Ray": ("apply", 1, False),
    "apply, 1 worker on Ray": ("ray", 1, False),
    "apply, 2 workers on Ray": ("ray", 2, False),
    "apply, 2 workers on Ray, with clauses": ("ray", 2, True),
}
# The system whose growth is measured.
GROWING = "apply, 2 workers on Ray"
# Which of the figures of several rounds to keep.
BEST = {"words/s": max, "CPU s per million words": min, "MB per worker": max}
COLUMNS = ("words", "words/s", "CPU s per million words", "MB per worker")


def write_texts(path: Path, words: int, source: Path | None) -> None:
    """Write texts with about this number of words as JSONL.

    path (Path): The file.
    words (int): The number of words.
    source (Optional[Path]): Text to repeat, with a paragraph on each line. Defaults to
        the example sentences.
    """
    if source is None:
        texts = [" ".join(each.words) for each in sdp.read(EXAMPLES)]
    else:
        texts = [line for line in source.read_text().splitlines() if line.strip()]
    with path.open("w") as file:
        for number, text in enumerate(cycle(texts)):
            if words <= 0:
                return
            file.write(json.dumps({"id": number, "text": text}) + "\n")
            words -= len(text.split())


def run_here(system: str, model: str, path: Path, part_size: int) -> dict[str, float]:
    """Measure a system in this process and its child processes."""
    kind, workers, clauses = SYSTEMS[system]
    if kind == "pipe":
        return run_pipe(model, path, workers)
    reports: list[Report] = []
    others: list[float] = []

    def watch(size: int, report: Report | None) -> None:
        if report is not None:
            reports.append(report)
            others.append(cpu_of_others() if kind == "ray" else 0.0)

    with TemporaryDirectory() as folder:
        summary = apply(
            [str(path)],
            folder,
            model=model,
            workers=workers,
            ray_address="local" if kind == "ray" else None,
            clauses=clauses,
            part_size=part_size,
            watch=watch,
        )
    began = min(report.began for report in reports)
    ended = max(report.ended for report in reports)
    # Before the first report, Ray starts.
    rays = (others[-1] - others[0]) * len(reports) / max(1, len(reports) - 1)
    return {
        "words": summary.words,
        "seconds": ended - began,
        "cpu": summary.cpu + rays,
        "memory": summary.memory,
    }


def cpu_of_others() -> float:
    """The CPU time of this process and of Ray, without its workers, in seconds."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            fields = rest.split()
            number = int(path.parent.name)
            children.setdefault(int(fields[1]), []).append(number)
            used = sum(map(int, fields[11:13]))
            ticks[number] = 0 if name.startswith("ray::") else used
    waiting, total = [os.getpid()], 0
    while waiting:
        number = waiting.pop()
        waiting += children.get(number, [])
        total += ticks.get(number, 0)
    return total / os.sysconf("SC_CLK_TCK")


def run_pipe(model: str, path: Path, n_process: int) -> dict[str, float]:
    torch.set_num_threads(1)
    nlp = spacy.load(model)
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
    nlp(texts[0])
    # Signals to the other process that this one is ready, and waits for it.
    print("ready", flush=True)
    sys.stdin.readline()
    began, start, cpu = time.time(), time.perf_counter(), cpu_of_all()
    words = sum(len(doc) for doc in nlp.pipe(texts, n_process=n_process))
    return {
        "words": words,
        "seconds": time.perf_counter() - start,
        "began": began,
        "cpu": cpu_of_all() - cpu,
        "memory": peak_memory(),
    }


def cpu_of_all() -> float:
    """The CPU time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def start(system: str, args: argparse.Namespace, path: Path) -> subprocess.Popen:
    command = [sys.executable, __file__, "--system", system, "--model", args.model]
    command += ["--path", str(path), "--part-size", str(args.part_size)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


def measure(system: str, args: argparse.Namespace, path: Path) -> dict[str, Any]:
    """Measure a system in separate processes."""
    kind, workers, _ = SYSTEMS[system]
    if kind == "side by side":
        # Both parse all texts, so that they have the same amount of work.
        pair = [start("nlp.pipe", args, path) for _ in range(workers)]
    else:
        pair = [start(system, args, path)]
    if kind not in ("apply", "ray"):
        for process in pair:
            assert process.stdout and process.stdout.readline() == "ready\n"
    results = []
    for process in pair:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in pair:
        lines = process.communicate()[0].splitlines()
        if process.returncode:
            sys.exit(f"{system} failed")
        results.append(json.loads(lines[-1]))
    words = sum(each["words"] for each in results)
    seconds = max(each["seconds"] for each in results)
    return {
        "system": system,
        "words": words,
        "words/s": words / seconds,
        "CPU s per million words": 1e6 * sum(each["cpu"] for each in results) / words,
        "MB per worker": max(each["memory"] for each in results) / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="en_sdp_dm_sm", help="package or folder")
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--text", type=Path, help="text to repeat, by line")
    parser.add_argument("--growth", type=int, nargs="+", metavar="WORDS", default=[])
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--part-size", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--system", choices=SYSTEMS, help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.system:
        print(json.dumps(run_here(args.system, args.model, args.path, args.part_size)))
        return
    best: dict[tuple[str, int], dict[str, Any]] = {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        for _ in range(args.rounds):
            for words in args.growth or [args.words]:
                write_texts(path, words, args.text)
                for system in [GROWING] if args.growth else args.systems:
                    row = measure(system, args, path)
                    print(row, file=sys.stderr, flush=True)
                    other = best.setdefault((system, words), row)
                    for name, choose in BEST.items():
                        other[name] = choose(other[name], row[name])
    rows = list(best.values())
    lines = [f"| {' | '.join(('system', *COLUMNS))} |", "|---" * 5 + "|"]
    for row in rows:
        cells = [f"{row[name]:,.0f}" for name in COLUMNS]
        lines.append(f"| {row['system']} | {' | '.join(cells)} |")
    print("\n".join(lines))
    name = "scale-growth" if args.growth else "scale"
    write_json(args.out / f"{name}.json", rows)
    write_markdown(args.out / f"{name}.md", lines)


if __name__ == "__main__":
    main()
