"""What the benchmarks share: the parser, and where and how results are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spacy.language import Language

from spacy_sdp.formats.files import atomic_write
from spacy_sdp.parser import SemanticParser

RESULTS = Path(__file__).parent / "results"


def find_parser(nlp: Language) -> SemanticParser:
    """RETURNS (SemanticParser): The first semantic parser of a pipeline."""
    return next(pipe for _, pipe in nlp.pipeline if isinstance(pipe, SemanticParser))


def write_json(path: Path, data: Any) -> None:
    with atomic_write(path) as file:
        file.write((json.dumps(data, indent=1) + "\n").encode())


def write_markdown(path: Path, lines: list[str]) -> None:
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
