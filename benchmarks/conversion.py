"""How fast is `convert`, and does its memory grow with the file?

    python benchmarks/conversion.py

The input consists of repeated copies of the example sentences of the package.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from common import RESULTS, write_json, write_markdown

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import Record, sdp

SUFFIXES = (".sdp", ".conllu", ".mrp", ".conll", ".spacy")


def repeat(tokens: int) -> Iterator[Record]:
    examples = list(sdp.read(EXAMPLES))
    while tokens > 0:
        for sentence in examples:
            tokens -= len(sentence.words)
            yield sentence


def measure(source: Path, target: Path) -> tuple[float, float]:
    """RETURNS (Tuple[float, float]): Seconds and megabytes of the whole command."""
    command = [sys.executable, "-m", "spacy", "sdp", "convert", source, target]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"convert failed for {target}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, nargs="+", default=[100_000, 400_000])
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    sizes = args.tokens
    rows = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        for tokens in sizes:
            source = folder / f"{tokens}.sdp"
            sdp.write(repeat(tokens), source)
            for suffix in SUFFIXES:
                seconds, megabytes = measure(source, folder / f"out{suffix}")
                rows.append(
                    {
                        "tokens": tokens,
                        "to": suffix,
                        "seconds": round(seconds, 2),
                        "megabytes": round(megabytes),
                    }
                )
                print(rows[-1])
    write_json(args.out / "conversion.json", rows)
    header = [f"{tokens:,} tokens: s | MB" for tokens in sizes]
    lines = [
        f"| from .sdp to | {' | '.join(header)} |",
        "|---" * (1 + 2 * len(sizes)) + "|",
    ]
    for suffix in SUFFIXES:
        cells = [
            f"{r['seconds']} | {r['megabytes']}" for r in rows if r["to"] == suffix
        ]
        lines.append(f"| {suffix} | {' | '.join(cells)} |")
    write_markdown(args.out / "conversion.md", lines)


if __name__ == "__main__":
    main()
