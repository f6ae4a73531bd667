"""Benchmarks measure what they say."""

import sys
from collections import Counter
from pathlib import Path
from statistics import mean, stdev

import pytest
import spacy
import srsly
import torch
from torch.testing import assert_close

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import Record, docbin, sdp
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.formats.table import read_csv

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

common = pytest.importorskip("common")
contestants = pytest.importorskip("contestants")
facts = pytest.importorskip("facts")
measuring = pytest.importorskip("measuring")


def test_all_formulations_agree():
    problem = contestants.random_problem(6, 3, rank=5)
    expected = contestants.dense(problem, 3)
    valid = problem.mask[..., 0].bool()
    assert_close(contestants.published(problem, 3)[valid], expected[valid])
    blocks = contestants.to_blocks(problem)
    (exact,) = contestants.exact(blocks, 3, exclude_self=False)
    exact = exact.view(1, 7, 6, 4)
    assert_close(exact[valid[:, :, 1:]], expected[:, :, 1:][valid[:, :, 1:]])


def test_pruned_is_exact_but_for_improbable_arcs():
    problem = contestants.random_problem(6, 3, rank=5)
    found = contestants.find_candidates(problem, prune=1e-30)
    blocks = contestants.to_blocks(problem)
    (exact,) = contestants.exact(blocks, 3, exclude_self=True)
    valid = problem.mask[0, :, 1:, 0].bool()
    assert len(found.scores) == int(valid.sum())
    all_arcs = contestants.pruned_iterations(found, 3)
    assert_close(all_arcs, exact.view(7, 6, 4)[valid])
    few = contestants.find_candidates(problem)
    assert 6 <= len(few.scores) < 20
    assert torch.isfinite(contestants.pruned_iterations(few, 3)).all()


@pytest.fixture
def compared(tmp_path):
    """The examples as corpus, and parses of two seeds that lack one and two arcs."""
    gold = list(sdp.read(EXAMPLES))
    (tmp_path / "corpus").mkdir()
    for split in ("test", "ood"):
        docbin.write(gold, tmp_path / "corpus" / f"{split}.spacy")
    for seed in (0, 1):
        folder = tmp_path / "training" / "small" / f"labelled-{seed}"
        folder.mkdir(parents=True)
        system = list(sdp.read(EXAMPLES))
        system[0].arcs = system[0].arcs[seed + 1 :]
        for split in ("test", "ood"):
            docbin.write(system, folder / f"{split}.spacy")
    return tmp_path


def test_systems_are_compared_over_seeds(compared, monkeypatch, capsys):
    ablation = pytest.importorskip("ablation")
    folders = [str(compared / "training"), str(compared / "corpus")]
    arguments = ["ablation.py", "table", *folders, "--out", str(compared)]
    pipelines = ["--pipelines", "en_sdp_dm_sm"]
    monkeypatch.setattr(sys, "argv", arguments + pipelines)
    ablation.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    gold = list(sdp.read(EXAMPLES))
    arcs = sum(len(each.arcs) + len(each.tops) for each in gold)
    lf = [200 * (arcs - lost) / (2 * arcs - lost) for lost in (1, 2)]
    expected = f"{mean(lf):.2f} ± {stdev(lf):.2f}"
    assert rows[4][:2] == ["| labelled mean field", expected]
    assert rows[5][0] == "| `en_sdp_dm_sm`" and 50 < float(rows[5][1]) < 100
    assert {path.suffix for path in compared.glob("ablation.*")} == {
        ".json",
        ".md",
        ".png",
    }
    arguments[2] = str(compared)
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit):
        ablation.main()
    assert f"there are no parses in {compared}" in capsys.readouterr().err


