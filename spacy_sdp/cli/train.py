"""`python -m spacy sdp train`"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import import_code, parse_config_overrides
from spacy.cli.train import train
from spacy.util import load_config, logger

from ..training.checkpoint import identify, read_checkpoint
from ..training.resume import ResumableLoop
from ._app import sdp
from ._messages import info, warn
from ._util import user_errors
from .interrupt import SHELL_OFFSET, note_signals

CHECKPOINT = "checkpoint.zip"


@sdp.command(
    "train",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def train_cli(
    ctx: typer.Context,
    config_path: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG", help="Config file.", exists=True, dir_okay=False
        ),
    ],
    output_path: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write.")
    ],
    resume: Annotated[
        bool, typer.Option("--resume", help=f"Resume from DIR/{CHECKPOINT}.")
    ] = False,
    minutes: Annotated[
        float, typer.Option(min=0, help="Minutes between two checkpoints.")
    ] = 15.0,
    steps: Annotated[
        int, typer.Option(min=0, help="Steps between two checkpoints; 0 disables it.")
    ] = 0,
    code_path: Annotated[
        Path | None,
        typer.Option(
            "--code",
            "-c",
            metavar="FILE",
            help="Python file with additional registered functions.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-V", help="Display more information.")
    ] = False,
    use_gpu: Annotated[
        int, typer.Option("--gpu-id", "-g", help="GPU ID, or -1 for CPU.")
    ] = -1,
) -> None:
    """Train a pipeline like `spacy train`, with support for resuming.

    The config, its overrides (--training.max_steps 100), the log, the pipelines in DIR
    and their weights are the same as with `spacy train`.

    The state of training is saved to DIR/checkpoint.zip, every --minutes. To resume
    training, run the same command with --resume. On a CPU with one thread, the final
    weights are the same as without an interruption, bit by bit. The file is deleted
    when training is complete.

    Ctrl-C, SIGTERM and SIGHUP end training after the current step, with a checkpoint. A
    second signal ends it immediately.

    Exit codes: 0; 1 for an error; 2 for wrong options; 130 after Ctrl-C, 143 after
    SIGTERM, 129 after SIGHUP.
    """
    if verbose:
        logger.setLevel(logging.DEBUG)
    overrides = parse_config_overrides(ctx.args)
    import_code(code_path)
    path = output_path / CHECKPOINT
    with user_errors():
        config = load_config(config_path, overrides, interpolate=True)
        identity = identify(config, code_path, use_gpu)
        if resume and not path.exists():
            raise ValueError(
                f"{path} does not exist, so there is nothing to resume. Leave out "
                "--resume to train from the start."
            )
        if path.exists() and not resume:
            raise ValueError(
                f"{path} is the checkpoint of an incomplete training run. Use --resume "
                "to resume it, or delete the checkpoint to train from the start."
            )
        checkpoint = read_checkpoint(path, identity) if resume else None
    if checkpoint is not None:
        done = checkpoint.progress.step + 1
        info(f"Resuming after {done} steps from {path}")
    loop = ResumableLoop(
        output_path,
        path,
        identity,
        minutes=minutes,
        steps=steps,
        note_signals=note_signals,
        resume_from=checkpoint,
    )
    with loop.installed():
        train(config_path, output_path, use_gpu=use_gpu, overrides=overrides)
    if loop.ended_by is not None:
        warn(f"interrupted: use --resume to resume from {path}", err=True)
        raise typer.Exit(SHELL_OFFSET + loop.ended_by)
    path.unlink(missing_ok=True)
