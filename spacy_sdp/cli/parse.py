"""`python -m spacy sdp parse`"""

from __future__ import annotations

from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc
from spacy.util import is_package

from ..extensions import DEFAULT_ATTR, get_graph
from ..sentences import sentences
from ._app import sdp, user_errors

# The pipelines that we ship, the best one first.
PIPELINES = ("en_sdp_dm_md", "en_sdp_dm_sm")


@sdp.command("parse")
def parse_cli(
    texts: Annotated[list[str], typer.Argument(metavar="TEXT", help="Text to parse.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="Trained pipeline with a semantic parser: a package or a folder. "
            f"[default: the first that is installed of {', '.join(PIPELINES)}]"
        ),
    ] = None,
    attr: Annotated[
        str, typer.Option(help="Attribute in which the parser keeps its graphs.")
    ] = DEFAULT_ATTR,
) -> None:
    """Parse text and print who does what to whom.

    A word is printed with its arguments; the top of a sentence is marked with an
    asterisk.
    """
    with user_errors():
        nlp = spacy.load(model or _find_pipeline())
        for text in texts:
            typer.echo(_to_text(nlp(text), attr))


def _find_pipeline() -> str:
    for name in PIPELINES:
        if is_package(name):
            return name
    raise ValueError(
        "No pipeline is installed. In a checkout of spacy-sdp, install one with "
        f"pip install pipelines/{PIPELINES[-1]}-*.whl (or {PIPELINES[0]}, which is "
        "better and slower), or name a trained one with --model."
    )


def _to_text(doc: Doc, attr: str) -> str:
    graph = get_graph(doc, attr)
    if graph is None:
        raise ValueError(
            f"The pipeline left no graph in Doc._.{attr}. Does it have a semantic "
            "parser, and is its 'attr' another one? Then use --attr."
        )
    lines = []
    for span in sentences(doc):
        lines.append(span.text)
        heads = [token for token in span if graph.args(token) or token in graph.tops]
        width = max((len(token.text) for token in heads), default=0)
        for token in heads:
            mark = "*" if token in graph.tops else " "
            args = [f"{arc.label} {arc.dep.text}" for arc in graph.args(token)]
            lines.append(f" {mark} {token.text:<{width}}  {', '.join(args)}".rstrip())
        lines.append("")
    return "\n".join(lines)
