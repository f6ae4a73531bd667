"""Split profiles of the English Resource Grammar into training, dev and test data.

    python scripts/split_everyday.py assets/erg/tsdb/gold corpus/everyday csli mrs

Of every 40 consecutive items of a profile, the first 30 are for training, the next 4
for development and the last 6 for testing. Writes `train.spacy`, `dev.spacy` and
`test.spacy`, and the test data of each profile to `test/PROFILE.spacy`. Training
sentences that also occur in the development or test data, or in a file of `--held-out`,
are left out.
"""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from delphin import tsdb
from tqdm import tqdm

from spacy_sdp.formats import Record, docbin
from spacy_sdp.formats.erg import profile
from spacy_sdp.training.annotate import signature

PARTS = {"train": range(30), "dev": range(30, 34), "test": range(34, 40)}
PERIOD = 40


def read_parts(folder: Path) -> dict[str, list[Record]]:
    """Read a profile.

    folder (Path): The profile.
    RETURNS (Dict[str, List[Record]]): The sentences of each part.
    """
    lines = tsdb.open(folder, "item")
    places = {tsdb.split(line)[0]: i % PERIOD for i, line in enumerate(lines)}
    part_of = {place: part for part, places in PARTS.items() for place in places}
    parts: dict[str, list[Record]] = {part: [] for part in PARTS}
    for sentence in tqdm(profile.read(folder), desc=folder.name, unit=" sentences"):
        parts[part_of[places[sentence.id]]].append(sentence)
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profiles", type=Path, help="folder of the profiles")
    parser.add_argument("output", type=Path, help="folder to write to")
    parser.add_argument("names", nargs="+", help="profiles to read")
    parser.add_argument(
        "--held-out",
        nargs="*",
        type=Path,
        default=[],
        help=".spacy files with sentences that must not be in the training data",
    )
    args = parser.parse_args()
    parts = {name: read_parts(args.profiles / name) for name in args.names}
    whole = {
        part: list(chain.from_iterable(each[part] for each in parts.values()))
        for part in PARTS
    }
    seen = {signature(each.words) for part in ("dev", "test") for each in whole[part]}
    for path in args.held_out:
        seen |= {signature(each.words) for each in docbin.read(path)}
    whole["train"] = [
        each for each in whole["train"] if signature(each.words) not in seen
    ]
    (args.output / "test").mkdir(parents=True, exist_ok=True)
    for part, sentences in whole.items():
        docbin.write(sentences, args.output / f"{part}.spacy")
    for name, each in parts.items():
        docbin.write(each["test"], args.output / "test" / f"{name}.spacy")
    counts = ", ".join(f"{len(each)} {part}" for part, each in whole.items())
    print(f"{args.output}: {counts} sentences")


if __name__ == "__main__":
    main()
