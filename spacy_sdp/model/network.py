"""The network behind the parser, free of spaCy.

All nodes of all sentences stand in one table without padding: for each sentence the
root and then its words, the longest sentence first. What belongs to pairs of nodes is
computed in blocks of sentences of the same length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, pad
from torch.utils.checkpoint import checkpoint

from .inference import (
    CO_PARENT,
    GRANDCHILD,
    GRANDPARENT,
    SIBLING,
    Arcs,
    BeliefPropagation,
    ExactMeanField,
    Part,
    PrunedMeanField,
    Step,
    infer,
    valid_arcs,
)
from .layers import NEGATIVE_SLOPE, Biaffine, BiLSTM, Embedding, Factors, SharedDropout
from .settings import Settings

# The first two labels; those of the corpus follow.
NULL, ROOT, FIRST_LABEL = 0, 1, 2

# Share of the pairs of nodes that are arcs, roughly. Without such a prior the scores of
# NULL and of dozens of labels start alike, and training begins by unlearning arcs.
ARC_PRIOR = 0.05

# Scale of the label factors at the start. The second-order scores are products of five
# factors: if one was zero, none of the others would get a gradient; this scale makes
# the messages small beside the first-order scores, but not negligible.
LABEL_FACTOR_SCALE = 0.1


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
        width = self.lstm.output_width
        mlp = settings.mlp_width, settings.mlp_dropout
        self.labels = Biaffine(width, self.n_labels - 1, *mlp)
        if settings.labelled:
            self.labels.set_bias(math.log(ARC_PRIOR / (self.n_labels - 1)))
            self.arcs = None
        else:
            self.arcs = Biaffine(width, 1, *mlp)
            self.arcs.set_bias(math.log(ARC_PRIOR))
        self.second_order = (
            SecondOrderFactors(width, self.n_labels, settings)
            if settings.inference != "none"
            else None
        )

    def forward(
        self, vectors: Tensor, lengths: list[int], gold: Tensor | None = None
    ) -> Scores | Posteriors:
        """Score all arcs.

        The arcs of a sentence of n words are (n + 1) * n rows: for each head from the
        root to the last word, each dependent from the first word to the last. Rows of
        self-loops are there, but mean nothing.

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
        sizes = torch.tensor([n + 1 for n in lengths], device=device)
        sentence_of = torch.arange(len(lengths), device=device).repeat_interleave(sizes)
        if self.project is not None:
            nodes = leaky_relu(self.project(nodes), NEGATIVE_SLOPE)
        nodes = self.embed_dropout(nodes, sentence_of)
        return self.lstm(nodes, sentence_of, [n + 1 for n in lengths]), sentence_of

    def _score(
        self,
        lengths: list[int],
        label_factors: Tensor | None,
        gold: Tensor,
        *tables: Tensor,
    ) -> tuple[Scores, Summary]:
        """Score the arcs of some sentences, given the rows of their nodes."""
        # Of each block, (S, n + 1, n, L or 2).
        blocks = [
            mask_labels_(pad(self.labels(heads, deps), (1, 0)))
            for heads, deps in split_into_blocks(lengths, *tables[:2])
        ]
        labels = None
        if self.arcs is not None:
            labels = torch.cat([block.flatten(0, 2) for block in blocks])
            labels = torch.cat(
                [torch.full_like(labels[:, :1], -math.inf), labels[:, 1:]], 1
            )
            blocks = [
                pad(self.arcs(heads, deps), (1, 0))
                for heads, deps in split_into_blocks(lengths, *tables[2:4])
            ]
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
        sizes = torch.tensor([n + 1 for n in lengths], device=rows.device)
        return self._infer(
            PrunedMeanField(
                first_order,
                arcs,
                parts,
                torch.arange(len(lengths), device=rows.device).repeat_interleave(sizes),
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


def split_by_pairs(lengths: list[int], max_pairs: int) -> Iterator[list[int]]:
    """Yield runs of sentences that have at most so many pairs of nodes together.

    A sentence that has more by itself is a run of its own.
    """
    piece: list[int] = []
    pairs = 0
    for n in lengths:
        if piece and pairs + n * (n + 1) > max_pairs:
            yield piece
            piece, pairs = [], 0
        piece.append(n)
        pairs += n * (n + 1)
    if piece:
        yield piece


def split_into_blocks(
    lengths: list[int], *tables: Tensor
) -> Iterator[tuple[Tensor, ...]]:
    """Yield the rows of sentences of the same length together, (S, n + 1, ...)."""
    start = 0
    for n, group in groupby(lengths):
        count = len(list(group))
        end = start + count * (n + 1)
        yield tuple(table[start:end].unflatten(0, (count, n + 1)) for table in tables)
        start = end


def all_arcs(lengths: list[int], device: torch.device) -> Arcs:
    """Give the nodes of all arcs, in the order of their rows."""
    arcs: list[tuple[Tensor, Tensor, Tensor]] = []
    first_node = first_sentence = 0
    for n, group in groupby(lengths):
        count = len(list(group))
        shape = (count, n + 1, n)
        sentence = torch.arange(count, device=device).view(-1, 1, 1)
        node = torch.arange(n + 1, device=device)
        root = first_node + sentence * (n + 1)
        head = (root + node.view(1, -1, 1)).expand(shape)
        dep = (root + node[1:].view(1, 1, -1)).expand(shape)
        sentence = (first_sentence + sentence).expand(shape)
        arcs.append((head.flatten(), dep.flatten(), sentence.flatten()))
        first_node += count * (n + 1)
        first_sentence += count
    return Arcs(*map(torch.cat, zip(*arcs, strict=True)))


def mask_labels_(block: Tensor) -> Tensor:
    """Mask in place what cannot be: arcs from the root are NULL or root, others not."""
    size, n_labels = block.shape[1], block.shape[3]
    impossible = torch.zeros(size, 1, n_labels, dtype=torch.bool, device=block.device)
    impossible[0, :, FIRST_LABEL:] = True
    impossible[1:, :, ROOT] = True
    return block.masked_fill_(impossible, -math.inf)


def candidates(odds: Tensor, lengths: list[int], settings: Settings) -> Tensor:
    """Tell which arcs are probable enough to take part in inference.

    odds (Tensor): The log-odds of all arcs by their first-order scores, (E,).
    lengths (List[int]): Words in each sentence.
    settings (Settings): `prune`, the least probability that there is an arc, and
        `max_heads`, the most heads that a word may have; without the first, all.
    RETURNS (Tensor): Booleans, (E,).
    """
    enough = -math.inf
    if settings.prune:
        enough = math.log(settings.prune) - math.log1p(-settings.prune)
    kept, start = [], 0
    for n, group in groupby(lengths):
        count = len(list(group))
        end = start + count * (n + 1) * n
        block = odds[start:end].view(count, n + 1, n)
        start = end
        valid = valid_arcs(n, odds).bool()
        keep = (block > enough) & valid
        if settings.prune and n + 1 > settings.max_heads:
            block = block.masked_fill(~valid, -math.inf)
            best = block.topk(settings.max_heads, dim=1).values
            keep &= block >= best[:, -1:]
        kept.append(keep.flatten())
    return torch.cat(kept)


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


class Slots(NamedTuple):
    """Which of the factors a part uses, see `Part`."""

    head: int
    dep: int
    far: int
    label: int
    far_label: int


# Four parts with factors of their own, or the gradient of one energy: siblings and
# co-parents symmetric in their two arcs, and one score for a grandparent and its
# grandchild, seen from either arc.
UNTIED_SLOTS = {
    SIBLING: Slots(0, 1, 2, 0, 1),
    GRANDCHILD: Slots(3, 4, 5, 2, 3),
    CO_PARENT: Slots(6, 7, 8, 4, 5),
    GRANDPARENT: Slots(9, 10, 11, 6, 7),
}
TIED_SLOTS = {
    SIBLING: Slots(0, 1, 1, 0, 0),
    GRANDCHILD: Slots(4, 5, 6, 2, 3),
    CO_PARENT: Slots(2, 3, 2, 1, 1),
    GRANDPARENT: Slots(5, 6, 4, 3, 2),
}


def part_slots(settings: Settings) -> dict[str, Slots]:
    """Give the parts that are on, with their factors."""
    # Belief propagation needs an energy.
    tied = settings.tied or settings.inference == "lbp"
    return {
        type_: slots
        for type_, slots in (TIED_SLOTS if tied else UNTIED_SLOTS).items()
        if type_.replace("child", "parent") in settings.parts
    }


def to_parts(nodes: Tensor, labels: Tensor, settings: Settings) -> list[Part]:
    """Give the second-order scores of some nodes.

    nodes (Tensor): The factors of the nodes, (..., node factors, R).
    labels (Tensor): The factors of the labels, (L, label factors, R).
    settings (Settings): Which parts there are.
    RETURNS (List[Part]): The parts.
    """
    return [
        Part(
            type_,
            head=nodes[..., slots.head, :],
            dep=nodes[..., slots.dep, :],
            far=nodes[..., slots.far, :],
            label=labels[:, slots.label],
            far_label=labels[:, slots.far_label],
        )
        for type_, slots in part_slots(settings).items()
    ]


class SecondOrderFactors(nn.Module):
    """The factors of the second-order scores, from nodes and from labels."""

    def __init__(self, width: int, n_labels: int, settings: Settings) -> None:
        super().__init__()
        slots = part_slots(settings).values()
        self.n_label_factors = 1 + max(max(slot[3:]) for slot in slots)
        self.rank = settings.rank
        self.null_factors = settings.null_factors
        self.node_factors = Factors(
            width,
            settings.factor_width,
            settings.rank,
            1 + max(max(slot[:3]) for slot in slots),
            settings.mlp_dropout,
        )
        with torch.no_grad():
            self.node_factors.bias.normal_()
        self.labels = self.label_factors = None
        if settings.labelled:
            self.labels = Embedding(n_labels, settings.factor_width)
            # Dropout would drop whole labels here.
            self.label_factors = Factors(
                settings.factor_width,
                settings.factor_width,
                settings.rank,
                self.n_label_factors,
                dropout=0,
            )
            with torch.no_grad():
                self.label_factors.weight.mul_(LABEL_FACTOR_SCALE)

    def of_nodes(self, nodes: Tensor, sentence_of: Tensor) -> Tensor:
        """Give the factors of all nodes, (nodes, node factors, R)."""
        return self.node_factors(nodes, sentence_of)

    def of_labels(self) -> Tensor:
        """Give the factors of all labels, (L, label factors, R).

        An unlabelled arc has two, NULL and not NULL, and nothing to learn about them.
        """
        if self.labels is None or self.label_factors is None:
            factors = self.node_factors.weight.new_full(
                (2, self.n_label_factors, self.rank), LABEL_FACTOR_SCALE
            )
        else:
            labels = self.labels.weight
            one_group = torch.zeros(len(labels), dtype=torch.long, device=labels.device)
            factors = self.label_factors(labels, one_group)
        if self.null_factors and self.labels is not None:
            return factors
        # NULL neither sends nor receives.
        return torch.cat([torch.zeros_like(factors[:1]), factors[1:]])
