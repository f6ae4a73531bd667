"""How long does it take to turn a CSV file into facts, and are broken rows reported?

    python benchmarks/facts.py corpus/dm/train.spacy

writes a CSV file with the texts of a corpus, a sentence in each row, and three broken
rows. Then it runs the command of docs/facts.md on it, in a process of its own.
"""

import argparse
import csv
import json
import resource
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from spacy_sdp import formats

BROKEN = (b"caf\xe9,not UTF-8\n", b"one cell,too,many\n", b'open quotation,"mark\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="sentences with their text")
    parser.add_argument("--model", default="en_sdp_dm_md")
    parser.add_argument("--sentences", type=int, default=3000)
    args = parser.parse_args()
    records = islice(formats.read(args.corpus), args.sentences)
    texts = [record.text or " ".join(record.words) for record in records]
    with TemporaryDirectory() as folder:
        source, facts, errors = (
            Path(folder) / name for name in ("texts.csv", "facts.csv", "errors.jsonl")
        )
        write_source(texts, source)
        command = [sys.executable, "-m", "spacy", "sdp", "parse", str(source)]
        command += ["--text-column", "body", "--to", "clauses", "--model", args.model]
        command += ["--output", str(facts), "--errors", str(errors)]
        start = time.perf_counter()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        with facts.open(encoding="utf8", newline="") as file:
            rows = list(csv.DictReader(file))
        reported = list(map(json.loads, errors.read_text(encoding="utf8").splitlines()))
    parsed = len({row["id"] for row in rows})
    print("| sentences | with clauses | clauses | seconds | CPU seconds | peak MB |")
    print("|---|---|---|---|---|---|")
    cpu = usage.ru_utime + usage.ru_stime
    cells = [len(texts), parsed, len(rows), f"{seconds:.1f}", f"{cpu:.1f}"]
    print("| " + " | ".join(map(str, [*cells, usage.ru_maxrss // 1024])) + " |\n")
    for error in reported:
        print(f"- line {error['line']}: {error['reason']}")
    if len(reported) != len(BROKEN):
        sys.exit(f"{len(BROKEN)} rows are broken, but {len(reported)} were reported")


def write_source(texts: list[str], path: Path) -> None:
    """Write a CSV file with the broken rows among the texts."""
    with path.open("w", encoding="utf8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "body"])
        middle = len(texts) // 2
        writer.writerows(enumerate(texts[:middle]))
        file.flush()
        for row in BROKEN:
            file.buffer.write(row)
        file.buffer.flush()
        writer.writerows(enumerate(texts[middle:], start=middle))


if __name__ == "__main__":
    main()
