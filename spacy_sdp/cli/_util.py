"""Shared code of the commands: options, reading files, and error handling."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..formats import FORMATS, FormatError, Record, find_files, read
from ._messages import fail, warn

FORMAT_HELP = ", ".join(FORMATS)
# Options of the commands that read graphs.
AttrOption = Annotated[
    str, typer.Option(help="Attribute of the graphs in .spacy and .jsonl files.")
]
FromOption = Annotated[
    str | None, typer.Option("--from", help=f"Input format: {FORMAT_HELP}.")
]
# Settings of progress bars, which are only shown on terminals and for long tasks.
PROGRESS: dict[str, Any] = {"leave": False, "disable": None, "delay": 1}


def read_all(
    paths: Iterable[Path], format: str | None, attr: str, left_out: Counter[str]
) -> Iterator[tuple[Path, Record]]:
    """Read the sentences of files and folders. Empty files raise an error.

    paths (Iterable[Path]): The files and folders.
    format (Optional[str]): The format. By default, the suffixes decide.
    attr (str): For `.spacy` and `.jsonl` files, the attribute with the graphs.
    left_out (Counter[str]): Counts the sentences that are left out, by reason.
    YIELDS (Tuple[Path, Record]): The file and the sentence.
    """
    for path in paths:
        for file in find_files(path, format):
            before = left_out.total()
            sentence = None
            for sentence in read(file, attr, format, left_out):
                yield file, sentence
            if sentence is None and left_out.total() == before:
                raise FormatError("the file has no sentences", file)


def show_left_out(left_out: Counter[str], *, err: bool = False) -> None:
    """Print how many sentences were left out, and why."""
    if left_out:
        reasons = ", ".join(f"{count} ({what})" for what, count in left_out.items())
        warn(f"sentences left out: {reasons}", err=err)


def check_output(output_path: Path, input_paths: Iterable[Path]) -> None:
    """Raise an error if the output would overwrite an input."""
    for path in input_paths:
        if path.exists() and output_path.exists() and output_path.samefile(path):
            raise ValueError(f"The output would overwrite the input {output_path}.")


@contextmanager
def user_errors() -> Iterator[None]:
    """Report user errors as a single line on stderr, with exit code 1."""
    try:
        yield
    except BrokenPipeError:
        # The reader of our output, such as `head`, has closed the pipe. The rest of the
        # buffer must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except (ValueError, OSError) as error:
        # The message of a missing file is "[Errno 2] ...: path".
        if isinstance(error, OSError) and error.filename:
            text = f"{error.filename}: {error.strerror}"
        else:
            text = str(error)
        fail(" ".join(text.split()), err=True)
        raise typer.Exit(1) from None
