"""Train systems and parse test data. Completed runs are skipped, others resumed."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import srsly
from common import write_json
from spacy.cli._util import parse_config_overrides
from spacy.util import load_config
from systems import COMPARED, SYSTEMS, configure
from thinc.api import Config
from weasel.util import get_checksum

# Not parsed, because they were used in training.
SEEN = ("train", "dev")


def add_options(parser: argparse.ArgumentParser, systems: list[str]) -> None:
    """Add the options of commands that train systems.

    parser (argparse.ArgumentParser): The parser of the command.
    systems (List[str]): The systems to train by default.
    """
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=systems)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--gpu-id", type=int, default=-1)
    parser.epilog = (
        "Other options override settings of the config: --training.max_steps 100."
    )


def parse_args(
    parser: argparse.ArgumentParser,
) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Parse the command line, including options such as `--training.max_steps 100`.

    parser (argparse.ArgumentParser): The parser, whose command `train` supports such
        options.
    RETURNS (Tuple[argparse.Namespace, Dict[str, Any]]): The arguments, and the settings
        of the config to override.
    """
    args, options = parser.parse_known_args()
    if options and args.command != "train":
        parser.error(f"unrecognized arguments: {' '.join(options)}")
    return args, parse_config_overrides(options, env_var=None)


def run_systems(
    config_path: Path,
    corpus: Path,
    output: Path,
    *,
    systems: Sequence[str] = COMPARED,
    seeds: Sequence[int] = (0,),
    gpu_id: int = -1,
    overrides: dict[str, Any] | None = None,
) -> None:
    """Train systems with several seeds, and parse the test data.

    config_path (Path): The config of all systems.
    corpus (Path): The folder with `train.spacy`, `dev.spacy`, and the data to parse.
    output (Path): The folder for the results, such as `labelled-0` for seed 0.
    systems (Sequence[str]): Names in SYSTEMS.
    seeds (Sequence[int]): The seeds.
    gpu_id (int): The GPU ID, or -1 for CPU.
    overrides (Optional[Dict[str, Any]]): Settings of the config to override.
    """
    for system in systems:
        for seed in seeds:
            settings = {
                "paths.train": str(corpus / "train.spacy"),
                "paths.dev": str(corpus / "dev.spacy"),
                "system.seed": seed,
                **(overrides or {}),
            }
            config = load_config(config_path, overrides=settings, interpolate=False)
            config = configure(config, SYSTEMS[system])
            _run(config, corpus, output / f"{system}-{seed}", gpu_id)


def _run(config: Config, corpus: Path, output: Path, gpu_id: int) -> None:
    """Train a system and parse, unless this was done with the same inputs."""
    tests = [path for path in sorted(corpus.glob("*.spacy")) if path.stem not in SEEN]
    parses = {path: output / path.name for path in tests}
    known = [*map(Path, filter(None, config["paths"].values())), *tests]
    inputs = {
        "config": config.to_str(),
        "checksums": {str(path): get_checksum(path) for path in known if path.exists()},
    }
    record = output / "inputs.json"
    if record.exists() and srsly.read_json(record) == inputs:
        print(f"{output}: already complete")
        return
    # Remove old results, so that they are not mistaken for new ones.
    for path in (record, *parses.values()):
        path.unlink(missing_ok=True)
    output.mkdir(parents=True, exist_ok=True)
    path, checkpoint = output / "config.cfg", output / "checkpoint.zip"
    if not path.exists() or path.read_text(encoding="utf8") != config.to_str():
        checkpoint.unlink(missing_ok=True)
        config.to_disk(path)
    gpu = ("--gpu-id", gpu_id)
    resume = ("--resume",) if checkpoint.exists() else ()
    _spacy("sdp", "train", path, "--output", output, *gpu, *resume)
    for test, parse in parses.items():
        _spacy("apply", output / "model-best", test, parse, "--force", *gpu)
    write_json(record, inputs)


def _spacy(*arguments: object) -> None:
    command = [sys.executable, "-m", "spacy", *map(str, arguments)]
    if code := subprocess.run(command).returncode:
        sys.exit(code)
