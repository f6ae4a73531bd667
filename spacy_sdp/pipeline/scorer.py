"""The scores that spaCy reports for a parser."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from ..evaluation.metrics import ArcOverlap, Overlap, find_predications, is_verb
from ..graph.alignment import align_one_to_one
from ..graph.arc import ROOT_INDEX, ROOT_LABEL
from ..graph.extensions import DEFAULT_ATTR, get_graph
from ..graph.graph import SemanticGraph
from ..graph.spans import sentence_numbers


@registry.scorers("spacy_sdp.sdp_scorer.v1")
def make_sdp_scorer(representation: str = "dm") -> Callable[..., dict[str, Any]]:
    """Create the scorer of the `sdp_meanfield` component.

    representation (str): "dm", "pas" or "psd": which arguments count in `<attr>_ff`.
    """
    return partial(score_examples, representation=representation)


def score_examples(
    examples: Iterable[Example],
    *,
    attr: str = DEFAULT_ATTR,
    representation: str = "dm",
    **kwargs: Any,
) -> dict[str, Any]:
    """Score predicted graphs, including the arcs from the root to the tops.

    Tokens are compared by alignment. A gold arc between tokens without counterparts is
    a false negative, and a predicted arc between such tokens a false positive. Docs
    without a gold graph are skipped.

    examples (Iterable[Example]): The examples.
    attr (str): The attribute with the graphs, and the prefix of the scores.
    representation (str): "dm", "pas" or "psd": which arguments count in `<attr>_ff`.
    RETURNS (Dict[str, Any]): `<attr>_lp`, `_lr`, `_lf`, `_lm`, `_up`, `_ur`, `_uf`,
        `_um` and `_lf_per_type`, all None without gold graphs; and for frames
        `<attr>_ff`, the F1 of verbs with their frame and all their arguments, and
        `<attr>_frame_acc`, the share of correctly predicted gold frames, both None if
        there is nothing to score.
    """
    overlap = ArcOverlap()
    predications, frames = Overlap(), Overlap()
    for example in examples:
        for gold, system in _example_graphs(example, attr):
            overlap.add(gold, system)
        _add_frames(predications, frames, example, attr, representation)
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
    result = {name: value if overlap.graphs else None for name, value in scores.items()}
    result["ff"] = predications.f_score if predications.gold else None
    result["frame_acc"] = frames.recall if frames.gold else None
    return {f"{attr}_{name}": value for name, value in result.items()}


def _add_frames(
    predications: Overlap,
    frames: Overlap,
    example: Example,
    attr: str,
    representation: str,
) -> None:
    """Count the frames of a Doc, without and with arguments."""
    gold_graph = get_graph(example.reference, attr)
    if gold_graph is None or not gold_graph.has_frames:
        return
    gold_token, _ = _to_gold(example)
    gold_verbs = _verbs(example.reference, range(len(example.reference)))
    system_verbs = _verbs(example.predicted, gold_token)
    # A side without tags uses those of the other side.
    gold_verbs = system_verbs if gold_verbs is None else gold_verbs
    system_verbs = gold_verbs if system_verbs is None else system_verbs
    gold_frames, gold_predications = _frames_of(
        gold_graph, range(len(example.reference)), gold_verbs or set(), representation
    )
    system_frames: dict[Hashable, str] = {}
    system_predications: set[tuple] = set()
    system_graph = get_graph(example.predicted, attr)
    if system_graph is not None:
        system_frames, system_predications = _frames_of(
            system_graph, gold_token, system_verbs or set(), representation
        )
    predications.add(gold_predications, system_predications)
    frames.add(set(gold_frames.items()), set(system_frames.items()))


def _verbs(doc: Doc, names: Sequence[Hashable]) -> set[Hashable] | None:
    """Get the names of the verbs of a Doc, or None if it has no tags."""
    if not doc.has_annotation("TAG"):
        return None
    return {names[token.i] for token in doc if is_verb(token.tag_)}


def _frames_of(
    graph: SemanticGraph,
    names: Sequence[Hashable],
    verbs: set[Hashable],
    representation: str,
) -> tuple[dict[Hashable, str], set[tuple]]:
    """Get the frames of a graph, and the predications of its verbs.

    graph (SemanticGraph): The graph.
    names (Sequence[Hashable]): The names of its tokens.
    verbs (Set[Hashable]): The names of verbs.
    representation (str): Which arguments count.
    RETURNS (Tuple[Dict[Hashable, str], Set[tuple]]): The frames by token name, and the
        predications.
    """
    frames = {
        names[token.i]: frame for token in graph.doc if (frame := graph.frame(token))
    }
    predicates = [
        names[token.i]
        for token in graph.doc
        if names[token.i] in verbs and graph.is_predicate(token)
    ]
    arcs = [(names[arc.head], names[arc.dep], arc.label) for arc in graph.indexed_arcs]
    return frames, find_predications(predicates, arcs, frames, representation)


def _example_graphs(example: Example, attr: str) -> Iterator[tuple[set, set]]:
    """Yield the gold and the predicted arcs of each gold sentence, in gold indices."""
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
    """Find the gold counterpart of each predicted token, and a gold token near it.

    A token without a counterpart gets a name that no gold token has.
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
