import random

import numpy
from util import to_examples

from spacy_sdp.training.checkpoint import Progress
from spacy_sdp.training.resume import Batches


def epochs(examples):
    """Batches of one shuffled example, as spaCy makes them."""
    for epoch in range(3):
        random.shuffle(examples)
        for example in examples:
            yield epoch, [example]


def texts(batches):
    return [(epoch, example.text) for epoch, (example,) in batches]


def progress_of(batches, step):
    return Progress(step, [], {}, {}, 0, batches.origins, batches.checksum)


def test_batches_are_made_again_without_the_steps_between_them(example_docs):
    examples = to_examples(example_docs[:4])
    random.seed(0)
    batches = Batches(epochs(list(examples)), None)
    first = []
    for epoch, (example,) in batches:
        first.append((epoch, example.text))
        random.random()  # a step
    random.seed(1)
    again = Batches(epochs(list(examples)), progress_of(batches, step=11))
    assert texts(again) == first
    assert again.checksum == batches.checksum
    # At the beginning of each epoch, but not where nothing was drawn.
    assert list(batches.origins) == [0, 4, 8]


def test_nothing_is_kept_if_only_the_data_draws(example_docs):
    batches = Batches(epochs(to_examples(example_docs[:4])), None)
    for _ in batches:
        numpy.random.random()  # a step
    assert list(batches.origins) == [0]
    assert list(batches.origins[0]) == ["python"]
