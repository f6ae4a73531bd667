"""`python -m spacy sdp evaluate`"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm
from wasabi.tables import table

from .. import formats
from ..evaluation.metrics import score_sentences
from ..evaluation.mrp_metric import score_mrp
from ..formats import Record, docbin
from ..formats.bridge import from_doc, to_doc
from ..formats.files import atomic_write
from ..formats.folding import split_label
from ..graph.extensions import DEFAULT_ATTR, set_graph
from ..pipeline.loading import load_pipeline
from ._app import sdp
from ._util import FORMAT_HELP, PROGRESS, AttrOption, user_errors
from .results import graph_of


class Representation(StrEnum):
    dm = "dm"
    pas = "pas"
    psd = "psd"


class Metric(StrEnum):
    sdp = "sdp"
    mrp = "mrp"


ROWS = (
    ("Labelled arcs", ("LP", "LR", "LF", "LM")),
    ("Unlabelled arcs", ("UP", "UR", "UF", "UM")),
    ("Complete predications", ("PP", "PR", "PF")),
    ("Semantic frames", ("FP", "FR", "FF")),
)


@sdp.command("evaluate")
def evaluate_cli(
    gold_path: Annotated[
        Path, typer.Argument(metavar="GOLD", help="Gold standard, in any format.")
    ],
    system_path: Annotated[
        Path | None,
        typer.Argument(
            metavar="SYSTEM", help="Parser output, in any format. Not with --model."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Pipeline (a package, a folder or a wheel) to parse the gold tokens "
            "with, instead of SYSTEM."
        ),
    ] = None,
    use_gpu: Annotated[
        int, typer.Option("--gpu-id", "-g", help="GPU ID for --model, or -1 for CPU.")
    ] = -1,
    metric: Annotated[
        Metric,
        typer.Option(help="Metric of the SDP shared tasks, or of MRP 2019."),
    ] = Metric.sdp,
    representation: Annotated[
        Representation,
        typer.Option(help="Defines which arguments count in predications and frames."),
    ] = Representation.dm,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with scores as fractions.")
    ] = False,
    output_path: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the JSON to a file.")
    ] = None,
    gold_format: Annotated[
        str | None,
        typer.Option(
            "--gold-from", help=f"Format of GOLD: {FORMAT_HELP}. [default: by suffix]"
        ),
    ] = None,
    system_format: Annotated[
        str | None,
        typer.Option("--system-from", help="Format of SYSTEM. [default: by suffix]"),
    ] = None,
    attr: AttrOption = DEFAULT_ATTR,
) -> None:
    """Score a pipeline, or the output of a parser, against a gold standard.

    Precision, recall and F1 are computed as by the official toolkit of the SDP tasks,
    for labelled (L) and unlabelled (U) arcs, complete predications (P) and semantic
    frames (F), with and without the virtual arcs to the top nodes. LM and UM are the
    percentages of graphs without mistakes.

    With --metric mrp, the scores are those of the shared task MRP 2019 for graphs
    between words: of tops, labels (lemmas), properties (tags and frames), anchors
    (places in the text), edges, and all of them together.

    With --model, the pipeline gets the gold tokens, sentence boundaries and columns,
    and replaces the columns that it predicts itself. (`spacy evaluate` starts from raw
    text.)

    Both files must have the same sentences. If their tokens differ, they are aligned,
    and tokens without a counterpart count as mistakes.
    """
    if (system_path is None) == (model is None):
        raise typer.BadParameter("Specify either parser output to score, or --model.")
    with user_errors():
        if model is not None:
            setup_gpu(use_gpu, silent=True)
            system = _parse(load_pipeline(model), gold_path, attr, gold_format)
        else:
            assert system_path is not None
            system = formats.read(system_path, attr, system_format)
        gold = formats.read(gold_path, attr, gold_format)
        scores: dict[str, dict[str, Any]]
        if metric == Metric.mrp:
            scores = score_mrp(_with_split_labels(gold), _with_split_labels(system))
        else:
            scores = score_sentences(gold, system, representation.value)
        text = json.dumps(scores, indent=2, ensure_ascii=False)
        if output_path is not None:
            with atomic_write(output_path) as file:
                file.write(f"{text}\n".encode())
    if as_json:
        typer.echo(text)
    elif metric == Metric.mrp:
        _print_mrp_scores(scores)
    else:
        _print_scores(scores)


def _parse(
    nlp: Language, gold_path: Path, attr: str, format: str | None
) -> Iterator[Record]:
    """Parse the sentences of the gold standard with a pipeline."""
    if formats.find_format(gold_path, format) == "spacy":
        docs = docbin.read_docs(gold_path, nlp.vocab)
    else:
        records = formats.read(gold_path, attr, format)
        docs = (to_doc([record], nlp.vocab, attr) for record in records)
    docs = (_without_graph(doc, attr) for doc in docs)
    for doc in tqdm(nlp.pipe(docs), unit=" texts", **PROGRESS):
        graph_of(doc, attr)
        yield from from_doc(doc, attr)


def _without_graph(doc: Doc, attr: str) -> Doc:
    set_graph(doc, None, attr)
    return doc


def _with_split_labels(sentences: Iterable[Record]) -> Iterator[Record]:
    """Yield sentences with a separate arc for each label between two words."""
    for sentence in sentences:
        arcs = [
            (head, dep, label)
            for head, dep, labels in sentence.arcs
            for label in split_label(labels)
        ]
        yield replace(sentence, arcs=arcs)


def _print_mrp_scores(scores: dict[str, dict[str, Any]]) -> None:
    rows = [
        (
            name.capitalize(),
            *(str(row[key]) for key in ("g", "s", "c")),
            *(f"{100 * row[key]:.2f}" for key in ("p", "r", "f")),
        )
        for name, row in scores.items()
    ]
    header = ("", "Gold", "System", "Common", "P", "R", "F1")
    _print_table("Scores of MRP 2019", rows, header)


def _print_scores(scores: dict[str, dict[str, Any]]) -> None:
    with_tops, without_tops = scores["with_tops"], scores["without_tops"]
    rows: list[tuple[str, ...]] = []
    for name, keys in ROWS:
        for sides, suffix in ((with_tops, "with tops"), (without_tops, "without")):
            if keys[0][0] in "PF" and suffix == "without":
                continue  # these scores do not include tops
            cells = [f"{100 * sides[key]:.2f}" for key in keys]
            title = name if keys[0][0] in "PF" else f"{name}, {suffix}"
            rows.append((title, *cells, *[""] * (4 - len(cells))))
    _print_table("Scores", rows, ("", "P", "R", "F1", "Exact match"))
    for title, key, column in (
        ("By label, with tops", "per_label", "Label"),
        ("By length of the arc, with tops", "per_length", "Length"),
    ):
        rows = [
            (
                name,
                str(row["gold"]),
                str(row["system"]),
                *(f"{100 * row[score]:.2f}" for score in ("p", "r", "f")),
            )
            for name, row in with_tops[key].items()
        ]
        _print_table(title, rows, (column, "Gold", "System", "P", "R", "F1"))


def _print_table(
    title: str, rows: list[tuple[str, ...]], header: tuple[str, ...]
) -> None:
    aligns: list[Literal["l", "r"]] = ["l"]
    aligns += ["r"] * (len(header) - 1)
    typer.secho(title, bold=True)
    typer.echo(table(rows, header=header, divider=True, aligns=aligns))
