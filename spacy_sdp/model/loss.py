"""The loss of the parser, with explicit gradients."""

from __future__ import annotations

from typing import Any

from thinc.api import Ops
from thinc.types import Floats2d, Floats3d

from .batch import ArcScores, GoldArcs, GoldFrames
from .labels import NULL

# Minimum probability in the loss, to keep it finite.
TINY = 1e-30
# The weight of the label loss if arcs are predicted before labels. The arc loss has the
# weight 1 - LABEL_WEIGHT.
LABEL_WEIGHT = 0.5


def arc_loss(
    ops: Ops, scores: ArcScores, gold: GoldArcs
) -> tuple[float, tuple[Floats2d, Floats3d, Floats2d]]:
    """Compute the cross-entropy per word of all arcs with a known gold label.

    The loss of a candidate is the mean over its scores before and after each iteration
    of inference, or over the last one, depending on `supervise`. The loss of other arcs
    is that of their first-order scores. If inference is unlabelled, the label loss of
    gold arcs is interpolated with the arc loss.

    ops (Ops): The array operations.
    scores (ArcScores): The output of the model.
    gold (GoldArcs): The gold labels.
    RETURNS (Tuple[float, Tuple[Floats2d, Floats3d, Floats2d]]): The loss, and its
        gradient with respect to `first_order`, `refined` and `labels`.
    """
    xp, settings = ops.xp, scores.settings
    words = max(sum(scores.batch.lengths), 1)
    labels, weights = xp.asarray(gold.labels), xp.asarray(gold.known) / words
    arcs = (labels != NULL).astype(labels.dtype)
    arc_weight = 1.0 if settings.labelled else 1 - LABEL_WEIGHT
    rows = scores.candidates
    others = weights.copy()
    others[rows] = 0
    loss, d_first_order = cross_entropy(
        ops,
        scores.first_order,
        arcs if settings.arcs_apart else labels,
        arc_weight * others,
    )
    labels, arcs, weights = labels[rows], arcs[rows], weights[rows]
    refined_loss, d_refined = cross_entropy(
        ops,
        scores.refined,
        labels if settings.labelled else arcs,
        arc_weight * weights / len(scores.refined),
    )
    d_labels = xp.zeros_like(scores.labels)
    label_loss = 0.0
    if not settings.labelled:
        known = xp.flatnonzero(arcs * weights)
        label_loss, d_labels[known] = cross_entropy(
            ops,
            scores.labels[known],
            labels[known],
            LABEL_WEIGHT * weights[known],
        )
    gradient = (d_first_order, d_refined, d_labels)
    return loss + refined_loss + label_loss, gradient


def frame_loss(ops: Ops, scores: ArcScores, gold: GoldFrames) -> tuple[float, Floats2d]:
    """Compute the weighted cross-entropy of all known frames, per word of the batch.

    ops (Ops): The array operations.
    scores (ArcScores): The output of the model.
    gold (GoldFrames): The gold frames.
    RETURNS (Tuple[float, Floats2d]): The loss, and its gradient with respect to
        `frames`.
    """
    words = max(sum(scores.batch.lengths), 1)
    weights = ops.xp.asarray(gold.known) * (scores.settings.frame_weight / words)
    return cross_entropy(ops, scores.frames, ops.xp.asarray(gold.frames), weights)


def cross_entropy(ops: Ops, scores: Any, gold: Any, weights: Any) -> tuple[float, Any]:
    """Compute the weighted sum of the cross-entropies of rows, and its gradient.

    ops (Ops): The array operations.
    scores (FloatsXd): The scores, (..., rows, labels).
    gold (Ints1d): The gold label of each row.
    weights (Floats1d): The weight of each row.
    RETURNS (Tuple[float, FloatsXd]): The loss, and its gradient.
    """
    xp = ops.xp
    probabilities = ops.softmax(scores)
    at_gold = (..., xp.arange(len(gold)), gold)
    # If the gold label is impossible, the weight is 0.
    surprise = -xp.log(xp.maximum(probabilities[at_gold], TINY))
    loss = float((surprise * weights).sum())
    gradient = probabilities
    gradient[at_gold] -= 1
    gradient *= weights[:, None]
    return loss, gradient
