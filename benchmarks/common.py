"""What the benchmarks share: where results go, and writing them, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spacy_sdp.formats.files import atomic_write

RESULTS = Path(__file__).parent / "results"


def write_json(path: Path, data: Any) -> None:
    with atomic_write(path) as file:
        file.write((json.dumps(data, indent=1) + "\n").encode())


def write_markdown(path: Path, lines: list[str]) -> None:
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
