"""The commands `python -m spacy sdp`, or `python -m spacy_sdp`, in one file each."""

from spacy.cli._util import app

from ._app import sdp

app.add_typer(sdp)

__all__ = ["sdp"]
