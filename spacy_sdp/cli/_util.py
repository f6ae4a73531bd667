"""What the commands share: options, how they read files, and how they fail."""

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
    str, typer.Option(help="Attribute of the graphs in .spacy files.")
]
FromOption = Annotated[
    str | None, typer.Option("--from", help=f"Format to read: {FORMAT_HELP}.")
]
# A progress bar on a terminal, for what takes long.
PROGRESS: dict[str, Any] = {"leave": False, "disable": None, "delay": 1}


def read_all(
    paths: Iterable[Path], format: str | None, attr: str, left_out: Counter[str]
) -> Iterator[tuple[Path, Record]]:
    """Yield the sentences of files and folders, none of which may be empty.

    paths (Iterable[Path]): The files and folders.
    format (Optional[str]): The format, if it is not told by the suffixes.
    attr (str): For `.spacy` files, the attribute with the graphs.
    left_out (Counter[str]): Counts what is not read, by reason.
    YIELDS (Tuple[Path, Record]): The sentences, and the files they are in.
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
    """Say what was not read, and why."""
    if left_out:
        reasons = ", ".join(f"{count} ({what})" for what, count in left_out.items())
        warn(f"sentences left out: {reasons}", err=err)


def check_output(output_path: Path, input_paths: Iterable[Path]) -> None:
    """Refuse to replace a file that is read."""
    for path in input_paths:
        if path.exists() and output_path.exists() and output_path.samefile(path):
            raise ValueError(f"{output_path} is read, and would be replaced.")


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn errors that a user can cause into one line on stderr and exit code 1."""
    try:
        yield
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough. What is left in
        # the buffer must not be flushed at exit.
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
