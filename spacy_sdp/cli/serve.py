"""`python -m spacy sdp serve`"""

from __future__ import annotations

import webbrowser
from errno import EADDRINUSE
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from spacy.util import is_package

from ..graph.extensions import DEFAULT_ATTR
from ..pipeline.loading import PIPELINES, installed_pipelines, load_pipeline
from ._app import sdp
from ._util import user_errors
from .server import Server


@sdp.command("serve")
def serve_cli(
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Trained pipeline to offer on the page. Can be repeated. "
            f"[default: all installed ones of {', '.join(PIPELINES)}]",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 for any free port.")
    ] = 5000,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.")
    ] = False,
    attr: Annotated[
        str, typer.Option(help="Attribute in which the parsers store their graphs.")
    ] = DEFAULT_ATTR,
) -> None:
    """Try a parser in a browser.

    Serves a page on which you can type a text to see its graphs and clauses, compare
    two pipelines, and save pictures, JSON and CSV. The address contains the text, so
    that you can share it. The page is only available on this machine.
    Press Ctrl-C to stop the server.
    """
    with user_errors():
        names = models or installed_pipelines()
        for name in names:
            if not is_package(name) and not Path(name).is_dir():
                raise ValueError(f"--model: there is no package or folder {name!r}.")
        try:
            load = partial(load_pipeline, threads=True)
            server = Server(names, load, attr=attr, port=port)
        except OSError as error:
            if error.errno != EADDRINUSE:
                raise
            raise ValueError(
                f"Port {port} is already in use: choose another one with --port."
            ) from None
        with server:
            typer.echo(f"{server.url} (press Ctrl-C to stop)")
            if open_browser:
                webbrowser.open(server.url)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                typer.echo("")
