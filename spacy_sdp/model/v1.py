"""`spacy_sdp.MeanFieldParser.v1`, for pipelines that were trained with it."""

import warnings
from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model
from thinc.types import Floats2d

from .architecture import build_model
from .batch import ArcPosteriors, ArcScores
from .factors import RELATIONS
from .inference import BeliefPropagation, FirstOrder, Inference, MeanField
from .settings import Settings


@registry.architectures("spacy_sdp.MeanFieldParser.v1")
def MeanFieldParser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    *,
    hidden_width: int = 0,
    factor_width: int = 50,
    rank: int = 64,
    inference: str = "mean_field",
    labelled: bool = True,
    factored: bool = True,
    parts: Sequence[str] = RELATIONS,
    tied: bool = False,
    exclude_self: bool = True,
    null_factors: bool = False,
    train_iterations: int = 2,
    predict_iterations: int = 3,
    damping: float = 0.0,
    tolerance: float = 0.001,
    max_heads: int = 10,
    supervise: str = "all",
    label_weight: float = 0.5,
    label_width: int | None = None,
    lstm_width: int = 200,
    lstm_depth: int = 1,
    bypass_lstm: bool = False,
    mlp_width: int = 150,
    embed_dropout: float = 0.33,
    lstm_dropout: float = 0.33,
    mlp_dropout: float = 0.33,
    prune: float = 0.01,
    max_pairs: int = 50_000,
    grad_clip: float = 5.0,
    nO: int | None = None,
) -> Model[list[Doc], ArcScores | ArcPosteriors]:
    """Build a parser from the settings of version 1.

    Settings that version 2 does not have are accepted at the values that disabled them.
    `tolerance`, which only saved time, is ignored.
    """
    warnings.warn(
        "spacy_sdp.MeanFieldParser.v1 is deprecated and will be removed in the next "
        "minor version: use spacy_sdp.MeanFieldParser.v2, with the settings of "
        "inference in a block [components.sdp_meanfield.model.inference].",
        DeprecationWarning,
        stacklevel=2,
    )
    for name, value, neutral in (
        ("hidden_width", hidden_width, 0),
        ("damping", damping, 0.0),
        ("max_heads", max_heads, 10),
        ("label_weight", label_weight, 0.5),
    ):
        if value != neutral:
            raise ValueError(
                f"The setting '{name}' no longer exists: only {neutral} is accepted, "
                f"not {value}."
            )
    labelled = labelled and inference != "lbp"
    scores = "unlabelled"
    if labelled:
        scores = "factored" if factored else "joint"
    settings = Settings(
        scores=scores,
        lstm_width=lstm_width,
        lstm_depth=lstm_depth,
        bypass_lstm=bypass_lstm,
        mlp_width=mlp_width,
        label_width=None if scores == "joint" else label_width,
        embed_dropout=embed_dropout,
        lstm_dropout=lstm_dropout,
        mlp_dropout=mlp_dropout,
        prune=prune,
        max_pairs=max_pairs,
        grad_clip=grad_clip,
    )
    common: dict[str, Any] = {
        "parts": parts,
        "factor_width": factor_width,
        "rank": rank,
        "train_iterations": train_iterations,
        "predict_iterations": predict_iterations,
        "supervise": supervise,
    }
    block: Inference
    if inference == "mean_field":
        block = MeanField(
            **common,
            tied=tied,
            exclude_self=exclude_self,
            null_factors=null_factors and labelled,
        )
    elif inference == "lbp":
        block = BeliefPropagation(**common)
    elif inference == "none":
        block = FirstOrder()
    else:
        raise ValueError(
            "The setting 'inference' must be one of 'mean_field', 'lbp', 'none', not "
            f"{inference!r}."
        )
    return build_model(tok2vec, block, settings, nO)
