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
from ._app import sdp
from ._util import user_errors
from .pipelines import PIPELINES, installed_pipelines, load_pipeline
from .server import Server


@sdp.command("serve")
def serve_cli(
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Trained pipeline to choose on the page; may be given several times. "
            f"[default: all that are installed of {', '.join(PIPELINES)}]",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 is any that is free.")
    ] = 5000,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser, too.")
    ] = False,
    attr: Annotated[
        str, typer.Option(help="Attribute in which the parsers keep their graphs.")
    ] = DEFAULT_ATTR,
) -> None:
    """Try a parser in a browser.

    Serves a page with a text box: type a sentence, see its graph, switch between
    pipelines, save pictures and JSON. Only this machine can reach it. Ctrl-C ends it.
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
                f"Port {port} is in use: choose another one with --port."
            ) from None
        with server:
            typer.echo(f"{server.url} (Ctrl-C ends it)")
            if open_browser:
                webbrowser.open(server.url)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                typer.echo("")
