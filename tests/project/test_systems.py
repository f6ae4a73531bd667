"""The systems that are compared, and how they are trained."""

import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import srsly
from spacy.cli.train import train
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config
from util import tiny_tok2vec

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp
from spacy_sdp.training.checkpoint import identify
from spacy_sdp.training.resume import ResumableLoop

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

systems = pytest.importorskip("systems")
experiment = pytest.importorskip("experiment")


@pytest.mark.parametrize("config", ["quick", "columns", "paper"])
@pytest.mark.parametrize("name", systems.SYSTEMS)
def test_all_systems_are_settings_of_all_configs(name, config):
    config = load_config(ROOT / "configs" / f"{config}.cfg")
    before = Config(config).copy()
    system = systems.SYSTEMS[name]
    found = systems.configure(config, system)
    assert config == before
    model = found["components"]["sdp_meanfield"]["model"]
    block = model["inference"]
    for settings, changes in ((model, system.model), (block, system.inference)):
        assert changes.items() <= settings.items()
    # All settings are known, and fit each other.
    inference = registry.resolve({"inference": block})["inference"]
    if "first_order" in block["@misc"]:
        assert set(block) == {"@misc"}
    else:
        assert (
            block["rank"]
            == before["components"]["sdp_meanfield"]["model"]["inference"]["rank"]
        )
    model["tok2vec"] = tiny_tok2vec()
    component = found["components"]["sdp_meanfield"]
    nlp = load_model_from_config(
        Config(
            {
                "nlp": {"lang": "en", "pipeline": ["sdp_meanfield"]},
                "components": {"sdp_meanfield": component},
            }
        ),
        auto_fill=True,
    )
    shim = nlp.get_pipe("sdp_meanfield").model.get_ref("network").shims[0]
    assert shim.inference == inference


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        docbin.write(list(sdp.read(EXAMPLES))[:4], folder / f"{split}.spacy")
    return folder


@pytest.fixture
def run_system(corpus, tmp_path, capfd):
    """Returns a function that trains a system, and returns the console output."""

    def run(max_steps=1):
        experiment.run_systems(
            ROOT / "configs" / "quick.cfg",
            corpus,
            tmp_path / "out",
            systems=["first-order"],
            overrides={"training.max_steps": max_steps},
        )
        return capfd.readouterr().out

    return run


def test_what_is_done_is_skipped_until_its_inputs_change(run_system, corpus, tmp_path):
    done = "already complete"
    folder = tmp_path / "out" / "first-order-0"
    assert done not in run_system()
    config = load_config(folder / "config.cfg")
    block = config["components"]["sdp_meanfield"]["model"]["inference"]
    assert block == {"@misc": "spacy_sdp.first_order.v1"}
    assert len(list(docbin.read(folder / "test.spacy"))) == 4
    assert done in run_system()
    # An interrupted system has no record. A checkpoint of other settings is removed.
    (folder / "inputs.json").unlink()
    (folder / "config.cfg").write_text("[paths]")
    (folder / "checkpoint.zip").write_text("of another training run")
    assert done not in run_system()
    docbin.write(list(sdp.read(EXAMPLES))[:5], corpus / "test.spacy")
    assert done not in run_system()
    assert len(list(docbin.read(folder / "test.spacy"))) == 5
    assert done not in run_system(max_steps=2)
    assert srsly.read_json(folder / "inputs.json")["config"] == (
        load_config(folder / "config.cfg").to_str()
    )
    assert done in run_system(max_steps=2)


def test_interrupted_training_is_resumed(run_system, tmp_path):
    run_system(max_steps=2)
    folder = tmp_path / "out" / "first-order-0"
    (folder / "inputs.json").unlink()
    # A signal that arrives in the first step.
    loop = ResumableLoop(
        folder,
        folder / "checkpoint.zip",
        identify(load_config(folder / "config.cfg", interpolate=True), None, -1),
        minutes=15,
        steps=0,
        note_signals=lambda: nullcontext([signal.SIGTERM]),
    )
    with loop.installed():
        train(folder / "config.cfg", folder)
    assert "Resuming after 1 steps" in run_system(max_steps=2)
    assert (folder / "inputs.json").exists()
    assert not (folder / "checkpoint.zip").exists()
