from pathlib import Path

import spacy
from util import run

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp

PIPELINE = "en_sdp_dm_sm"


def test_a_shipped_pipeline_is_fine_tuned(tmp_path):
    data = tmp_path / "data.spacy"
    sentences = list(sdp.read(EXAMPLES))
    docbin.write(sentences, data)
    output = tmp_path / "training"
    options = ("--output", output, "--training.max_steps", 1)
    options += ("--paths.train", data, "--paths.dev", data)
    code, _, err = run("fine-tune", PIPELINE, *options)
    assert code == 0, err
    trained = spacy.load(output / "model-last")
    assert trained.pipe_names == spacy.load(PIPELINE).pipe_names
    # What could not be learned is told at once, with the other errors of users.
    sentences[0].arcs[0] = (*sentences[0].arcs[0][:2], "AGENT")
    docbin.write(sentences, data)
    code, _, err = run("fine-tune", PIPELINE, *options)
    assert code == 1
    assert "1 arcs with labels that en_sdp_dm_sm does not have: AGENT (1)." in err


def test_what_does_not_fit_is_told(tmp_path):
    configs = Path(__file__).parents[2] / "configs"
    for options, message in (
        (("--config", configs / "minilm.cfg"), "the components transformer."),
        ((), "The corpus has no path."),
    ):
        code, _, err = run("fine-tune", PIPELINE, "--output", tmp_path / "x", *options)
        assert code == 1
        assert message in err
    assert not (tmp_path / "x").exists()
