"""The network behind the parser, free of spaCy.

All nodes of all sentences are in one table without padding: for each sentence the root
and its words, with the longest sentence first. Pairs of nodes are scored in blocks of
sentences of the same length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, softplus
from torch.utils.checkpoint import checkpoint

from .arcs import (
    Block,
    mask_labels_,
    node_sentences,
    split_arcs,
    split_by_pairs,
    split_nodes,
    to_blocks,
)
from .frames import FrameClassifier, label_probabilities, locate_words
from .inference import Factors, Inference, Problem
from .labels import FIRST_LABEL, NULL
from .layers import Biaffine, BiLSTM, Embedding, SharedDropout
from .pruning import Candidates, choose, choose_all, log_odds
from .settings import Settings

# The prior probability of an arc. Without it, NULL and all labels would have the same
# initial score, and training would start from far too many arcs.
ARC_PRIOR = 0.05


class Scores(NamedTuple):
    """The scores that the loss is computed from.

    The C most probable of all E arcs are candidates. Only candidates are labelled and
    refined by inference. If arcs and labels are scored separately, an arc has two
    first-order scores, NULL and not NULL, instead of one for each of L labels.
    """

    first_order: Tensor  # (E, L or 2)
    candidates: Tensor  # rows of E, (C,)
    refined: Tensor  # before and after each iteration, (1 + iterations, C, L or 2)
    labels: Tensor  # label scores if inference is unlabelled, (C, L), else (C, 0)
    frames: Tensor  # (words, 1 + frames) if they are predicted, else (0, 0)


class Posteriors(NamedTuple):
    """The posteriors for decoding: vectors of length C, with a value per candidate.

    The last two have a value per word instead, or are empty without frames.
    """

    arcs: Tensor  # rows of all E arcs
    exists: Tensor  # whether NULL is not the best label
    null: Tensor  # the probability of NULL
    label: Tensor  # the best label other than NULL
    probability: Tensor  # of an arc with this label
    frame: Tensor  # the best frame of each word, (words,)
    frame_probability: Tensor


class Nodes(NamedTuple):
    """The inputs of all scores, by node.

    Tables for arcs are None if arcs and labels are scored jointly, factors are None
    without second-order inference, and states and hashes are None if frames are not
    predicted.
    """

    label_heads: Tensor  # nodes as heads, (nodes, width)
    label_deps: Tensor  # nodes as dependents
    arc_heads: Tensor | None
    arc_deps: Tensor | None
    factors: Tensor | None  # (nodes, node factors, R)
    states: Tensor | None  # (nodes, state width)
    hashes: Tensor | None  # of words and their prefixes, (nodes, 2)

    def split(self, sizes: list[int]) -> Iterator[Nodes]:
        """Split the nodes into parts of these sizes."""
        columns = [
            [None] * len(sizes) if table is None else table.split(sizes)
            for table in self
        ]
        return map(Nodes._make, zip(*columns, strict=True))


class Network(nn.Module):
    """Scores every pair of nodes of every sentence for every label."""

    def __init__(
        self,
        input_width: int,
        n_labels: int,
        settings: Settings,
        inference: Inference,
        n_frames: int = 0,
    ) -> None:
        """Build the network with fresh weights.

        input_width (int): Width of the word vectors.
        n_labels (int): Number of labels of the corpus, without NULL and root.
        settings (Settings): The settings.
        inference (Inference): The inference algorithm.
        n_frames (int): Number of frames of the corpus; 0 if they are not predicted.
        """
        super().__init__()
        self.settings = settings
        self.inference = inference
        self.n_labels = n_labels + FIRST_LABEL
        self.root = Embedding(1, input_width)
        self.embed_dropout = SharedDropout(settings.embed_dropout)
        self.lstm = BiLSTM(
            input_width, settings.lstm_width, settings.lstm_depth, settings.lstm_dropout
        )
        width = self.lstm.output_width + (input_width if settings.bypass_lstm else 0)
        label_width = settings.label_width or settings.mlp_width
        dropout = settings.mlp_dropout
        self.labels = Biaffine(width, self.n_labels - 1, label_width, dropout)
        self.arcs = None
        if settings.arcs_apart:
            self.arcs = Biaffine(width, 1, settings.mlp_width, dropout)
            self.arcs.set_bias(math.log(ARC_PRIOR))
        else:
            self.labels.set_bias(math.log(ARC_PRIOR / (self.n_labels - 1)))
        self.second_order = inference.build(width, self.n_labels, settings)
        self.frames = None
        if n_frames:
            self.frames = FrameClassifier(width, self.n_labels, n_frames, settings)

    @property
    def is_exact(self) -> bool:
        """Whether all arcs take part in inference, including self-loops."""
        return self.inference.wants_all_arcs and not self.settings.prune

    def forward(
        self,
        vectors: Tensor,
        lengths: list[int],
        gold: Tensor | None = None,
        hashes: Tensor | None = None,
    ) -> Scores | Posteriors:
        """Score all arcs.

        vectors (Tensor): Vectors of all words of all sentences, (words, input width).
        lengths (List[int]): Words in each sentence, in descending order.
        gold (Optional[Tensor]): Arcs that must not be pruned, booleans, (E,).
        hashes (Optional[Tensor]): Hashes of the words and of their prefixes, if frames
            are predicted, (words, 2).
        RETURNS (Scores | Posteriors): In training, the scores for the loss; in
            prediction, the posteriors for decoding.
        """
        nodes = self.read(vectors, lengths, hashes)
        label_factors = None
        if self.second_order is not None:
            label_factors = self.second_order.of_labels()
        pieces = list(split_by_pairs(lengths, self.settings.max_pairs))
        node_counts = [sum(n + 1 for n in piece) for piece in pieces]
        arc_counts = [sum((n + 1) * n for n in piece) for piece in pieces]
        arguments = [
            (piece, some_nodes, label_factors)
            for piece, some_nodes in zip(pieces, nodes.split(node_counts), strict=True)
        ]
        if not self.training:
            return join_posteriors(
                [self._predict(*each) for each in arguments], arc_counts
            )
        if gold is None:
            gold = torch.zeros(sum(arc_counts), dtype=torch.bool, device=vectors.device)
        golds = gold.split(arc_counts)
        if len(pieces) == 1:
            return self._score(*arguments[0], golds[0])
        # Recompute the pieces in the backward pass, to save memory.
        return join_scores(
            [
                checkpoint(self._score, *each, some_gold, use_reentrant=False)
                for each, some_gold in zip(arguments, golds, strict=True)
            ]
        )

    def read(
        self, vectors: Tensor, lengths: list[int], hashes: Tensor | None = None
    ) -> Nodes:
        """Compute the inputs of all scores."""
        states, sentence_of = self._states(vectors, lengths)
        arc_heads = arc_deps = factors = None
        if self.arcs is not None:
            arc_heads, arc_deps = self.arcs.tables(states, sentence_of)
        if self.second_order is not None:
            factors = self.second_order.of_nodes(states, sentence_of)
        label_heads, label_deps = self.labels.tables(states, sentence_of)
        nodes = Nodes(label_heads, label_deps, arc_heads, arc_deps, factors, None, None)
        if self.frames is None:
            return nodes
        assert hashes is not None
        rows, _ = locate_words(lengths, hashes.device)
        hashes = hashes.new_zeros(len(states), 2).index_copy(0, rows, hashes)
        return nodes._replace(states=states, hashes=hashes)

    def _states(self, vectors: Tensor, lengths: list[int]) -> tuple[Tensor, Tensor]:
        """Compute the states of all nodes, and get their sentence numbers."""
        rows, first_word = [], 1
        for n in lengths:
            rows += [0, *range(first_word, first_word + n)]
            first_word += n
        device = vectors.device
        table = torch.cat([self.root.weight, vectors])
        nodes = table.index_select(0, torch.tensor(rows, device=device))
        sentence_of = node_sentences(lengths, device)
        nodes = self.embed_dropout(nodes, sentence_of)
        states = self.lstm(nodes, sentence_of, [n + 1 for n in lengths])
        if self.settings.bypass_lstm:
            states = torch.cat([states, nodes], dim=1)
        return states, sentence_of

    def _score(
        self,
        lengths: list[int],
        nodes: Nodes,
        label_factors: Tensor | None,
        gold: Tensor,
    ) -> Scores:
        """Score all arcs of some sentences for training."""
        blocks = self._score_blocks(lengths, nodes)
        first_order = torch.cat([scores.flatten(0, 2) for scores in blocks])
        if self.is_exact:
            found = choose_all(lengths, first_order)
        else:
            found = Candidates.join(
                [
                    choose(block, 1, scores, self.settings.prune, some_gold)
                    for block, scores, some_gold in zip(
                        to_blocks(lengths),
                        blocks,
                        split_arcs(lengths, gold),
                        strict=True,
                    )
                ]
            )
        scores, labels = self._label(lengths, nodes, found)
        found = found._replace(first_order=scores)
        history = [scores, *self._infer(lengths, nodes, label_factors, found)]
        frames = self._score_frames(lengths, nodes, found, history[-1], labels)
        if self.inference.supervise == "last":
            history = history[-1:]
        return Scores(first_order, found.rows, torch.stack(history), labels, frames)

    def _predict(
        self, lengths: list[int], nodes: Nodes, label_factors: Tensor | None
    ) -> Posteriors:
        """Compute the posteriors of the candidates of some sentences."""
        if self.is_exact:
            blocks = self._score_blocks(lengths, nodes)
            found = choose_all(lengths, torch.cat([b.flatten(0, 2) for b in blocks]))
        else:
            found = Candidates.join(list(self._choose_by_strips(lengths, nodes)))
        scores, labels = self._label(lengths, nodes, found)
        found = found._replace(first_order=scores)
        for refined in self._infer(lengths, nodes, label_factors, found):
            scores = refined
        frames = self._score_frames(lengths, nodes, found, scores, labels)
        rows = found.rows
        if self.is_exact:
            is_arc = (found.arcs.head != found.arcs.dep).nonzero().flatten()
            rows, scores, labels = (
                each.index_select(0, is_arc) for each in (rows, scores, labels)
            )
        return to_posteriors(rows, scores, labels, frames)

    def _choose_by_strips(
        self, lengths: list[int], nodes: Nodes
    ) -> Iterator[Candidates]:
        """Yield the candidates for a few dependents at a time.

        The scores of all other arcs are discarded immediately, so memory does not grow
        quadratically with the length of a sentence.
        """
        for block, heads, deps in self._blocks(lengths, nodes):
            size = max(1, self.settings.max_pairs // (block.sentences * (block.n + 1)))
            for first in range(1, block.n + 1, size):
                scores = self._score_arcs(heads, deps[:, first : first + size])
                yield choose(block, first, scores, self.settings.prune)

    def _score_blocks(self, lengths: list[int], nodes: Nodes) -> list[Tensor]:
        """Compute the first-order scores of all arcs, (S, n + 1, n, L or 2) each."""
        return [
            self._score_arcs(heads, deps[:, 1:])
            for _, heads, deps in self._blocks(lengths, nodes)
        ]

    def _blocks(
        self, lengths: list[int], nodes: Nodes
    ) -> Iterator[tuple[Block, Tensor, Tensor]]:
        """Yield the inputs of arc scores by length, (S, n + 1, width)."""
        heads, deps = nodes.label_heads, nodes.label_deps
        if nodes.arc_heads is not None and nodes.arc_deps is not None:
            heads, deps = nodes.arc_heads, nodes.arc_deps
        for block, (some_heads, some_deps) in zip(
            to_blocks(lengths), split_nodes(lengths, heads, deps), strict=True
        ):
            yield block, some_heads, some_deps

    def _score_arcs(self, heads: Tensor, deps: Tensor) -> Tensor:
        """Compute first-order scores, (S, n + 1, dependents, L or 2)."""
        if self.arcs is not None:
            return pad(self.arcs(heads, deps), (1, 0))
        scores = pad(self.labels(heads, deps), (1, 0))
        from_root = torch.arange(heads.shape[1], device=heads.device) == 0
        return mask_labels_(scores, from_root.unsqueeze(1))

    def _score_labels(
        self, lengths: list[int], nodes: Nodes, found: Candidates
    ) -> Tensor:
        """Compute the label scores of candidates, (C, L), with NULL masked."""
        heads, deps = nodes.label_heads, nodes.label_deps
        if self.is_exact:
            blocks = split_nodes(lengths, heads, deps)
            scores = torch.cat(
                [
                    self.labels(each, other[:, 1:]).flatten(0, 2)
                    for each, other in blocks
                ]
            )
        else:
            scores = self.labels.score_pairs(
                heads, deps, found.arcs.head, found.arcs.dep
            )
        return mask_labels_(pad(scores, (1, 0), value=-math.inf), found.arcs.from_root)

    def _label(
        self, lengths: list[int], nodes: Nodes, found: Candidates
    ) -> tuple[Tensor, Tensor]:
        """Compute the scores of candidates before inference, (C, L or 2), and their
        label scores if inference is unlabelled, (C, L), else (C, 0)."""
        scores = found.first_order
        nothing = scores.new_empty(len(scores), 0)
        if self.settings.scores == "joint":
            return scores, nothing
        labels = self._score_labels(lengths, nodes, found)
        if self.settings.scores == "unlabelled":
            return scores, labels
        log_probabilities = labels[:, NULL + 1 :].log_softmax(-1)
        return pad(scores[:, NULL + 1 :] + log_probabilities, (1, 0)), nothing

    def _infer(
        self,
        lengths: list[int],
        nodes: Nodes,
        label_factors: Tensor | None,
        found: Candidates,
    ) -> Iterator[Tensor]:
        """Yield the scores of candidates after each iteration, (C, L or 2)."""
        factors = None
        if self.second_order is not None:
            assert nodes.factors is not None and label_factors is not None
            factors = Factors(self.second_order, nodes.factors, label_factors)
        problem = Problem(
            lengths, found.arcs, found.first_order, self.is_exact, factors
        )
        return self.inference.refine(problem, self.training)

    def _score_frames(
        self,
        lengths: list[int],
        nodes: Nodes,
        found: Candidates,
        scores: Tensor,
        labels: Tensor,
    ) -> Tensor:
        """Compute the scores of frames, (words, 1 + frames), or (0, 0) without."""
        if self.frames is None or nodes.states is None or nodes.hashes is None:
            return scores.new_empty(0, 0)
        probabilities = label_probabilities(scores, labels)
        return self.frames(
            lengths, nodes.states, nodes.hashes, found.arcs, probabilities
        )


def join_scores(pieces: list[Scores]) -> Scores:
    """Join the scores of pieces."""
    offsets = accumulate((len(piece.first_order) for piece in pieces), initial=0)
    return Scores(
        torch.cat([piece.first_order for piece in pieces]),
        torch.cat(
            [
                piece.candidates + offset
                for piece, offset in zip(pieces, offsets, strict=False)
            ]
        ),
        torch.cat([piece.refined for piece in pieces], 1),
        torch.cat([piece.labels for piece in pieces]),
        torch.cat([piece.frames for piece in pieces]),
    )


def join_posteriors(pieces: list[Posteriors], arc_counts: list[int]) -> Posteriors:
    """Join the posteriors of pieces, given their numbers of arcs."""
    offsets = accumulate(arc_counts, initial=0)
    numbered = [
        piece._replace(arcs=piece.arcs + offset)
        for piece, offset in zip(pieces, offsets, strict=False)
    ]
    return Posteriors(*map(torch.cat, zip(*numbered, strict=True)))


def to_posteriors(
    rows: Tensor, scores: Tensor, labels: Tensor, frames: Tensor
) -> Posteriors:
    """Compute the posteriors for decoding from scores.

    rows (Tensor): The rows of the candidates, (C,).
    scores (Tensor): Their scores after inference, (C, L or 2).
    labels (Tensor): Their label scores if inference is unlabelled, (C, L), else (C, 0).
    frames (Tensor): The scores of frames, (words, 1 + frames) or (0, 0).
    RETURNS (Posteriors): The posteriors.
    """
    odds = log_odds(scores)
    best, label = scores[:, NULL + 1 :].max(-1)
    best, label = best - scores[:, NULL], label + NULL + 1
    exists = best > 0
    if labels.shape[1]:
        probability, label = torch.softmax(labels, dim=-1).max(-1)
        probability = probability * torch.sigmoid(best)
    else:
        probability = torch.exp(best - softplus(odds))
    frame_probability, frame = frames.new_empty(0), rows.new_empty(0)
    if frames.shape[1]:
        frame_probability, frame = torch.softmax(frames, dim=-1).max(-1)
    return Posteriors(
        rows,
        exists,
        torch.sigmoid(-odds),
        label,
        probability,
        frame,
        frame_probability,
    )
