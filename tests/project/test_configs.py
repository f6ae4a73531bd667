"""The configs are complete, valid, and those of the paper."""

import sys
from pathlib import Path

import pytest
import spacy
import srsly
import torch
from spacy.cli import app as spacy_app
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, load_model_from_config
from torch.testing import assert_close
from typer.testing import CliRunner
from util import save_tiny_bert, tiny_tok2vec

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import conllu, docbin, sdp
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.training.corpus import make_corpus
from spacy_sdp.training.fine_tune import make_config
from spacy_sdp.training.optimizer import make_adam

CONFIGS = Path(__file__).parents[2] / "configs"
sys.path.insert(0, str(CONFIGS.parent / "benchmarks"))
NAMES = sorted(path.stem for path in CONFIGS.glob("*.cfg"))
MODEL = "components.sdp_meanfield.model"

# Settings that make any of the parsers small.
SMALL = {
    "lstm_width": 16,
    "lstm_depth": 1,
    "mlp_width": 16,
    "inference.factor_width": 16,
    "inference.rank": 8,
}


@pytest.fixture
def paths(tmp_path):
    """Everything that a config may need: data, a tagger, an encoder."""
    data = tmp_path / "data.spacy"
    docbin.write(sdp.read(EXAMPLES), data)
    tagged = [s for s in sdp.read(EXAMPLES) if s.tags and s.lemmas]
    conllu.write(tagged, tmp_path / "tagged.conllu")
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": tiny_tok2vec()})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 8}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    for name in ("senter", "tagger"):
        nlp.add_pipe(name, config={"model": model})
    nlp.add_pipe("attribute_ruler")
    nlp.add_pipe("lemmatizer", config={"mode": "rule"})
    lemmas = {"lemma_rules": {"noun": [["s", ""]]}, "lemma_exc": {}, "lemma_index": {}}
    srsly.write_json(tmp_path / "lemmas.json", lemmas)
    lookups = {
        "@readers": "spacy_sdp.Lookups.v1",
        "path": str(tmp_path / "lemmas.json"),
    }
    nlp.config["initialize"]["components"]["lemmatizer"] = {"lookups": lookups}
    docs = [to_doc([sentence], nlp.vocab) for sentence in tagged]
    nlp.initialize(lambda: [spacy.training.Example(doc, doc) for doc in docs])
    nlp.to_disk(tmp_path / "tagger")
    words = [word for each in sdp.read(EXAMPLES) for word in each.words]
    save_tiny_bert(tmp_path / "bert", words)
    return {
        "paths.train": str(data),
        "paths.dev": str(data),
        "paths.tagger": str(tmp_path / "tagger"),
        "paths.transformer": str(tmp_path / "bert"),
        "paths.attributes": str(CONFIGS / "attributes.json"),
        "paths.lemmas": str(tmp_path / "lemmas.json"),
    }


def load_paths(paths, known=("train", "dev", "transformer")):
    return {key: path for key, path in paths.items() if key[6:] in known}


def load(name, paths, **overrides):
    own = load_config(CONFIGS / f"{name}.cfg")
    known = load_paths(paths, own["paths"])
    if "sdp_meanfield" in own["components"]:
        known |= {f"{MODEL}.{key}": value for key, value in SMALL.items()}
    return load_config(CONFIGS / f"{name}.cfg", overrides=known | overrides)


@pytest.mark.parametrize("name", NAMES)
def test_configs_leave_nothing_to_be_filled_in(name, paths):
    config = load(name, paths)
    nlp = load_model_from_config(config, auto_fill=True)
    filled = nlp.config
    for section in ("system", "nlp", "corpora", "training", "initialize"):
        assert config[section] == filled[section]
    for component, settings in config["components"].items():
        if "source" not in settings:
            assert settings == filled["components"][component]
    # spaCy does not fill in the arguments of these.
    for corpus in config["corpora"].values():
        assert set(corpus) == {"@readers", *make_corpus.__annotations__} - {"return"}
    if (optimizer := config["training"]["optimizer"])["@optimizers"] != "Adam.v1":
        arguments = set(make_adam.__annotations__) - {"return"}
        assert set(optimizer) == {"@optimizers", *arguments}


