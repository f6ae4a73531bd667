"""The command `inspect`, as a shell calls it, and what it warns of."""

import json
import os
import sys
from xml.etree import ElementTree

import pytest
import spacy
from util import run

from spacy_sdp.data import EXAMPLES
from spacy_sdp.evaluation.problems import find_problems
from spacy_sdp.evaluation.statistics import Statistics
from spacy_sdp.formats import Record, docbin
from spacy_sdp.formats import sdp as sdp_format


def inspect(*args):
    return run("inspect", *args)


ALL_IS_WELL = "✔ No problems found\n"


def rows_of(out, title):
    """RETURNS the cells of a table by the names of its rows, without its bars."""
    lines = out.split(f"{title}\n", 1)[1].split("\n")[3:]
    cells = [line.strip("█▏▎▍▌▋▊▉ ").split("   ") for line in lines]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in cells]
    return {row[0]: row[1:] for row in cells[: cells.index([])]}


def healthy(count=200, start=0):
    """Sentences of which no two are the same, with two labels."""
    return [
        Record(
            [f"w{number}", "sees", "the", "big", "dog"],
            [(1, 0, "ARG1"), (1, 4, "ARG2"), (3, 4, "ARG1")],
            [1],
            id=str(number),
        )
        for number in range(start, start + count)
    ]


@pytest.fixture
def paths(tmp_path):
    """Training and development data without any problem."""
    sdp_format.write(healthy(), tmp_path / "train.sdp")
    sdp_format.write(healthy(50, start=200), tmp_path / "dev.sdp")
    return tmp_path / "train.sdp", tmp_path / "dev.sdp"


def test_tables_of_one_corpus(paths):
    code, out, err = inspect(paths[0])
    assert (code, err) == (0, "")
    counts = rows_of(out, "Corpus")
    assert counts["Sentences"] == ["200"]
    assert counts["Tokens"] == ["1,000"]
    assert counts["Arcs"] == ["600"]
    assert counts["Labels"] == ["2"]
    assert counts["Words in a sentence, median"] == ["5"]
    assert counts["Length of an arc, at most"] == ["3"]
    assert counts["Re-entrant tokens"] == ["200", "20.0"]
    assert counts["Crossing arcs"] == ["0", "0.0"]
    assert rows_of(out, "Heads per token") == {
        "0": ["600", "60.0"],
        "1": ["200", "20.0"],
        "2": ["200", "20.0"],
    }
    assert rows_of(out, "Tops per graph") == {"1": ["200", "100.0"]}
    assert rows_of(out, "Length of an arc, in words") == {
        "1": ["400", "66.7"],
        "3": ["200", "33.3"],
    }
    assert rows_of(out, "Labels") == {"ARG1": ["400", "66.7"], "ARG2": ["200", "33.3"]}
    assert "The data have tokens but no text" in out
    assert "Comparison" not in out and out.endswith(ALL_IS_WELL)


def test_tables_of_two_corpora_side_by_side(paths):
    code, out, err = inspect(paths[0], "--dev", paths[1])
    assert (code, err) == (0, "")
    assert rows_of(out, "Corpus")["Sentences"] == ["200", "50"]
    assert rows_of(out, "Corpus")["Re-entrant tokens"] == ["200", "20.0", "50", "20.0"]
    assert rows_of(out, "Heads per token")["0"] == ["600", "60.0", "150", "60.0"]
    assert rows_of(out, "Labels")["ARG2"] == ["200", "33.3", "50", "33.3"]
    assert rows_of(out, "Comparison with train") == {
        "Labels missing from train": ["0", "0.0"],
        "Arcs with these labels": ["0", "0.0"],
        "Sentences also in train, of 5 words or more": ["0", "0.0"],
    }
    assert out.endswith(ALL_IS_WELL)


def test_bars_are_as_long_as_their_share_of_the_longest(paths):
    out = inspect(paths[0])[1]
    bars = {
        line.split()[0]: line.split()[-1]
        for line in out.split("Length of an arc, in words")[1].splitlines()[4:6]
    }
    assert bars == {"1": "█" * 30, "3": "█" * 15}


