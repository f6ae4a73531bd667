"""Feed broken input to all readers of files, to from_dict and to the matcher.

    python tests/formats/fuzz.py --inputs 1000000 --seed 0

Wrong input has to end with a ValueError that says why, within seconds. What is read
must be written, or refused in the same way. Whatever else happens is printed with the
number that reproduces it (--only NUMBER).
"""

import argparse
import gzip
import io
import json
import random
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from spacy_sdp import SemanticGraph, SemanticMatcher, formats
from spacy_sdp.cli.texts import INPUT_FORMATS, Errors, read_inputs
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats.erg import profile as erg

PATIENCE = 5  # seconds
# A profile of the English Resource Grammar with one item: "Owls hunt."
PROFILE = {
    "relations": "item:\n  i-id :integer\n  i-input :string\n  i-wf :integer\n\n"
    "parse:\n  parse-id :integer\n  i-id :integer\n  p-input :string\n\n"
    "tree:\n  parse-id :integer\n  t-active :integer\n\n"
    "result:\n  parse-id :integer\n  mrs :string\n",
    "item": "1@Owls hunt@1\n",
    "parse": '1@1@(1, 0, 1, <0:4>, 1, "Owls", 0, "null", "NNS" 1.0) '
    '(2, 1, 2, <5:9>, 1, "hunt", 0, "null", "VBP" 1.0)\n',
    "tree": "1@1\n",
    "result": "1@[ LTOP: h0 INDEX: e2 [ e SF: prop ] RELS: "
    "< [ udef_q<0:4> LBL: h4 ARG0: x3 [ x PERS: 3 ] RSTR: h5 BODY: h6 ] "
    "[ _owl_n_1<0:4> LBL: h7 ARG0: x3 ] [ _hunt_v_1<5:9> LBL: h1 ARG0: e2 ARG1: x3 ] > "
    "HCONS: < h0 qeq h1 h5 qeq h7 > ]\n",
}
PIECES = [b"\t", b"\n", b"\n\n", b"_", b"-", b"+", b"#", b"0", b"-1", b"1.1", b"1-2"]
PIECES += [b"9" * 30, b"NaN", b"\xff", b"\0", b"{", b"}", b"[", b'"', b":", b"|"]
PIECES += ["\u00e9\u2028".encode(), b"\\ud800", b"root", b"SpaceAfter=No"]
WRITABLE = [name for name in formats.FORMATS if name != "erg"]
JSON_FORMATS = ("mrp", "jsonl", "prodigy")
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
    faults, counts, (seconds, slowest) = fuzz(numbers, args.seed)
    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(f"{len(faults)} faults; the slowest input, {slowest}, took {seconds:.2f} s")
    sys.exit(bool(faults))


def fuzz(
    numbers: Any, seed: int
) -> tuple[list[int], Counter[str], tuple[float, int | None]]:
    """Try inputs by their numbers.

    RETURNS: The numbers of those that were not refused as they should be; how many were
        accepted and refused, by kind; and the seconds and number of the slowest input.
    """
    faults, counts = [], Counter[str]()
    slowest: tuple[float, int | None] = (0.0, None)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        targets = make_targets(Path(folder))
        names = sorted(targets)
        for number in numbers:
            rng = random.Random(f"{seed} {number}")
            name = rng.choice(names)
            # What other programs take is not counted.
            start = time.process_time()
            try:
                targets[name](rng)
                counts[f"{name} accepted"] += 1
            except ValueError:
                counts[f"{name} refused"] += 1
            except Exception:
                faults.append(number)
                print(f"input {number} ({name}), seed {seed}:")
                traceback.print_exc()
            seconds = time.process_time() - start
            slowest = max(slowest, (seconds, number))
            if seconds > PATIENCE:
                faults.append(number)
                print(f"input {number} ({name}), seed {seed}: over {PATIENCE} s")
    return faults, counts, slowest


def make_targets(folder: Path) -> dict[str, Callable[[random.Random], None]]:
    """Give all that is tried, by name."""
    sentences = list(formats.read(EXAMPLES))[:6]
    targets: dict[str, Callable[[random.Random], None]] = {
        "from_dict": try_dictionary,
        "matcher": try_pattern,
        "pattern file": make_pattern_reader(folder / "patterns.json"),
    }
    for name in WRITABLE:
        path = folder / f"sample.{name}"
        formats.write(sentences, path, format=name)
        targets[name] = make_reader(path, name)
    targets["text"] = make_text_reader(folder / "sample.jsonl")
    if find_spec("delphin") and find_spec("lemminflect"):
        targets["erg"] = make_profile_reader(folder / "profile")
    return targets


def make_reader(path: Path, name: str) -> Callable[[random.Random], None]:
    sample = path.read_bytes()
    output = path.with_name("output")

    def read(rng: random.Random) -> None:
        if name == "spacy" and rng.random() < 0.9:
            data = zlib.compress(mutate(zlib.decompress(sample), rng), 1)
        elif name in JSON_FORMATS and rng.random() < 0.5:
            data = mutate_json(sample, rng)
        else:
            data = mutate(sample, rng)
        path.write_bytes(data)
        sentences = list(formats.read(path, format=name))
        if rng.random() < 0.2:
            formats.write(sentences, output, format=rng.choice(WRITABLE))

    return read


