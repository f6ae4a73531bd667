"""`python -m spacy sdp annotate`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from .. import formats
from ..formats import Record, docbin
from ..graph.extensions import DEFAULT_ATTR
from ..pipeline.loading import MODEL_HELP, load_pipeline
from ..training.annotate import MAX_LENGTH, MIN_LENGTH, SHARE, annotate
from ._app import sdp
from ._messages import good
from ._util import PROGRESS, check_output, user_errors
from .texts import INPUT_FORMAT_OF_SUFFIX, TEXT_COLUMN, Errors, read_inputs


@sdp.command("annotate")
def annotate_cli(
    input_paths: Annotated[
        list[Path],
        typer.Argument(metavar="INPUT", help="Files with texts, or treebanks."),
    ],
    output_path: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The .spacy file to write."
        ),
    ],
    model: Annotated[str | None, typer.Option(help=MODEL_HELP)] = None,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the sentences to keep.")
    ] = SHARE,
    max_length: Annotated[
        int,
        typer.Option(
            min=MIN_LENGTH,
            help=f"Leave out sentences with more tokens, or fewer than {MIN_LENGTH}.",
        ),
    ] = MAX_LENGTH,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Development or test data, whose sentences are left out. Can be "
            "repeated.",
        ),
    ] = None,
    attr: Annotated[
        str, typer.Option(help="Attribute in which the parser stores its graphs.")
    ] = DEFAULT_ATTR,
) -> None:
    """Create silver data: parse texts, and keep the most confident parses.

    An INPUT is a file of texts, as for `sdp parse`, or a treebank in any other format
    that `sdp convert` reads. Tables must have a column "text". Only the texts and
    sentence boundaries of a treebank are used. Confidence is the mean log-probability
    of the arcs in a sentence.
    """
    with user_errors():
        check_output(output_path, input_paths)
        nlp = load_pipeline(model)
        texts = (text for path in input_paths for text in _read(path, nlp))
        bar = tqdm(texts, unit=" texts", **PROGRESS)
        silver = annotate(
            nlp,
            bar,
            share=share,
            max_length=max_length,
            held_out=_read_words(held_out or []),
            attr=attr,
        )
        if not silver.docs:
            raise ValueError("All sentences were left out, so no file was written.")
        docbin.write_docs(silver.docs, output_path)
    good(
        f"{output_path}: {len(silver.docs)} sentences, "
        f"{sum(map(len, silver.docs))} tokens; left out: {silver.wrong_length} too "
        f"short or too long, {silver.repeated} repeated or held out, "
        f"{silver.unsure} less confident"
    )


def _read(path: Path, nlp: Language) -> Iterator[str | Doc]:
    if path.suffix.lower() in INPUT_FORMAT_OF_SUFFIX:
        inputs = read_inputs([str(path)], None, nlp.vocab, TEXT_COLUMN, Errors(None))
        yield from (each.text for each in inputs)
    else:
        yield from (_to_doc(each, nlp) for each in formats.read(path))


def _read_words(paths: list[Path]) -> Iterator[list[str]]:
    return (each.words for path in paths for each in formats.read(path))


def _to_doc(sentence: Record, nlp: Language) -> Doc:
    """Tokenize a sentence, without annotations."""
    if sentence.text is None:
        doc = Doc(nlp.vocab, words=sentence.words)
    else:
        doc = nlp.make_doc(sentence.text)
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc
