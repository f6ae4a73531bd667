"""The command `sdp`, and how its subcommands fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..formats import FORMATS

HELP = "Semantic dependency graphs: parse text, convert, inspect and evaluate data."
FORMAT_HELP = ", ".join(FORMATS)

sdp = typer.Typer(name="sdp", help=HELP, no_args_is_help=True, rich_markup_mode=None)


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
        typer.secho(f"✘ {' '.join(text.split())}", fg="red", err=True)
        raise typer.Exit(1) from None
