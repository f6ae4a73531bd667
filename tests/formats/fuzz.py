"""Feed broken input to all readers of files, to from_dict and to the matcher.

    python tests/formats/fuzz.py --inputs 1000000 --seed 0

Wrong input has to end with a ValueError that says why, within seconds. Whatever else
happens is printed with the number that reproduces it (--only NUMBER).
"""

import argparse
import random
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from spacy_sdp import SemanticGraph, SemanticMatcher, formats
from spacy_sdp.data import EXAMPLES

PATIENCE = 5  # seconds
PIECES = [b"\t", b"\n", b"\n\n", b"_", b"-", b"+", b"#", b"0", b"-1", b"1.1", b"1-2"]
PIECES += [b"9" * 30, b"NaN", b"\xff", b"\0", b"{", b"}", b"[", b'"', b":", b"|"]
PIECES += ["\u00e9\u2028".encode(), b"\\ud800", b"root", b"SpaceAfter=No"]
WORDS = ["The", "shy", "cat", "wants", "to", "eat", "."]
KEYS = ["arcs", "tops", "frames", "predicates", "tokens", "nodes", "head", "dep"]
KEYS += ["label", "op", "direction", "_", "LOWER", "REGEX", "IN", "a", "b", "x"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one input")
    args = parser.parse_args()
    numbers = range(args.inputs) if args.only is None else [args.only]
    faults, counts = fuzz(numbers, args.seed)
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(f"{len(faults)} faults")
    sys.exit(bool(faults))


def fuzz(numbers: Any, seed: int) -> tuple[list[int], Counter[str]]:
    """Try inputs by their numbers.

    RETURNS (Tuple[List[int], Counter[str]]): The numbers of those that were not refused
        as they should be, and how many were accepted and refused, by kind.
    """
    faults, counts = [], Counter[str]()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        targets = make_targets(Path(folder))
        names = sorted(targets)
        for number in numbers:
            rng = random.Random(f"{seed} {number}")
            name = rng.choice(names)
            start = time.perf_counter()
            try:
                targets[name](rng)
                counts[f"{name} accepted"] += 1
            except ValueError:
                counts[f"{name} refused"] += 1
            except Exception:
                faults.append(number)
                print(f"input {number} ({name}), seed {seed}:")
                traceback.print_exc()
            if time.perf_counter() - start > PATIENCE:
                faults.append(number)
                print(f"input {number} ({name}), seed {seed}: over {PATIENCE} s")
    return faults, counts


def make_targets(folder: Path) -> dict[str, Callable[[random.Random], None]]:
    """Give all that is tried, by name."""
    sentences = list(formats.read(EXAMPLES))[:6]
    targets: dict[str, Callable[[random.Random], None]] = {
        "from_dict": try_dictionary,
        "matcher": try_pattern,
    }
    for suffix, name in formats.SUFFIXES.items():
        path = folder / f"sample{suffix}"
        formats.write(sentences, path)
        targets[name] = make_reader(path, path.read_bytes())
    return targets


def make_reader(path: Path, sample: bytes) -> Callable[[random.Random], None]:
    is_packed = path.suffix == ".spacy"

    def read(rng: random.Random) -> None:
        if is_packed and rng.random() < 0.9:
            data = zlib.compress(mutate(zlib.decompress(sample), rng), 1)
        else:
            data = mutate(sample, rng)
        path.write_bytes(data)
        for _ in formats.read(path):
            pass

    return read


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Break a few places."""
    broken = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        place = rng.randrange(len(broken) + 1)
        end = min(len(broken), place + rng.choice([0, 1, 1, 2, 5, 40]))
        kind = rng.randrange(4)
        if kind == 0:
            broken[place:end] = rng.choice(PIECES)
        elif kind == 1:
            broken[place:end] = b""
        elif kind == 2:
            broken[place:place] = broken[place:end]
        elif place < len(broken):
            broken[place] = rng.randrange(256)
    return bytes(broken)


def make_value(rng: random.Random, depth: int = 3) -> Any:
    """Make data of any shape, as JSON may have."""
    kind = rng.randrange(9 if depth else 6)
    if kind == 0:
        return rng.choice(KEYS + WORDS)
    if kind == 1:
        return rng.randrange(-1, 8)
    if kind == 2:
        return rng.choice([None, True, False, 1.5, float("nan"), 10**400, ""])
    if kind in (3, 4, 5):
        return rng.choice(["ARG1", 0, 2, 3])
    if kind == 6:
        return {rng.choice(KEYS): make_value(rng, depth - 1) for _ in range(3)}
    return [make_value(rng, depth - 1) for _ in range(rng.randrange(5))]


def try_dictionary(rng: random.Random) -> None:
    doc = Doc(VOCAB, words=WORDS)
    data = {
        "arcs": [[3, 2, "ARG1", 0.5]],
        "tops": [3],
        "frames": [[3, "v"]],
        "predicates": [5],
    }
    for _ in range(rng.choice([1, 1, 2])):
        data[rng.choice(KEYS[:5])] = make_value(rng)
    SemanticGraph.from_dict(doc, data if rng.random() < 0.95 else make_value(rng))


def try_pattern(rng: random.Random) -> None:
    node = {"LOWER": {rng.choice(["REGEX", "IN", "x"]): make_value(rng, 1)}}
    arc = {"head": "a", "dep": "b", rng.choice(KEYS): make_value(rng, 1)}
    pattern = {"nodes": {"a": {"LOWER": "cat"}, "b": node}, "arcs": [arc]}
    if rng.random() < 0.5:
        pattern[rng.choice(["nodes", "arcs"])] = make_value(rng)
    matcher = SemanticMatcher(VOCAB)
    matcher.add("NAME", [pattern] if rng.random() < 0.9 else make_value(rng))


VOCAB = spacy.blank("en").vocab

if __name__ == "__main__":
    main()
