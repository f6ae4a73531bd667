"""`train`: a training that was interrupted ends as if it had not been."""

import json
import os
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train as spacy_train
from spacy.util import fix_random_seed, load_config, registry
from thinc.api import Config
from util import LISTENER, SMALL_MODEL, embedding, run, tiny_tok2vec, to_examples

from spacy_sdp.cli.interrupt import note_signals
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.training.corpus import make_corpus

QUICK = Path(__file__).parents[2] / "configs" / "quick.cfg"


class Killed(BaseException):
    """What ends a training as a crash does."""


class Killer:
    """A callback that ends the training before a step, by an exception or a signal."""

    step = None
    action = None

    def __call__(self, nlp, args):
        # As updates of spaCy's parser do. The next shuffling draws from it, too.
        random.random()
        if args["step"] == self.step:
            self.step = None
            self.action()


@pytest.fixture
def killer():
    """Set its `step` and `action`; config files know it by name."""
    killer = Killer()
    registry.callbacks("test_killer", func=lambda: killer)
    return killer


def kill():
    raise Killed


KILLER_CODE = """
import os, random, signal
from spacy.util import registry

@registry.callbacks("test_killer")
def make_killer():
    def kill(nlp, args):
        random.random()
        if args["step"] == int(os.environ.get("KILL_BEFORE_STEP", -1)):
            os.kill(os.getpid(), signal.SIGKILL)
    return kill
"""


AUGMENTER = {"@augmenters": "spacy_sdp.spelling_augmenter.v1", "level": 0.5}
LISTEN = {
    "@architectures": "spacy.Tok2VecListener.v1",
    "width": 24,
    "upstream": "*",
}
# What differs from a small parser that sees each sentence about four times.
CASES = {
    "parser": {"corpora": {"train": {"augmenter": AUGMENTER}}},
    "streamed": {
        "training": {"max_epochs": -1, "dropout": 0.3, "accumulate_gradient": 2},
        "corpora": {"train": {"augmenter": AUGMENTER, "shuffle": True}},
    },
    "several components": {
        "nlp": {"pipeline": ["frozen", "tok2vec", "tagger", "sdp_meanfield"]},
        "components": {
            "frozen": {"source": "{folder}/frozen", "component": "tagger"},
            "tok2vec": {
                "factory": "tok2vec",
                "model": tiny_tok2vec(24),
            },
            "tagger": {
                "factory": "tagger",
                "model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTEN},
            },
            "sdp_meanfield": {
                "model": {
                    **SMALL_MODEL,
                    "lstm_dropout": 0.3,
                    "tok2vec": {
                        "@layers": "concatenate.v1",
                        "*": {
                            "words": LISTEN,
                            "tag": {
                                "@layers": "spacy_sdp.word_dropout.v1",
                                "layer": embedding("TAG"),
                                "rate": 0.3,
                            },
                        },
                    },
                }
            },
        },
        "training": {
            "frozen_components": ["frozen"],
            "annotating_components": ["frozen"],
            # Averages of the weights are a matter of thinc's own Adam.
            "optimizer": {
                "@optimizers": "Adam.v1",
                "learn_rate": 0.01,
                "use_averages": True,
            },
        },
    },
    "transformer": {
        "nlp": {"pipeline": ["transformer", "sdp_meanfield"]},
        "components": {
            "transformer": {
                "factory": "transformer",
                "model": {
                    "@architectures": "spacy_sdp.TransformerModel.v1",
                    "name": "{folder}/bert",
                    "get_spans": {"@span_getters": "spacy_sdp.sentence_spans.v1"},
                    "transformer_config": {"hidden_dropout_prob": 0.1},
                },
            },
            "sdp_meanfield": {"model": {**SMALL_MODEL, "tok2vec": LISTENER}},
        },
        "training": {"optimizer": {"transformer_learn_rate": 0.001}},
        "initialize": {
            "after_init": {
                "@callbacks": "spacy_sdp.freeze_parameters.v1",
                "component": "transformer",
                "pattern": "word_embeddings",
            }
        },
    },
}


def save_tagger(path):
    """Save a pipeline with a tagger, for a training in which it is frozen."""
    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("tagger")
    docs = [to_doc([sentence], nlp.vocab) for sentence in sdp.read(EXAMPLES)]
    fix_random_seed(0)
    tagger.initialize(lambda: to_examples(docs), nlp=nlp)
    nlp.to_disk(path)


