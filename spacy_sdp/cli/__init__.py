"""`python -m spacy sdp ...`, also as `python -m spacy_sdp ...`: one file a command."""

from spacy.cli._util import app

from . import convert, draw, evaluate, inspect, parse, serve, train
from ._app import sdp

app.add_typer(sdp)

__all__ = ["convert", "draw", "evaluate", "inspect", "parse", "sdp", "serve", "train"]
