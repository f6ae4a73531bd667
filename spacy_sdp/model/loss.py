"""The loss of the parser and its gradient, written out."""

from __future__ import annotations

from typing import Any

from thinc.api import Ops
from thinc.types import Floats2d, Floats3d

from .arcs import NULL
from .batch import ArcScores, GoldArcs

# Probabilities below this have the same loss, which keeps it finite.
TINY = 1e-30


def arc_loss(
    ops: Ops, scores: ArcScores, gold: GoldArcs
) -> tuple[float, tuple[Floats2d, Floats3d, Floats2d]]:
    """Give the cross-entropy per word of all arcs whose gold label is known.

    The loss of an arc that takes part in inference is the mean over the iterations that
    are trained; that of other arcs is the loss of their first-order scores. If arcs and
    labels are scored apart, the loss of the labels of gold arcs is interpolated with
    that of the arcs.

    ops (Ops): The array operations.
    scores (ArcScores): What the model gave.
    gold (GoldArcs): The gold standard.
    RETURNS (Tuple[float, Tuple[Floats2d, Floats3d, Floats2d]]): The loss, and its
        gradient with respect to `first_order`, `refined` and `labels`.
    """
    xp, settings = ops.xp, scores.settings
    words = max(sum(scores.batch.lengths), 1)
    labels, weights = xp.asarray(gold.labels), xp.asarray(gold.known) / words
    arcs, arc_weight = labels, 1.0
    if not settings.labelled:
        arcs, arc_weight = (
            (labels != NULL).astype(labels.dtype),
            1 - settings.label_weight,
        )
    candidates, iterations = scores.candidates, len(scores.refined)
    share = xp.ones_like(weights)
    if iterations and settings.supervise == "all":
        share[candidates] = 1 / (iterations + 1)
    elif iterations:
        share[candidates] = 0
    loss, d_first_order = cross_entropy(
        ops, scores.first_order, arcs, arc_weight * weights * share
    )
    share[candidates] = (1 - share[candidates]) / max(iterations, 1)
    refined_loss, d_refined = cross_entropy(
        ops,
        scores.refined,
        arcs[candidates],
        arc_weight * (weights * share)[candidates],
    )
    d_labels = xp.zeros_like(scores.labels)
    label_loss = 0.0
    if not settings.labelled:
        rows = xp.flatnonzero((labels != NULL) * weights)
        label_loss, d_labels[rows] = cross_entropy(
            ops,
            scores.labels[rows],
            labels[rows],
            settings.label_weight * weights[rows],
        )
    gradient = (d_first_order, d_refined, d_labels)
    return loss + refined_loss + label_loss, gradient


def cross_entropy(ops: Ops, scores: Any, gold: Any, weights: Any) -> tuple[float, Any]:
    """Give the weighted sum of the cross-entropies of rows, and its gradient.

    ops (Ops): The array operations.
    scores (FloatsXd): The scores, (..., rows, labels).
    gold (Ints1d): The gold label of each row.
    weights (Floats1d): The weight of each row.
    RETURNS (Tuple[float, FloatsXd]): The loss, and its gradient.
    """
    xp = ops.xp
    probabilities = ops.softmax(scores)
    at_gold = (..., xp.arange(len(gold)), gold)
    # Where the gold label is impossible, the weight is 0.
    surprise = -xp.log(xp.maximum(probabilities[at_gold], TINY))
    loss = float((surprise * weights).sum())
    gradient = probabilities
    gradient[at_gold] -= 1
    gradient *= weights[:, None]
    return loss, gradient