def test_the_table_of_the_paper_has_what_was_trained(tmp_path, monkeypatch, capsys):
    paper = pytest.importorskip("paper")
    gold = list(sdp.read(EXAMPLES))
    for folder, names in {
        "corpus/dm": ("id", "ood"),
        "corpus/psd": ("ood",),
        "training/paper/dm/published-0": ("id", "ood"),
        "training/paper/psd/published-0": ("ood",),
        "training/columns/dm/unlabelled-0": ("ood",),
    }.items():
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            docbin.write(gold, tmp_path / folder / f"{name}.spacy")
    arguments = ["paper.py", "table", str(tmp_path / "corpus")]
    arguments += [str(tmp_path / "training"), "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    paper.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert rows[2][:6] == [
        *("| system", "DM ID LF", "DM ID UF", "DM ID LM", "DM ID PF", "DM OOD LF")
    ]
    assert rows[4][0] == "| labelled, as published, paper.cfg"
    assert set(rows[4][1:-1]) == {"100.00"}
    assert rows[5][:6] == [
        *("| unlabelled mean field, columns.cfg", "", "", "", "", "100.00")
    ]
    assert {path.name for path in tmp_path.glob("paper.*")} == {
        "paper.json",
        "paper.md",
        "paper.png",
    }


def test_pipelines_are_timed_by_component(tmp_path, monkeypatch, capsys):
    pipelines = pytest.importorskip("pipelines")
    pytest.importorskip("en_sdp_dm_sm", reason="en_sdp_dm_sm is not installed")
    docbin.write(sdp.read(EXAMPLES), tmp_path / "corpus.spacy")
    arguments = ["pipelines.py", str(tmp_path / "corpus.spacy"), "en_sdp_dm_sm"]
    options = ["--repeat", "1", "--threads", "1", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments + options)
    pipelines.main()
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.startswith("| en_sdp_dm_sm | ") and " | 1.00 | " in row
    (result,) = srsly.read_json(tmp_path / "pipelines.json")["results"].values()
    assert 0 < result["parser, share of the time"] < 1
    assert result["words/s"] < result["words/s without the parser"]


def test_inference_is_measured_on_the_scores_of_the_parser():
    inference = pytest.importorskip("inference")
    pruning = pytest.importorskip("pruning")
    pytest.importorskip("en_sdp_dm_sm", reason="en_sdp_dm_sm is not installed")
    nlp = spacy.load("en_sdp_dm_sm")
    docs = [to_doc([sentence], nlp.vocab) for sentence in sdp.read(EXAMPLES)]

    def load(**settings):
        return common.find_parser(common.load_with(nlp, "en_sdp_dm_sm", **settings))

    dropouts = ("embed_dropout", "lstm_dropout", "mlp_dropout")
    exact = load(prune=0.0, **dict.fromkeys(dropouts, 0.0))
    problem = inference.real_problem(exact, docs)
    found = contestants.find_candidates(problem, prune=0.01)
    parser, without = load(prune=0.01), load(prune=0.01, predict_iterations=0)
    row = pruning.parse(parser, without, docs)
    assert row["words"] == sum(map(len, docs))
    assert row["candidates_per_word"] == len(found.scores) / row["words"]
    assert 0.8 < row["lf"] <= 1
    everything = pruning.parse(exact, exact, docs)
    assert everything["pairs_kept"] == everything["gold_kept"] == 1
    seconds = measuring.time_parts(lambda: list(parser.pipe(docs)))
    for name in ("encoder", "LSTM", "first-order scores", "mean field"):
        assert 0 < seconds[name] < seconds["all"]


def test_plots_have_a_line_for_each_system_that_took_part(tmp_path):
    report = pytest.importorskip("report")
    row = {"system": "exact", "exclude_self": False, "mode": "forward", "n": 40}
    rows = [
        {**row, "experiment": "figure", "labels": 1, "ms": 2.0},
        {**row, "experiment": "figure", "labels": 5, "ms": 3.0},
        {**row, "experiment": "figure", "labels": 5, "ms": 9.0, "mode": "backward"},
        {**row, "experiment": "figure", "labels": 9, "ms": None, "system": "dense"},
        {**row, "experiment": "growth", "labels": 91, "ms": 4.0},
    ]
    lines = report.to_lines(rows, "figure", "labels")
    assert lines == {"ours, exact": [(1, 2.0), (5, 3.0)]}
    report.plot(tmp_path, rows)
    assert {path.name for path in tmp_path.iterdir()} == {
        "inference-figure.png",
        "inference-growth.png",
    }


