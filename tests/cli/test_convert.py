"""`convert`, as a shell calls it."""

import io
import json
import os
import subprocess
import sys

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from util import run

from spacy_sdp import formats
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp

# An empty node that a label stands for where a format has none.
ELLIPSIS = """\
# sent_id = e
# text = Kim reads books and Lee papers
1\tKim\t_\t_\t_\t_\t_\t_\t2:nsubj\t_
2\treads\t_\t_\t_\t_\t_\t_\t0:root\t_
3\tbooks\t_\t_\t_\t_\t_\t_\t2:obj|2:topic\t_
4\tand\t_\t_\t_\t_\t_\t_\t4.1:cc\t_
4.1\t_\t_\t_\t_\t_\t_\t_\t2:conj:and\t_
5\tLee\t_\t_\t_\t_\t_\t_\t4.1:nsubj\t_
6\tpapers\t_\t_\t_\t_\t_\t_\t4.1:obj\t_

"""

BROKEN = EXAMPLES.read_text().replace("2\tshy", "3\tshy")


def docs(path):
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def lengths(path):
    return [len(list(doc.sents)) for doc in docs(path)]


def test_there_and_back(tmp_path):
    code, out, err = run("convert", EXAMPLES, tmp_path / "a.spacy")
    assert (code, err) == (0, "")
    assert "a.spacy: 24 sentences, 163 tokens, 108 arcs, 24 tops, 7 labels\n" in out
    assert run("convert", tmp_path / "a.spacy", tmp_path / "b.sdp")[0] == 0
    assert (tmp_path / "b.sdp").read_bytes() == EXAMPLES.read_bytes()


@pytest.mark.parametrize("suffix", [".conllu", ".mrp", ".conll", ".spacy"])
def test_every_format_keeps_the_graphs(tmp_path, suffix):
    assert run("convert", EXAMPLES, tmp_path / f"a{suffix}")[0] == 0
    code, out, _ = run("convert", tmp_path / f"a{suffix}", tmp_path / "b.sdp")
    assert code == 0 and "24 sentences, 163 tokens, 108 arcs, 24 tops" in out
    again = list(sdp.read(tmp_path / "b.sdp"))
    for one, other in zip(sdp.read(EXAMPLES), again, strict=True):
        assert one.words == other.words and one.tops == other.tops
        assert sorted(one.arcs) == sorted(other.arcs)
    assert run("evaluate", EXAMPLES, tmp_path / f"a{suffix}")[0] == 0


@pytest.mark.parametrize("suffix", [".sdp", ".mrp", ".conll", ".spacy"])
def test_composite_labels_pass_through_every_format(tmp_path, suffix):
    source, between = tmp_path / "a.conllu", tmp_path / f"b{suffix}"
    source.write_text(ELLIPSIS)
    run("convert", source, between)
    scores = json.loads(run("evaluate", source, between, "--json")[1])
    assert scores["with_tops"]["LF"] == 1.0
    run("convert", between, tmp_path / "c.conllu")
    (again,) = formats.read(tmp_path / "c.conllu")
    assert len(again.empty_nodes) == 1
    assert again.empty_nodes[0].heads == [("2", "conj:and")]


def test_the_attribute_of_spacy_files_can_be_chosen(nlp, tmp_path):
    assert run("convert", EXAMPLES, tmp_path / "a.spacy", "--attr", "dm")[0] == 0
    code, _, err = run("convert", tmp_path / "a.spacy", tmp_path / "b.sdp")
    assert code == 1 and "no graph in Doc._.sdp" in err
    assert (
        run("convert", tmp_path / "a.spacy", tmp_path / "b.sdp", "--attr", "dm")[0] == 0
    )
    assert (tmp_path / "b.sdp").read_bytes() == EXAMPLES.read_bytes()


@pytest.mark.parametrize(
    "name, content, reason",
    [
        ("a.sdp", BROKEN, "a.sdp, line 4: token id '3', expected 2"),
        ("a.sdp", "", "a.sdp: the file has no sentences"),
        ("a.sdp", None, "a.sdp: No such file or directory"),
        ("a.xml", "", "a.xml: unknown suffix '.xml'"),
        ("a.spacy", "x", "a.spacy: not a valid .spacy file"),
    ],
)
def test_bad_input_is_one_line_and_no_output(tmp_path, name, content, reason):
    if content is not None:
        (tmp_path / name).write_text(content)
    before = os.listdir(tmp_path)
    for output in ("out.spacy", "out.conllu"):
        code, out, err = run("convert", tmp_path / name, tmp_path / output)
        assert code == 1 and out == ""
        assert reason in err and len(err.splitlines()) == 1
        assert os.listdir(tmp_path) == before


