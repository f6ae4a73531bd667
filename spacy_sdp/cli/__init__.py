"""`python -m spacy sdp ...`, also as `python -m spacy_sdp ...`: one file a command."""

from spacy.cli._util import app

from ._app import sdp

app.add_typer(sdp)

__all__ = ["sdp"]