def test_a_transformer_can_read_windows(tmp_path, monkeypatch, capsys):
    windows = pytest.importorskip("windows")
    path = tmp_path / "gold.spacy"
    sentences = list(sdp.read(EXAMPLES))[:2]
    docbin.write(sentences, path)
    monkeypatch.setattr(sys, "argv", ["windows.py", "en_sdp_dm_md", str(path)])
    windows.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["| sentences", "| windows of 128 words"]
    # One sentence a Doc, so both read the same.
    assert rows[0][1:] == rows[1][1:]
    for arguments in (["en_sdp_dm_md", "none.spacy"], ["en_sdp_dm_sm", str(path)]):
        monkeypatch.setattr(sys, "argv", ["windows.py", *arguments])
        with pytest.raises(SystemExit):
            windows.main()
    errors = capsys.readouterr().err
    assert "there is no file none.spacy" in errors
    assert "must have a transformer" in errors


def test_wrong_frames_are_classified():
    frames = pytest.importorskip("frames")
    known = Counter(("v:e-x-x", "v_up:e-x", "n:x"))
    found = ("v:e-x-h", "v:e-x", "v_to:e-x-x", "n:x", None)
    assert [frames.find_mistake("v:e-x-x", each, known) for each in found] == [
        "types of arguments",
        "number of arguments",
        "sense",
        "kind of word",
        "word outside the graph",
    ]
    assert frames.find_mistake("v:e-p", "v:e-x", known) == "frame not in training"


def test_frames_are_counted_without_a_pipeline(tmp_path, monkeypatch, capsys):
    frames = pytest.importorskip("frames")
    paths = [tmp_path / "train.sdp", tmp_path / "test.sdp"]
    words = ["Dogs", "chase", "cats"]
    sdp.write([Record(words, frames=["n:x", "v:e-x-x", "n:x"])], paths[0])
    sdp.write([Record(words, frames=["n:x", "v:e-x-x", None])], paths[1])
    arguments = ["frames.py", "--count", "--train", str(paths[0]), "--test"]
    monkeypatch.setattr(sys, "argv", [*arguments, str(paths[1])])
    frames.main()
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| training | 3 | 2 | 50.0% |  |",
        "| test.sdp | 2 | 2 | 100.0% | 50.0% |",
    ]
    sdp.write([Record(words)], paths[1])
    with pytest.raises(SystemExit, match=r"test\.sdp: there are no frames"):
        frames.main()


def test_pipelines_are_scored_by_kind_of_text_and_sentence(
    tmp_path, monkeypatch, capsys
):
    kinds = pytest.importorskip("kinds")
    sentences = list(sdp.read(EXAMPLES))
    found = {
        name: [" ".join(each.words) for each in sentences if has_it(each)]
        for name, has_it in kinds.PHENOMENA.items()
    }
    assert found["negation"] == ["He did not answer the question ."]
    assert found["coordination"] == [
        "The farmer sold apples and pears .",
        "They sang and danced .",
    ]
    assert "The shy cat wants to eat ." in found["control"]
    assert "It rains ." not in found["control"]
    assert found["questions"] == found["quotations"] == []
    docbin.write(sentences[:2], tmp_path / "cats.spacy")
    docbin.write(sentences[16:18], tmp_path / "ships.spacy")
    arguments = ["kinds.py", str(tmp_path), "en_sdp_dm_sm", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    kinds.main()
    scores = srsly.read_json(tmp_path / "kinds.json")["en_sdp_dm_sm"]
    assert list(scores)[:3] == ["cats", "ships", "all"]
    assert scores["cats"] == scores["control"] == 100
    table = capsys.readouterr().out.splitlines()
    assert table[2] == "| cats | 100.0 |" and table[-1].startswith("| no verb |")
    assert not any("questions" in line for line in table)
    monkeypatch.setattr(
        sys, "argv", ["kinds.py", str(tmp_path / "none"), "en_sdp_dm_sm"]
    )
    with pytest.raises(SystemExit):
        kinds.main()
    assert "there are no .spacy files in" in capsys.readouterr().err


def test_broken_rows_are_among_the_texts(tmp_path):
    path = tmp_path / "texts.csv"
    facts.write_source(["It works.", 'She said "no", twice.'], path)
    with path.open("rb") as file:
        _, rows = read_csv(file, str(path), ",")
        found = [(row.number, row.cells, row.reason is None) for row in rows]
    assert [number for number, _, is_valid in found if not is_valid] == [3, 4, 5]
    assert [cells for _, cells, is_valid in found if is_valid] == [
        {"id": "0", "body": "It works."},
        {"id": "1", "body": 'She said "no", twice.'},
    ]