@pytest.mark.parametrize("name", NAMES)
def test_configs_work_with_spacys_commands(name, paths, tmp_path):
    path = CONFIGS / f"{name}.cfg"
    own = load_config(path)
    known = load_paths(paths, own["paths"])
    component = "tagger" if name == "tagger" else "sdp_meanfield"
    if component == "sdp_meanfield":
        known |= {f"{MODEL}.{key}": value for key, value in SMALL.items()}
    overrides = [str(each) for key in known for each in (f"--{key}", known[key])]

    def run(*command):
        result = CliRunner().invoke(spacy_app, [*map(str, command), *overrides])
        if not isinstance(result.exception, SystemExit | None):
            raise result.exception
        return result.output

    assert "Config is valid" in run("debug", "config", path)
    # There are too few examples, but nothing else is wrong.
    summary = run("debug", "data", path).split("Summary")[1]
    assert "passed" in summary
    assert "model looks good" in run("debug", "model", path, component)
    run("init", "labels", path, tmp_path / "labels")
    assert (tmp_path / "labels" / f"{component}.json").exists()
    filled = tmp_path / "filled.cfg"
    overrides = []
    run("init", "fill-config", path, filled)
    assert load_config(filled) == own


@pytest.mark.parametrize("name", NAMES)
def test_configs_train(name, paths, tmp_path):
    steps = {"training.max_steps": 2, "training.eval_frequency": 1}
    nlp = init_nlp(load(name, paths, **steps))
    (tmp_path / "out").mkdir()
    trained, path = train(nlp, tmp_path / "out")
    assert path.name == "model-last" and trained.pipe_names == nlp.pipe_names
    doc = spacy.load(path)("The shy cat wants to eat.")
    assert "sdp_meanfield" not in nlp.pipe_names or doc._.sdp is not None


@pytest.mark.parametrize("name", ["small", "minilm"])
def test_tags_are_those_of_the_shipped_pipeline_unless_another_one_is_named(
    name, paths
):
    del paths["paths.tagger"]
    text = "The shy cat wants to eat."
    doc = init_nlp(load(name, paths))(text)
    expected = spacy.load("en_sdp_dm_sm")(text)
    assert [token.tag_ for token in doc] == [token.tag_ for token in expected]
    assert doc[3].tag_ == "VBZ"


def weights(nlp, name):
    """RETURNS the torch tensors of a component, by name."""
    shims = [s for node in nlp.get_pipe(name).model.walk() for s in node.shims]
    return {k: v for shim in shims for k, v in shim._model.state_dict().items()}


@pytest.mark.parametrize("name", ["paper", "minilm"])
def test_a_trained_pipeline_is_fine_tuned(name, paths, tmp_path):
    steps = {"training.max_steps": 2, "training.eval_frequency": 2}
    for rate in ("learn_rate", "transformer_learn_rate"):
        steps[f"training.optimizer.{rate}.warmup_steps"] = 0
    nlp = init_nlp(load(name, paths, **steps))
    (tmp_path / "out").mkdir()
    _, last = train(nlp, tmp_path / "out")
    settings = load_paths(paths) | steps
    config = make_config(str(last), CONFIGS / f"{name}.cfg", settings)
    again = init_nlp(config)
    assert again.pipe_names == nlp.pipe_names
    expected = spacy.load(last)
    components = ("transformer", "sdp_meanfield")
    for component in components:
        found = weights(again, component)
        assert_close(found, weights(expected, component), rtol=0, atol=0)
    (tmp_path / "again").mkdir()
    trained, _ = train(again, tmp_path / "again")
    moved = {
        key
        for component in components
        for key, tensor in weights(trained, component).items()
        if not torch.equal(tensor, weights(expected, component)[key])
    }
    assert {"root.weight", "embeddings.LayerNorm.weight"} < moved
    # minilm.cfg freezes them.
    assert ("embeddings.word_embeddings.weight" in moved) == (name == "paper")