def make_text_reader(path: Path) -> Callable[[random.Random], None]:
    """Read texts as `parse` does, also with --errors."""
    lines = b'{"text": "Dogs bark.", "id": [1, {"a": null}]}\n' * 3
    samples = {
        "csv": b'id,text\n1,"Dogs, ""bark""."\n2,Cats purr.\n',
        "tsv": b'id\ttext\n1\t"Dogs\n ""bark""."\n2\tCats purr.\n',
    }
    kinds = [each for each in INPUT_FORMATS if each != "spacy"]
    if find_spec("pyarrow"):
        samples["parquet"] = make_parquet()
    else:
        kinds.remove("parquet")

    def read(rng: random.Random) -> None:
        kind = rng.choice(kinds)
        path.write_bytes(mutate(samples.get(kind, lines), rng))
        errors = Errors(io.BytesIO() if rng.random() < 0.5 else None)
        for _ in read_inputs([str(path)], kind, VOCAB, "text", errors):
            pass

    return read


def make_parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = ["Dogs bark.", "Cats purr.", None, "Dogs bark."]
    columns = {
        "text": texts,
        "kind": pa.array(texts).dictionary_encode(),
        "list": [[1, 2], [], None, [3]],
        "time": pa.array([0, 1, 2, None], pa.timestamp("us", "UTC")),
    }
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, row_group_size=2, compression="none")
    return file.getvalue()


def make_pattern_reader(path: Path) -> Callable[[random.Random], None]:
    """Read a file of patterns."""
    pattern = {"nodes": {"a": {"LOWER": "cat"}, "b": {}}, "arcs": [{"head": "b"}]}
    pattern["arcs"][0] |= {"dep": "a", "label": ["ARG1", "ARG2"], "op": "?"}
    sample = json.dumps({"NAME": [pattern]}).encode()

    def read(rng: random.Random) -> None:
        change = mutate_json if rng.random() < 0.5 else mutate
        path.write_bytes(change(sample, rng))
        SemanticMatcher(VOCAB).add_from_json(path)

    return read


def make_profile_reader(folder: Path) -> Callable[[random.Random], None]:
    folder.mkdir()
    for name, text in PROFILE.items():
        (folder / name).write_text(text)

    def read(rng: random.Random) -> None:
        name = rng.choice(list(PROFILE))
        data = mutate(PROFILE[name].encode(), rng)
        packed = folder / f"{name}.gz"
        if name != "relations" and rng.random() < 0.3:
            (folder / name).unlink()
            packed.write_bytes(gzip.compress(data, 1))
            if rng.random() < 0.5:
                packed.write_bytes(mutate(packed.read_bytes(), rng))
        else:
            (folder / name).write_bytes(data)
        try:
            for _ in erg.read(folder):
                pass
        finally:
            packed.unlink(missing_ok=True)
            (folder / name).write_text(PROFILE[name])

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


def mutate_json(data: bytes, rng: random.Random) -> bytes:
    """Replace a value in one of several lines of JSON."""
    lines = data.splitlines(keepends=True)
    number = rng.randrange(len(lines))
    whole = parent = [json.loads(lines[number])]
    key: Any = 0
    while parent[key] and isinstance(parent[key], (dict, list)) and rng.random() < 0.9:
        parent = parent[key]
        key = rng.choice(
            list(parent if isinstance(parent, dict) else range(len(parent)))
        )
    if isinstance(parent, dict) and rng.random() < 0.2:
        del parent[key]
    else:
        parent[key] = make_value(rng, 1)
    lines[number] = json.dumps(whole[0]).encode() + b"\n"
    return b"".join(lines)


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
    node: dict[str, Any] = {"LOWER": {"IN": ["cat", "eat"]}}
    arc: dict[str, Any] = {"head": "a", "dep": "b", "op": rng.choice(["!", "?", "1"])}
    if rng.random() < 0.5:
        node["LOWER"] = {rng.choice(["REGEX", "IN", "x"]): make_value(rng, 1)}
    if rng.random() < 0.5:
        arc[rng.choice(KEYS)] = make_value(rng, 1)
    pattern = {"nodes": {"a": {"LOWER": "cat"}, "b": node}, "arcs": [arc]}
    if rng.random() < 0.3:
        pattern[rng.choice(["nodes", "arcs"])] = make_value(rng)
    matcher = SemanticMatcher(VOCAB)
    matcher.add("NAME", [pattern] if rng.random() < 0.9 else make_value(rng))
    doc = Doc(VOCAB, words=WORDS)
    doc._.sdp = [(0, 2, "BV"), (3, 2, "ARG1"), (3, 5, "ARG2"), (5, 2, "ARG1")]
    matcher(doc)


VOCAB = spacy.blank("en").vocab

if __name__ == "__main__":
    main()
