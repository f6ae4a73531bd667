"""The part of `parse` that writes folders of Parquet."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..pipeline.loading import installed_pipelines
from ._messages import good, warn
from .interrupt import INTERRUPTED
from .progress import Progress

if TYPE_CHECKING:
    from ..distributed.job import Summary, Watch
    from ..distributed.worker import Report


def is_output_folder(output: str) -> bool:
    """Check whether an output is a folder, which may not exist yet."""
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def parse_to_folder(
    inputs: list[str], output: str, *, model: str | None, **options: Any
) -> None:
    """Parse files to a folder, with progress and a summary.

    inputs (List[str]): Files and folders.
    output (str): The folder.
    model (Optional[str]): The pipeline. Defaults to the best installed one.
    options (Any): The other arguments of `spacy_sdp.distributed.apply`.
    """
    try:
        from ..distributed.job import apply
    except ImportError as error:
        raise ValueError(
            f"Writing to a folder requires additional packages ({error}): "
            "pip install 'spacy-sdp[ray]'."
        ) from None
    if not inputs:
        raise typer.BadParameter("Specify the files or folders to parse.")
    try:
        with _quiet(), ExitStack() as stack:
            summary = apply(
                inputs,
                output,
                model=model or installed_pipelines()[0],
                watch=_show_progress(stack),
                **options,
            )
    except KeyboardInterrupt:
        warn("interrupted: run the same command again to parse the rest", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _show(summary, output)


def _show(summary: Summary, output: str) -> None:
    for reason, count in Counter(summary.failures.values()).items():
        parts = f" ({count:,} parts)" if count > 1 else ""
        warn(f"{reason}{parts}", err=True)
    speed = summary.words / summary.seconds
    counts = [
        f"{summary.rows:,} rows, {summary.words:,} words in {summary.seconds:.0f} s "
        f"({speed:,.0f} words/s)",
        f"{summary.errors:,} rows with errors",
        f"{summary.retries:,} retries",
        f"{summary.written:,} files written",
        f"{summary.skipped:,} already complete",
    ]
    text = f"{output}: {'; '.join(counts)}"
    if summary.failures:
        warn(f"{text}; {len(summary.failures):,} NOT WRITTEN, see above", err=True)
        raise typer.Exit(1)
    good(text, err=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard Ray's console output, and keep our own messages on stderr.

    Ray reports restarted workers from C++, so redirect the file descriptor. Its log
    files are complete.
    """
    console = os.dup(2)
    with ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w"))
        stack.enter_context(redirect_stdout(nowhere))
        stderr = sys.__stderr__
        if stderr is not None and sys.stderr is stderr:
            ours = os.fdopen(os.dup(console), "w", encoding=stderr.encoding)
            stack.enter_context(redirect_stderr(stack.enter_context(ours)))
        stack.callback(os.close, console)
        stack.callback(os.dup2, console, 2)
        os.dup2(nowhere.fileno(), 2)
        yield


def _show_progress(stack: ExitStack) -> Watch:
    """Show a progress bar, until the stack is closed, once the size is known."""
    bars: list[Progress] = []

    def watch(size: int, report: Report | None) -> None:
        if report is None:
            bars.append(stack.enter_context(Progress(size)))
        else:
            bars[-1].add(report.words, report.size)

    return watch
