"""`python -m spacy sdp parse`"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import torch
import typer
from tqdm import tqdm

from ..extensions import DEFAULT_ATTR
from ..formats.files import STANDARD_STREAM
from ._app import PROGRESS, check_output, sdp, user_errors
from .interrupt import Interruptible, PostponedErrors, end_workers
from .pipelines import MODEL_HELP, load_pipeline
from .results import (
    OUTPUT_FORMATS,
    Result,
    find_output_format,
    graph_of,
    write_results,
)
from .texts import INPUT_FORMATS, is_file, read_inputs

INTERRUPTED = 130  # what a shell says of a command that Ctrl-C ended


@sdp.command("parse")
def parse_cli(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            help="Texts, or files with texts; - is standard input.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help=MODEL_HELP)] = None,
    output_path: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write; - is standard output.",
        ),
    ] = Path(STANDARD_STREAM),
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            help=f"Format of the files, if not by suffix: {', '.join(INPUT_FORMATS)}.",
        ),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            help=f"Format to write, if not by suffix: {', '.join(OUTPUT_FORMATS)}.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Least probability of an arc: below 0.5 finds more, above errs less. "
            "[default: the pipeline's own]",
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, help="Texts at a time. [default: the pipeline's own]"),
    ] = None,
    n_process: Annotated[
        int, typer.Option(min=1, help="Processes that work side by side.")
    ] = 1,
    attr: Annotated[
        str, typer.Option(help="Attribute in which the parser keeps its graphs.")
    ] = DEFAULT_ATTR,
) -> None:
    """Parse text: who does what to whom.

    An INPUT is a text in quotes, or a file: .txt has paragraphs between blank lines (or
    a text on each line, with --from lines), .jsonl has an object with a "text" on each
    line, whose other fields are kept (in jsonl, but for those that the result has
    itself), .spacy has Docs whose tokens are kept.

    By default it prints text: each word that has arguments with them, and the top of a
    sentence with an asterisk. jsonl is what spaCy's doc.to_json() gives, with the graph
    and its triples; html is a page of pictures.

    Exit codes: 0; 1 for an error, with a line on stderr that begins with ✘ (a file is
    then not written); 2 for wrong options; 130 after Ctrl-C, with what was parsed until
    then written as a whole.
    """
    if not inputs and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter('Give a text to parse, as in sdp parse "It works."')
    if from_format is not None and from_format not in INPUT_FORMATS:
        raise typer.BadParameter(
            f"--from: there is no format {from_format!r}; choose one of "
            f"{', '.join(INPUT_FORMATS)}."
        )
    to = find_output_format(output_path, to_format)
    arguments = inputs or [STANDARD_STREAM]
    with user_errors():
        check_output(output_path, [Path(each) for each in arguments if is_file(each)])
        if n_process > 1:
            # Threads and processes together would deadlock, and be slower.
            torch.set_num_threads(1)
        nlp = load_pipeline(model, threshold)
        texts = PostponedErrors(read_inputs(arguments, from_format, nlp.vocab))
        parsed = nlp.pipe(
            texts, as_tuples=True, batch_size=batch_size, n_process=n_process
        )
        results = Interruptible(_watch(parsed, texts, attr))
        title = ", ".join(Path(each).name for each in arguments if is_file(each))
        write_results(results, output_path, to, attr, title or "Semantic graphs")
    if results.interrupted:
        typer.secho("⚠ interrupted: the rest was not parsed", fg="yellow", err=True)
        raise typer.Exit(INTERRUPTED)


def _watch(
    results: Iterable[Result], texts: PostponedErrors, attr: str
) -> Iterator[Result]:
    """Check that there are graphs, and show how many words a second they take."""
    try:
        with tqdm(unit=" words", **PROGRESS) as bar:
            for doc, context in results:
                graph_of(doc, attr)
                bar.update(len(doc))
                yield doc, context
    except BaseException:
        # Also if the reader of our output has seen enough.
        end_workers()
        raise
    texts.check()
