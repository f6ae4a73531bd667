"""Inference algorithms, for the block `[components.sdp_meanfield.model.inference]`.

To add an algorithm, derive a dataclass of its settings from `Inference` and register it
in `@misc`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from spacy.util import registry
from torch import Tensor

from .arcs import Arcs, node_sentences, split_arcs, split_nodes
from .belief_propagation import propagate_beliefs
from .factors import RELATIONS, Part, SecondOrder
from .mean_field import ExactMeanField, PrunedMeanField, iterate
from .settings import Settings, check_settings, setting


@dataclass
class Factors:
    """The factors of second-order scores."""

    second_order: SecondOrder
    nodes: Tensor  # (nodes, node factors, rank)
    labels: Tensor  # (labels, label factors, rank)

    def parts(self) -> list[Part]:
        """RETURNS (List[Part]): The parts, with tables of all nodes."""
        return self.second_order.parts(self.nodes, self.labels)

    def parts_by_length(self, lengths: list[int]) -> Iterator[list[Part]]:
        """YIELDS (List[Part]): The parts for all sentences of the same length."""
        for (nodes,) in split_nodes(lengths, self.nodes):
            yield self.second_order.parts(nodes, self.labels)


@dataclass
class Problem:
    """The candidate arcs of some sentences, with all of their scores."""

    lengths: list[int]  # the words in each sentence
    arcs: Arcs
    scores: Tensor  # first-order scores of the arcs, (arcs, labels)
    is_complete: bool  # whether these are all arcs in row order, with self-loops
    factors: Factors | None  # None if `Inference.build` returns None


class Inference(ABC):
    """An inference algorithm, which turns scores into posteriors."""

    # "all" trains the scores before and after each iteration, "last" only the last.
    supervise: str = "all"
    # Whether `refine` expects complete problems if nothing is pruned.
    wants_all_arcs: bool = False
    # Maximum number of words in a sentence if nothing is pruned.
    longest_unpruned: int = 1000

    def __post_init__(self) -> None:
        check_settings(self)

    def check(self, settings: Settings) -> None:  # noqa: B027
        """Raise an error if the settings of the model are not supported.

        settings (Settings): The settings of the model.
        """

    def build(
        self, width: int, n_labels: int, settings: Settings
    ) -> SecondOrder | None:
        """Build the module that computes second-order scores, or return None.

        width (int): Width of the node states.
        n_labels (int): Number of labels, including NULL and root.
        settings (Settings): The settings of the model.
        """
        return None

    @abstractmethod
    def refine(self, problem: Problem, is_train: bool) -> Iterator[Tensor]:
        """Improve the scores of arcs.

        problem (Problem): The arcs and their scores.
        is_train (bool): Whether this is training or prediction.
        YIELDS (Tensor): The scores after each iteration, (arcs, labels).
        """


@registry.misc("spacy_sdp.first_order.v1")
@dataclass(frozen=True)
class FirstOrder(Inference):
    """No inference: arcs do not exchange messages."""

    def refine(self, problem: Problem, is_train: bool) -> Iterator[Tensor]:
        return iter(())


@dataclass(frozen=True)
class SecondOrderInference(Inference):
    """The common settings of mean field and belief propagation."""

    parts: Sequence[str] = setting(
        RELATIONS,
        "Which neighbours exchange messages: 'sibling' (another argument of the same "
        "head), 'co-parent' (another head of the same argument), 'grandparent' (the "
        "head's own head, and vice versa).",
        choices=RELATIONS,
    )
    factor_width: int = setting(
        50, "Width of the layers before the second-order factors.", least=1
    )
    rank: int = setting(64, "Rank of the second-order scores.", least=1)
    train_iterations: int = setting(2, "Number of iterations in training.", least=0)
    predict_iterations: int = setting(3, "Number of iterations in prediction.", least=0)
    supervise: str = setting(
        "all",
        "'all' trains the scores before and after each iteration, so that each "
        "improves on the last and their number hardly matters in prediction; 'last' "
        "trains only the final scores, as in the paper.",
        choices=("all", "last"),
    )

    def iterations(self, is_train: bool) -> int:
        return self.train_iterations if is_train else self.predict_iterations


@registry.misc("spacy_sdp.mean_field.v1")
@dataclass(frozen=True)
class MeanField(SecondOrderInference):
    """Mean-field inference, the method of Yang and Tu (2022)."""

    tied: bool = setting(
        False,
        "Use the scores of a single energy function: symmetric for siblings and "
        "co-parents, and the same for a grandparent and its grandchild. Otherwise each "
        "direction has separate factors.",
    )
    exclude_self: bool = setting(
        True,
        "Exclude an arc from its own messages. In the published formulas, an arc is "
        "its own sibling and co-parent.",
    )
    null_factors: bool = setting(
        False, "Let absent arcs (the label NULL) send and receive messages, too."
    )

    wants_all_arcs = True

    def check(self, settings: Settings) -> None:
        if self.null_factors and not settings.labelled:
            raise ValueError(
                "The setting 'null_factors' has no effect with scores = 'unlabelled', "
                "where all messages are about arcs that exist. Set it to false."
            )

    def build(
        self, width: int, n_labels: int, settings: Settings
    ) -> SecondOrder | None:
        return SecondOrder(
            width,
            n_labels if settings.labelled else None,
            self.parts,
            tied=self.tied,
            null_factors=self.null_factors,
            hidden=self.factor_width,
            rank=self.rank,
            dropout=settings.mlp_dropout,
        )

    def refine(self, problem: Problem, is_train: bool) -> Iterator[Tensor]:
        assert problem.factors is not None
        iterations = self.iterations(is_train)
        if not problem.is_complete:
            step = PrunedMeanField(
                problem.scores,
                problem.arcs,
                problem.factors.parts(),
                node_sentences(problem.lengths, problem.scores.device),
                exclude_self=self.exclude_self,
                null_sends=self.null_factors,
            )
            return iterate(step, problem.scores, iterations)
        # One generator for each sentence length, which are joined by iteration.
        blocks = [
            iterate(
                ExactMeanField(scores, parts, exclude_self=self.exclude_self),
                scores.flatten(0, 2),
                iterations,
            )
            for scores, parts in zip(
                split_arcs(problem.lengths, problem.scores),
                problem.factors.parts_by_length(problem.lengths),
                strict=True,
            )
        ]
        return map(torch.cat, zip(*blocks, strict=True))


@registry.misc("spacy_sdp.belief_propagation.v1")
@dataclass(frozen=True)
class BeliefPropagation(SecondOrderInference):
    """Loopy belief propagation between unlabelled arcs (Wang et al., 2019)."""

    # Memory grows with the cube of the sentence length.
    longest_unpruned = 150

    def check(self, settings: Settings) -> None:
        if settings.labelled:
            raise ValueError(
                "Belief propagation works on arcs without labels: set the model's "
                f"scores = 'unlabelled', not '{settings.scores}'."
            )

    def build(
        self, width: int, n_labels: int, settings: Settings
    ) -> SecondOrder | None:
        return SecondOrder(
            width,
            None,
            self.parts,
            tied=True,  # the factors of a graphical model have one score each
            null_factors=False,
            hidden=self.factor_width,
            rank=self.rank,
            dropout=settings.mlp_dropout,
        )

    def refine(self, problem: Problem, is_train: bool) -> Iterator[Tensor]:
        assert problem.factors is not None
        parts, iterations = problem.factors.parts(), self.iterations(is_train)
        return propagate_beliefs(problem.scores, problem.arcs, parts, iterations)
