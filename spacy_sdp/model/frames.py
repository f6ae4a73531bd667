"""The frames of words: their senses, such as `v:e-i-p` for a transitive verb."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .arcs import Arcs
from .labels import FIRST_FRAME, FIRST_LABEL, NULL
from .layers import MLP, Embedding, SharedDropout
from .settings import Settings

# Each word is the sum of two rows of a table, so that hardly two words are the same.
HASH_ROWS, HASH_WIDTH = 10_000, 64


class FrameClassifier(nn.Module):
    """Scores the frames of words by the words and the labels of their arguments.

    A frame depends on which word it is, of which the states that arcs are scored from
    have little left, so words have vectors of their own here. The arguments are those
    that inference finds; they learn nothing from frames this way.
    """

    def __init__(
        self, width: int, n_labels: int, n_frames: int, settings: Settings
    ) -> None:
        """Build the classifier with fresh weights.

        width (int): Width of the states.
        n_labels (int): Number of labels, with NULL and root.
        n_frames (int): Number of frames of the corpus.
        settings (Settings): The settings.
        """
        super().__init__()
        self.embedding = Embedding(HASH_ROWS, HASH_WIDTH)
        self.embed_dropout = SharedDropout(settings.embed_dropout)
        self.mlp = MLP(
            width + HASH_WIDTH + n_labels - FIRST_LABEL,
            settings.mlp_width,
            settings.mlp_dropout,
        )
        self.output = nn.Linear(settings.mlp_width, n_frames + FIRST_FRAME)

    def forward(
        self,
        lengths: list[int],
        states: Tensor,
        norms: Tensor,
        arcs: Arcs,
        probabilities: Tensor,
    ) -> Tensor:
        """Score all frames of all words.

        lengths (List[int]): Words in each sentence.
        states (Tensor): The states of all nodes, (nodes, width).
        norms (Tensor): Hashes of the words, and anything for the roots, (nodes,).
        arcs (Arcs): The candidates.
        probabilities (Tensor): The probabilities of their labels, (C, L).
        RETURNS (Tensor): The scores, (words, 1 + frames).
        """
        labels = probabilities[:, FIRST_LABEL:].detach()
        labels = labels * (arcs.head != arcs.dep).unsqueeze(1)
        arguments = labels.new_zeros(len(states), labels.shape[1])
        arguments.index_add_(0, arcs.head, labels)
        rows, sentence_of = locate_words(lengths, states.device)
        norms = norms.index_select(0, rows)
        hashes = torch.stack([norms, norms // HASH_ROWS]) % HASH_ROWS
        vectors = self.embedding.weight[hashes].sum(0)  # (words, HASH_WIDTH)
        inputs = [
            states.index_select(0, rows),
            self.embed_dropout(vectors, sentence_of),
            arguments.index_select(0, rows),
        ]
        return self.output(self.mlp(torch.cat(inputs, dim=1), sentence_of))


def locate_words(lengths: list[int], device: torch.device) -> tuple[Tensor, Tensor]:
    """Find the words among the nodes.

    lengths (List[int]): Words in each sentence.
    device (torch.device): Where to put what is found.
    RETURNS (Tuple[Tensor, Tensor]): The node of each word and its sentence, (words,).
    """
    numbers = torch.arange(len(lengths), device=device)
    sentence_of = numbers.repeat_interleave(torch.tensor(lengths, device=device))
    # Before a word are other words, and the roots up to that of its own sentence.
    words = torch.arange(len(sentence_of), device=device)
    return words + sentence_of + 1, sentence_of


def label_probabilities(scores: Tensor, labels: Tensor) -> Tensor:
    """Give the probability of each label of each candidate, NULL among them.

    scores (Tensor): The scores after inference, (C, L or 2).
    labels (Tensor): If they are not among them, the scores of labels, (C, L).
    RETURNS (Tensor): The probabilities, (C, L).
    """
    probabilities = scores.softmax(-1)
    if not labels.shape[1]:
        return probabilities
    null, arc = probabilities.split(1, dim=1)
    return torch.cat([null, arc * labels[:, NULL + 1 :].softmax(-1)], dim=1)
