"""Does `parse --n-process 2` end cleanly after signals and crashes?

    python benchmarks/processes.py --model en_sdp_dm_sm

repeatedly starts the command on a long file. As soon as it writes output, some or all
of its processes receive a signal. (Requires `ps`, as on Linux and macOS.)
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

# Seconds until a command counts as hanging.
PATIENCE = 60
# The signals, and the processes that receive them.
FAULTS = {
    "Ctrl-C": (signal.SIGINT, "all"),
    "worker killed": (signal.SIGKILL, "worker"),
    "parent terminated": (signal.SIGTERM, "parent"),
    "all terminated": (signal.SIGTERM, "all"),
    "terminal closed": (signal.SIGHUP, "all"),
    "parent killed": (signal.SIGKILL, "parent"),
}


@dataclass
class Outcome:
    """The outcome of a fault.

    code (Optional[int]): The exit code, or None if the command did not end.
    stderr (str): The output of the command on stderr.
    seconds (float): The time until all processes had ended, or until the time limit.
    left (int): The number of processes that did not end.
    parts (int): The number of incomplete files that were left.
    texts (Optional[int]): The number of texts in the output, or None without output.
    """

    code: int | None
    stderr: str
    seconds: float
    left: int
    parts: int
    texts: int | None


def write_texts(path: Path, count: int = 100_000) -> None:
    path.write_text('{"text": "The shy cat wants to eat."}\n' * count)


def find_workers(parent: int) -> list[int]:
    """RETURNS (List[int]): The worker processes of a parent."""
    table = subprocess.run(
        ["ps", "-A", "-ww", "-o", "ppid=,pid=,args="], capture_output=True, text=True
    ).stdout
    rows = [line.split(maxsplit=2) for line in table.splitlines()]
    return [
        int(row[1]) for row in rows if int(row[0]) == parent and "spawn_main" in row[2]
    ]


def is_running(process: int) -> bool:
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True
    ).stdout.strip()
    # A zombie only waits for its parent to read its exit code.
    return bool(state) and not state.startswith("Z")


def wait_until(condition: Callable[[], bool]) -> bool:
    """RETURNS (bool): Whether the condition became true within the time limit."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def try_fault(fault: str, model: str | Path, texts: Path, folder: Path) -> Outcome:
    """Start the command, cause a fault, and observe the outcome.

    fault (str): One of FAULTS.
    model (str | Path): The pipeline.
    texts (Path): The file to parse, long enough for the fault to occur while parsing.
    folder (Path): An empty folder for the output.
    RETURNS (Outcome): The outcome.
    """
    output = folder / "out.jsonl"
    command = [sys.executable, "-m", "spacy_sdp", "parse", texts, "--model", model]
    command += ["--n-process", "2", "--batch-size", "16", "--output", output]
    with subprocess.Popen(
        list(map(str, command)),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as parent:
        begun = wait_until(
            lambda: any(path.stat().st_size for path in folder.glob(".*.part"))
        )
        workers = find_workers(parent.pid)
        if not begun or len(workers) != 2:
            parent.kill()
            raise SystemExit(f"parse did not start: {parent.communicate()[1]}")
        start = time.monotonic()
        number, target = FAULTS[fault]
        if target == "all":
            os.killpg(parent.pid, number)
        else:
            os.kill(parent.pid if target == "parent" else workers[0], number)
        everybody = [parent.pid, *workers]
        wait_until(lambda: not any(map(is_running, everybody)))
        seconds = time.monotonic() - start
        left = [each for each in everybody if is_running(each)]
        for each in left:
            os.kill(each, signal.SIGKILL)
        stderr = parent.communicate()[1]
    return Outcome(
        None if parent.pid in left else parent.returncode,
        stderr,
        seconds,
        len(left),
        len(list(folder.glob(".*.part"))),
        count_texts(output) if output.exists() else None,
    )


def count_texts(path: Path) -> int:
    with path.open() as file:
        return sum("sdp" in json.loads(line) for line in file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="en_sdp_dm_sm", help="package or folder")
    parser.add_argument("--times", type=int, default=10)
    args = parser.parse_args()
    print("| fault | times | exit codes | max. seconds | processes left", end="")
    print(" | incomplete files left | complete outputs |")
    print("|---|---|---|---|---|---|---|")
    with TemporaryDirectory() as name:
        texts = Path(name) / "in.jsonl"
        write_texts(texts)
        for fault in FAULTS:
            outcomes = []
            for _ in range(args.times):
                with TemporaryDirectory(dir=name) as folder:
                    outcomes.append(try_fault(fault, args.model, texts, Path(folder)))
            cells = [
                fault,
                len(outcomes),
                ", ".join(sorted({str(each.code) for each in outcomes})),
                f"{max(each.seconds for each in outcomes):.1f}",
                sum(each.left for each in outcomes),
                sum(each.parts for each in outcomes),
                sum(each.texts is not None for each in outcomes),
            ]
            print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    main()