def test_a_folder_that_does_not_exist_is_an_error_for_the_output(tmp_path):
    code, _, err = run("convert", EXAMPLES, tmp_path / "none" / "a.sdp")
    assert code == 1 and err == f"✘ {tmp_path / 'none'}: the folder does not exist\n"
    (tmp_path / "a.sdp").mkdir()
    code, _, err = run("convert", EXAMPLES, tmp_path / "a.sdp")
    assert code == 1 and err.endswith("a.sdp: this is a folder, not a file\n")


def test_several_files_and_folders_become_one_file(tmp_path):
    (tmp_path / "in").mkdir()
    run("convert", EXAMPLES, tmp_path / "in" / "a.conllu")
    run("convert", EXAMPLES, tmp_path / "in" / "b.mrp")
    code, out, _ = run("convert", EXAMPLES, tmp_path / "in", tmp_path / "all.spacy")
    assert (
        code == 0 and "72 sentences" in out and len(docs(tmp_path / "all.spacy")) == 72
    )
    code, out, _ = run(
        "convert", tmp_path / "in", tmp_path / "one.sdp", "--from", "conllu"
    )
    assert code == 0 and "24 sentences" in out


def test_documents_can_be_joined_split_and_kept(tmp_path):
    assert run("convert", EXAMPLES, tmp_path / "a.spacy", "--docs", "10")[0] == 0
    assert lengths(tmp_path / "a.spacy") == [10, 10, 4]
    run("convert", tmp_path / "a.spacy", tmp_path / "a.spacy", tmp_path / "b.spacy")
    assert [len(list(doc.sents)) for doc in docs(tmp_path / "b.spacy")] == [
        10,
        10,
        4,
    ] * 2
    run("convert", tmp_path / "b.spacy", tmp_path / "c.spacy", "--split-sents")
    assert len(docs(tmp_path / "c.spacy")) == 48
    run("convert", tmp_path / "a.spacy", tmp_path / "d.sdp")
    assert (tmp_path / "d.sdp").read_bytes() == EXAMPLES.read_bytes()
    code, _, err = run("convert", EXAMPLES, "x.spacy", "--docs", 2, "--split-sents")
    assert code == 1 and "cannot be used together" in err


def test_joined_sentences_without_final_punctuation_end_a_line(nlp, tmp_path):
    written = []
    for text in ["Abstract", 'He "left."', "(See below)", "Why?", "What:", "The end"]:
        written.append(nlp.make_doc(text))
        written[-1]._.sdp = []
    docbin.write_docs(written, tmp_path / "a.spacy")
    run("convert", tmp_path / "a.spacy", tmp_path / "b.spacy", "--docs", 5)
    first, last = docs(tmp_path / "b.spacy")
    assert first.text == 'Abstract\nHe "left." (See below)\nWhy? What:'
    assert [len(each) for each in first.sents] == [2, 5, 5, 2, 2]
    assert last.text == "The end"
    # The text stays the same when it is read again.
    run("convert", tmp_path / "b.spacy", tmp_path / "c.spacy", "--docs", 6)
    (doc,) = docs(tmp_path / "c.spacy")
    assert doc.text == 'Abstract\nHe "left." (See below)\nWhy? What:\nThe end'


def test_long_sentences_can_be_left_out(tmp_path):
    code, out, _ = run("convert", EXAMPLES, tmp_path / "a.sdp", "--max-length", 7)
    kept = list(sdp.read(tmp_path / "a.sdp"))
    assert code == 0 and max(len(s.words) for s in kept) == 7
    assert f"⚠ sentences left out: {24 - len(kept)} (more than 7 words)\n" in out
    code, out, err = run("convert", EXAMPLES, tmp_path / "b.sdp", "--max-length", 1)
    assert (code, out) == (1, "") and "All sentences were left out" in err
    assert not (tmp_path / "b.sdp").exists()


def test_documents_stay_apart_when_their_first_sentence_is_left_out(tmp_path):
    run("convert", EXAMPLES, tmp_path / "a.spacy", "--docs", 3)
    long = [len(s.words) > 7 for s in sdp.read(EXAMPLES)]
    assert any(long[i] and not all(long[i : i + 3]) for i in range(3, 24, 3))
    run("convert", tmp_path / "a.spacy", tmp_path / "b.spacy", "--max-length", 7)
    expected = [3 - sum(long[i : i + 3]) for i in range(0, 24, 3)]
    assert lengths(tmp_path / "b.spacy") == [n for n in expected if n]


def test_the_text_of_docs_is_kept(nlp, tmp_path):
    nlp.add_pipe("sentencizer", config={"punct_chars": ["。", "."]})
    texts = ["我来。他走。", "A.\nB. ", "One  two. Three."]
    written = []
    for text in texts:
        doc = nlp(text)
        doc._.sdp = []
        written.append(doc)
    docbin.write_docs(written, tmp_path / "a.spacy")
    run("convert", tmp_path / "a.spacy", tmp_path / "b.spacy", "--max-length", 9)
    assert [doc.text for doc in docs(tmp_path / "b.spacy")] == texts


