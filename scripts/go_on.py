"""Write a config that goes on with the training of a pipeline.

    python scripts/go_on.py training/teacher/model-best go_on.cfg
    python -m spacy train go_on.cfg --output training/minilm --paths.train more.spacy

It is the config that the pipeline was trained with, but all its weights are where the
next training begins. The schedule of the learning rate begins anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spacy.util import load_config
from thinc.api import Config


def source_components(config: Config, pipeline: Path) -> None:
    """Take all components that have weights from a pipeline, in place."""
    for name, settings in config["components"].items():
        if "model" in settings:
            config["components"][name] = {"source": str(pipeline)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", type=Path, help="folder")
    parser.add_argument("output", type=Path, help="the config to write")
    args = parser.parse_args()
    if not (args.pipeline / "config.cfg").exists():
        parser.error(f"{args.pipeline} has no config.cfg, so it is no pipeline.")
    config = load_config(args.pipeline / "config.cfg")
    source_components(config, args.pipeline)
    config.to_disk(args.output)
    print(f"{args.output}: goes on with {args.pipeline}")


if __name__ == "__main__":
    main()
