"""Mean-field inference: the update of Yang and Tu (2022), exact and pruned.

The nodes of a sentence are the root, which is node 0, and its words 1..n. An arc i -> j
has a head i in 0..n and a dependent j in 1..n; those with i = j are not valid. An arc
has one of L labels, of which the first, NULL, means that there is no arc. An unlabelled
arc has two labels, NULL and one more.

The scores of an arc become its posterior Q by a softmax over its labels. An iteration
adds to its first-order scores the second-order scores next to each of its neighbours,
weighted by the neighbour's posterior. For a sibling i -> k of the arc i -> j, with the
factors of a `Part`, label a receives

    sum over r of  label[a, r] head[i, r] dep[j, r] gathered[i, r]

    gathered[i, r] = sum over k of  far[k, r] sent[i, k, r]
    sent[i, k, r]  = sum over b of  far_label[b, r] Q[i, k, b]

`gathered` does not depend on j, so all arcs of the head i share it. This makes the
update quadratic in the length of the sentence instead of cubic. `ExactMeanField` lets
all arcs of sentences of the same length exchange messages, `PrunedMeanField` only the
arcs of a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import reduce
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from .arcs import Arcs, valid_arcs
from .factors import CO_PARENT, COMMON_HEAD, GRANDCHILD, GRANDPARENT, SIBLING, Part

# Maximum size of intermediate results, in numbers: a few megabytes. Between the arcs of
# a list, smaller ones are not faster.
CELLS_AT_ONCE, PRUNED_CELLS_AT_ONCE = 500_000, 2_000_000


def iterate(
    step: Callable[[Tensor], Tensor], scores: Tensor, iterations: int
) -> Iterator[Tensor]:
    """Iterate a step from posteriors to scores.

    step (Callable[[Tensor], Tensor]): The step.
    scores (Tensor): The scores to start from, (arcs, L).
    iterations (int): The number of iterations.
    YIELDS (Tensor): The scores after each iteration, (arcs, L).
    """
    for _ in range(iterations):
        scores = step(torch.softmax(scores, dim=-1))
        yield scores


class Rows(NamedTuple):
    """The factors of a part as rows and columns of receiving arcs.

    For siblings and grandparents, rows are heads and columns are dependents. For
    co-parents and grandchildren, it is the other way around.
    """

    part: Part
    row: Tensor  # (S, rows, R)
    column: Tensor  # (S, columns, R)
    far: Tensor  # of the far ends of neighbours, (S, n or n + 1, R)
    # Products of the factors of far ends and labels, and of columns and labels,
    # (S, nodes * L, R). Computing them in advance pays off if there are fewer labels
    # than words.
    products: tuple[Tensor, Tensor] | None


class ExactMeanField:
    """Mean field between all arcs of some sentences of the same length."""

    def __init__(
        self,
        first_order: Tensor,
        parts: list[Part],
        *,
        exclude_self: bool = True,
    ) -> None:
        """Compute the values that do not change between iterations.

        first_order (Tensor): The first-order scores, (S, n + 1, n, L).
        parts (List[Part]): The second-order scores, with tables (S, n + 1, R).
        exclude_self (bool): Whether an arc is left out of its own messages, where it
            would be its own sibling (k = j) or its own co-parent (k = i).
        """
        self.first_order = first_order
        self.exclude_self = exclude_self
        valid = valid_arcs(first_order.shape[2], first_order).unsqueeze(-1)
        self.valid, self.is_valid = valid, valid.bool()  # (n + 1, n, 1)
        self.parts = [self._to_rows(part) for part in parts]

    def _to_rows(self, part: Part) -> Rows:
        head, dep, far = part.head, part.dep[:, 1:], part.far
        if part.type in COMMON_HEAD:
            far = far[:, 1:]  # the far end is a dependent
        row, column = head, dep
        if part.type in (CO_PARENT, GRANDCHILD):
            row, column = dep, head
        _, _, n, n_labels = self.first_order.shape
        if n_labels > 0.75 * n or self._leaves_out_self(part):
            return Rows(part, row, column, far, None)
        products = (_outer(far, part.far_label), _outer(column, part.label))
        return Rows(part, row, column, far, products)

    def _leaves_out_self(self, part: Part) -> bool:
        return self.exclude_self and part.type in (SIBLING, CO_PARENT)

    def __call__(self, posteriors: Tensor) -> Tensor:
        """Compute the next scores, (arcs, L), from posteriors."""
        by_head = posteriors.view_as(self.first_order) * self.valid  # (S, n + 1, n, L)
        by_dep = by_head.transpose(1, 2).contiguous()  # (S, n, n + 1, L)
        rows_are_heads, rows_are_deps = [self.first_order], []
        for rows in self.parts:
            type_ = rows.part.type
            messages = self._messages(by_head if type_ in COMMON_HEAD else by_dep, rows)
            if type_ in (SIBLING, GRANDPARENT):
                rows_are_heads.append(messages)
            else:
                rows_are_deps.append(messages)
        new = reduce(torch.add, rows_are_heads)
        if rows_are_deps:
            new = new + reduce(torch.add, rows_are_deps).transpose(1, 2)
        # Self-loops receive nothing, so their scores never change.
        new = torch.where(self.is_valid, new, self.first_order)
        return new.flatten(0, 2)

    def _messages(self, sent: Tensor, rows: Rows) -> Tensor:
        """Compute what all arcs receive from one type of neighbours."""
        part, row, column, far, products = rows
        if self._leaves_out_self(part):
            return _without_self(sent, row, column, far, part)
        received = _gather(sent, far, part.far_label, products)  # (S, rows, R)
        if part.type == GRANDCHILD:
            # The common head of the neighbours is the dependent of the receiving arc.
            received = received[:, 1:]
        elif part.type == GRANDPARENT:
            # Their common dependent is its head, which is then not the root.
            received = pad(received, (0, 0, 1, 0))
        return _spread(row * received, column, part.label, products)


def _outer(columns: Tensor, labels: Tensor) -> Tensor:
    """Compute all products of column and label factors, (S, columns * L, R)."""
    return (columns.unsqueeze(2) * labels).flatten(1, 2)


def _gather(
    sent: Tensor, far: Tensor, label: Tensor, products: tuple[Tensor, Tensor] | None
) -> Tensor:
    """Sum over the columns of rows (S, rows, columns, L): (S, rows, R)."""
    if products is not None:
        return sent.flatten(2) @ products[0]

    def gather(sent: Tensor, far: Tensor) -> Tensor:
        return ((sent @ label) * far.unsqueeze(1)).sum(2)

    return _by_chunks(gather, label.shape[1], [sent], [far])


def _spread(
    rows: Tensor, columns: Tensor, label: Tensor, products: tuple[Tensor, Tensor] | None
) -> Tensor:
    """Score all rows with all columns and labels, (S, rows, columns, L)."""
    if products is not None:
        scores = rows @ products[1].transpose(1, 2)
        return scores.unflatten(2, (columns.shape[1], len(label)))

    def spread(rows: Tensor, columns: Tensor) -> Tensor:
        return (rows.unsqueeze(2) * columns.unsqueeze(1)) @ label.T

    return _by_chunks(spread, label.shape[1], [rows], [columns])


def _without_self(
    sent: Tensor, rows: Tensor, columns: Tensor, far: Tensor, part: Part
) -> Tensor:
    """Compute messages between different arcs of a row, (S, rows, columns, L)."""

    def exchange(sent: Tensor, rows: Tensor, columns: Tensor, far: Tensor) -> Tensor:
        own = (sent @ part.far_label) * far.unsqueeze(1)  # (S, rows, columns, R)
        received = (own.sum(2, keepdim=True) - own) * rows.unsqueeze(2)
        return (received * columns.unsqueeze(1)) @ part.label.T

    return _by_chunks(exchange, part.label.shape[1], [sent, rows], [columns, far])


def _by_chunks(
    function: Callable[..., Tensor],
    rank: int,
    rows: list[Tensor],
    columns: list[Tensor],
) -> Tensor:
    """Apply a function of rows and columns to chunks of rows and sentences.

    Its intermediate results, (S, rows, columns, R), then stay in the cache.
    """
    sentences, n_rows = rows[0].shape[:2]
    cells = columns[0].shape[1] * rank  # of a row
    if sentences * n_rows * cells <= CELLS_AT_ONCE:
        return function(*rows, *columns)
    if sentences > 1:
        count = max(1, CELLS_AT_ONCE // (n_rows * cells))
        chunks = zip(*(tensor.split(count) for tensor in rows + columns), strict=True)
        return torch.cat(
            [
                _by_chunks(
                    function, rank, list(chunk[: len(rows)]), list(chunk[len(rows) :])
                )
                for chunk in chunks
            ]
        )
    count = max(1, CELLS_AT_ONCE // cells)
    chunks = zip(*(tensor.split(count, 1) for tensor in rows), strict=True)
    return torch.cat([function(*chunk, *columns) for chunk in chunks], 1)


class PrunedMeanField:
    """Mean field between the arcs of a list; all other arcs are assumed to be NULL."""

    def __init__(
        self,
        first_order: Tensor,
        arcs: Arcs,
        parts: list[Part],
        node_sentence: Tensor,
        *,
        exclude_self: bool = True,
        null_sends: bool = True,
    ) -> None:
        """Compute the values that do not change between iterations.

        first_order (Tensor): The first-order scores of the arcs, (arcs, L).
        arcs (Arcs): The arcs, without duplicates.
        parts (List[Part]): The second-order scores, with tables (nodes, R).
        node_sentence (Tensor): The sentence number of each node, where the root of a
            sentence is its first node, (nodes,).
        exclude_self (bool): As for `ExactMeanField`.
        null_sends (bool): Whether the factors of NULL may be other than zero.
        """
        self.first_order = first_order
        self.arcs = arcs
        self.parts = parts = [
            piece for part in parts for piece in _split_rank(part, len(arcs.head))
        ]
        self.exclude_self = exclude_self
        self.own = [
            part.head.index_select(0, arcs.head) * part.dep.index_select(0, arcs.dep)
            for part in parts
        ]  # (arcs, R) each
        # Arcs that are not in the list send what NULL sends. A node gathers this from
        # all its possible arcs, and the arcs in the list add their difference to it.
        self.sent_by_null = [
            _sent_by_null(part, node_sentence) if null_sends else None for part in parts
        ]
        self.n_nodes = len(node_sentence)

    def __call__(self, posteriors: Tensor) -> Tensor:
        """Compute the next scores, (arcs, L), from posteriors."""
        new = self.first_order
        for part, own, null in zip(
            self.parts, self.own, self.sent_by_null, strict=True
        ):
            received = self._receive(posteriors, part, null)  # (arcs, R)
            new = torch.addmm(new, own * received, part.label.T)
        return new

    def _receive(self, posteriors: Tensor, part: Part, null: Tensor | None) -> Tensor:
        """Compute what each arc receives from one type of neighbours, before labels."""
        near_end, far_end = self.arcs.head, self.arcs.dep
        if part.type not in COMMON_HEAD:
            near_end, far_end = far_end, near_end
        sent = (posteriors @ part.far_label) * part.far.index_select(0, far_end)
        if null is None:
            nodes = sent.new_zeros(self.n_nodes, sent.shape[1])
            nodes = nodes.index_add(0, near_end, sent)  # (nodes, R)
        else:
            by_null = part.far.index_select(0, far_end) * part.far_label[0]
            nodes = null.index_add(0, near_end, sent - by_null)
        if part.type in (GRANDCHILD, GRANDPARENT):
            return nodes.index_select(0, far_end)
        received = nodes.index_select(0, near_end)
        return received - sent if self.exclude_self else received


def _split_rank(part: Part, n_arcs: int) -> list[Part]:
    """Split a part into parts of lower rank, whose scores add up to its own."""
    pieces = math.ceil(n_arcs * part.label.shape[1] / PRUNED_CELLS_AT_ONCE)
    if pieces <= 1:
        return [part]
    tables = (table.chunk(pieces, dim=-1) for table in part[1:])
    return [Part(part.type, *piece) for piece in zip(*tables, strict=True)]


def _sent_by_null(part: Part, node_sentence: Tensor) -> Tensor:
    """Compute what each node gathers if none of its arcs exist, (nodes, R)."""
    is_root = torch.ones_like(node_sentence, dtype=torch.bool)
    is_root[1:] = node_sentence[1:] != node_sentence[:-1]
    is_root = is_root.unsqueeze(1)
    # Only a head can be the root, and no node is attached to itself.
    far = part.far.masked_fill(is_root, 0) if part.type in COMMON_HEAD else part.far
    sums = far.new_zeros(int(node_sentence[-1]) + 1, far.shape[1])
    sums = sums.index_add(0, node_sentence, far).index_select(0, node_sentence) - far
    if part.type not in COMMON_HEAD:
        # The root is never a dependent.
        sums = sums.masked_fill(is_root, 0)
    return sums * part.far_label[:1]
