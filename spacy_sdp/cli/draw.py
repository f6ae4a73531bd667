"""`python -m spacy sdp draw`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc
from spacy.vocab import Vocab
from tqdm import tqdm

from ..display import COMPARED, get_drawable
from ..display.page import draw_page
from ..display.picture import Picture, make_pictures
from ..formats import FormatError
from ..formats.bridge import to_doc
from ..formats.files import atomic_write
from ..graph.extensions import DEFAULT_ATTR
from ._app import sdp
from ._messages import good
from ._util import (
    PROGRESS,
    AttrOption,
    FromOption,
    check_output,
    read_all,
    show_left_out,
    user_errors,
)
from .interrupt import exit_on_signals


@sdp.command("draw")
def draw_cli(
    input_paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT",
            help="Files or folders with graphs; - for standard input.",
        ),
    ],
    output_path: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The .html file to write."),
    ],
    gold_path: Annotated[
        Path | None,
        typer.Option(
            "--gold",
            metavar="FILE",
            help="Gold graphs of the same sentences to compare with.",
        ),
    ] = None,
    from_format: FromOption = None,
    limit: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Only draw the first N sentences. 0 means no limit.",
        ),
    ] = 0,
    frames: Annotated[
        bool, typer.Option("--frames", help="Show the frame of each word.")
    ] = False,
    title: Annotated[
        str | None, typer.Option(help="Title of the page. [default: the input's name]")
    ] = None,
    attr: AttrOption = DEFAULT_ATTR,
) -> None:
    """Draw graphs on an HTML page.

    The page is a self-contained file. It has a picture of each sentence, tables of its
    clauses and predicates, and a filter by text and label. Pictures can be saved as SVG
    and PNG, graphs as JSON, and clauses as CSV. With --gold, arcs in both graphs,
    missing arcs and spurious arcs have different colours.

    To draw the graphs of your own texts, use sdp parse --to html.
    """
    if output_path.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter("--output: the page must be an .html file.")
    with user_errors(), exit_on_signals():
        check_output(output_path, [*input_paths, *([gold_path] if gold_path else [])])
        left_out: Counter[str] = Counter()
        docs = _read_docs(input_paths, from_format, attr, left_out)
        gold = (
            None
            if gold_path is None
            else _read_docs([gold_path], from_format, attr, left_out)
        )
        pictures = islice(_make_pictures(docs, gold, attr, frames), limit or None)
        drawn: Counter[str] = Counter()
        with atomic_write(output_path) as file:
            for piece in draw_page(
                _count(tqdm(pictures, unit=" sentences", **PROGRESS), drawn),
                title or ", ".join(path.name for path in input_paths),
                names=None if gold is None else COMPARED,
            ):
                file.write(piece.encode())
    count = drawn["sentences"]
    noun = "sentence" if count == 1 else "sentences"
    good(f"{output_path}: {count} {noun}", err=True)
    show_left_out(left_out, err=True)


def _count(pictures: Iterable[Picture], drawn: Counter[str]) -> Iterator[Picture]:
    for picture in pictures:
        drawn["sentences"] += 1
        yield picture


def _read_docs(
    paths: list[Path], format: str | None, attr: str, left_out: Counter[str]
) -> Iterator[tuple[Path, Doc]]:
    """Read each sentence as a separate Doc."""
    vocab = Vocab()
    for path, sentence in read_all(paths, format, attr, left_out):
        try:
            yield path, to_doc([sentence], vocab, attr)
        except FormatError as error:
            reason = f"sentence {sentence.id}: {error.reason}"
            raise FormatError(reason, path) from None


def _make_pictures(
    docs: Iterator[tuple[Path, Doc]],
    gold: Iterator[tuple[Path, Doc]] | None,
    attr: str,
    frames: bool,
) -> Iterator[Picture]:
    if gold is None:
        for number, (_, doc) in enumerate(docs):
            graph = get_drawable(doc, attr)
            yield from make_pictures(graph, frames=frames, number=number)
        return
    for number, (system, right) in enumerate(zip_longest(docs, gold), start=1):
        if system is None or right is None:
            shorter = "the input" if system is None else "--gold"
            raise ValueError(f"{shorter} ends before sentence {number}.")
        path, doc = system
        try:
            yield from make_pictures(
                get_drawable(doc, attr),
                get_drawable(right[1], attr),
                frames=frames,
                number=number - 1,
            )
        except ValueError as error:
            raise FormatError(f"sentence {number}: {error}", path) from None
