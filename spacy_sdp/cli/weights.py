"""`python -m spacy sdp weights`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..pipeline.loading import load_pipeline
from ..training.weights import average_weights, round_weights
from ._app import sdp
from ._messages import good
from ._util import user_errors

weights = typer.Typer(
    name="weights",
    help="Average or round the weights of trained pipelines.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
sdp.add_typer(weights)

PIPELINE_HELP = "Trained pipeline: a package, a folder or a wheel."
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write.")
]


@weights.command("average")
def average_cli(
    pipelines: Annotated[
        list[str], typer.Argument(metavar="PIPELINE", help=PIPELINE_HELP)
    ],
    output_path: OutputOption,
) -> None:
    """Average the weights of pipelines that were fine-tuned from the same one.

    If pipelines are fine-tuned from the same pipeline with different seeds, their
    weights stay close to each other. The average makes fewer mistakes than each of
    them, and is as small and fast as a single pipeline.
    """
    if len(pipelines) < 2:
        raise typer.BadParameter("Specify at least two pipelines.")
    with user_errors():
        average = average_weights([load_pipeline(each) for each in pipelines])
        output_path.mkdir(parents=True, exist_ok=True)
        average.to_disk(output_path)
    good(f"{output_path}: average of {len(pipelines)} pipelines")


@weights.command("round")
def round_cli(
    pipeline: Annotated[str, typer.Argument(metavar="PIPELINE", help=PIPELINE_HELP)],
    output_path: OutputOption,
) -> None:
    """Round the weights of a pipeline to 8 significant bits (bfloat16).

    They are still stored as 32-bit numbers, so nothing else changes, but a wheel of the
    pipeline has less than half the size.
    """
    with user_errors():
        nlp = load_pipeline(pipeline)
        round_weights(nlp)
        output_path.mkdir(parents=True, exist_ok=True)
        nlp.to_disk(output_path)
    good(f"{output_path}: all weights rounded to bfloat16")
