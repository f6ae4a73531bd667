import pytest
import spacy
import torch
from util import add_parser

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp
from spacy_sdp.training.fine_tune import fine_tune, make_config
from spacy_sdp.training.weights import get_weights

STEPS = {"training.max_steps": 2, "training.eval_frequency": 2}


@pytest.fixture
def pipeline(nlp, examples, tmp_path):
    """A trained pipeline, and data to fine-tune it on."""
    sentences = list(sdp.read(EXAMPLES))
    docbin.write(sentences, tmp_path / "train.spacy")
    add_parser(nlp, examples)
    nlp.config["corpora"] = {
        name: {
            "@readers": "spacy_sdp.Corpus.v1",
            "path": f"${{paths.{name}}}",
        }
        for name in ("train", "dev")
    }
    nlp.to_disk(tmp_path / "pipeline")
    return str(tmp_path / "pipeline")


def paths(path):
    return {"paths.train": str(path), "paths.dev": str(path)}


def test_training_starts_from_the_weights_of_the_pipeline(pipeline, tmp_path):
    before = get_weights(spacy.load(pipeline).get_pipe("sdp_meanfield"))
    data = paths(tmp_path / "train.spacy")
    rate = "training.optimizer.learn_rate"
    for name, value in (("same", 0.0), ("other", 0.01)):
        fine_tune(
            pipeline,
            tmp_path / name,
            overrides={**data, **STEPS, rate: value, "training.optimizer.L2": 0.0},
        )
        trained = spacy.load(tmp_path / name / "model-last")
        after = get_weights(trained.get_pipe("sdp_meanfield"))
        equal = [torch.equal(a, b) for a, b in zip(before, after, strict=True)]
        assert all(equal) if name == "same" else not any(equal)


def test_unknown_labels_are_reported_before_training(pipeline, tmp_path):
    sentences = list(sdp.read(EXAMPLES))
    for number, sentence in enumerate(sentences[:3]):
        sentence.arcs[0] = (*sentence.arcs[0][:2], "AGENT" if number else "GOAL")
    docbin.write(sentences, tmp_path / "new.spacy")
    with pytest.raises(ValueError) as caught:
        fine_tune(pipeline, tmp_path / "out", overrides=paths(tmp_path / "new.spacy"))
    assert str(caught.value).startswith(
        f"The training data has 3 arcs with labels that {pipeline} does not have: "
        "AGENT (2), GOAL (1). Fine-tuning cannot add labels"
    )
    assert not (tmp_path / "out").exists()


def test_the_config_may_be_another_one_with_the_same_components(pipeline, tmp_path):
    config = spacy.load(pipeline).config
    config["training"]["max_steps"] = 123
    config.to_disk(tmp_path / "other.cfg")
    found = make_config(pipeline, tmp_path / "other.cfg", {"training.dropout": 0.4})
    assert found["components"] == {"sdp_meanfield": {"source": pipeline}}
    assert (found["training"]["max_steps"], found["training"]["dropout"]) == (123, 0.4)
    config["components"] = {"tagger": {"factory": "tagger"}}
    config.to_disk(tmp_path / "other.cfg")
    with pytest.raises(
        ValueError, match=r"other.cfg does not fit .*: only one of them"
    ):
        make_config(pipeline, tmp_path / "other.cfg")


def test_a_shipped_pipeline_is_fine_tuned_with_its_own_settings():
    config = make_config("en_sdp_dm_sm")
    names = spacy.info("en_sdp_dm_sm", silent=True)["pipeline"]
    assert config["components"] == {n: {"source": "en_sdp_dm_sm"} for n in names}
    original = spacy.load("en_sdp_dm_sm").config
    # The parser reads the vectors of the pipeline.
    assert config["initialize"].pop("vectors") == "en_sdp_dm_sm"
    assert original["initialize"].pop("vectors") == "${paths.vectors}"
    for section in ("corpora", "training", "initialize"):
        assert config[section] == original[section]
    assert config["corpora"]["train"]["path"] == "${paths.train}"
