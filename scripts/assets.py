"""Download treebanks and texts, unless they already exist.

    python scripts/assets.py assets

The files and their SHA-256 checksums are listed in assets.json. To resume an
interrupted download, run the same command again. SemEval 2015 (LDC2016T10) is not free:
copy its nine files en.dm.sdp, en.id.dm.sdp, en.ood.dm.sdp and so on to assets/sdp2015.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

import srsly
from tqdm import tqdm

from spacy_sdp.formats.files import atomic_write

FILES = Path(__file__).with_suffix(".json")


def fetch(folder: Path, sources: dict[str, dict]) -> int:
    """Download the missing files.

    folder (Path): The folder to download to.
    sources (Dict[str, Dict]): The `url` for each subfolder, and the `files` below this
        URL with their SHA-256 checksums.
    RETURNS (int): The number of downloaded files.
    """
    missing = [
        (path, f"{source['url']}/{quote(name)}", checksum)
        for subfolder, source in sources.items()
        for name, checksum in source["files"].items()
        if not is_there(path := folder / subfolder / name, checksum)
    ]
    for path, url, checksum in tqdm(missing, unit=" files", disable=not missing):
        with urlopen(url, timeout=60) as response:
            data = response.read()
        if sha256(data) != checksum:
            raise ValueError(f"{url} has changed: its SHA-256 checksum differs.")
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(data)
    return len(missing)


def is_there(path: Path, checksum: str) -> bool:
    return path.exists() and sha256(path.read_bytes()) == checksum


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder to download to")
    parser.add_argument(
        "--files", type=Path, default=FILES, help="JSON file with URLs and checksums"
    )
    args = parser.parse_args()
    try:
        count = fetch(args.folder, srsly.read_json(args.files))
    except (OSError, ValueError) as error:
        sys.exit(f"{error} Run the command again to resume.")
    print(f"{args.folder}: {count} files downloaded, the others already exist")


if __name__ == "__main__":
    main()
