"""Finding and loading of trained pipelines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import spacy
from spacy.language import Language
from spacy.util import is_package

from .parser import SemanticParser

# The pipelines that we distribute, the best one first.
PIPELINES = ("en_sdp_dm_md", "en_sdp_dm_sm")
# Our thread-safe architectures, by those of spacy-transformers with the same layers.
SAFE_ARCHITECTURES = {
    "spacy-transformers.TransformerModel.v1": "spacy_sdp.TransformerModel.v1",
    "spacy-transformers.TransformerModel.v2": "spacy_sdp.TransformerModel.v1",
    "spacy-transformers.TransformerModel.v3": "spacy_sdp.TransformerModel.v1",
    "spacy-transformers.Tok2VecTransformer.v3": "spacy_sdp.Tok2VecTransformer.v1",
}
MODEL_HELP = (
    "Trained pipeline with a semantic parser: a package, a folder or a wheel. "
    f"[default: the first installed one of {', '.join(PIPELINES)}]"
)


def installed_pipelines() -> list[str]:
    """Get the names of our installed pipelines, the best one first."""
    found = [name for name in PIPELINES if is_package(name)]
    if not found:
        raise ValueError(
            "No pipeline is installed. In a checkout of spacy-sdp, install one with "
            f"pip install pipelines/{PIPELINES[-1]}-*.whl (or {PIPELINES[0]}, which is "
            "slower but more accurate), or specify another one with --model."
        )
    return found


def load_pipeline(
    name: str | None, threshold: float | None = None, *, threads: bool = False
) -> Language:
    """Load a pipeline.

    name (Optional[str]): A package, a folder or a wheel. Defaults to the best installed
        one.
    threshold (Optional[float]): The threshold to set for its semantic parsers.
    threads (bool): Whether several threads will use the pipeline. This replaces the
        models of spacy-transformers with ours, which are thread-safe.
    RETURNS (Language): The pipeline.
    """
    name = name or installed_pipelines()[0]
    nlp = _load(name)
    if threads:
        changes = dict(_find_unsafe(nlp.config["components"], "components"))
        if changes:
            nlp = _load(name, config=changes)
    if threshold is not None:
        parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SemanticParser)]
        if not parsers:
            raise ValueError(
                "The pipeline has no sdp_meanfield, so it has no threshold."
            )
        for parser in parsers:
            parser.threshold = threshold
    return nlp


def _find_unsafe(config: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield the settings of unsafe architectures, with those to replace them."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _find_unsafe(value, f"{path}.{key}")
        elif key == "@architectures" and value in SAFE_ARCHITECTURES:
            yield f"{path}.{key}", SAFE_ARCHITECTURES[value]


def _load(name: str, **options: Any) -> Language:
    if not name.endswith(".whl"):
        return spacy.load(name, **options)
    with unpacked(name) as folder:
        return spacy.load(folder, **options)


@contextmanager
def unpacked(name: str) -> Iterator[Path]:
    """Unpack the wheel of a pipeline, and yield the folder with its data."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            ZipFile(name).extractall(folder)
        except BadZipFile as error:
            raise ValueError(f"{name}: {error}.") from None
        configs = list(Path(folder).glob("*/*/config.cfg"))
        if len(configs) != 1:
            raise ValueError(f"{name}: the wheel does not contain a spaCy pipeline.")
        yield configs[0].parent
