"""A small parser, trained on the spot on the example sentences of the package."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import fix_random_seed

from .formats import sdp
from .optimizer import make_adam

EXAMPLES = Path(__file__).parent / "data" / "examples.sdp"
EPOCHS = 40
BATCH_SIZE = 8
LEARN_RATE = 0.003


def train_demo(
    progress: Callable[[range], range] = lambda epochs: epochs,
) -> Language:
    """Train a pipeline on the example sentences of the package.

    progress (Callable[[range], range]): Wraps the epochs, to show a progress bar.
    RETURNS (Language): A pipeline for English that knows little more than the examples.
    """
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("sdp_meanfield")
    examples = []
    for sentence in sdp.read(EXAMPLES):
        reference = sentence.to_doc(nlp.vocab)
        examples.append(Example(nlp.make_doc(" ".join(sentence.words)), reference))
    nlp.initialize(lambda: examples)
    optimizer = make_adam(LEARN_RATE)
    for _ in progress(range(EPOCHS)):
        random.shuffle(examples)
        for batch in minibatch(examples, BATCH_SIZE):
            nlp.update(batch, sgd=optimizer)
    return nlp
