"""`python -m spacy sdp inspect`"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from tqdm import tqdm

from .. import formats
from ..evaluation.problems import find_problems
from ..evaluation.statistics import Comparison, Statistics, TokenizerFit
from ..graph.extensions import DEFAULT_ATTR
from ._app import sdp
from ._messages import good, warn
from ._util import (
    PROGRESS,
    AttrOption,
    FromOption,
    read_all,
    show_left_out,
    user_errors,
)
from .plotting import check_plot, save_plot
from .report import print_report


@sdp.command("inspect")
def inspect_cli(
    train_paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            help="Training data: files or folders; - for standard input.",
        ),
    ],
    dev_paths: Annotated[
        list[Path] | None,
        typer.Option(
            "--dev", metavar="DATA", help="Development data. Can be repeated."
        ),
    ] = None,
    from_format: FromOption = None,
    attr: AttrOption = DEFAULT_ATTR,
    lang: Annotated[
        str, typer.Option(help="Language of the tokenizer to compare tokens with.")
    ] = "en",
    most_labels: Annotated[
        int, typer.Option("--labels", min=0, help="Maximum number of labels to list.")
    ] = 25,
    plot_path: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw a figure: .png, .svg or .pdf."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with complete histograms.")
    ] = False,
) -> None:
    """Print statistics of training data, and warn about problems.

    Re-entrant tokens are tokens with more than one head. Crossing arcs cross at least
    one other arc if all arcs are drawn above the words. Arcs from the virtual root to
    the tops are not counted. If the data include the text of the sentences, the tokens
    are compared with those of spaCy's tokenizer: training leaves out tokens that are
    not aligned one-to-one, and their arcs.
    """
    with user_errors():
        if plot_path is not None:
            check_plot(plot_path)
        nlp = _blank(lang)
        corpora = {"Train": _collect(train_paths, from_format, attr, nlp)}
        if dev_paths:
            corpora["Dev"] = _collect(dev_paths, from_format, attr, nlp)
        if plot_path is not None:
            save_plot(corpora, plot_path)
    if as_json:
        typer.echo(json.dumps(_to_dict(corpora), indent=2, ensure_ascii=False))
        return
    print_report(corpora, most_labels)
    if plot_path is not None:
        good(str(plot_path))
    problems = find_problems(*corpora.values())
    for problem in problems:
        warn(problem)
    if not problems:
        good("No problems found")


def _to_dict(corpora: Mapping[str, Statistics]) -> dict[str, Any]:
    data: dict[str, Any] = {
        name.lower(): each.to_dict() for name, each in corpora.items()
    }
    if len(corpora) > 1:
        data["comparison"] = Comparison.of(*corpora.values()).to_dict()
    data["warnings"] = find_problems(*corpora.values())
    return data


def _blank(lang: str) -> Language:
    try:
        return spacy.blank(lang)
    except ImportError as error:
        raise ValueError(f"--lang {lang}: {error}") from None


def _collect(
    paths: Sequence[Path], from_format: str | None, attr: str, nlp: Language
) -> Statistics:
    statistics = Statistics(TokenizerFit(nlp))
    left_out: Counter[str] = Counter()
    sentences = read_all(paths, from_format, attr, left_out)
    for path, sentence in tqdm(sentences, unit=" sentences", **PROGRESS):
        try:
            statistics.add(sentence, source=str(path))
        except formats.FormatError as error:
            raise formats.FormatError(error.reason, path) from None
    show_left_out(left_out, err=True)
    return statistics