def test_the_paper_has_these_values():
    config = load_config(CONFIGS / "paper.cfg", interpolate=True)
    parser = config["components"]["sdp_meanfield"]["model"]
    inference = parser["inference"]
    inputs = parser["tok2vec"]["*"]
    training = config["training"]
    optimizer = training["optimizer"]
    rates = [optimizer["transformer_learn_rate"], optimizer["learn_rate"]]
    found = {
        "BERT": config["components"]["transformer"]["model"]["name"],
        "POS/Lemma embedding dimension": (
            inputs["tag"]["width"],
            inputs["lemma"]["width"],
        ),
        "Embeddings dropout": (parser["embed_dropout"], training["dropout"]),
        "BiLSTM encoder layers": parser["lstm_depth"],
        "BiLSTM encoder size": parser["lstm_width"],
        "BiLSTM layers dropout": parser["lstm_dropout"],
        "MLP layers dropout": parser["mlp_dropout"],
        "MLP dimension": (
            parser["mlp_width"],
            parser["label_width"],
            inference["factor_width"],
        ),
        "Rank dimension": inference["rank"],
        "Mean-field inference iterations (training)": inference["train_iterations"],
        "Mean-field inference iterations (testing)": inference["predict_iterations"],
        "BERT learning rate": rates[0]["initial_rate"],
        "Other learning rate": rates[1]["initial_rate"],
        "Optimizer": (
            optimizer["@optimizers"],
            optimizer["L2_is_weight_decay"],
            optimizer["L2"],
        ),
        "Scheduler": {rate["@schedules"] for rate in rates},
        "Warmup rate": {rate["warmup_steps"] / rate["total_steps"] for rate in rates},
        "Gradient clipping": parser["grad_clip"],
        "Tokens per batch": training["batcher"]["size"],
        "Maximum training sentence length": config["corpora"]["train"]["max_length"],
        "read at a time": config["components"]["transformer"]["model"]["get_spans"][
            "window"
        ],
        "tags and lemmas": config["corpora"]["train"]["copy_attrs"],
        "epochs of DM": training["max_steps"] / training["eval_frequency"],
    }
    assert found == {
        "BERT": "bert-base-cased",
        "POS/Lemma embedding dimension": (100, 100),
        "Embeddings dropout": (0.33, 0.0),
        "BiLSTM encoder layers": 3,
        "BiLSTM encoder size": 1000,
        "BiLSTM layers dropout": 0.33,
        "MLP layers dropout": 0.33,
        "MLP dimension": (300, None, 300),
        "Rank dimension": 300,
        "Mean-field inference iterations (training)": 2,
        "Mean-field inference iterations (testing)": 10,
        "BERT learning rate": 5e-5,
        "Other learning rate": 2.5e-3,
        "Optimizer": ("spacy_sdp.Adam.v1", True, 0.0),
        "Scheduler": {"spacy_sdp.warmup_linear.v1"},
        "Warmup rate": {0.5},
        "Gradient clipping": 5.0,
        "Tokens per batch": 3000,
        "Maximum training sentence length": 150,
        "read at a time": 150,
        "tags and lemmas": ["TAG", "LEMMA"],
        "epochs of DM": 30,
    }
    # Inference as published.
    assert (parser["scores"], parser["prune"]) == ("joint", 0.0)
    published = {
        "@misc": "spacy_sdp.mean_field.v1",
        "parts": ["sibling", "co-parent", "grandparent"],
        "tied": False,
        "exclude_self": False,
        "null_factors": True,
        "supervise": "last",
    }
    assert {name: inference[name] for name in published} == published


def test_the_paper_has_20_epochs_of_pas_and_psd():
    paper = pytest.importorskip("paper")
    config = CONFIGS / "paper.cfg"
    for formalism, epochs in {"dm": 30, "pas": 20, "psd": 20}.items():
        training = load_config(
            config,
            overrides=paper.OVERRIDES.get(("paper", formalism), {}),
            interpolate=True,
        )["training"]
        steps = epochs * training["eval_frequency"]
        assert training["max_steps"] == steps
        for name in ("learn_rate", "transformer_learn_rate"):
            rate = training["optimizer"][name]
            assert (rate["warmup_steps"], rate["total_steps"]) == (steps / 2, steps)
