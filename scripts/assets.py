"""Download the open treebanks, as far as they are not there.

    python scripts/assets.py assets

The list of files with their SHA-256 is assets.json. A download that was interrupted is
resumed with the files that are missing. SemEval 2015 (LDC2016T10) is not free: put its
nine files en.dm.sdp, en.id.dm.sdp, en.ood.dm.sdp and so on into assets/sdp2015.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from urllib.request import urlopen

import srsly
from tqdm import tqdm

from spacy_sdp.formats.files import atomic_write

LIST = Path(__file__).with_suffix(".json")


def fetch(folder: Path, sources: dict[str, dict]) -> int:
    """Download what is missing.

    folder (Path): Where to.
    sources (Dict[str, Dict]): For each subfolder the `url`, and the `files` below it
        with their SHA-256.
    RETURNS (int): The number of files that were downloaded.
    """
    missing = [
        (path, f"{source['url']}/{name}", checksum)
        for subfolder, source in sources.items()
        for name, checksum in source["files"].items()
        if not is_there(path := folder / subfolder / name, checksum)
    ]
    for path, url, checksum in tqdm(missing, unit=" files", disable=not missing):
        with urlopen(url, timeout=60) as response:
            data = response.read()
        if sha256(data) != checksum:
            raise ValueError(f"{url} is not the file that it was: its SHA-256 differs.")
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
    parser.add_argument("folder", type=Path, help="where they are, or will be")
    args = parser.parse_args()
    try:
        count = fetch(args.folder, srsly.read_json(LIST))
    except (OSError, ValueError) as error:
        sys.exit(f"{error} Run the command again to resume.")
    print(f"{args.folder}: {count} files downloaded, the others were there")


if __name__ == "__main__":
    main()