def test_several_files_are_one_corpus_and_one_may_have_the_ids_of_another(paths):
    _, out, _ = inspect(*paths)
    assert rows_of(out, "Corpus")["Sentences"] == ["250"]
    sdp_format.write(healthy(50), paths[1])
    assert inspect(*paths)[1].endswith(ALL_IS_WELL)
    _, out, _ = inspect(paths[0], "--dev", paths[1], "--dev", paths[1])
    assert rows_of(out, "Corpus")["Sentences"] == ["200", "100"]


def test_a_folder_stands_for_its_files_and_the_format_can_be_named(paths, tmp_path):
    assert rows_of(inspect(tmp_path)[1], "Corpus")["Sentences"] == ["250"]
    paths[0].rename(tmp_path / "train.txt")
    code, out, err = inspect(tmp_path / "train.txt")
    assert (code, out) == (1, "") and "train.txt: unknown suffix '.txt'" in err
    assert inspect(tmp_path / "train.txt", "--from", "sdp")[1].endswith(ALL_IS_WELL)
    code, _, err = inspect(tmp_path / "train.txt", "--from", "amr")
    assert code == 1 and "unknown format 'amr'" in err


def test_the_number_of_labels_listed_can_be_chosen(paths):
    out = inspect(paths[0], "--labels", 1)[1]
    assert list(rows_of(out, "Labels")) == ["ARG1"] and "… and 1 more\n" in out
    assert "Labels\n\n" not in inspect(paths[0], "--labels", 0)[1]
    assert inspect(paths[0], "--labels", -1)[0] == 2


def test_json_has_everything(paths):
    code, out, err = inspect(*paths, "--dev", paths[1], "--json")
    data = json.loads(out)
    assert (code, err) == (0, "")
    assert list(data) == ["train", "dev", "comparison", "warnings"]
    assert data["train"]["sentences"] == 250
    assert data["train"]["heads_per_token"] == {"0": 750, "1": 250, "2": 250}
    assert data["dev"]["labels"] == {"ARG1": 100, "ARG2": 50}
    assert data["dev"]["tokenizer"]["sentences_without_text"] == 50
    assert data["comparison"]["dev_sentences_in_train"] == 50
    assert [text.split(".")[0] for text in data["warnings"]] == [
        "50 of 50 development sentences (100"
    ]
    assert set(json.loads(inspect(paths[0], "--json")[1])) == {"train", "warnings"}


def test_tokens_that_the_tokenizer_does_not_make(tmp_path):
    sentences = healthy()
    for sentence in sentences[:20]:
        sentence.words[1] = "can't"
    for sentence in sentences:
        sentence.text = " ".join(sentence.words)
    docbin.write(sentences, tmp_path / "a.spacy")
    code, out, _ = inspect(tmp_path / "a.spacy")
    assert code == 0
    assert rows_of(out, "Tokens of spaCy's tokenizer") == {
        "Sentences without text": ["0"],
        "Tokens without counterpart": ["20", "2.0"],
        "Arcs lost": ["40", "6.7"],
    }
    assert "Most frequent without counterpart: can't (20)\n" in out
    assert "⚠ 40 of 600 arcs (6.7%) have an end at a token that spaCy's" in out
    # A language without contractions has no such trouble.
    assert inspect(tmp_path / "a.spacy", "--lang", "xx")[1].endswith(ALL_IS_WELL)


def test_the_attribute_of_spacy_files_can_be_chosen(tmp_path):
    docbin.write(healthy(), tmp_path / "a.spacy", "dm")
    code, out, err = inspect(tmp_path / "a.spacy")
    assert (code, out) == (1, "") and "no graph in Doc._.sdp" in err
    assert inspect(tmp_path / "a.spacy", "--attr", "dm")[1].endswith(ALL_IS_WELL)


