"""`python -m spacy sdp parse`"""

from __future__ import annotations

from typing import Annotated

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from ..extensions import DEFAULT_ATTR, get_graph
from ..graph import sentences
from ._app import sdp, user_errors

DEMO_NOTICE = (
    "No pipeline was given, so a small one is being trained on {count} example "
    "sentences.\nIt shows what the output looks like, and knows few words beyond the "
    "examples:\nuse --model for a real one."
)


@sdp.command("parse")
def parse_cli(
    texts: Annotated[list[str], typer.Argument(metavar="TEXT", help="Text to parse.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="Trained pipeline with a semantic parser: a package or a folder. "
            "Without it, a small one is trained on a few example sentences."
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
        nlp = _demo() if model is None else spacy.load(model)
        for text in texts:
            typer.echo(_to_text(nlp(text), attr))


def _demo() -> Language:
    from ..demo import EXAMPLES, train_demo
    from ..formats import sdp as sdp_format

    count = sum(1 for _ in sdp_format.read(EXAMPLES))
    typer.echo(DEMO_NOTICE.format(count=count), err=True)
    return train_demo(lambda epochs: tqdm(epochs, desc="training", leave=False))


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