def test_a_folder_does_not_read_its_own_output(tmp_path):
    run("convert", EXAMPLES, tmp_path / "a.conllu")
    for _ in range(2):
        _, out, _ = run("convert", tmp_path, tmp_path / "all.spacy")
        assert "24 sentences" in out


def test_an_empty_file_of_docs_is_refused(tmp_path):
    docbin.write_docs([], tmp_path / "a.spacy")
    code, _, err = run("convert", tmp_path / "a.spacy", tmp_path / "b.spacy")
    assert code == 1 and "have no sentences" in err


def test_columns_can_be_left_out(tmp_path):
    run("convert", EXAMPLES, tmp_path / "a.sdp", "--keep-attrs", "tag,lemma")
    (first, *_) = sdp.read(tmp_path / "a.sdp")
    assert first.tags[0] == "DT" and first.lemmas[3] == "want" and first.frames == []
    run("convert", EXAMPLES, tmp_path / "a.sdp", "--keep-attrs", "none")
    (first, *_) = sdp.read(tmp_path / "a.sdp")
    assert first.tags == first.lemmas == first.frames == [] and first.arcs
    code, _, err = run("convert", EXAMPLES, "x.sdp", "--keep-attrs", "tags")
    assert code == 1 and "unknown column 'tags'; choose from tag, lemma" in err


ENHANCED = """\
1\tHi\t_\tINTJ\t_\t_\t_\t_\t0:root|1.1:obj\t_
1.1\t_\t_\t_\t_\t_\t_\t_\t1:conj\t_
1.2\t_\t_\t_\t_\t_\t_\t_\t1:conj\t_
2\tyou\t_\tPRON\t_\t_\t_\t_\t1:vocative\t_

"""


def test_what_a_graph_cannot_hold_is_counted(tmp_path):
    (tmp_path / "a.conllu").write_text(ENHANCED)
    _, out, _ = run("convert", tmp_path / "a.conllu", tmp_path / "b.spacy")
    counts = "1 paths that fold to a self-loop, 1 empty nodes without arguments"
    assert "1 arcs, 1 tops, 2 empty nodes, 1 labels" in out
    assert (
        f"kept separately from the graph, so parsers cannot learn it: {counts}" in out
    )
    _, out, _ = run("convert", tmp_path / "a.conllu", tmp_path / "b.sdp")
    assert f"not written, because sdp files do not support it: {counts}" in out


def test_a_treebank_without_graphs_is_noticed(tmp_path):
    (tmp_path / "a.conllu").write_text("1\tHi" + "\t_" * 8 + "\n\n")
    code, _, err = run("convert", tmp_path / "a.conllu", tmp_path / "b.spacy")
    assert code == 0 and "The graphs have no arcs" in err and "DEPS" in err


def shell(*args, **kwargs):
    command = [sys.executable, "-m", "spacy_sdp", *map(str, args)]
    return subprocess.run(command, capture_output=True, check=False, **kwargs)


def test_standard_input_and_output(tmp_path):
    done = shell(
        "convert", "-", "-", "--from", "sdp", "--to", "mrp", input=EXAMPLES.read_bytes()
    )
    assert done.returncode == 0 and b"- : 24" not in done.stdout
    assert "✔ -: 24 sentences" in done.stderr.decode()
    (tmp_path / "a.mrp").write_bytes(done.stdout)
    assert len(list(formats.read(tmp_path / "a.mrp"))) == 24
    done = shell("convert", "-", tmp_path / "a.sdp", input=b"")
    assert done.returncode == 1 and b"specify the format (sdp, conllu" in done.stderr


def test_a_closed_pipe_is_no_error_message(tmp_path):
    sdp.write(list(sdp.read(EXAMPLES)) * 100, tmp_path / "big.sdp")
    command = f"{sys.executable} -m spacy_sdp convert {tmp_path / 'big.sdp'} - --to sdp"
    done = subprocess.run(
        f"{command} | head -n 2", shell=True, capture_output=True, check=False
    )
    assert done.stdout == b"#SDP 2015\n#1\n" and done.stderr == b""


def test_reading_and_writing_text_formats_streams(tmp_path, monkeypatch):
    """A sentence is written before the next one is read."""
    read, written = [], io.BytesIO()
    original = sdp.read

    def slowly(path):
        for sentence in original(path):
            read.append(written.getvalue().count(b"\n#"))
            yield sentence

    monkeypatch.setattr(sdp, "read", slowly)
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written))
    sentences = formats.read(EXAMPLES)
    formats.write(sentences, "-", format="sdp")
    assert read == list(range(24))


def test_docbin_is_what_spacy_train_reads(tmp_path):
    docbin.write(sdp.read(EXAMPLES), tmp_path / "a.spacy")
    (first, *_) = docs(tmp_path / "a.spacy")
    assert first.has_unknown_spaces and len(first._.sdp) == 5
