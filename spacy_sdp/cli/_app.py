"""The command `sdp`, and how its subcommands fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

HELP = "Semantic dependency graphs: parse text, convert and evaluate data."

sdp = typer.Typer(name="sdp", help=HELP, no_args_is_help=True, rich_markup_mode=None)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn errors that a user can cause into one line on stderr and exit code 1."""
    try:
        yield
    except (ValueError, OSError) as error:
        # The message of a missing file is "[Errno 2] ...: path".
        if isinstance(error, OSError) and error.filename:
            text = f"{error.filename}: {error.strerror}"
        else:
            text = str(error)
        typer.secho(f"✘ {' '.join(text.split())}", fg="red", err=True)
        raise typer.Exit(1) from None
