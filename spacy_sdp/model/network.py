"""The network behind the parser, free of spaCy.

All nodes of all sentences stand in one table without padding: for each sentence the
root and then its words, the longest sentence first. What belongs to pairs of nodes is
computed in blocks of sentences of the same length.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, pad, softplus
from torch.utils.checkpoint import checkpoint

from .arcs import (
    FIRST_LABEL,
    NULL,
    all_arcs,
    candidates,
    mask_labels_,
    node_sentences,
    split_arcs,
    split_by_pairs,
    split_nodes,
)
from .belief_propagation import BeliefPropagation
from .inference import ExactMeanField, PrunedMeanField, Step, infer, valid_arcs
from .layers import NEGATIVE_SLOPE, Biaffine, BiLSTM, Embedding, SharedDropout
from .second_order import SecondOrderFactors, to_parts
from .settings import Settings

# Share of the pairs of nodes that are arcs, roughly. Without such a prior the scores of
# NULL and of dozens of labels start alike, and training begins by unlearning arcs.
ARC_PRIOR = 0.05


class Scores(NamedTuple):
    """What is to be right in training.

    C of all E arcs are candidates, the probable ones. Only they have labels, and only
    they are refined by inference. If arcs and labels are scored apart, the first-order
    scores of an arc are two, NULL and not NULL, instead of one for each of L labels.
    """

    first_order: Tensor  # (E, L or 2)
    candidates: Tensor  # rows of E, (C,)
    refined: Tensor  # before and after each iteration, (1 + iterations, C, L or 2)
    labels: Tensor  # if they are not refined, the scores of labels, (C, L), else (C, 0)


class Posteriors(NamedTuple):
    """What decoding needs to know of each arc: vectors of length E."""

    exists: Tensor  # whether there is an arc, by arg max
    null: Tensor  # the probability that there is none
    label: Tensor  # the best label, but NULL only if the arc is not a candidate
    probability: Tensor  # of an arc with that label, and 0 if it is not a candidate


class Network(nn.Module):
    """Scores every pair of nodes of every sentence for every label."""

    def __init__(self, input_width: int, n_labels: int, settings: Settings) -> None:
        """Build the network with fresh weights.

        input_width (int): Width of the word vectors.
        n_labels (int): Number of labels of the corpus, without NULL and root.
        settings (Settings): The settings.
        """
        super().__init__()
        self.settings = settings
        self.n_labels = n_labels + FIRST_LABEL
        width = settings.hidden_width or input_width
        self.root = Embedding(1, input_width)
        self.project = nn.Linear(input_width, width) if settings.hidden_width else None
        self.embed_dropout = SharedDropout(settings.embed_dropout)
        self.lstm = BiLSTM(
            width, settings.lstm_width, settings.lstm_depth, settings.lstm_dropout
        )
        width = self.lstm.output_width + (width if settings.bypass_lstm else 0)
        label_width = settings.mlp_width
        if settings.arcs_apart and settings.label_width is not None:
            label_width = settings.label_width
        dropout = settings.mlp_dropout
        self.labels = Biaffine(width, self.n_labels - 1, label_width, dropout)
        self.arcs = None
        if settings.arcs_apart:
            self.arcs = Biaffine(width, 1, settings.mlp_width, dropout)
            self.arcs.set_bias(math.log(ARC_PRIOR))
        else:
            self.labels.set_bias(math.log(ARC_PRIOR / (self.n_labels - 1)))
        self.second_order = (
            SecondOrderFactors(width, self.n_labels, settings)
            if settings.inference != "none"
            else None
        )

    def forward(
        self, vectors: Tensor, lengths: list[int], gold: Tensor | None = None
    ) -> Scores | Posteriors:
        """Score all arcs.

        vectors (Tensor): Vectors of all words of all sentences, (words, input width).
        lengths (List[int]): Words in each sentence, the largest number first.
        gold (Optional[Tensor]): Arcs that must not be pruned, booleans, (E,).
        RETURNS (Scores | Posteriors): In training the scores that are to be right; else
            what decoding needs of the posteriors.
        """
        tables = self._tables(vectors, lengths)
        label_factors = None
        if self.second_order is not None:
            label_factors = self.second_order.of_labels()
        pieces = list(split_by_pairs(lengths, self.settings.max_pairs))
        node_counts = [sum(n + 1 for n in piece) for piece in pieces]
        arc_counts = [sum((n + 1) * n for n in piece) for piece in pieces]
        if gold is None:
            gold = torch.zeros(sum(arc_counts), dtype=torch.bool, device=vectors.device)
        arguments = [
            (piece, label_factors, *tensors)
            for piece, *tensors in zip(
                pieces,
                gold.split(arc_counts),
                *(table.split(node_counts) for table in tables),
                strict=True,
            )
        ]
        if not self.training:
            posteriors = [
                to_posteriors(*self._score(*each), each[0]) for each in arguments
            ]
            return Posteriors(*map(torch.cat, zip(*posteriors, strict=True)))
        if len(pieces) == 1:
            return self._score(*arguments[0])[0]
        # Too much for one piece: compute twice what would not fit into memory.
        return join_scores(
            [
                checkpoint(self._score, *each, use_reentrant=False)[0]
                for each in arguments
            ]
        )

    def _tables(self, vectors: Tensor, lengths: list[int]) -> list[Tensor]:
        """Give what is known of each node: as a head and as a dependent for the scores
        of labels and then for those of arcs, if they are apart, and its factors."""
        nodes, sentence_of = self._nodes(vectors, lengths)
        tables = [*self.labels.tables(nodes, sentence_of)]
        if self.arcs is not None:
            tables += self.arcs.tables(nodes, sentence_of)
        if self.second_order is not None:
            tables.append(self.second_order.of_nodes(nodes, sentence_of))
        return tables

    def _nodes(self, vectors: Tensor, lengths: list[int]) -> tuple[Tensor, Tensor]:
        """Give the states of all nodes, and the number of the sentence of each."""
        rows, first_word = [], 1
        for n in lengths:
            rows += [0, *range(first_word, first_word + n)]
            first_word += n
        device = vectors.device
        table = torch.cat([self.root.weight, vectors])
        nodes = table.index_select(0, torch.tensor(rows, device=device))
        sentence_of = node_sentences(lengths, device)
        if self.project is not None:
            nodes = leaky_relu(self.project(nodes), NEGATIVE_SLOPE)
        nodes = self.embed_dropout(nodes, sentence_of)
        states = self.lstm(nodes, sentence_of, [n + 1 for n in lengths])
        if self.settings.bypass_lstm:
            states = torch.cat([states, nodes], dim=1)
        return states, sentence_of

    def _score(
        self,
        lengths: list[int],
        label_factors: Tensor | None,
        gold: Tensor,
        *tables: Tensor,
    ) -> tuple[Scores, Tensor]:
        """Score the arcs of some sentences, given the rows of their nodes.

        The second result are the log-odds of all arcs by their first-order scores.
        """
        settings = self.settings
        first_order = self._score_arcs(lengths, *tables)
        odds = log_odds(first_order.detach())
        if settings.exact:
            kept = torch.ones_like(gold)
        else:
            kept = candidates(odds, lengths, settings) | gold
        rows = kept.nonzero().flatten()
        refined = first_order.index_select(0, rows)
        labels = refined.new_empty(len(rows), 0)
        if settings.arcs_apart:
            labels = self._score_labels(lengths, kept, *tables[:2])
        if settings.labelled and settings.factored:
            probabilities = labels[:, NULL + 1 :].log_softmax(-1)
            refined = pad(refined[:, NULL + 1 :] + probabilities, (1, 0))
            labels = labels[:, :0]
        history = [refined]
        if label_factors is not None:
            history += self._refine(lengths, rows, refined, tables[-1], label_factors)
        if not self.training or settings.supervise == "last":
            history = history[-1:]
        return Scores(first_order, rows, torch.stack(history), labels), odds

    def _score_arcs(self, lengths: list[int], *tables: Tensor) -> Tensor:
        """Give the first-order scores of all arcs, (E, L or 2)."""
        if self.arcs is not None:
            blocks = [
                pad(self.arcs(heads, deps), (1, 0))
                for heads, deps in split_nodes(lengths, *tables[2:4])
            ]
        else:
            blocks = [
                mask_labels_(
                    pad(self.labels(heads, deps), (1, 0)),
                    (torch.arange(heads.shape[1], device=heads.device) == 0)[:, None],
                )
                for heads, deps in split_nodes(lengths, *tables[:2])
            ]
        return torch.cat([block.flatten(0, 2) for block in blocks])

    def _score_labels(
        self, lengths: list[int], kept: Tensor, heads: Tensor, deps: Tensor
    ) -> Tensor:
        """Give the scores of the labels of some arcs, (C, L); NULL is none of them."""
        scores, from_root = [], []
        for nodes, keep in zip(
            split_nodes(lengths, heads, deps), split_arcs(lengths, kept), strict=True
        ):
            where = keep.nonzero(as_tuple=True)  # of sentence, head and dependent
            scores.append(self.labels(*nodes)[where])
            from_root.append(where[1] == 0)
        some = pad(torch.cat(scores), (1, 0), value=-math.inf)
        return mask_labels_(some, torch.cat(from_root))

    def _refine(
        self,
        lengths: list[int],
        rows: Tensor,
        first_order: Tensor,
        node_factors: Tensor,
        label_factors: Tensor,
    ) -> list[Tensor]:
        """Give the scores of candidates after each iteration, (C, L or 2)."""
        settings = self.settings
        if settings.exact:
            histories = [
                self._infer(
                    ExactMeanField(
                        block,
                        to_parts(factors, label_factors, settings),
                        exclude_self=settings.exclude_self,
                        damping=settings.damping,
                    )
                )
                for block, (factors,) in zip(
                    split_arcs(lengths, first_order),
                    split_nodes(lengths, node_factors),
                    strict=True,
                )
            ]
            return join_histories(histories)
        arcs = all_arcs(lengths, rows.device).select(rows)
        parts = to_parts(node_factors, label_factors, settings)
        if settings.inference == "lbp":
            return self._infer(
                BeliefPropagation(first_order, arcs, parts, damping=settings.damping)
            )
        return self._infer(
            PrunedMeanField(
                first_order,
                arcs,
                parts,
                node_sentences(lengths, rows.device),
                exclude_self=settings.exclude_self,
                null_sends=settings.null_factors,
                damping=settings.damping,
            )
        )

    def _infer(self, step: Step) -> list[Tensor]:
        settings = self.settings
        if self.training:
            return infer(step, iterations=settings.train_iterations)
        return infer(
            step, iterations=settings.predict_iterations, tolerance=settings.tolerance
        )


def log_odds(scores: Tensor) -> Tensor:
    """Give the log-odds of any label against NULL, (arcs,), of scores, (arcs, L)."""
    return scores[:, NULL + 1 :].logsumexp(-1) - scores[:, NULL]


def join_histories(histories: list[list[Tensor]]) -> list[Tensor]:
    """Join the scores of blocks, some of which may have stopped earlier."""
    steps = max((len(history) for history in histories), default=0)
    return [
        torch.cat([history[min(i, len(history) - 1)] for history in histories])
        for i in range(steps)
    ]


def join_scores(pieces: list[Scores]) -> Scores:
    """Join the scores of pieces."""
    offset, rows = 0, []
    for piece in pieces:
        rows.append(piece.candidates + offset)
        offset += len(piece.first_order)
    return Scores(
        torch.cat([piece.first_order for piece in pieces]),
        torch.cat(rows),
        torch.cat([piece.refined for piece in pieces], 1),
        torch.cat([piece.labels for piece in pieces]),
    )


def to_posteriors(scores: Scores, odds: Tensor, lengths: list[int]) -> Posteriors:
    """Reduce scores to what decoding needs.

    scores (Scores): The scores.
    odds (Tensor): The log-odds of all arcs by their first-order scores.
    lengths (List[int]): Words in each sentence.
    RETURNS (Posteriors): The posteriors.
    """
    rows, refined = scores.candidates, scores.refined[-1]
    odds = odds.index_copy(0, rows, log_odds(refined))
    best, label = refined[:, NULL + 1 :].max(-1)
    best, label = best - refined[:, NULL], label + NULL + 1
    exists = best > 0
    if scores.labels.shape[1]:
        probability, label = torch.softmax(scores.labels, dim=-1).max(-1)
        probability = probability * torch.sigmoid(best)
    else:
        probability = torch.exp(best - softplus(odds.index_select(0, rows)))
    valid = torch.cat([valid_arcs(n, odds).flatten().bool() for n in lengths])
    exists, label, probability = (
        each.new_zeros(len(odds)).index_copy(0, rows, each)
        for each in (exists, label, probability)
    )
    return Posteriors(
        exists & valid,
        torch.where(valid, torch.sigmoid(-odds), 1.0),
        label,
        torch.where(valid, probability, 0.0),
    )
