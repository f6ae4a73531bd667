import random
from zipfile import ZipFile

import numpy
import pytest
import torch
from util import add_parser

from spacy_sdp.training.checkpoint import (
    Progress,
    get_random_states,
    read_checkpoint,
    restore_optimizer,
    restore_pipeline,
    set_random_states,
    write_checkpoint,
)
from spacy_sdp.training.optimizer import make_adam

IDENTITY = {"the setting x": [1, None], "the version of y": "1.0"}


def make_progress(**changes):
    return Progress(
        **{
            "step": 3,
            "scores": [0.1, 0.3],
            "losses": {"sdp_meanfield": numpy.float32(1 / 3)},
            "performance": {"sdp_lf": 0.3},
            "seconds": 7,
            "origins": {0: {"python": random.getstate()}},
            "checksum": 5,
            **changes,
        }
    )


@pytest.fixture
def trained(nlp, examples):
    """A pipeline and its optimizer after two steps."""
    add_parser(nlp, examples)
    optimizer = make_adam(0.01)
    for _ in range(2):
        nlp.update(examples, sgd=optimizer)
    nlp.vocab.strings.add("a predicted lemma")
    return nlp, optimizer


@pytest.fixture
def path(trained, tmp_path):
    best = tmp_path / "best"
    best.mkdir()
    (best / "model").write_bytes(b"weights")
    path = tmp_path / "checkpoint.zip"
    write_checkpoint(path, IDENTITY, make_progress(), *trained, best)
    return path


def test_progress_is_kept_to_the_last_bit(path):
    progress = read_checkpoint(path, IDENTITY).progress
    assert progress == make_progress(origins=progress.origins)
    assert type(progress.losses["sdp_meanfield"]) is numpy.float32
    random.setstate(progress.origins[0]["python"])


def test_the_next_step_is_the_same(path, trained, examples):
    trained_nlp, trained_optimizer = trained
    checkpoint = read_checkpoint(path, IDENTITY)
    nlp = type(trained_nlp)()
    add_parser(nlp, examples, seed=1)
    optimizer = make_adam(0.01)
    restore_optimizer(checkpoint, nlp, optimizer)
    restore_pipeline(checkpoint, nlp)
    assert nlp.meta["performance"] == {"sdp_lf": 0.3}
    assert "a predicted lemma" in nlp.vocab.strings
    for one, sgd in ((trained_nlp, trained_optimizer), (nlp, optimizer)):
        # A step without any gradient, which the momentum makes nonetheless.
        one.get_pipe("sdp_meanfield").finish_update(sgd)
        set_random_states(checkpoint.random_states)
        one.update(examples, sgd=sgd)
    models = [each.get_pipe("sdp_meanfield").to_bytes() for each in (trained_nlp, nlp)]
    assert models[0] == models[1]


def test_a_pipeline_with_other_labels_is_refused(path, nlp, examples):
    checkpoint = read_checkpoint(path, IDENTITY)
    other = type(nlp)()
    add_parser(other, examples[:2])
    with pytest.raises(ValueError, match=f"Cannot resume from {path}: the pipeline"):
        restore_pipeline(checkpoint, other)


def test_the_old_checkpoint_stays_until_the_new_one_is_whole(path, trained, tmp_path):
    before = path.read_bytes()
    with pytest.raises((AttributeError, TypeError)):
        write_checkpoint(
            path,
            IDENTITY,
            make_progress(scores=[lambda: "cannot be saved"]),
            *trained,
            tmp_path / "best",
        )
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"a text",
        lambda data: data[: len(data) // 2],
        lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
        lambda data: data[:-20_000] + bytes([data[-20_000] ^ 1]) + data[-19_999:],
    ],
)
def test_a_damaged_file_is_refused(path, damage):
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=f"{path} is damaged or not a checkpoint"):
        read_checkpoint(path, IDENTITY)


def test_another_archive_is_refused(path):
    with ZipFile(path, "w") as archive:
        archive.writestr("readme", "nothing")
    with pytest.raises(ValueError, match=f"{path} is damaged or not a checkpoint"):
        read_checkpoint(path, IDENTITY)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"the version of y": "1.1"}, "the version of y was '1.0', now it is '1.1'"),
        ({"the setting z": 0}, "the setting z was 'missing', now it is 0"),
    ],
)
def test_the_checkpoint_of_another_training_is_refused(path, change, message):
    with pytest.raises(ValueError) as error:
        read_checkpoint(path, {**IDENTITY, **change})
    assert str(error.value) == (
        f"{path} belongs to another training run: {message}. Undo this change, or "
        "delete the checkpoint and train from the start."
    )


def test_random_states():
    def draw():
        return random.random(), numpy.random.normal(), torch.rand(1).item()

    draw()
    states = get_random_states()
    drawn = draw()
    set_random_states(states)
    assert draw() == drawn
