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
from torch.nn.functional import leaky_relu, pad
from torch.utils.checkpoint import checkpoint

from .arcs import (
    FIRST_LABEL,
    NULL,
    all_arcs,
    candidates,
    mask_labels_,
    node_sentences,
    split_by_pairs,
    split_into_blocks,
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

    Of all E arcs, the scores of some, the candidates, are refined by inference. If arcs
    and labels are scored apart, an arc has two scores, NULL and not NULL, instead of
    one for each of the L labels.
    """

    first_order: Tensor  # (E, L or 2)
    candidates: Tensor  # rows of E, (candidates,)
    refined: Tensor  # (iterations, candidates, L or 2)
    labels: Tensor  # if apart, the scores of the labels, (E, L), else (E, 0)


class Posteriors(NamedTuple):
    """What decoding needs to know of each arc: vectors of length E."""

    exists: Tensor  # whether there is an arc, by arg max
    null: Tensor  # the probability that there is none
    label: Tensor  # the best label but NULL
    probability: Tensor  # of an arc with that label


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
        scored_apart = settings.factored or not settings.labelled
        label_width = (scored_apart and settings.label_width) or settings.mlp_width
        dropout = settings.mlp_dropout
        self.labels = Biaffine(width, self.n_labels - 1, label_width, dropout)
        if scored_apart:
            self.arcs = Biaffine(width, 1, settings.mlp_width, dropout)
            self.arcs.set_bias(math.log(ARC_PRIOR))
        else:
            self.labels.set_bias(math.log(ARC_PRIOR / (self.n_labels - 1)))
            self.arcs = None
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
        nodes, sentence_of = self._nodes(vectors, lengths)
        tables = [*self.labels.tables(nodes, sentence_of)]
        if self.arcs is not None:
            tables += self.arcs.tables(nodes, sentence_of)
        label_factors = None
        if self.second_order is not None:
            tables.append(self.second_order.of_nodes(nodes, sentence_of))
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
    ) -> tuple[Scores, Summary]:
        """Score the arcs of some sentences, given the rows of their nodes."""
        blocks, labels = self._first_order(lengths, *tables)
        first_order = torch.cat([block.flatten(0, 2) for block in blocks])
        summary = summarise(first_order.detach())
        rows = torch.empty(0, dtype=torch.long, device=gold.device)
        history: list[Tensor] = []
        if label_factors is not None:
            factors = (tables[-1], label_factors)
            if self.settings.inference == "mean_field" and not self.settings.prune:
                rows = torch.arange(len(gold), device=gold.device)
                history = self._refine_all(lengths, blocks, *factors)
            else:
                kept = candidates(summary.odds, lengths, self.settings)
                rows = (kept | gold).nonzero().flatten()
                history = self._refine_some(lengths, rows, first_order, *factors)
        if not self.training or self.settings.supervise == "last":
            history = history[-1:]
        scores = Scores(
            first_order,
            rows,
            torch.stack(history)
            if history
            else first_order.new_empty(0, len(rows), first_order.shape[1]),
            first_order.new_empty(len(first_order), 0) if labels is None else labels,
        )
        return scores, summary

    def _first_order(
        self, lengths: list[int], *tables: Tensor
    ) -> tuple[list[Tensor], Tensor | None]:
        """Give the scores of each block, (S, n + 1, n, L or 2), and if arcs and labels
        are scored apart, those of the labels, (E, L)."""
        labels = [
            mask_labels_(pad(self.labels(heads, deps), (1, 0)))
            for heads, deps in split_into_blocks(lengths, *tables[:2])
        ]  # (S, n + 1, n, L)
        if self.arcs is None:
            return labels, None
        arcs = [
            self.arcs(heads, deps)
            for heads, deps in split_into_blocks(lengths, *tables[2:4])
        ]  # (S, n + 1, n, 1)
        if self.settings.labelled:
            factored = [
                arc + label[..., NULL + 1 :].log_softmax(-1)
                for arc, label in zip(arcs, labels, strict=True)
            ]
            return [pad(block, (1, 0)) for block in factored], None
        apart = torch.cat([block.flatten(0, 2) for block in labels])
        apart[:, NULL] = -math.inf
        return [pad(block, (1, 0)) for block in arcs], apart

    def _refine_all(
        self,
        lengths: list[int],
        blocks: list[Tensor],
        node_factors: Tensor,
        label_factors: Tensor,
    ) -> list[Tensor]:
        """Give the scores of all arcs after each iteration."""
        settings = self.settings
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
                blocks, split_into_blocks(lengths, node_factors), strict=True
            )
        ]
        return join_histories(histories)

    def _refine_some(
        self,
        lengths: list[int],
        rows: Tensor,
        first_order: Tensor,
        node_factors: Tensor,
        label_factors: Tensor,
    ) -> list[Tensor]:
        """Give the scores of some arcs after each iteration."""
        settings = self.settings
        arcs = all_arcs(lengths, rows.device).select(rows)
        first_order = first_order.index_select(0, rows)
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


class Summary(NamedTuple):
    """What the scores of an arc amount to, as log-odds against NULL."""

    odds: Tensor  # of any label, (arcs,)
    best: Tensor  # of the best label, (arcs,)
    label: Tensor  # which is the best, (arcs,)


def summarise(scores: Tensor) -> Summary:
    """Summarise scores, (arcs, labels)."""
    null, others = scores[:, NULL], scores[:, NULL + 1 :]
    best, label = others.max(-1)
    # Like logsumexp, whose first step is to find the maximum.
    odds = best + (others - best.unsqueeze(-1)).exp_().sum(-1).log_()
    return Summary(odds - null, best - null, label + NULL + 1)


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


def to_posteriors(scores: Scores, summary: Summary, lengths: list[int]) -> Posteriors:
    """Reduce scores to what decoding needs.

    scores (Scores): The scores.
    summary (Summary): What the first-order scores amount to.
    lengths (List[int]): Words in each sentence.
    RETURNS (Posteriors): The posteriors.
    """
    odds, best, label = summary
    if len(scores.refined):
        refined = summarise(scores.refined[-1])
        odds, best, label = (
            old.index_copy(0, scores.candidates, new)
            for old, new in zip(summary, refined, strict=True)
        )
    null, exists = torch.sigmoid(-odds), best > 0
    if scores.labels.shape[1]:
        probability, label = torch.softmax(scores.labels, dim=-1).max(-1)
        probability = probability * (1 - null)
    else:
        probability = torch.exp(best - nn.functional.softplus(odds))
    valid = torch.cat([valid_arcs(n, odds).flatten().bool() for n in lengths])
    return Posteriors(
        exists & valid,
        torch.where(valid, null, 1.0),
        label,
        torch.where(valid, probability, 0.0),
    )
