"""The systems that are compared, and how they are trained."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import srsly
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config
from util import tiny_tok2vec

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp

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


def test_what_is_done_is_skipped_until_its_inputs_change(corpus, tmp_path, capfd):
    def run(**overrides):
        settings = {"training.max_steps": 1, **overrides}
        experiment.run_systems(
            ROOT / "configs" / "quick.cfg",
            corpus,
            tmp_path / "out",
            systems=["first-order"],
            overrides=settings,
        )
        return "already complete" in capfd.readouterr().out

    folder = tmp_path / "out" / "first-order-0"
    assert not run()
    config = load_config(folder / "config.cfg")
    block = config["components"]["sdp_meanfield"]["model"]["inference"]
    assert block == {"@misc": "spacy_sdp.first_order.v1"}
    assert len(list(docbin.read(folder / "test.spacy"))) == 4
    assert run()
    # An interrupted system has no record.
    (folder / "inputs.json").unlink()
    assert not run()
    # A checkpoint with other settings is not resumed.
    (folder / "inputs.json").unlink()
    (folder / "config.cfg").write_text("[paths]")
    (folder / "checkpoint.zip").write_text("of another training run")
    assert not run()
    docbin.write(list(sdp.read(EXAMPLES))[:5], corpus / "test.spacy")
    assert not run()
    assert len(list(docbin.read(folder / "test.spacy"))) == 5
    assert not run(**{"training.max_steps": 2})
    assert srsly.read_json(folder / "inputs.json")["config"] == (
        load_config(folder / "config.cfg").to_str()
    )
    assert run(**{"training.max_steps": 2})


def test_interrupted_training_is_resumed(corpus, tmp_path, capfd):
    overrides = {"training.max_steps": 2, "training.eval_frequency": 1}

    def run():
        experiment.run_systems(
            ROOT / "configs" / "quick.cfg",
            corpus,
            tmp_path / "out",
            systems=["first-order"],
            overrides=overrides,
        )

    run()
    folder = tmp_path / "out" / "first-order-0"
    (folder / "inputs.json").unlink()
    options = ["--output", folder, "--steps", "1"]
    train = [sys.executable, "-m", "spacy", "sdp", "train", folder / "config.cfg"]
    # The second step ends with a checkpoint of its own, as if it was interrupted then.
    process = subprocess.Popen([*train, *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if (folder / "checkpoint.zip").exists() or line.split()[:2] == ["0", "0"]:
            process.send_signal(signal.SIGTERM)
            break
    process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    capfd.readouterr()
    run()
    assert "Resuming after" in capfd.readouterr().out
    assert not (folder / "checkpoint.zip").exists()
    assert len(list(docbin.read(folder / "test.spacy"))) == 4
