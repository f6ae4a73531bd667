"""The layers of the network. Rows of tables are nodes, without padding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu_, pad

from .partition import partition

NEGATIVE_SLOPE = 0.1
# Number of dependents that are labelled at a time, to limit memory for long sentences.
ROWS_AT_ONCE = 500
# Maximum number of nodes that the LSTM reads together, including padding, and the
# overhead of one more call and of one more step, in nodes, measured on a CPU.
NODES_IN_BUCKET, CALL_COST, STEP_COST = 2048, 35, 5


class SharedDropout(nn.Module):
    """Dropout with one mask per sentence, shared by all of its nodes."""

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

    def __init__(self, rows: int, width: int, deviation: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, width) * deviation)


class BiLSTM(nn.Module):
    """Bidirectional LSTM layers over a table of nodes."""

    def __init__(self, width: int, hidden: int, depth: int, dropout: float) -> None:
        super().__init__()
        self.dropout = SharedDropout(dropout)
        self.output_width = 2 * hidden if depth else width
        # One module per layer, because torch's own dropout between layers is not shared
        # by the nodes of a sentence.
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
        shapes, *directions = arrange(sizes, sentence_of)
        for lstm in self.stack:
            assert isinstance(lstm, nn.LSTM)
            states = [
                read(nodes, places, shapes, weights)
                for places, weights in zip(directions, lstm.all_weights, strict=True)
            ]
            nodes = self.dropout(torch.cat(states, dim=1), sentence_of)
        return nodes


def arrange(
    sizes: list[int], sentence_of: Tensor
) -> tuple[list[tuple[int, int]], Tensor, Tensor]:
    """Arrange sentences of similar length in buckets, which an LSTM reads together.

    In both directions, a bucket has the first node of each sentence to read, then the
    second, and so on. Shorter sentences are padded at the end.

    sizes (List[int]): The number of nodes of each sentence.
    sentence_of (Tensor): The sentence of each node, (nodes,).
    RETURNS (Tuple[List[Tuple[int, int]], Tensor, Tensor]): The steps and sentences of
        each bucket, and the place of each node in all buckets, read forwards and
        backwards, (nodes,).
    """
    buckets = [[*range(len(sizes))]]
    if sentence_of.device.type == "cpu":
        # On other devices, more steps cost more than padding.
        buckets = partition(
            sizes, NODES_IN_BUCKET, call_cost=CALL_COST, step_cost=STEP_COST
        )
    shapes, table, offset = [], [(0, 0, 0, 0)] * len(sizes), 0
    starts = [0, *accumulate(sizes)]
    for bucket in buckets:
        steps, width = max(sizes[sentence] for sentence in bucket), len(bucket)
        for column, sentence in enumerate(bucket, start=offset):
            table[sentence] = (starts[sentence], sizes[sentence], column, width)
        shapes.append((steps, width))
        offset += steps * width
    by_sentence = torch.tensor(table, device=sentence_of.device)
    start, size, first, stride = by_sentence.index_select(0, sentence_of).unbind(1)
    step = torch.arange(len(start), device=start.device) - start
    return shapes, first + step * stride, first + (size - 1 - step) * stride


def read(
    nodes: Tensor,
    places: Tensor,
    shapes: list[tuple[int, int]],
    weights: Sequence[Tensor],
) -> Tensor:
    """Read the nodes in one direction.

    nodes (Tensor): The nodes, (nodes, width).
    places (Tensor): Their places in all buckets, (nodes,).
    shapes (List[Tuple[int, int]]): The steps and sentences of each bucket.
    weights (Sequence[Tensor]): The weights of an LSTM in this direction.
    RETURNS (Tensor): The states, (nodes, hidden).
    """
    areas = [steps * width for steps, width in shapes]
    # The padding is arbitrary, because it comes after the nodes.
    rows = places.new_zeros(sum(areas))
    rows[places] = torch.arange(len(nodes), device=nodes.device)
    found = []
    for some, shape in zip(rows.split(areas), shapes, strict=True):
        block = nodes.index_select(0, some).unflatten(0, shape)
        zeros = nodes.new_zeros(1, shape[1], weights[1].shape[1])
        states, *_ = torch.lstm(
            block,
            [zeros, zeros],
            [*weights],
            has_biases=True,
            num_layers=1,
            dropout=0.0,
            train=torch.is_grad_enabled(),
            bidirectional=False,
            batch_first=False,
        )
        found.append(states.flatten(0, 1))
    return torch.cat(found).index_select(0, places)


class MLP(nn.Module):
    """One layer with LeakyReLU and shared dropout."""

    def __init__(self, width: int, output_width: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width, output_width)
        self.dropout = SharedDropout(dropout)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, nodes: Tensor, sentence_of: Tensor) -> Tensor:
        # In place, because the layers before the factors are wide.
        hidden = leaky_relu_(self.linear(nodes), NEGATIVE_SLOPE)
        return self.dropout(hidden, sentence_of)


class Biaffine(nn.Module):
    """Scores of all pairs of nodes: a bilinear form with bias for each output."""

    def __init__(
        self, width: int, outputs: int, mlp_width: int, dropout: float
    ) -> None:
        super().__init__()
        self.heads = MLP(width, mlp_width, dropout)
        self.deps = MLP(width, mlp_width, dropout)
        self.weight = nn.Parameter(
            torch.randn(mlp_width + 1, outputs, mlp_width + 1) / mlp_width
        )
        self.set_bias(0.0)

    def set_bias(self, value: float) -> None:
        """Set the initial value of all scores."""
        with torch.no_grad():
            self.weight[-1, :, -1] = value

    def tables(self, nodes: Tensor, sentence_of: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the nodes as heads and as dependents, each (nodes, width)."""
        one_more_column = (0, 1)
        return (
            pad(self.heads(nodes, sentence_of), one_more_column, value=1.0),
            pad(self.deps(nodes, sentence_of), one_more_column, value=1.0),
        )

    def forward(self, heads: Tensor, deps: Tensor) -> Tensor:
        """Score all pairs of heads and dependents of S sentences.

        heads, deps (Tensor): Rows of `tables`, (S, heads, width) and (S, deps, width).
        RETURNS (Tensor): The scores, (S, heads, deps, outputs).
        """
        width, outputs, _ = self.weight.shape
        right = deps @ self.weight.flatten(0, 1).T  # (S, deps, width * outputs)
        right = right.unflatten(2, (width, outputs)).transpose(1, 2).flatten(2)
        return (heads @ right).unflatten(2, (-1, outputs))

    def score_pairs(
        self, heads: Tensor, deps: Tensor, head: Tensor, dep: Tensor
    ) -> Tensor:
        """Score some pairs of nodes, a few for each dependent.

        heads, deps (Tensor): The `tables`, (nodes, width).
        head, dep (Tensor): Their rows, by ascending dependent, (pairs,).
        RETURNS (Tensor): The scores, (pairs, outputs).
        """
        width, outputs, _ = self.weight.shape
        dep, counts = dep.unique_consecutive(return_counts=True)
        first = counts.cumsum(0) - counts
        row = torch.arange(len(dep), device=dep.device).repeat_interleave(counts)
        slot = torch.arange(len(row), device=dep.device) - first.index_select(0, row)
        # The heads of each dependent, padded with the root of the first sentence.
        slots = int(counts.max()) if len(counts) else 0
        table = head.new_zeros(len(dep), slots)
        table[row, slot] = head
        scores = []
        for some_deps, some_heads in zip(
            dep.split(ROWS_AT_ONCE), table.split(ROWS_AT_ONCE), strict=True
        ):
            right = deps.index_select(0, some_deps) @ self.weight.flatten(0, 1).T
            left = heads.index_select(0, some_heads.flatten())
            left = left.view(*some_heads.shape, width)  # (rows, slots, width)
            scores.append(left @ right.view(-1, width, outputs))
        # (rows, slots, outputs)
        return torch.cat(scores).flatten(0, 1).index_select(0, row * slots + slot)


class FactorMLPs(nn.Module):
    """Several parallel MLPs, each followed by an affine map to the rank."""

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
        """Compute the factors, (rows, count, R)."""
        count, hidden, _ = self.weight.shape
        states = self.mlps(rows, sentence_of).view(-1, count, hidden)
        factors = torch.baddbmm(self.bias, states.transpose(0, 1), self.weight)
        return factors.transpose(0, 1)
