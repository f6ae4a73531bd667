"""spaCy's own commands find everything, without --code and without an import."""

import json
import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.tokens import DocBin

from spacy_sdp import __version__
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "configs" / "quick.cfg"


def run(*args, cwd):
    """Run a command of spaCy in a process of its own; RETURNS what it printed."""
    result = subprocess.run(
        [sys.executable, "-m", "spacy", *map(str, args)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


SMALL = [
    *("--components.sdp_meanfield.model.lstm_width", "40"),
    *("--components.sdp_meanfield.model.mlp_width", "40"),
    *("--components.sdp_meanfield.model.inference.rank", "20"),
    *("--training.max_steps", "60"),
    *("--training.eval_frequency", "30"),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with data and a pipeline that was trained on it by the command line."""
    folder = tmp_path_factory.mktemp("training")
    docbin.write(sdp.read(EXAMPLES), folder / "train.spacy")
    paths = ("--paths.train", "train.spacy", "--paths.dev", "train.spacy")
    output = run("train", CONFIG, "--output", "out", *paths, *SMALL, cwd=folder)
    assert "SDP_LF" in output
    return folder


def test_train_and_evaluate(trained):
    run(
        *("evaluate", "out/model-best", "train.spacy"),
        *("--output", "metrics.json"),
        cwd=trained,
    )
    metrics = json.loads((trained / "metrics.json").read_text())
    assert metrics["sdp_lf"] > 0.8
    assert metrics["sdp_lf_per_type"]["BV"]["f"] > 0.8
    meta = srsly.read_json(trained / "out" / "model-best" / "meta.json")
    assert meta["performance"]["sdp_lf"] == pytest.approx(metrics["sdp_lf"], abs=1e-4)
    assert meta["labels"]["sdp_meanfield"][:2] == ["ARG1", "ARG2"]


def test_apply_keeps_graphs_in_user_data(trained):
    (trained / "text.txt").write_text("The shy cat wants to eat.\n")
    run("apply", "out/model-best", "text.txt", "applied.spacy", cwd=trained)
    (doc,) = (
        DocBin().from_disk(trained / "applied.spacy").get_docs(spacy.blank("en").vocab)
    )
    assert [arc.label for arc in doc._.sdp.args(doc[3])] == ["ARG1", "ARG2"]
    run("sdp", "convert", "applied.spacy", "applied.sdp", cwd=trained)


def test_init_labels(trained):
    paths = ("--paths.train", "train.spacy", "--paths.dev", "train.spacy")
    run("init", "labels", CONFIG, "labels", *paths, *SMALL, cwd=trained)
    labels = srsly.read_json(trained / "labels" / "sdp_meanfield.json")
    assert labels == ["ARG1", "ARG2", "ARG3", "BV", "_and_c", "neg", "poss"]


def test_debug_model(trained):
    paths = ("--paths.train", "train.spacy", "--paths.dev", "train.spacy")
    component = ("sdp_meanfield", "--print-step3")
    output = run("debug", "model", CONFIG, *component, *paths, *SMALL, cwd=trained)
    assert "ArcPosteriors" in output


def test_find_threshold(trained):
    output = run(
        *("find-threshold", "out/model-best", "train.spacy"),
        *("sdp_meanfield", "threshold", "sdp_lf", "--n_trials", "3"),
        cwd=trained,
    )
    assert "Best threshold" in output


def test_package(trained):
    run("package", "out/model-best", ".", "--build", "none", "--name", "x", cwd=trained)
    (folder,) = trained.glob("en_x-*")
    meta = srsly.read_json(folder / "meta.json")
    expected = f"spacy-sdp>={__version__}"
    assert any(each.startswith(expected) for each in meta["requirements"])
    doc = spacy.load(folder / "en_x" / folder.name)("The shy cat wants to eat.")
    assert [arc.label for arc in doc._.sdp.args(doc[3])] == ["ARG1", "ARG2"]


def test_the_command_line_is_part_of_spacys(trained):
    output = run("sdp", "--help", cwd=trained)
    assert "convert" in output and "evaluate" in output and "parse" in output


def test_entry_points_name_what_they_point_at():
    ours = distribution("spacy-sdp").entry_points
    groups = {each.group for each in ours}
    assert groups == {
        "spacy_factories",
        "spacy_architectures",
        "spacy_augmenters",
        "spacy_callbacks",
        "spacy_misc",
        "spacy_scorers",
        "spacy_readers",
        "spacy_span_getters",
        "thinc_layers",
        "thinc_optimizers",
        "thinc_schedules",
        "spacy_cli",
    }
    for each in ours:
        assert each.load() is not None
