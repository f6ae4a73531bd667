"""`python -m spacy sdp fine-tune`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import parse_config_overrides, setup_gpu, show_validation_error

from ..training.fine_tune import fine_tune
from ._app import sdp
from ._util import user_errors


@sdp.command(
    "fine-tune",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def fine_tune_cli(
    context: typer.Context,
    pipeline: Annotated[
        str,
        typer.Argument(
            metavar="PIPELINE", help="Trained pipeline: a package or a folder."
        ),
    ],
    output_path: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write to."),
    ],
    config_path: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Config to train with, which must have the same components. "
            "[default: the config that the pipeline was trained with]",
        ),
    ] = None,
    use_gpu: Annotated[
        int, typer.Option("--gpu-id", "-g", help="GPU ID, or -1 for CPU.")
    ] = -1,
) -> None:
    """Fine-tune a trained pipeline on your data.

    It works like `spacy train`: you can override settings of the config, and specify
    the data with --paths.train and --paths.dev. The pipeline keeps its labels. The
    learning rate schedule restarts with its warm-up, so set lower values for
    --training.optimizer.learn_rate.initial_rate and --training.max_steps if you have
    little data.
    """
    overrides = parse_config_overrides(context.args)
    with user_errors(), show_validation_error(config_path, hint_fill=False):
        setup_gpu(use_gpu)
        fine_tune(
            pipeline,
            output_path,
            config_path=config_path,
            overrides=overrides,
            use_gpu=use_gpu,
        )
