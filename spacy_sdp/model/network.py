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
                to_posteriors(self._score(*each), each[0]) for each in arguments
            ]
            return Posteriors(*map(torch.cat, zip(*posteriors, strict=True)))
        if len(pieces) == 1:
            return self._score(*arguments[0])
        # Too much for one piece: compute twice what would not fit into memory.
        return join_scores(
            [checkpoint(self._score, *each, use_reentrant=False) for each in arguments]
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
    ) -> Scores:
        """Score the arcs of some sentences, given the rows of their nodes."""
        # Of each block, (S, n + 1, n, L or 2).
        blocks = [
            mask_labels(pad(self.labels(heads, deps), (1, 0)))
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
        candidates = torch.empty(0, dtype=torch.long, device=gold.device)
        history: list[Tensor] = []
        if label_factors is not None:
            candidates, history = self._refine(
                lengths, blocks, gold, tables[-1], label_factors
            )
        if not self.training or self.settings.supervise == "last":
            history = history[-1:]
        return Scores(
            first_order,
            candidates,
            torch.stack(history)
            if history
            else first_order.new_empty(0, len(candidates), first_order.shape[1]),
            first_order.new_empty(len(first_order), 0) if labels is None else labels,
        )

    def _refine(
        self,
        lengths: list[int],
        blocks: list[Tensor],
        gold: Tensor,
        node_factors: Tensor,
        label_factors: Tensor,
    ) -> tuple[Tensor, list[Tensor]]:
        """Give the arcs that take part in inference, and their scores by iteration."""
        settings = self.settings
        iterations, tolerance = settings.train_iterations, 0.0
        if not self.training:
            iterations, tolerance = settings.predict_iterations, settings.tolerance
        if settings.inference == "mean_field" and not settings.prune:
            histories = [
                infer(
                    ExactMeanField(
                        block,
                        to_parts(factors, label_factors, settings),
                        exclude_self=settings.exclude_self,
                        damping=settings.damping,
                    ),
                    iterations=iterations,
                    tolerance=tolerance,
                )
                for block, (factors,) in zip(
                    blocks, split_into_blocks(lengths, node_factors), strict=True
                )
            ]
            return torch.arange(len(gold), device=gold.device), join_histories(
                histories
            )
        kept = torch.cat(
            [candidates(block.detach(), settings).flatten() for block in blocks]
        )
        rows = (kept | gold).nonzero().flatten()
        arcs = all_arcs(lengths, gold.device).select(rows)
        first_order = torch.cat([block.flatten(0, 2) for block in blocks])
        first_order = first_order.index_select(0, rows)
        parts = to_parts(node_factors, label_factors, settings)
        step: Step
        if settings.inference == "lbp":
            step = BeliefPropagation(first_order, arcs, parts, damping=settings.damping)
        else:
            sizes = torch.tensor([n + 1 for n in lengths], device=rows.device)
            step = PrunedMeanField(
                first_order,
                arcs,
                parts,
                torch.arange(len(lengths), device=rows.device).repeat_interleave(sizes),
                exclude_self=settings.exclude_self,
                null_sends=settings.null_factors,
                damping=settings.damping,
            )
        return rows, infer(step, iterations=iterations, tolerance=tolerance)


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


def mask_labels(block: Tensor) -> Tensor:
    """Arcs from the root are NULL or root, and all others are not."""
    size, n_labels = block.shape[1], block.shape[3]
    impossible = torch.zeros(size, 1, n_labels, dtype=torch.bool, device=block.device)
    impossible[0, :, FIRST_LABEL:] = True
    impossible[1:, :, ROOT] = True
    return block.masked_fill(impossible, -math.inf)


def candidates(block: Tensor, settings: Settings) -> Tensor:
    """Tell which arcs of a block are probable enough to take part in inference.

    block (Tensor): The first-order scores, (S, n + 1, n, labels).
    settings (Settings): `prune`, the least probability that there is an arc, and
        `max_heads`, the most heads that a word may have; without the first, all.
    RETURNS (Tensor): Booleans, (S, n + 1, n).
    """
    valid = valid_arcs(block.shape[2], block).bool()
    if not settings.prune:
        return valid.expand(block.shape[:3])
    odds = torch.logsumexp(block[..., 1:], -1) - block[..., NULL]
    odds = odds.masked_fill(~valid, -math.inf)
    best = odds.topk(min(settings.max_heads, block.shape[1]), dim=1).values
    enough = math.log(settings.prune) - math.log1p(-settings.prune)
    return (odds > enough) & (odds >= best[:, -1:]) & valid


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


def to_posteriors(scores: Scores, lengths: list[int]) -> Posteriors:
    """Reduce scores to what decoding needs."""
    final = scores.first_order
    if len(scores.refined):
        final = final.index_copy(0, scores.candidates, scores.refined[-1])
    probabilities = torch.softmax(final, dim=-1)
    null = probabilities[:, NULL]
    if scores.labels.shape[1]:
        best, label = torch.softmax(scores.labels, dim=-1).max(-1)
        best = best * (1 - null)
        exists = null < 0.5
    else:
        best, label = probabilities[:, 1:].max(-1)
        label = label + 1
        exists = best > null
    valid = torch.cat([valid_arcs(n, final).flatten().bool() for n in lengths])
    return Posteriors(
        exists & valid,
        torch.where(valid, null, 1.0),
        label,
        torch.where(valid, best, 0.0),
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
            settings.mlp_width,
            settings.rank,
            1 + max(max(slot[:3]) for slot in slots),
            settings.mlp_dropout,
        )
        with torch.no_grad():
            self.node_factors.bias.normal_()
        self.labels = self.label_factors = None
        if settings.labelled:
            self.labels = Embedding(n_labels, settings.mlp_width)
            # Dropout would drop whole labels here.
            self.label_factors = Factors(
                settings.mlp_width,
                settings.mlp_width,
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
