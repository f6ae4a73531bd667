"""The part of `parse` that writes folders of Parquet."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from tqdm import tqdm

from ..pipeline.loading import installed_pipelines
from ._messages import good, warn
from ._util import PROGRESS
from .interrupt import INTERRUPTED

if TYPE_CHECKING:
    from ..distributed.job import Summary
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
        with _quiet(), _Progress() as watch:
            summary = apply(
                inputs,
                output,
                model=model or installed_pipelines()[0],
                watch=watch,
                **options,
            )
    except KeyboardInterrupt:
        warn("interrupted: run the same command again to parse the rest", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _show(summary, output)


def _show(summary: Summary, output: str) -> None:
    for name, reason in summary.failures.items():
        warn(f"{name}: {reason}", err=True)
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


class _Progress:
    """Shows the progress by the bytes of the input, and the words per second."""

    def __init__(self) -> None:
        self.words = 0
        self.start = time.monotonic()
        self.bar = tqdm(unit="B", unit_scale=True, **PROGRESS)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def __call__(self, size: int, report: Report | None) -> None:
        if report is None:
            self.start = time.monotonic()
            self.bar.reset(size)
            return
        self.words += report.words
        speed = self.words / (time.monotonic() - self.start)
        self.bar.set_postfix_str(f"{speed:,.0f} words/s")
        self.bar.update(report.size)
