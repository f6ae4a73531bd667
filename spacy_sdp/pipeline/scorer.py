"""The scores that spaCy reports for a parser."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from spacy.training import Example
from spacy.util import registry

from ..evaluation.metrics import ArcOverlap
from ..graph.alignment import align_one_to_one
from ..graph.arc import ROOT_INDEX, ROOT_LABEL
from ..graph.extensions import DEFAULT_ATTR, get_graph
from ..graph.spans import sentence_numbers


@registry.scorers("spacy_sdp.sdp_scorer.v1")
def make_sdp_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer of the `sdp_meanfield` component."""
    return score_examples


def score_examples(
    examples: Iterable[Example], *, attr: str = DEFAULT_ATTR, **kwargs: Any
) -> dict[str, Any]:
    """Score predicted graphs, the arcs from the root to the tops included.

    Tokens are compared by alignment. A gold arc whose tokens have no counterpart among
    the predicted ones is a miss, and a predicted arc without counterpart is an error.
    Docs without gold graph are skipped.

    examples (Iterable[Example]): The examples.
    attr (str): The attribute with the graphs, and the prefix of the scores.
    RETURNS (Dict[str, Any]): `<attr>_lp`, `_lr`, `_lf`, `_lm`, `_up`, `_ur`, `_uf`,
        `_um` and `_lf_per_type`; all None if there is no gold graph at all.
    """
    overlap = ArcOverlap()
    for example in examples:
        for gold, system in _example_graphs(example, attr):
            overlap.add(gold, system)
    scores: dict[str, Any] = {
        "lp": overlap.labelled.precision,
        "lr": overlap.labelled.recall,
        "lf": overlap.labelled.f_score,
        "lm": overlap.labelled_match,
        "up": overlap.unlabelled.precision,
        "ur": overlap.unlabelled.recall,
        "uf": overlap.unlabelled.f_score,
        "um": overlap.unlabelled_match,
        "lf_per_type": {
            label: {"p": each.precision, "r": each.recall, "f": each.f_score}
            for label, each in sorted(overlap.by_label.items())
        },
    }
    return {
        f"{attr}_{name}": value if overlap.graphs else None
        for name, value in scores.items()
    }


def _example_graphs(example: Example, attr: str) -> Iterator[tuple[set, set]]:
    """Yield the arcs of each gold sentence, in gold indices, gold and predicted."""
    gold_graph = get_graph(example.reference, attr)
    if gold_graph is None:
        return
    system_graph = get_graph(example.predicted, attr)
    sentence_of = sentence_numbers(example.reference)
    sentences: list[tuple[set, set]] = [
        (set(), set()) for _ in range(max(sentence_of, default=0) + 1)
    ]
    for arc in gold_graph.indexed_arcs:
        sentences[sentence_of[arc.dep]][0].add((arc.head, arc.dep, arc.label))
    for top in gold_graph.tops:
        sentences[sentence_of[top.i]][0].add((ROOT_INDEX, top.i, ROOT_LABEL))
    if system_graph is not None:
        gold_token, nearest_gold = _to_gold(example)
        for arc in system_graph.indexed_arcs:
            sentences[sentence_of[nearest_gold[arc.dep]]][1].add(
                (gold_token[arc.head], gold_token[arc.dep], arc.label)
            )
        for top in system_graph.tops:
            sentences[sentence_of[nearest_gold[top.i]]][1].add(
                (ROOT_INDEX, gold_token[top.i], ROOT_LABEL)
            )
    yield from sentences


def _to_gold(example: Example) -> tuple[list[Hashable], list[int]]:
    """For each predicted token its gold counterpart, and a gold token near it.

    A token without counterpart gets a name that no gold token has.
    """
    one_to_one = align_one_to_one(example)
    counterparts: list[Hashable] = []
    nearest: list[int] = []
    x2y = example.alignment.x2y
    for i in range(len(example.predicted)):
        aligned = x2y[i]
        counterparts.append(one_to_one.get(i, ("predicted", i)))
        near = int(aligned[0]) if len(aligned) else (nearest[-1] if nearest else 0)
        nearest.append(near)
    return counterparts, nearest
