"""Shared code of the benchmarks: loading of parsers, and writing of results."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import IO, Any

import spacy
import torch
from matplotlib.figure import Figure
from spacy.language import Language
from spacy.tokens import Doc

from spacy_sdp import formats
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.formats.files import atomic_write
from spacy_sdp.pipeline.parser import SemanticParser

RESULTS = Path(__file__).parent / "results"


def prepare(args: argparse.Namespace) -> Language:
    """Set the number of threads and load the pipeline.

    args (argparse.Namespace): The options `threads` and `model`.
    RETURNS (Language): The pipeline.
    """
    torch.set_num_threads(args.threads)
    try:
        return spacy.load(args.model)
    except OSError as error:
        sys.exit(f"{error} To install our pipelines: pip install pipelines/*.whl")


def load_with(nlp: Language, model: str, **settings: Any) -> Language:
    """Load a pipeline again with other settings of its parser's model.

    nlp (Language): The pipeline.
    model (str): Its name or path.
    settings (Any): The settings, including those of the inference block.
    RETURNS (Language): The pipeline with these settings.
    """
    name = find_parser(nlp).name
    block = nlp.config["components"][name]["model"]["inference"]
    overrides = {}
    for key, value in settings.items():
        # Pipelines of version 1 have no inference block.
        in_block = isinstance(block, dict) and key in block
        place = f"components.{name}.model.{'inference.' if in_block else ''}{key}"
        overrides[place] = value
    return spacy.load(model, config=overrides)


def find_parser(nlp: Language) -> SemanticParser:
    """RETURNS (SemanticParser): The first semantic parser of a pipeline."""
    return next(pipe for _, pipe in nlp.pipeline if isinstance(pipe, SemanticParser))


def read_docs(nlp: Language, path: Path) -> list[Doc]:
    """Read sentences, and apply the components before the parser.

    nlp (Language): The pipeline.
    path (Path): The gold standard, in any format.
    RETURNS (List[Doc]): Docs with the tokens and the graphs of the file.
    """
    docs = [to_doc([sentence], nlp.vocab) for sentence in formats.read(path)]
    parser = find_parser(nlp)
    before = list(takewhile(lambda pipe: pipe[1] is not parser, nlp.pipeline))
    with nlp.select_pipes(enable=[name for name, _ in before]):
        return list(nlp.pipe(docs))


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """YIELDS (IO[bytes]): A file that only appears when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        yield file


def write_json(path: Path, data: Any) -> None:
    with new_file(path) as file:
        file.write((json.dumps(data, indent=1) + "\n").encode())


def write_markdown(path: Path, lines: list[str]) -> None:
    with new_file(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def write_plot(
    path: Path, lines: dict[str, list[tuple[float, float]]], **axes: Any
) -> None:
    """Draw lines through points.

    path (Path): The image to write.
    lines (Dict[str, List[Tuple[float, float]]]): The points of each line, by its name.
    axes (Any): Properties of the axes, as in `Axes.set` of matplotlib.
    """
    figure = Figure(figsize=(6, 4))
    panel = figure.subplots()
    for name, points in lines.items():
        panel.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
    panel.set(**axes)
    panel.grid(alpha=0.3)
    panel.legend()
    figure.tight_layout()
    with new_file(path) as file:
        figure.savefig(file, format="png", dpi=150)
