"""Messages with wasabi's icons and colours, each on one line.

By hand, because wasabi's Printer writes to standard output alone, where a command may
write its data, and breaks lines at 80 columns, which scripts would have to join again.
"""

from __future__ import annotations

import typer


def info(text: str, *, err: bool = False) -> None:
    """Say what is going on.

    text (str): The message.
    err (bool): Whether to write to standard error.
    """
    typer.secho(f"ℹ {text}", fg="blue", err=err)  # noqa: RUF001


def good(text: str, *, err: bool = False) -> None:
    """Say that something was done; the arguments are those of `info`."""
    typer.secho(f"✔ {text}", fg="green", err=err)


def warn(text: str, *, err: bool = False) -> None:
    """Say that something is not as it might be; the arguments are those of `info`."""
    typer.secho(f"⚠ {text}", fg="yellow", err=err)


def fail(text: str, *, err: bool = False) -> None:
    """Say that something was not done; the arguments are those of `info`."""
    typer.secho(f"✘ {text}", fg="red", err=err)
