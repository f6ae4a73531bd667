"""The network behind the parser, free of spaCy.

All nodes of all sentences stand in one table without padding: for each sentence the
root and then its words, the longest sentence first. What belongs to pairs of nodes is
computed in blocks of sentences of the same length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.checkpoint import checkpoint

from .inference import PART_TYPES, Part, mean_field, valid_arcs

# The first two labels; those of the corpus follow.
NULL, ROOT, FIRST_LABEL = 0, 1, 2

NEGATIVE_SLOPE = 0.1

# Share of the pairs of nodes that are arcs, roughly. Without such a prior the scores of
# NULL and of dozens of labels start alike, and training begins by unlearning arcs.
ARC_PRIOR = 0.05

# Scale of the label factors at the start. The second-order scores are products of five
# factors: if one was zero, none of the others would get a gradient; this scale makes
# the messages small beside the first-order scores, but not negligible.
LABEL_FACTOR_SCALE = 0.1


@dataclass(frozen=True)
class Settings:
    """The settings of the network, as plain values that can be saved with it."""

    hidden_width: int
    lstm_width: int
    lstm_depth: int
    mlp_width: int
    rank: int
    embed_dropout: float
    lstm_dropout: float
    mlp_dropout: float
    inference: str
    train_iterations: int
    predict_iterations: int
    supervise: str
    tied: bool
    exclude_self: bool
    null_factors: bool
    max_pairs: int

    def __post_init__(self) -> None:
        for name, least in (
            ("hidden_width", 0),
            ("lstm_width", 1),
            ("lstm_depth", 0),
            ("mlp_width", 1),
            ("rank", 1),
            ("train_iterations", 0),
            ("predict_iterations", 0),
            ("max_pairs", 1),
        ):
            if getattr(self, name) < least:
                raise ValueError(
                    f"The parser's setting '{name}' has to be at least {least}, not "
                    f"{getattr(self, name)}."
                )
        for name in ("embed_dropout", "lstm_dropout", "mlp_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"The parser's setting '{name}' is a rate: it has to be at least 0 "
                    f"and less than 1, not {getattr(self, name)}."
                )
        for name, choices in (
            ("inference", ("mean_field", "none")),
            ("supervise", ("all", "last")),
        ):
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"The parser's setting '{name}' has to be one of "
                    f"{', '.join(map(repr, choices))}, not {getattr(self, name)!r}."
                )


class Posteriors(NamedTuple):
    """What decoding needs to know of each arc: three vectors of length E."""

    null: Tensor  # probability that there is no arc
    label: Tensor  # the best label but NULL
    probability: Tensor  # of that label


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
        self.heads = MLP(width, settings.mlp_width, settings.mlp_dropout)
        self.deps = MLP(width, settings.mlp_width, settings.mlp_dropout)
        self.first_order = LabelledBiaffine(settings.mlp_width, self.n_labels)
        self.second_order = (
            SecondOrderFactors(width, self.n_labels, settings)
            if settings.inference == "mean_field"
            else None
        )

    def forward(self, vectors: Tensor, lengths: list[int]) -> Tensor | Posteriors:
        """Score all arcs.

        The arcs of a sentence of n words are (n + 1) * n rows: for each head from the
        root to the last word, each dependent from the first word to the last. Rows of
        self-loops are there, but mean nothing.

        vectors (Tensor): Vectors of all words of all sentences, (words, input width).
        lengths (List[int]): Words in each sentence, the largest number first.
        RETURNS (Tensor | Posteriors): In training the scores that are to be right,
            (iterations, arcs, labels); else what decoding needs of the posteriors.
        """
        nodes, sentence_of = self._nodes(vectors, lengths)
        tables = [self.heads(nodes, sentence_of), self.deps(nodes, sentence_of)]
        labels = None
        if self.second_order is not None:
            tables.append(self.second_order.of_nodes(nodes, sentence_of))
            labels = self.second_order.of_labels()
        pieces = list(split_by_pairs(lengths, self.settings.max_pairs))
        node_counts = [sum(n + 1 for n in piece) for piece in pieces]
        rows_of_pieces = zip(
            *(table.split(node_counts) for table in tables), strict=True
        )
        if not self.training:
            posteriors = [
                to_posteriors(self._score(piece, labels, *rows)[-1], piece)
                for piece, rows in zip(pieces, rows_of_pieces, strict=True)
            ]
            return Posteriors(*map(torch.cat, zip(*posteriors, strict=True)))
        if len(pieces) == 1:
            return self._score(pieces[0], labels, *tables)
        # Too much for one piece: compute twice what would not fit into memory.
        scores = [
            checkpoint(self._score, piece, labels, *rows, use_reentrant=False)
            for piece, rows in zip(pieces, rows_of_pieces, strict=True)
        ]
        return torch.cat(scores, dim=1)

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
            nodes = nn.functional.leaky_relu(self.project(nodes), NEGATIVE_SLOPE)
        nodes = self.embed_dropout(nodes, sentence_of)
        return self.lstm(nodes, sentence_of, [n + 1 for n in lengths]), sentence_of

    def _score(
        self,
        lengths: list[int],
        label_factors: Tensor | None,
        heads: Tensor,
        deps: Tensor,
        node_factors: Tensor | None = None,
    ) -> Tensor:
        """Score the arcs of some sentences, (iterations, arcs, labels)."""
        settings = self.settings
        start, outputs = 0, []
        for n, group in groupby(lengths):
            count = len(list(group))
            end = start + count * (n + 1)
            block = (count, n + 1)
            history = [
                self.first_order(
                    heads[start:end].unflatten(0, block),
                    deps[start:end].unflatten(0, block),
                )
            ]  # each (S, n + 1, n, L)
            if node_factors is not None and label_factors is not None:
                nodes = node_factors[start:end].unflatten(0, block)
                history = mean_field(
                    history[0],
                    to_parts(nodes, label_factors, tied=settings.tied),
                    iterations=settings.train_iterations
                    if self.training
                    else settings.predict_iterations,
                    exclude_self=settings.exclude_self,
                )
            if not self.training or settings.supervise == "last":
                history = history[-1:]
            outputs.append(torch.stack(history).flatten(1, 3))
            start = end
        return torch.cat(outputs, dim=1)


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


def to_posteriors(scores: Tensor, lengths: list[int]) -> Posteriors:
    """Reduce scores, (arcs, labels), to what decoding needs."""
    probabilities = torch.softmax(scores, dim=-1)
    best, label = probabilities[:, 1:].max(-1)
    valid = torch.cat([valid_arcs(n, scores).flatten() for n in lengths])
    null = torch.where(valid == 1, probabilities[:, NULL], torch.ones_like(best))
    return Posteriors(null, label + 1, best * valid)


class SharedDropout(nn.Module):
    """Dropout with one mask a sentence, the same for all of its nodes."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, nodes: Tensor, sentence_of: Tensor) -> Tensor:
        if not self.training or self.rate == 0 or nodes.shape[0] == 0:
            return nodes
        sentences = int(sentence_of.max()) + 1
        mask = nodes.new_empty(sentences, nodes.shape[1]).bernoulli_(1 - self.rate)
        return nodes * (mask / (1 - self.rate)).index_select(0, sentence_of)


