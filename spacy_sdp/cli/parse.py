"""`python -m spacy sdp parse`"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc

from ..formats.files import STANDARD_STREAM
from ..graph.extensions import DEFAULT_ATTR
from ..pipeline.batches import Parsed
from ..pipeline.loading import MODEL_HELP, load_pipeline
from ._app import sdp
from ._messages import fail, warn
from ._util import check_output, user_errors
from .folder import is_output_folder, parse_to_folder
from .interrupt import SHELL_OFFSET, Interruptible, exit_on_signals
from .progress import Progress
from .results import (
    OUTPUT_FORMATS,
    Result,
    check_output_format,
    find_output_format,
    graph_of,
    write_results,
)
from .texts import (
    INPUT_FORMATS,
    TEXT_COLUMN,
    Errors,
    Input,
    is_file,
    list_errors,
    read_inputs,
    total_size,
)
from .workers import (
    MAX_PROCESSES,
    choose_processes,
    parse_in_processes,
    parse_inputs,
)


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
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write (- for standard output), or folder for Parquet files: "
            "a path or URI that ends with /.",
        ),
    ] = STANDARD_STREAM,
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
        str,
        typer.Option(
            metavar="NAME",
            help="Column of the texts in tables, and key of the text in .jsonl files.",
        ),
    ] = TEXT_COLUMN,
    conjuncts: Annotated[
        bool,
        typer.Option(
            "--conjuncts",
            help="For clauses: one for each part of a coordinated subject or object.",
        ),
    ] = False,
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
    n_process: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of processes. [default: 1; for long files, up to "
            f"{MAX_PROCESSES} unless the pipeline has a transformer]",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, help="Folders only: number of workers; several need Ray."),
    ] = 1,
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Folders only: Ray cluster. [default: start Ray on this machine]",
        ),
    ] = None,
    gpus: Annotated[
        float,
        typer.Option(min=0, help="Folders only: GPUs per worker, can be a fraction."),
    ] = 0,
    id_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Folders only: column of unique ids."),
    ] = None,
    docs: Annotated[
        bool, typer.Option("--docs", help="Folders only: add a column with the Docs.")
    ] = False,
    clauses: Annotated[bool, typer.Option(help="Folders only: add clauses.")] = True,
    attr: Annotated[
        str, typer.Option(help="Attribute in which the parser stores its graphs.")
    ] = DEFAULT_ATTR,
) -> None:
    """Parse text: who does what to whom.

    An INPUT is a text in quotes, or a file: .txt files have paragraphs separated by
    blank lines (or one text per line, with --from lines), .csv, .tsv and .parquet files
    have a column of texts (--text-column), .jsonl files have an object with a "text" on
    each line, and .spacy files have Docs, whose tokens are kept. Files must be encoded
    in UTF-8.

    By default, the output is text: each word with its arguments, with an asterisk for
    tops. clauses is a table of who did what to whom, and triples is a table of arcs:
    the suffix of the output (.csv, .tsv, .jsonl, .parquet or .txt) decides how they are
    written. csv is the table of clauses as CSV, also on standard output. jsonl is the
    output of spaCy's doc.to_json() with the graph, its triples and, if there are tags,
    its clauses. html is a page of pictures, and prodigy is a file of tasks to correct
    the graphs in Prodigy. sdp convert reads jsonl and prodigy.

    clauses, triples and jsonl keep the other columns of the input. If the result has a
    column of the same name, the input's is renamed to input_NAME; in jsonl, the result
    replaces it.

    Rows without a text, and texts on which the pipeline fails, are errors. With
    --errors, they are written to a file with "input", "line" (or "number" in .parquet
    files, or "doc" in .spacy files), "reason" and "row", and the other texts are
    parsed.

    Exit codes: 0 on success, even if --errors lists texts; 1 for an error, with a line
    on stderr that starts with ✘ (no file is written); 2 for wrong options; 130 after
    Ctrl-C, 143 after SIGTERM and 129 after SIGHUP, when the results so far are written
    to a complete file. If a process of --n-process died, they are also written, and the
    exit code is 1. A second signal ends the command without a file.

    If the output is a folder, Parquet, JSONL, CSV, TSV and text files, or folders of
    them, are parsed to Parquet files in it. Texts that cannot be parsed have the reason
    in a column. Running an interrupted command again parses the rest. See the guide
    docs/scale.md.
    """
    if is_output_folder(output):
        if to_format not in (None, "parquet"):
            raise typer.BadParameter("In a folder, the output is --to parquet.")
        if errors_path is not None or n_process is not None:
            raise typer.BadParameter(
                "If the output is a folder, errors are written to a column: omit "
                "--errors, and use --workers instead of --n-process."
            )
        with user_errors(), exit_on_signals():
            parse_to_folder(
                inputs or [],
                output,
                model=model,
                format=from_format,
                text_column=text_column,
                id_column=id_column,
                workers=workers,
                ray_address=ray_address,
                gpus=gpus,
                attr=attr,
                threshold=threshold,
                batch_size=batch_size,
                clauses=clauses,
                docs=docs,
            )
        return
    if workers != 1 or ray_address or gpus or id_column or docs or not clauses:
        raise typer.BadParameter(
            "--workers, --ray-address, --gpus, --id-column, --docs and --no-clauses "
            "require a folder: end the --output with /."
        )
    output_path = Path(output)
    if not inputs and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter('Specify a text, as in sdp parse "It works."')
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
        check_output_format(output_path, to)
        total = total_size(arguments, from_format)
        nlp = load_pipeline(model, threshold)
        size = batch_size or nlp.batch_size
        with list_errors(errors_path) as errors:
            texts = read_inputs(arguments, from_format, nlp.vocab, text_column, errors)
            if n_process is None:
                n_process = choose_processes(nlp, total)
            if n_process == 1:
                parsing = parse_inputs(texts, nlp, size)
            else:
                parsing = parse_in_processes(
                    texts, nlp, size, n_process, model, threshold
                )
            # Always close it, so that no process is left.
            with closing(parsing) as parsed:
                results = Interruptible(
                    _watch(parsed, errors, text_column, attr, total)
                )
                title = ", ".join(path.name for path in files) or "Semantic graphs"
                write_results(
                    results, output_path, to, attr, title, conjuncts=conjuncts
                )
    if errors.count:
        noun = "text was" if errors.count == 1 else "texts were"
        warn(f"{errors_path}: {errors.count} {noun} not parsed", err=True)
    if results.error is not None:
        fail(str(results.error), err=True)
        raise typer.Exit(1)
    if results.signal is not None:
        name = signal.Signals(results.signal).name
        how = "interrupted" if name == "SIGINT" else f"ended by {name}"
        warn(f"{how}: the rest was not parsed", err=True)
        raise typer.Exit(SHELL_OFFSET + results.signal)


def _watch(
    parsed: Iterable[tuple[Input, Parsed]],
    errors: Errors,
    text_column: str,
    attr: str,
    total: int | None,
) -> Iterator[Result]:
    """Check that Docs have graphs, and show the progress."""
    with Progress(total) as progress:
        for text, doc in parsed:
            if isinstance(doc, Doc):
                graph_of(doc, attr)
                progress.update(len(doc), text.position)
                yield doc, text.row or {}
            elif text.row is None:
                errors.add(text.source, text.place, doc)
            else:
                row = {text_column: text.text, **text.row}
                errors.add(text.source, text.place, doc, row=row)
