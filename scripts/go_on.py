"""Write a config that goes on with the training of a pipeline.

    python scripts/go_on.py en_sdp_dm_md configs/minilm.cfg go_on.cfg
    python -m spacy train go_on.cfg --output training --paths.train train.spacy \\
        --paths.dev dev.spacy

All components of the given config that the pipeline has are taken from the pipeline, so
training begins with their weights; all other settings are those of the config.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from spacy.util import load_config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="package or folder")
    parser.add_argument("config", type=Path, help="config to train it further with")
    parser.add_argument("output", type=Path, help="config to write")
    args = parser.parse_args()
    config = load_config(args.config)
    shared = [
        name
        for name in spacy.load(args.pipeline).component_names
        if name in config["components"]
    ]
    if not shared:
        parser.error(f"{args.config} has none of the components of {args.pipeline}.")
    for name in shared:
        config["components"][name] = {"source": args.pipeline}
    args.output.parent.mkdir(parents=True, exist_ok=True)
    config.to_disk(args.output)
    print(f"{args.output}: {', '.join(shared)} from {args.pipeline}")


if __name__ == "__main__":
    main()
