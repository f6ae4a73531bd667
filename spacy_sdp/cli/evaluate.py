"""`python -m spacy sdp evaluate`"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from wasabi.tables import table

from .. import formats
from ..evaluation.metrics import score_sentences
from ..formats.files import atomic_write
from ..graph.extensions import DEFAULT_ATTR
from ._app import sdp
from ._util import FORMAT_HELP, AttrOption, user_errors


class Representation(StrEnum):
    dm = "dm"
    pas = "pas"
    psd = "psd"


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
        Path, typer.Argument(metavar="SYSTEM", help="Parser output, in any format.")
    ],
    representation: Annotated[
        Representation,
        typer.Option(help="Which arguments count in predications and frames."),
    ] = Representation.dm,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, scores as fractions.")
    ] = False,
    output_path: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the JSON to a file.")
    ] = None,
    gold_format: Annotated[
        str | None,
        typer.Option("--gold-from", help=f"Format, if not by suffix: {FORMAT_HELP}."),
    ] = None,
    system_format: Annotated[
        str | None, typer.Option("--system-from", help="Format, if not by suffix.")
    ] = None,
    attr: AttrOption = DEFAULT_ATTR,
) -> None:
    """Score a parser's graphs against a gold standard.

    Precision, recall and F1 are those of the official toolkit of the SDP tasks: of
    labelled (L) and unlabelled (U) arcs, complete predications (P) and semantic frames
    (F), with and without the virtual arcs to the top nodes. LM and UM are the share of
    graphs without any mistake.

    Both files must have the same sentences. Where one of them has other tokens than the
    other, they are aligned; what has no counterpart counts as a mistake.
    """
    with user_errors():
        scores = score_sentences(
            formats.read(gold_path, attr, gold_format),
            formats.read(system_path, attr, system_format),
            representation.value,
        )
        text = json.dumps(scores, indent=2, ensure_ascii=False)
        if output_path is not None:
            with atomic_write(output_path) as file:
                file.write(f"{text}\n".encode())
    if as_json:
        typer.echo(text)
    else:
        _print_scores(scores)


def _print_scores(scores: dict[str, dict[str, Any]]) -> None:
    with_tops, without_tops = scores["with_tops"], scores["without_tops"]
    rows: list[tuple[str, ...]] = []
    for name, keys in ROWS:
        for sides, suffix in ((with_tops, "with tops"), (without_tops, "without")):
            if keys[0][0] in "PF" and suffix == "without":
                continue  # tops have no part in these
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
