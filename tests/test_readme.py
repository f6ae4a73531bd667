"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest
import spacy
from thinc.api import Config
from weasel.cli.document import project_document

from spacy_sdp import render

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


@pytest.mark.filterwarnings("error")
def test_python_snippets_print_what_their_comments_say(capsys):
    code = "\n".join(blocks("python"))
    namespace = {}
    exec(code, namespace)
    printed = capsys.readouterr().out.splitlines()
    comments = [
        comment.strip()
        for line, comment in re.findall(r"^ *(print\(.*?) {2,}# (.*)$", code, re.M)
    ]
    assert len(comments) == 9
    assert [line for line in printed if line in comments] == comments
    assert "wants ARG2 eat" in printed
    assert len(namespace["doc"]._.sdp) == 1


def test_the_picture_is_what_render_draws():
    doc = spacy.load("en_sdp_dm_sm")("The shy cat wants to eat.")
    assert (ROOT / "docs" / "cat.svg").read_text() == render(doc) + "\n"


def test_config_snippets_are_configs():
    transformer, continued = blocks("ini")
    header = "[components]\n[components.sdp_meanfield]\n"
    header += "[components.sdp_meanfield.model]\n"
    config = Config().from_str(header + transformer)
    tok2vec = config["components"]["sdp_meanfield"]["model"]["tok2vec"]
    assert set(tok2vec["*"]) == {"transformer", "tag", "lemma"}
    sources = Config().from_str(f"[components]\n{continued}")["components"]
    assert sources == {
        name: {"source": "training/paper/model-last"}
        for name in ("transformer", "sdp_meanfield")
    }


def test_the_project_is_documented_as_it_is(tmp_path):
    copy = tmp_path / "README.md"
    copy.write_text(README, encoding="utf8")
    project_document(ROOT, copy)
    assert copy.read_text(encoding="utf8") == README, (
        "run: python -m spacy project document --output README.md"
    )


def test_the_two_commands_stand_there():
    lines = [line.strip() for line in README.splitlines()]
    assert (
        "pip install -c constraints.txt . pipelines/*.whl && "
        'python -m spacy sdp parse "The shy cat wants to eat."'
    ) in lines
    assert (
        'pip install -c constraints.txt ".[test]" pipelines/*.whl && python -m pytest'
    ) in lines