@pytest.mark.parametrize(
    "args, reason",
    [
        (["none.sdp"], "none.sdp: No such file or directory"),
        (["empty.sdp"], "empty.sdp: the file has no sentences"),
        (["broken.sdp"], "broken.sdp, line 4: token id '3', expected 2"),
        ([EXAMPLES, "--dev", "empty.sdp"], "empty.sdp: the file has no sentences"),
        ([EXAMPLES, "--lang", "qq"], "--lang qq: [E048] Can't import language qq"),
        ([EXAMPLES, "--plot", "a.gif"], "a.gif: the name of a plot must end in .png"),
        ([EXAMPLES, "--plot", "no/a.png"], "no: the folder does not exist"),
    ],
)
def test_bad_input_is_one_line_and_no_output(tmp_path, monkeypatch, args, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.sdp").write_text("")
    (tmp_path / "broken.sdp").write_text(
        EXAMPLES.read_text().replace("2\tshy", "3\tshy")
    )
    before = os.listdir(tmp_path)
    code, out, err = inspect(*args)
    assert (code, out) == (1, "")
    assert err.startswith(f"✘ {reason}") and len(err.splitlines()) == 1
    assert os.listdir(tmp_path) == before


def test_a_plot_is_a_picture(paths, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    # It is drawn without pyplot, which would change the state of the process.
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    code, out, err = inspect(paths[0], "--dev", paths[1], "--plot", tmp_path / "a.png")
    assert (code, err) == (0, "") and f"✔ {tmp_path / 'a.png'}\n" in out
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    picture = imread(tmp_path / "a.png")
    assert picture.shape[0] > 1000 and picture.shape[1] > 1000
    assert inspect(paths[0], "--plot", tmp_path / "a.pdf")[0] == 0
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    _, out, _ = inspect(paths[0], "--plot", tmp_path / "a.svg", "--json")
    assert json.loads(out) and ElementTree.parse(tmp_path / "a.svg")


def test_a_plot_takes_labels_as_they_are_and_graphs_without_arcs(tmp_path):
    pytest.importorskip("matplotlib")
    strange = Record(["a", "b"], [(0, 1, "$x_{$")], [0])
    for sentence in (strange, Record(["a", "b"])):
        sdp_format.write([sentence], tmp_path / "a.sdp")
        assert inspect(tmp_path / "a.sdp", "--plot", tmp_path / "a.png")[0] == 0


def test_a_plot_without_matplotlib_says_what_to_install(paths, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = inspect(paths[0], "--plot", tmp_path / "a.png")
    assert (code, out) == (1, "")
    assert err == '✘ --plot requires matplotlib: pip install "spacy-sdp[plot]"\n'


def changed(**changes):
    """A healthy sentence with other attributes."""
    (sentence,) = healthy(1, start=1000)
    for name, value in changes.items():
        setattr(sentence, name, value)
    return sentence


TWO_LABELS = [(1, 0, "ARG1"), (1, 0, "ARG2")]
CYCLE = [(0, 1, "ARG1"), (1, 2, "ARG1"), (2, 0, "ARG2")]
LONG = changed(words=["w"] * 151)


@pytest.mark.parametrize(
    "train, beginning",
    [
        (healthy(99), "Number of training sentences: 99."),
        (healthy(100), None),
        ([*healthy(), LONG], "1 sentence has more than 150 words (the longest: 151)."),
        ([*healthy(), changed(words=["w"] * 150)], None),
        ([*healthy(), *healthy(2)], "2 sentences have the id of another one in the"),
        ([*healthy(95), *[changed(arcs=[], id=None)] * 5], "5 of 100 sentences (5.0%)"),
        ([*healthy(96), *[changed(arcs=[], id=None)] * 4], None),
        ([*healthy(), *[changed(words=["w"], arcs=[], id=None)] * 50], None),
        ([*healthy(95), *[changed(tops=[], id=None)] * 5], "5 of 100 graphs (5.0%)"),
        ([*healthy(96), *[changed(tops=[], id=None)] * 4], None),
        ([changed(tops=[], id=None)] * 100, "No graph has a top"),
        ([changed(arcs=[], id=None)] * 100, "No graph has an arc"),
        ([*healthy(), changed(arcs=TWO_LABELS)], "1 word pair has several labels in"),
        ([*healthy(), changed(arcs=CYCLE)], None),
        (
            [*healthy(), *[changed(arcs=[(0, 1, "loc")], id=None)] * 9],
            "1 of 3 labels (33.3%) has fewer than 10 examples, 1.48% of the arcs "
            "in total. Do not expect the parser to predict them: loc (9).",
        ),
        ([*healthy(), *[changed(arcs=[(0, 1, "loc")], id=None)] * 10], None),
        (
            [*healthy(), *[changed(arcs=[(0, 1, "arg 1")], id=None)] * 10],
            "Some labels differ only in case or whitespace, and are different labels "
            "to the parser. Join them if they mean the same: 'ARG1' and 'arg 1'.",
        ),
        (
            [
                changed(arcs=[(0, 1, f"L{i}")], id=None)
                for i in range(501)
                for _ in range(10)
            ],
            "There are 501 labels",
        ),
    ],
)
def test_a_warning_comes_when_it_should_and_alone(train, beginning):
    problems = find_problems(Statistics.collect(train))
    assert len(problems) == (beginning is not None)
    assert all(problem.startswith(beginning) for problem in problems)
    assert all(problem[-1] in ".?" for problem in problems)


@pytest.mark.parametrize(
    "dev, beginning",
    [
        (
            [*healthy(50, start=200), changed(arcs=[(0, 1, "loc")])],
            "The development data have labels that the training data lack, 0.66% of "
            "the arcs. The parser cannot predict them: loc (1).",
        ),
        (healthy(100, start=198), "2 of 100 development sentences (2.0%) have a dup"),
        (healthy(100, start=199), None),
        ([*healthy(20, start=200), changed(tops=[]), LONG], None),
    ],
)
def test_a_warning_of_a_comparison_comes_when_it_should_and_alone(dev, beginning):
    problems = find_problems(Statistics.collect(healthy()), Statistics.collect(dev))
    assert len(problems) == (beginning is not None)
    assert all(problem.startswith(beginning) for problem in problems)


def test_long_lists_in_warnings_are_cut():
    rare = [changed(arcs=[(0, 1, f"L{i:02}")], id=None) for i in range(12)]
    (problem,) = find_problems(Statistics.collect([*healthy(), *rare]))
    named = ", ".join(f"L{i:02} (1)" for i in range(10))
    assert problem.endswith(f": {named} and 2 more.")


def test_few_lost_arcs_are_no_problem():
    sentences = healthy()
    for sentence in sentences:
        sentence.text = " ".join(sentence.words)
    sentences[0].words[1] = "can't"
    sentences[0].text = " ".join(sentences[0].words)
    statistics = Statistics.collect(sentences, spacy.blank("en"))
    assert statistics.tokenizer_fit.lost_arcs == 2
    assert find_problems(statistics) == []


def test_warnings_are_printed(paths):
    _, out, _ = inspect(EXAMPLES, "--dev", paths[1])
    assert "⚠ Number of training sentences: 24. That is enough to try things" in out
    assert "✔" not in out


def test_the_open_dm_corpus(shared_data):
    folder = shared_data / "open_dm"
    code, out, err = inspect(
        folder / "wescience.train.dm.sdp", "--dev", folder / "wescience.dev.dm.sdp"
    )
    assert (code, err) == (0, "")
    assert rows_of(out, "Tops per graph") == {"1": ["8,019", "100.0", "544", "100.0"]}
    heads = rows_of(out, "Heads per token")
    assert [row[1] for row in heads.values()] == ["61.9", "18.1", "11.1", "8.9"]
    assert "… and 26 more\n" in out
    assert rows_of(out, "Comparison with train")["Labels missing from train"][0] == "1"
    assert out.count("⚠") == 2
