"""Which pipeline a command uses."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import spacy
from spacy.language import Language
from spacy.util import is_package

from ..pipeline.parser import SemanticParser

# The pipelines that we ship, the best one first.
PIPELINES = ("en_sdp_dm_md", "en_sdp_dm_sm")
UNSAFE_TRANSFORMER = "spacy-transformers.TransformerModel.v3"
MODEL_HELP = (
    "Trained pipeline with a semantic parser: a package, a folder or a wheel. "
    f"[default: the first that is installed of {', '.join(PIPELINES)}]"
)


def installed_pipelines() -> list[str]:
    """Give the names of our pipelines that are installed, the best one first."""
    found = [name for name in PIPELINES if is_package(name)]
    if not found:
        raise ValueError(
            "No pipeline is installed. In a checkout of spacy-sdp, install one with "
            f"pip install pipelines/{PIPELINES[-1]}-*.whl (or {PIPELINES[0]}, which is "
            "better and slower), or name a trained one with --model."
        )
    return found


def load_pipeline(
    name: str | None, threshold: float | None = None, *, threads: bool = False
) -> Language:
    """Load a pipeline.

    name (Optional[str]): A package, a folder or a wheel; None is the best that is
        installed.
    threshold (Optional[float]): Another threshold for its semantic parsers.
    threads (bool): Whether several threads will use it, for which spacy-transformers'
        own models are replaced by ours.
    RETURNS (Language): The pipeline.
    """
    name = name or installed_pipelines()[0]
    nlp = _load(name)
    unsafe = {
        f"components.{pipe}.model.@architectures": "spacy_sdp.TransformerModel.v1"
        for pipe, config in nlp.config["components"].items()
        if config.get("model", {}).get("@architectures") == UNSAFE_TRANSFORMER
    }
    if threads and unsafe:
        nlp = _load(name, config=unsafe)
    if threshold is not None:
        parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SemanticParser)]
        if not parsers:
            raise ValueError("--threshold: the pipeline has no sdp_meanfield.")
        for parser in parsers:
            parser.threshold = threshold
    return nlp


def _load(name: str, **options: Any) -> Language:
    if not name.endswith(".whl"):
        return spacy.load(name, **options)
    with tempfile.TemporaryDirectory() as folder:
        try:
            ZipFile(name).extractall(folder)
        except BadZipFile as error:
            raise ValueError(f"{name}: {error}.") from None
        configs = list(Path(folder).glob("*/*/config.cfg"))
        if len(configs) != 1:
            raise ValueError(f"{name}: the wheel has no spaCy pipeline.")
        return spacy.load(configs[0].parent, **options)
