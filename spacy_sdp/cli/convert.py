"""`python -m spacy sdp convert`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from .. import formats
from ..extensions import DEFAULT_ATTR
from ._app import sdp, user_errors


@sdp.command("convert")
def convert_cli(
    input_path: Annotated[
        Path, typer.Argument(metavar="INPUT", help="File to read: .sdp or .spacy.")
    ],
    output_path: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File to write: .sdp or .spacy.")
    ],
    attr: Annotated[
        str, typer.Option(help="Attribute of the graphs in .spacy files.")
    ] = DEFAULT_ATTR,
) -> None:
    """Convert graphs from one file format to another, chosen by the suffixes.

    .sdp is the format of SemEval 2015 Task 18 (that of SemEval 2014 Task 8 is read,
    too), and .spacy is what `spacy train` reads. Nothing is written if the input is
    broken.
    """
    with user_errors():
        counts: Counter[str] = Counter()
        sentences = _count(formats.read(input_path, attr), counts, input_path)
        formats.write(sentences, output_path, attr)
    summary = ", ".join(f"{count} {name}" for name, count in counts.items())
    typer.secho(f"✔ {output_path}: {summary}", fg="green")


def _count(
    sentences: Iterable[formats.Sentence], counts: Counter[str], path: Path
) -> Iterator[formats.Sentence]:
    for sentence in sentences:
        counts["sentences"] += 1
        counts["tokens"] += len(sentence.words)
        counts["arcs"] += len(sentence.arcs)
        counts["tops"] += len(sentence.tops)
        yield sentence
    if not counts["sentences"]:
        raise formats.FormatError("the file has no sentences", path)
