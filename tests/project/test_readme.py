"""Every snippet of the README and the guides runs as it stands there."""

import re
from pathlib import Path

import pytest
import spacy
from snippets import run_page, snippets
from thinc.api import Config
from util import run
from weasel.cli.document import project_document

from spacy_sdp import render
from spacy_sdp.training.optimizer import make_adam

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# With another version, installing with the constraints would replace the CPU build.
(TORCH,) = re.findall(r"^torch==.*$", (ROOT / "constraints.txt").read_text(), re.M)

# Commands that are not run here, and why.
ELSEWHERE = {
    # Continuous integration runs the second one; the others install the same things.
    "pip install -c constraints.txt . pipelines/*.whl && "
    'python -m spacy sdp parse "The shy cat wants to eat." --to clauses',
    'pip install -c constraints.txt ".[test]" pipelines/*.whl && python -m pytest',
    'pip install -c constraints.txt ".[project]"',
    'pip install -c constraints.txt ".[erg]"',
    'pip install ".[ray]"',
    f"pip install {TORCH} --index-url https://download.pytorch.org/whl/cpu",
    # They download, or take hours.
    "python -m spacy project run assets",
    "python -m spacy project run small",
    "git clone https://github.com/delph-in/erg",
    "git clone https://github.com/UniversalDependencies/UD_English-EWT",
    # They work on what was downloaded; tests of their own run the same commands.
    "python -m spacy sdp convert erg/tsdb/gold/ws20? erg/tsdb/gold/ws210 "
    "erg/tsdb/gold/ws211 train.spacy",
    "python -m spacy sdp convert erg/tsdb/gold/ws212 dev.spacy",
    "python -m spacy sdp convert UD_English-EWT/en_ewt-ud-train.conllu train.spacy",
    "python -m spacy sdp convert UD_English-EWT/en_ewt-ud-dev.conllu dev.spacy",
    # They need a corpus, or a cluster; docs/scale.md has the same in Python.
    "python -m spacy sdp parse news/ --output parsed/ --text-column body --workers 4",
    "python -m spacy sdp parse s3://bucket/news/ --output s3://bucket/parsed/ "
    "--model en_sdp_dm_md --workers 64 --ray-address auto",
    # docs/training.md has the same on data of its own.
    "python -m spacy sdp convert train.conllu train.spacy",
    "python -m spacy sdp convert dev.conllu dev.spacy",
    "python -m spacy sdp inspect train.spacy --dev dev.spacy",
    "python -m spacy train configs/quick.cfg --output training "
    "--paths.train train.spacy --paths.dev dev.spacy",
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_snippets_run_and_print_what_their_comments_say(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    run_page(path)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_what_does_not_run_here_is_known(path):
    text = path.read_text(encoding="utf8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    commands = re.findall(r"^    ((?:pip|git|python) .*)$", text, re.M)
    assert set(commands) <= ELSEWHERE


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf8")
    # Weasel's page links to project.yml as if it was beside it.
    text = text.partition("<!-- WEASEL")[0]
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), target


def test_active_and_passive_have_the_same_arcs(capsys):
    code = "\n".join(
        code for _, code in snippets((ROOT / "docs/reading.md").read_text(), "python")
    )
    exec(code[: code.index("cat = doc[2]")], {})
    active, passive = capsys.readouterr().out.splitlines()[-2:]
    assert sorted(eval(active)) == sorted(eval(passive)) != []


def test_the_picture_is_what_render_draws():
    doc = spacy.load("en_sdp_dm_sm")("The shy cat wants to eat.")
    # Probabilities depend on the machine.
    svg = re.sub(' data-score="[^"]*"', "", render(doc))
    assert (ROOT / "docs" / "cat.svg").read_text() == svg + "\n"


def test_the_first_command_prints_what_stands_below_it():
    (_, output), *_ = snippets(README, "")
    code, printed, _ = run("parse", "The shy cat wants to eat.", "--to", "clauses")
    assert (code, printed.strip()) == (0, output.strip())


def test_config_snippets_are_configs():
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf8")
    ((_, transformer),) = snippets(text, "ini")
    replaced = (
        "components.sdp_meanfield.model.tok2vec",
        "training.optimizer",
        "training.optimizer.learn_rate",
    )
    quick = (ROOT / "configs" / "quick.cfg").read_text(encoding="utf8")
    sections = re.split(r"(?m)^(?=\[)", quick)
    kept = [each for each in sections if each[1:].split("]")[0] not in replaced]
    assert len(kept) == len(sections) - len(replaced)
    config = Config().from_str("".join(kept) + transformer)
    assert set(config["training"]["optimizer"]) <= set(make_adam.__annotations__) | {
        "@optimizers"
    }
    tok2vec = config["components"]["sdp_meanfield"]["model"]["tok2vec"]
    assert set(tok2vec["*"]) == {"transformer", "tag", "lemma"}


def test_the_project_is_documented_as_it_is(tmp_path):
    page = (ROOT / "docs" / "project.md").read_text(encoding="utf8")
    copy = tmp_path / "project.md"
    copy.write_text(page, encoding="utf8")
    project_document(ROOT, copy)
    assert copy.read_text(encoding="utf8") == page, (
        "run: python -m spacy project document --output docs/project.md"
    )
