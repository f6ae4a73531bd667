"""The frames of words: their senses, such as `v:e-x-x` for a transitive verb."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from .arcs import Arcs
from .labels import FIRST_FRAME, FIRST_LABEL, NULL
from .layers import MLP, Embedding
from .settings import Settings

# The embedding of a hash is the sum of two rows of a table, to avoid collisions.
HASH_ROWS, HASH_WIDTH = 40_000, 64
# The second row depends on the hash without its last digits.
HASH_DIGITS = 10_000
# Rare words get few updates, so the embeddings are scaled by this factor to speed up
# their learning. They are initialized with 0, so unseen words keep a zero vector.
HASH_SCALE = 16.0
# Width of the representation of a word's arguments, in addition to their labels.
ARGUMENT_WIDTH = 64


class FrameClassifier(nn.Module):
    """Scores the frames of words, from the words and their labelled arguments.

    Frames depend on the identity of the word, which the LSTM states preserve poorly, so
    the classifier has its own word embeddings. It uses the arguments predicted by
    inference, without propagating gradients to the arcs.
    """

    def __init__(
        self, width: int, n_labels: int, n_frames: int, settings: Settings
    ) -> None:
        """Build the classifier with fresh weights.

        width (int): Width of the states.
        n_labels (int): Number of labels, including NULL and root.
        n_frames (int): Number of frames of the corpus.
        settings (Settings): The settings.
        """
        super().__init__()
        labels = n_labels - FIRST_LABEL
        self.embedding = Embedding(HASH_ROWS, HASH_WIDTH, deviation=0.0)
        # Share of words to hide in training, as if they were unknown.
        self.word_dropout = settings.embed_dropout
        self.argument = nn.Linear(width, ARGUMENT_WIDTH)
        self.role = Embedding(labels, ARGUMENT_WIDTH)
        self.mlp = MLP(
            width + labels + ARGUMENT_WIDTH + 2 * HASH_WIDTH,
            settings.mlp_width,
            settings.mlp_dropout,
        )
        self.output = nn.Linear(settings.mlp_width, n_frames + FIRST_FRAME)

    def forward(
        self,
        lengths: list[int],
        states: Tensor,
        hashes: Tensor,
        arcs: Arcs,
        probabilities: Tensor,
    ) -> Tensor:
        """Score all frames of all words.

        lengths (List[int]): Words in each sentence.
        states (Tensor): The states of all nodes, (nodes, width).
        hashes (Tensor): Hashes of the words and of their prefixes, and arbitrary values
            for the roots, (nodes, 2).
        arcs (Arcs): The candidates.
        probabilities (Tensor): The probabilities of their labels, (C, L).
        RETURNS (Tensor): The scores, (words, 1 + frames).
        """
        rows, sentence_of = locate_words(lengths, states.device)
        labels = probabilities[:, FIRST_LABEL:].detach()
        labels = labels * (arcs.head != arcs.dep).unsqueeze(1)
        arguments = self.argument(states).index_select(0, arcs.dep)
        arguments = torch.cat([labels, arguments * (labels @ self.role.weight)], dim=1)
        of_heads = arguments.new_zeros(len(states), arguments.shape[1])
        of_heads = of_heads.index_add(0, arcs.head, arguments)
        words, prefixes = self._embed(hashes.index_select(0, rows)).unbind(1)
        inputs = [
            states.index_select(0, rows),
            words,
            of_heads.index_select(0, rows),
            prefixes,
        ]
        return self.output(self.mlp(torch.cat(inputs, dim=1), sentence_of))

    def _embed(self, hashes: Tensor) -> Tensor:
        """Compute the embeddings of words and prefixes, (words, 2, HASH_WIDTH)."""
        rows = torch.stack([hashes, hashes // HASH_DIGITS]) % HASH_ROWS
        vectors = embedding(rows, self.embedding.weight).sum(0) * HASH_SCALE
        if not self.training or not self.word_dropout:
            return vectors
        is_known = vectors.new_empty(*hashes.shape, 1).bernoulli_(1 - self.word_dropout)
        return vectors * is_known


def locate_words(lengths: list[int], device: torch.device) -> tuple[Tensor, Tensor]:
    """Find the words among the nodes.

    lengths (List[int]): Words in each sentence.
    device (torch.device): The device of the result.
    RETURNS (Tuple[Tensor, Tensor]): The node of each word and its sentence, (words,).
    """
    numbers = torch.arange(len(lengths), device=device)
    sentence_of = numbers.repeat_interleave(torch.tensor(lengths, device=device))
    # A word follows the words before it, and the roots up to that of its sentence.
    words = torch.arange(len(sentence_of), device=device)
    return words + sentence_of + 1, sentence_of


def label_probabilities(scores: Tensor, labels: Tensor) -> Tensor:
    """Compute the probabilities of all labels of candidates, including NULL.

    scores (Tensor): The scores after inference, (C, L or 2).
    labels (Tensor): The label scores if inference is unlabelled, (C, L), else (C, 0).
    RETURNS (Tensor): The probabilities, (C, L).
    """
    probabilities = scores.softmax(-1)
    if not labels.shape[1]:
        return probabilities
    null, arc = probabilities.split(1, dim=1)
    return torch.cat([null, arc * labels[:, NULL + 1 :].softmax(-1)], dim=1)
