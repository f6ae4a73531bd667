"""Which pipeline a command uses."""

from __future__ import annotations

import spacy
from spacy.language import Language
from spacy.util import is_package

from ..parser import SemanticParser

# The pipelines that we ship, the best one first.
PIPELINES = ("en_sdp_dm_md", "en_sdp_dm_sm")
MODEL_HELP = (
    "Trained pipeline with a semantic parser: a package or a folder. "
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


def load_pipeline(name: str | None, threshold: float | None = None) -> Language:
    """Load a pipeline.

    name (Optional[str]): A package or a folder; None is the best that is installed.
    threshold (Optional[float]): Another threshold for its semantic parsers.
    RETURNS (Language): The pipeline.
    """
    nlp = spacy.load(name or installed_pipelines()[0])
    if threshold is not None:
        parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SemanticParser)]
        if not parsers:
            raise ValueError("--threshold: the pipeline has no sdp_meanfield.")
        for parser in parsers:
            parser.threshold = threshold
    return nlp