@pytest.fixture
def base(tmp_path, killer):
    docbin.write(sdp.read(EXAMPLES), tmp_path / "train.spacy")
    config = load_config(QUICK)
    return config.merge(
        {
            "paths": {
                "train": str(tmp_path / "train.spacy"),
                "dev": str(tmp_path / "train.spacy"),
            },
            "components": {"sdp_meanfield": {"model": SMALL_MODEL}},
            "training": {
                "max_steps": 12,
                "eval_frequency": 4,
                "before_update": {"@callbacks": "test_killer"},
                "batcher": {"size": 60},
                "optimizer": {"learn_rate": {"warmup_steps": 3}},
                "logger": {"progress_bar": None},
            },
        }
    )


def saved(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_config(base, case, folder):
    """Write the config of a case, whose models are in a folder."""
    text = json.dumps(CASES[case]).replace("{folder}", str(folder))
    config = Config(base)
    # Not merged: the settings of another model would stay.
    for name, value in json.loads(text).items():
        for key, settings in value.items():
            old = config[name].get(key)
            is_other = not isinstance(settings, dict) or not isinstance(old, dict)
            if is_other or "@optimizers" in settings or name == "components":
                config[name][key] = settings
            else:
                config[name][key] = {**old, **settings}
    config["components"]["sdp_meanfield"]["factory"] = "sdp_meanfield"
    path = folder / "train.cfg"
    config.to_disk(path)
    return path


@pytest.mark.parametrize("case", CASES)
def test_killed_and_resumed_is_as_uninterrupted(
    case, base, killer, bert, tmp_path, capsys
):
    save_tagger(tmp_path / "frozen")
    config = write_config(base, case, tmp_path)
    spacy_train(config, tmp_path / "whole")
    table = capsys.readouterr().out
    args = ("train", config, "--output", tmp_path / "parts", "--steps", 3)
    killer.action = kill
    for step, resume in ((7, ()), (12, ("--resume",))):
        killer.step = step
        with pytest.raises(Killed):
            run(*args, *resume)
    code, out, _ = run(*args, "--resume")
    assert code == 0
    assert "Resuming after 12 steps" in out
    last_row = table.splitlines()[-3]
    assert last_row.split()[1] == "12" and last_row in out
    assert saved(tmp_path / "parts") == saved(tmp_path / "whole")


def test_uninterrupted_is_as_spacy_train(base, tmp_path, capsys):
    config = write_config(base, "parser", tmp_path)
    spacy_train(config, tmp_path / "theirs")
    table = capsys.readouterr().out
    code, out, _ = run("train", config, "--output", tmp_path / "ours", "--steps", 5)
    assert code == 0
    assert out == table.replace("theirs", "ours")
    assert saved(tmp_path / "ours") == saved(tmp_path / "theirs")


def test_the_process_is_killed(base, tmp_path):
    config = write_config(base, "parser", tmp_path)
    spacy_train(config, tmp_path / "whole")
    (tmp_path / "code.py").write_text(KILLER_CODE)
    command = [
        *(sys.executable, "-m", "spacy", "sdp", "train", config, "--minutes", "0"),
        *("--output", tmp_path / "parts", "--code", tmp_path / "code.py"),
    ]
    killed = {**os.environ, "KILL_BEFORE_STEP": "6"}
    assert subprocess.run(command, env=killed).returncode == -signal.SIGKILL
    resumed = subprocess.run([*command, "--resume"], capture_output=True, text=True)
    assert "Resuming after 6 steps" in resumed.stdout
    assert resumed.returncode == 0
    assert saved(tmp_path / "parts") == saved(tmp_path / "whole")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_training_after_the_step(number, base, killer, tmp_path):
    config = write_config(base, "parser", tmp_path)
    spacy_train(config, tmp_path / "whole")
    killer.step, killer.action = 5, partial(os.kill, os.getpid(), number)
    args = ("train", config, "--output", tmp_path / "parts")
    code, _, err = run(*args)
    assert code == 128 + number
    path = tmp_path / "parts" / "checkpoint.zip"
    assert err.endswith(f"⚠ interrupted: use --resume to resume from {path}\n")
    code, out, _ = run(*args, "--resume")
    assert code == 0 and "Resuming after 6 steps" in out
    assert saved(tmp_path / "parts") == saved(tmp_path / "whole")


def test_only_the_first_signal_is_noted():
    with note_signals() as signals:
        os.kill(os.getpid(), signal.SIGINT)
        assert signals == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_patience_counts_from_the_best_step(base, killer, tmp_path, capsys):
    base["training"]["patience"] = 8
    # So the first evaluation remains the best one.
    base["training"]["score_weights"]["sdp_lf"] = 0.0
    config = write_config(base, "parser", tmp_path)
    spacy_train(config, tmp_path / "whole")
    killer.step, killer.action = 6, kill
    args = ("train", config, "--output", tmp_path / "parts", "--minutes", 0)
    with pytest.raises(Killed):
        run(*args)
    code, out, _ = run(*args, "--resume")
    assert code == 0 and "Resuming after 6 steps" in out
    assert " 8 " in out and " 12 " not in out
    assert saved(tmp_path / "parts") == saved(tmp_path / "whole")


@pytest.fixture
def killed(base, killer, tmp_path):
    """The command of a training that was killed, without --resume."""
    config = write_config(base, "parser", tmp_path)
    args = ("train", config, "--output", tmp_path / "out", "--minutes", 0)
    killer.step, killer.action = 2, kill
    with pytest.raises(Killed):
        run(*args)
    return args


def test_a_checkpoint_is_not_overwritten(killed, tmp_path):
    before = saved(tmp_path / "out")
    code, _, err = run(*killed)
    assert code == 1
    assert err == (
        f"✘ {tmp_path}/out/checkpoint.zip is the checkpoint of an incomplete training "
        "run. Use --resume to resume it, or delete the checkpoint to train from the "
        "start.\n"
    )
    assert saved(tmp_path / "out") == before


def test_the_best_model_is_that_of_the_checkpoint(killed, killer, tmp_path):
    best_model = tmp_path / "out" / "model-best"
    before = saved(best_model)
    (best_model / "config.cfg").unlink()
    (best_model / "half").write_text("written")
    killer.step = 2
    with pytest.raises(Killed):
        run(*killed, "--resume")
    assert saved(best_model) == before


def test_there_has_to_be_a_checkpoint_to_resume_from(base, tmp_path):
    config = write_config(base, "parser", tmp_path)
    code, _, err = run("train", config, "--output", tmp_path / "out", "--resume")
    assert code == 1
    assert err == (
        f"✘ {tmp_path}/out/checkpoint.zip does not exist, so there is nothing to "
        "resume. Leave out --resume to train from the start.\n"
    )
    assert not (tmp_path / "out").exists()


def test_another_training_does_not_resume_from_it(killed, tmp_path):
    before = saved(tmp_path / "out")
    path = tmp_path / "out" / "checkpoint.zip"
    code, _, err = run(*killed, "--resume", "--training.dropout", "0.2")
    assert code == 1
    assert err == (
        f"✘ {path} belongs to another training run: the setting training.dropout "
        "was 0.1, now it is 0.2. Undo this change, or delete the checkpoint and train "
        "from the start.\n"
    )
    data = tmp_path / "train.spacy"
    docbin.write(list(sdp.read(EXAMPLES))[:-1], data)
    code, _, err = run(*killed, "--resume")
    assert code == 1
    assert f"another training run: the checksum of {data} was '" in err
    assert saved(tmp_path / "out") == before


def test_a_damaged_checkpoint_is_refused(killed, tmp_path):
    path = tmp_path / "out" / "checkpoint.zip"
    path.write_bytes(path.read_bytes()[:-100])
    before = saved(tmp_path / "out")
    code, _, err = run(*killed, "--resume")
    assert code == 1
    assert err.startswith(f"✘ {path} is damaged or not a checkpoint (")
    assert saved(tmp_path / "out") == before


def test_data_that_is_other_data_when_it_is_read_again(base, killer, tmp_path):
    @registry.readers("test_unsteady")
    def make_reader(path):
        def read(nlp):
            examples = list(make_corpus(path)(nlp))
            random.SystemRandom().shuffle(examples)
            return examples

        return read

    path = base["paths"]["train"]
    base["corpora"]["train"] = {"@readers": "test_unsteady", "path": path}
    config = tmp_path / "train.cfg"
    Config(base).to_disk(config)
    args = ("train", config, "--output", tmp_path / "out", "--minutes", 0)
    killer.step, killer.action = 2, kill
    with pytest.raises(Killed):
        run(*args)
    with pytest.raises(ValueError, match="the data is not the same as in the"):
        run(*args, "--resume")
