"""Write a config that goes on with the training of a pipeline.

    python scripts/go_on.py en_sdp_dm_md configs/minilm.cfg go_on.cfg
    python -m spacy train go_on.cfg --output training --paths.train train.spacy \\
        --paths.dev dev.spacy

All components are taken from the pipeline, so training begins with their weights; all
other settings are those of the config, which has to have the same components: the one
that the pipeline was trained with, or one like it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spacy.util import load_config
from trained_pipelines import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", help="package or folder of a pipeline")
    parser.add_argument("config", type=Path, help="config to train it further with")
    parser.add_argument("output", type=Path, help="config to write")
    args = parser.parse_args()
    config = load_config(args.config)
    names = load(args.pipeline, parser).component_names
    if different := set(names) ^ set(config["components"]):
        parser.error(
            f"{args.config} does not fit {args.pipeline}: only one of them has the "
            f"components {', '.join(sorted(different))}."
        )
    for name in names:
        config["components"][name] = {"source": args.pipeline}
    args.output.parent.mkdir(parents=True, exist_ok=True)
    config.to_disk(args.output)
    print(f"{args.output}: {', '.join(names)} from {args.pipeline}")


if __name__ == "__main__":
    main()