class Embedding(nn.Module):
    """A table of trainable vectors."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, width))


class BiLSTM(nn.Module):
    """Bidirectional LSTM layers over a table of nodes, without padding."""

    def __init__(self, width: int, hidden: int, depth: int, dropout: float) -> None:
        super().__init__()
        self.dropout = SharedDropout(dropout)
        self.output_width = 2 * hidden if depth else width
        # One module a layer, because torch's own dropout between layers is not shared
        # over the nodes of a sentence.
        self.stack = nn.ModuleList(
            nn.LSTM(width if i == 0 else 2 * hidden, hidden, bidirectional=True)
            for i in range(depth)
        )
        for name, parameter in self.stack.named_parameters():
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.orthogonal_(parameter)

    def forward(self, nodes: Tensor, sentence_of: Tensor, sizes: list[int]) -> Tensor:
        if not self.stack:
            return nodes
        # torch wants the nodes step by step: the first of every sentence, the second of
        # every sentence that has one, and so on; so the longest sentence comes first.
        starts = [0, *accumulate(sizes)][:-1]
        batch_sizes = [sum(size > step for size in sizes) for step in range(sizes[0])]
        order = torch.tensor(
            [
                start + step
                for step, count in enumerate(batch_sizes)
                for start in starts[:count]
            ],
            device=nodes.device,
        )
        nodes = nodes.index_select(0, order)
        sentence_of = sentence_of.index_select(0, order)
        for i, lstm in enumerate(self.stack):
            if i > 0:
                nodes = self.dropout(nodes, sentence_of)
            packed = PackedSequence(nodes, torch.tensor(batch_sizes))
            nodes = lstm(packed)[0].data
        nodes = self.dropout(nodes, sentence_of)
        return nodes.index_select(0, torch.argsort(order))


class MLP(nn.Module):
    """One layer with LeakyReLU and shared dropout."""

    def __init__(self, width: int, output_width: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, output_width)
        self.dropout = SharedDropout(dropout)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, nodes: Tensor, sentence_of: Tensor) -> Tensor:
        hidden = nn.functional.leaky_relu(self.linear(nodes), NEGATIVE_SLOPE)
        return self.dropout(hidden, sentence_of)


class LabelledBiaffine(nn.Module):
    """First-order scores: a bilinear form with bias for each label but NULL."""

    def __init__(self, width: int, n_labels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(
            torch.randn(width + 1, n_labels - 1, width + 1) / width
        )
        with torch.no_grad():
            self.weight[-1, :, -1] = math.log(ARC_PRIOR / (n_labels - 1))

    def forward(self, heads: Tensor, deps: Tensor) -> Tensor:
        """Score all arcs of a block.

        heads, deps (Tensor): The nodes as heads and as dependents, (S, n + 1, width).
        RETURNS (Tensor): The scores, (S, n + 1, n, L).
        """
        ones = (0, 1)  # padding that appends a column
        heads = nn.functional.pad(heads, ones, value=1.0)
        deps = nn.functional.pad(deps[:, 1:], ones, value=1.0)
        sentences, size, width = heads.shape
        left = heads @ self.weight.flatten(1)  # (S, n + 1, (L - 1) * width)
        left = left.view(sentences, -1, width)  # (S, (n + 1) * (L - 1), width)
        scores = left @ deps.transpose(1, 2)  # (S, (n + 1) * (L - 1), n)
        scores = scores.view(sentences, size, -1, size - 1).transpose(2, 3)
        scores = nn.functional.pad(scores, (1, 0))  # NULL scores 0: (S, n + 1, n, L)
        return scores.masked_fill(impossible_labels(scores), -math.inf)


def impossible_labels(scores: Tensor) -> Tensor:
    """Arcs from the root are NULL or root, all others are not: (n + 1, 1, L)."""
    size, n_labels = scores.shape[1], scores.shape[3]
    impossible = torch.zeros(size, 1, n_labels, dtype=torch.bool, device=scores.device)
    impossible[0, :, FIRST_LABEL:] = True
    impossible[1:, :, ROOT] = True
    return impossible


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
    name: Slots(3 * i, 3 * i + 1, 3 * i + 2, 2 * i, 2 * i + 1)
    for i, name in enumerate(PART_TYPES)
}
TIED_SLOTS = {
    "sibling": Slots(0, 1, 1, 0, 0),
    "co-parent": Slots(2, 3, 2, 1, 1),
    "grandchild": Slots(4, 5, 6, 2, 3),
    "grandparent": Slots(5, 6, 4, 3, 2),
}


def to_parts(nodes: Tensor, labels: Tensor, *, tied: bool) -> list[Part]:
    """Give the second-order scores of a block.

    nodes (Tensor): The factors of its nodes, (S, n + 1, node factors, R).
    labels (Tensor): The factors of the labels, (L, label factors, R).
    tied (bool): Which parts share which factors.
    RETURNS (List[Part]): The parts.
    """
    return [
        Part(
            name,
            head=nodes[:, :, slots.head],
            dep=nodes[:, :, slots.dep],
            far=nodes[:, :, slots.far],
            label=labels[:, slots.label],
            far_label=labels[:, slots.far_label],
        )
        for name, slots in (TIED_SLOTS if tied else UNTIED_SLOTS).items()
    ]


class SecondOrderFactors(nn.Module):
    """The factors of the second-order scores, from nodes and from labels."""

    def __init__(self, width: int, n_labels: int, settings: Settings) -> None:
        super().__init__()
        slots = (TIED_SLOTS if settings.tied else UNTIED_SLOTS).values()
        n_node_factors = 1 + max(max(slot[:3]) for slot in slots)
        n_label_factors = 1 + max(max(slot[3:]) for slot in slots)
        hidden, rank = settings.mlp_width, settings.rank
        self.null_factors = settings.null_factors
        self.labels = Embedding(n_labels, hidden)
        self.node_factors = Factors(
            width, hidden, rank, n_node_factors, settings.mlp_dropout
        )
        # Dropout would drop whole labels here.
        self.label_factors = Factors(hidden, hidden, rank, n_label_factors, dropout=0)
        with torch.no_grad():
            self.node_factors.bias.normal_()
            self.label_factors.weight.mul_(LABEL_FACTOR_SCALE)

    def of_nodes(self, nodes: Tensor, sentence_of: Tensor) -> Tensor:
        """Give the factors of all nodes, (nodes, node factors, R)."""
        return self.node_factors(nodes, sentence_of)

    def of_labels(self) -> Tensor:
        """Give the factors of all labels, (L, label factors, R)."""
        labels = self.labels.weight
        one_group = torch.zeros(len(labels), dtype=torch.long, device=labels.device)
        factors = self.label_factors(labels, one_group)
        if not self.null_factors:
            # NULL neither sends nor receives.
            factors = torch.cat([torch.zeros_like(factors[:1]), factors[1:]])
        return factors


class Factors(nn.Module):
    """A number of MLPs, each with an affine map to the rank, side by side."""

    def __init__(
        self, width: int, hidden: int, rank: int, count: int, dropout: float
    ) -> None:
        super().__init__()
        self.mlps = MLP(width, count * hidden, dropout)
        self.weight = nn.Parameter(torch.randn(count, hidden, rank))
        self.bias = nn.Parameter(torch.zeros(count, 1, rank))
        with torch.no_grad():
            for weight in self.mlps.linear.weight.split(hidden):
                nn.init.orthogonal_(weight)
            self.weight.mul_((2 / hidden) ** 0.5)

    def forward(self, rows: Tensor, sentence_of: Tensor) -> Tensor:
        """Give the factors, (rows, count, R)."""
        count, hidden, _ = self.weight.shape
        states = self.mlps(rows, sentence_of).view(-1, count, hidden)
        factors = torch.baddbmm(self.bias, states.transpose(0, 1), self.weight)
        return factors.transpose(0, 1)
