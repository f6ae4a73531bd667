"""`python -m spacy sdp parse`"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc
from tqdm import tqdm

from ..formats.files import STANDARD_STREAM
from ..graph.extensions import DEFAULT_ATTR
from ._app import sdp
from ._messages import warn
from ._util import PROGRESS, check_output, user_errors
from .interrupt import INTERRUPTED, Interruptible, exit_on_signals
from .pipelines import MODEL_HELP, load_pipeline
from .results import OUTPUT_FORMATS, Result, find_output_format, graph_of, write_results
from .texts import (
    INPUT_FORMATS,
    TEXT_COLUMN,
    Errors,
    Input,
    is_file,
    list_errors,
    read_inputs,
)
from .workers import Parsed, parse_in_processes, parse_inputs


@sdp.command("parse")
def parse_cli(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            help="Texts, or files with texts; - for standard input.",
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
            help="File to write; - for standard output.",
        ),
    ] = Path(STANDARD_STREAM),
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            help=f"Input format: {', '.join(INPUT_FORMATS)}. [default: by suffix]",
        ),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            help=f"Output format: {', '.join(OUTPUT_FORMATS)}. [default: by suffix]",
        ),
    ] = None,
    text_column: Annotated[
        str, typer.Option(metavar="NAME", help="Key of the text in .jsonl files.")
    ] = TEXT_COLUMN,
    errors_path: Annotated[
        Path | None,
        typer.Option(
            "--errors",
            metavar="FILE",
            help="Write texts that cannot be parsed to this .jsonl file, and continue.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Minimum probability of an arc: lower favours recall, higher favours "
            "precision. [default: the pipeline's own]",
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, help="Texts in a batch. [default: the pipeline's own]"),
    ] = None,
    n_process: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    attr: Annotated[
        str, typer.Option(help="Attribute in which the parser stores its graphs.")
    ] = DEFAULT_ATTR,
) -> None:
    """Parse text: who does what to whom.

    An INPUT is a text in quotes, or a file: .txt files have paragraphs separated by
    blank lines (or one text per line, with --from lines), .jsonl files have an object
    with a "text" on each line, and .spacy files have Docs, whose tokens are kept. If
    the output is jsonl, other fields of the objects are kept, unless the result has the
    same fields.

    By default, the output is text: each word with its arguments, with an asterisk for
    tops. jsonl is the output of spaCy's doc.to_json() with the graph and its triples;
    html is a page of pictures.

    Rows of a .jsonl file without a text, and texts on which the pipeline fails, are
    errors. With --errors, they are written to a file with "input", "line" (or "doc"),
    "reason" and "row", and the other texts are parsed.

    Exit codes: 0 on success, even if --errors lists texts; 1 for an error, or if a
    process of --n-process died, with a line on stderr that starts with ✘ (no file is
    written); 2 for wrong options; 130 after Ctrl-C, when the results so far are written
    to a complete file; 143 after SIGTERM and 129 after SIGHUP, without a file.
    """
    if not inputs and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter('Give a text to parse, as in sdp parse "It works."')
    if from_format is not None and from_format not in INPUT_FORMATS:
        raise typer.BadParameter(
            f"--from: unknown format {from_format!r}; choose one of "
            f"{', '.join(INPUT_FORMATS)}."
        )
    if errors_path is not None and errors_path.resolve() == output_path.resolve():
        raise typer.BadParameter("--errors and --output must be different files.")
    to = find_output_format(output_path, to_format)
    arguments = inputs or [STANDARD_STREAM]
    files = [Path(each) for each in arguments if is_file(each)]
    with user_errors(), exit_on_signals():
        check_output(output_path, files)
        if errors_path is not None:
            check_output(errors_path, files)
        nlp = load_pipeline(model, threshold)
        size = batch_size or nlp.batch_size
        with list_errors(errors_path) as errors:
            texts = read_inputs(arguments, from_format, nlp.vocab, text_column, errors)
            if n_process == 1:
                parsing = parse_inputs(texts, nlp, size)
            else:
                parsing = parse_in_processes(
                    texts, nlp, size, n_process, model, threshold
                )
            # Close it in any case, so that no process is left.
            with closing(parsing) as parsed:
                results = Interruptible(_watch(parsed, errors, attr))
                title = ", ".join(path.name for path in files) or "Semantic graphs"
                write_results(results, output_path, to, attr, title)
    if errors.count:
        noun = "text was" if errors.count == 1 else "texts were"
        warn(f"{errors_path}: {errors.count} {noun} not parsed", err=True)
    if results.interrupted:
        warn("interrupted: the rest was not parsed", err=True)
        raise typer.Exit(INTERRUPTED)


def _watch(
    parsed: Iterable[tuple[Input, Parsed]], errors: Errors, attr: str
) -> Iterator[Result]:
    """Check that Docs have graphs, and show the progress in words per second."""
    with tqdm(unit=" words", **PROGRESS) as bar:
        for text, doc in parsed:
            if isinstance(doc, Doc):
                graph_of(doc, attr)
                bar.update(len(doc))
                yield doc, text.row
            else:
                row = {"row": text.row} if text.row else {}
                errors.add(text.source, text.place, doc, **row)
