"""The commands, as a shell calls them."""

import json

import pytest
import spacy
from util import run

from spacy_sdp.cli._app import COMMANDS
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin
from spacy_sdp.formats import sdp as sdp_format


@pytest.fixture
def faulty(tmp_path):
    """The examples with each third arc missing and another label on each fifth."""
    sentences = list(sdp_format.read(EXAMPLES))
    for sentence in sentences:
        sentence.arcs = [
            (head, dep, label if i % 5 else "X")
            for i, (head, dep, label) in enumerate(sentence.arcs)
            if i % 3 != 2
        ]
        sentence.predicates = []
    sdp_format.write(sentences, tmp_path / "faulty.sdp")
    return tmp_path / "faulty.sdp"


def test_evaluate_prints_the_scores_as_json(faulty, tmp_path):
    code, out, _ = run("evaluate", EXAMPLES, faulty, "--json")
    scores = json.loads(out)
    assert code == 0 and set(scores) == {"with_tops", "without_tops"}
    gold = list(sdp_format.read(EXAMPLES))
    system = list(sdp_format.read(faulty))
    common = sum(
        len(set(a.arcs) & set(b.arcs)) for a, b in zip(gold, system, strict=True)
    )
    n_gold, n_system = (sum(len(each.arcs) for each in x) for x in (gold, system))
    side = scores["without_tops"]
    assert side["LP"] == pytest.approx(common / n_system)
    assert side["LR"] == pytest.approx(common / n_gold)
    assert side["UP"] == 1.0
    assert scores["with_tops"]["LP"] == pytest.approx((common + 24) / (n_system + 24))
    docbin.write(system, tmp_path / "faulty.spacy")
    assert json.loads(run("evaluate", EXAMPLES, tmp_path / "faulty.spacy", "--json")[1])


def test_evaluate_prints_tables(faulty, tmp_path):
    metrics = tmp_path / "metrics.json"
    options = ("--representation", "psd", "--output", metrics)
    code, out, _ = run("evaluate", EXAMPLES, faulty, *options)
    assert code == 0
    assert json.loads(metrics.read_text())["without_tops"]["UP"] == 1.0
    lines = [line.split() for line in out.splitlines()]
    assert ["Labelled", "arcs,", "with", "tops"] in [line[:4] for line in lines]
    assert ["root", "24", "24", "100.00", "100.00", "100.00"] in lines
    assert any(line[:1] == ["5-9"] for line in lines)


def test_evaluate_refuses_other_sentences(faulty):
    text = faulty.read_text()
    faulty.write_text(text.replace("#7\n", "#77\n"))
    code, out, err = run("evaluate", EXAMPLES, faulty)
    assert code == 1 and out == ""
    assert err == (
        "✘ Sentence 7 has the id 7 in the gold standard, but 77 in the system output.\n"
    )
    faulty.write_text(text.replace("\tcat\t", "\tdog\t", 1))
    assert "token 3 is 'dog' instead of 'cat'" in run("evaluate", EXAMPLES, faulty)[2]
    assert run("evaluate", EXAMPLES, faulty, "--representation", "amr")[0] == 2


def test_evaluate_parses_the_gold_tokens_with_a_pipeline(tmp_path):
    gold, parsed = tmp_path / "gold.spacy", tmp_path / "parsed.spacy"
    sentences = list(sdp_format.read(EXAMPLES))
    docbin.write(sentences, gold)
    # What spaCy's `apply` does.
    nlp = spacy.load("en_sdp_dm_sm")
    docbin.write_docs(nlp.pipe(docbin.read_docs(gold, nlp.vocab)), parsed)
    expected = json.loads(run("evaluate", gold, parsed, "--json")[1])
    assert 0.5 < expected["with_tops"]["LF"] < 1
    model = ("--model", "en_sdp_dm_sm", "--json")
    assert json.loads(run("evaluate", gold, *model)[1]) == expected
    found = json.loads(run("evaluate", EXAMPLES, *model)[1])
    assert found["with_tops"]["LF"] == expected["with_tops"]["LF"]


def test_evaluate_refuses_a_pipeline_without_a_parser(nlp, faulty, tmp_path):
    nlp.to_disk(tmp_path / "blank")
    model = ("--model", tmp_path / "blank")
    code, _, err = run("evaluate", faulty, *model)
    assert code == 1 and "The pipeline did not set Doc._.sdp." in err
    for arguments in ((faulty,), (faulty, faulty, *model)):
        code, _, err = run("evaluate", *arguments)
        assert code == 2 and "either parser output to score, or --model" in err


def test_help_tells_what_there_is():
    code, out, _ = run("--help")
    assert code == 0
    for command, about in COMMANDS.items():
        assert command in out
        code, help_text, _ = run(command, "--help")
        # The list of commands does not import them, and says the same.
        assert code == 0 and about in help_text
    assert run("nothing")[0] == 2


def test_evaluate_scores_as_the_shared_task_of_2019(faulty, tmp_path):
    options = ("--metric", "mrp", "--output", tmp_path / "scores.json")
    code, out, _ = run("evaluate", EXAMPLES, faulty, *options)
    assert code == 0 and "Properties" in out and "Anchors" in out
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert list(scores) == [
        "tops",
        "labels",
        "properties",
        "anchors",
        "edges",
        "all",
    ]
    # Words without arcs are no nodes of this file, and some arcs have other labels.
    assert scores["anchors"]["p"] == 1 > scores["edges"]["p"] > 0.5
