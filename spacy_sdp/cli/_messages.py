"""Messages with wasabi's icons and colours, each on one line.

Written by hand, because wasabi's Printer only writes to standard output, where commands
may write data, and wraps lines at 80 columns, which scripts would have to undo.
"""

from __future__ import annotations

import typer


def info(text: str, *, err: bool = False) -> None:
    """Print an informational message.

    text (str): The message.
    err (bool): Whether to write to standard error.
    """
    typer.secho(f"ℹ {text}", fg="blue", err=err)  # noqa: RUF001


def good(text: str, *, err: bool = False) -> None:
    """Print a success message. The arguments are the same as for `info`."""
    typer.secho(f"✔ {text}", fg="green", err=err)


def warn(text: str, *, err: bool = False) -> None:
    """Print a warning. The arguments are the same as for `info`."""
    typer.secho(f"⚠ {text}", fg="yellow", err=err)


def fail(text: str, *, err: bool = False) -> None:
    """Print an error. The arguments are the same as for `info`."""
    typer.secho(f"✘ {text}", fg="red", err=err)
