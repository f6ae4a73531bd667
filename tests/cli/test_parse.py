"""`parse`: what goes in, what comes out, and what is refused."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from util import count_lines, run, save_chain

from spacy_sdp import SemanticGraph
from spacy_sdp.cli.interrupt import Interruptible
from spacy_sdp.cli.results import OUTPUT_FORMATS, write_results
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, read, sdp
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.pipeline import loading

CAT = "The shy cat wants to eat."
# `sdp` as a process of its own, with the components of tests/util.py.
MAIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); import util; util.sdp()"


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    return save_chain(tmp_path_factory.mktemp("pipelines") / "chain")


def test_it_takes_the_best_pipeline_that_is_installed(monkeypatch):
    monkeypatch.setattr(loading, "is_package", lambda name: name == "en_sdp_dm_sm")
    code, out, err = run("parse", CAT)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        CAT,
        "   The    BV cat",
        "   shy    ARG1 cat",
        " * wants  ARG1 cat, ARG2 eat",
        "   eat    ARG1 cat",
        "",
    ]


def test_it_tells_how_to_install_a_pipeline(monkeypatch):
    monkeypatch.setattr(loading, "is_package", lambda name: False)
    code, _, err = run("parse", "Hello.")
    assert code == 1 and "pip install pipelines/en_sdp_dm_sm-*.whl" in err
    assert loading.PIPELINES[0] == "en_sdp_dm_md"


def test_a_pipeline_without_a_parser_is_refused(nlp, tmp_path):
    nlp.to_disk(tmp_path / "blank")
    code, _, err = run("parse", "Hello.", "--model", tmp_path / "blank")
    assert code == 1 and "did not set Doc._.sdp" in err
    code, _, err = run(
        "parse", "Hello.", "--model", tmp_path / "blank", "--threshold", 0.4
    )
    assert code == 1 and "The pipeline has no sdp_meanfield" in err
    code, _, err = run("parse", "Hello.", "--model", tmp_path / "none")
    assert code == 1 and "E050" in err and len(err.splitlines()) == 1


def test_the_threshold_decides_about_arcs(monkeypatch):
    monkeypatch.setattr(loading, "is_package", lambda name: name == "en_sdp_dm_sm")
    counts = []
    for threshold in (0.001, 0.999):
        out = run("parse", CAT, "--to", "jsonl", "--threshold", threshold)[1]
        counts.append(len(json.loads(out)["triples"]))
    assert counts[0] > counts[1]
    assert run("parse", CAT, "--threshold", 2)[0] == 2


TEXTS = ["Dogs bark. Cats purr.", "Fish swim."]


def texts_of(path, format):
    """Write TEXTS to a file; RETURNS its name."""
    if format == "spacy":
        nlp = spacy.blank("en")
        DocBin(docs=[nlp.make_doc(text) for text in TEXTS]).to_disk(path)
    elif format == "jsonl":
        lines = [json.dumps({"text": t, "id": i}) for i, t in enumerate(TEXTS)]
        path.write_text("\n".join([*lines, ""]))
    else:
        path.write_text("\n\nDogs bark.\nCats purr.\n \nFish swim.")
    return path


@pytest.mark.parametrize("suffix", ["txt", "jsonl", "spacy", "md"])
def test_files_of_texts(suffix, chain, tmp_path):
    path = texts_of(tmp_path / f"in.{suffix}", suffix)
    code, out, _ = run("parse", path, "--model", chain, "--to", "jsonl")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [record["text"] for record in records] == TEXTS
    assert records[1]["triples"] == [["swim", "ARG1", "Fish"], [".", "ARG1", "swim"]]
    if suffix == "jsonl":
        assert [record["id"] for record in records] == [0, 1]


def test_lines_and_standard_input(chain, tmp_path):
    arguments = ["--model", chain, "--to", "jsonl"]
    stdin = "Dogs bark\n\nCats purr\nFish swim\n"

    def texts(*more):
        out = run("parse", *more, *arguments, input=stdin)[1]
        return [json.loads(line)["text"] for line in out.splitlines()]

    assert texts() == texts("-") == ["Dogs bark", "Cats purr Fish swim"]
    assert texts("--from", "lines") == ["Dogs bark", "Cats purr", "Fish swim"]
    assert texts("One text", "-") == ["One text", *texts()]


def test_a_record_gives_back_the_doc_and_its_graph(chain):
    record = json.loads(run("parse", TEXTS[0], "--model", chain, "--to", "jsonl")[1])
    doc = Doc(spacy.blank("en").vocab).from_json(record)
    doc._.sdp = SemanticGraph.from_dict(doc, record["sdp"])
    assert doc.text == TEXTS[0] and len(list(doc.sents)) == 2
    assert list(map(list, doc._.sdp.triples())) == record["triples"]


@pytest.mark.parametrize("suffix", ["sdp", "conllu", "mrp", "conll", "spacy"])
def test_files_of_graphs(suffix, chain, tmp_path):
    output = tmp_path / f"out.{suffix}"
    assert run("parse", *TEXTS, "--model", chain, "-o", output)[:2] == (0, "")
    sentences = list(read(output))
    assert [sentence.words[0] for sentence in sentences] == ["Dogs", "Cats", "Fish"]
    assert sentences[2].arcs == [(1, 0, "ARG1"), (2, 1, "ARG1")]
    assert sentences[2].tops == [2]


def test_docs_keep_what_the_pipeline_found(chain, tmp_path):
    run("parse", *TEXTS, "--model", chain, "-o", tmp_path / "out.spacy")
    docs = list(docbin.read_docs(tmp_path / "out.spacy"))
    assert [doc.text for doc in docs] == TEXTS


def test_a_page_of_pictures(chain, tmp_path):
    run("parse", *TEXTS, "--model", chain, "-o", tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text()
    assert page.count("<article") == page.count('class="picture"') == 3
    assert "<h1>Semantic graphs</h1>" in page


def test_closed_streams_are_named(chain):
    command = f'"{sys.executable}" -c "{MAIN}" "{Path(__file__).parents[1]}" parse'
    for more, message in (
        (f'"It works." --model "{chain}" >&-', "✘ standard output is closed"),
        ("<&-", "Specify a text"),
    ):
        result = subprocess.run(
            ["bash", "-c", f"{command} {more}"], capture_output=True, text=True
        )
        assert result.returncode in (1, 2) and message in result.stderr


def test_nothing_to_parse_is_no_error(chain, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    assert run("parse", tmp_path / "empty.txt", "--model", chain) == (0, "", "")
    assert run("parse", "", "--model", chain)[0] == 0


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("in.jsonl", '{"text": "a"}\n{"text": 1}\n', "in.jsonl, line 2: expected an"),
        ("in.jsonl", "[1]\n", "in.jsonl, line 1: expected an object with a text"),
        ("in.jsonl", "{\n", "in.jsonl, line 1: not JSON"),
        ("in.jsonl", '{"text": "a", "x": NaN}', "line 1: not JSON (NaN is not"),
        (
            "in.jsonl",
            '{"text": "\\ud800"}',
            "line 1: the text has an unpaired surrogate",
        ),
        ("in.jsonl", "[" * 100_000, "line 1: not JSON"),
        ("in.txt", b"caf\xe9", "in.txt, line 1: not UTF-8"),
        ("in.spacy", "x", "in.spacy: not a valid .spacy file"),
        ("missing.txt", None, "missing.txt: No such file or directory"),
    ],
)
def test_broken_files_are_refused(name, content, message, chain, tmp_path):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    output = tmp_path / "out.sdp"
    code, out, err = run("parse", path, "--model", chain, "-o", output)
    assert code == 1 and out == "" and err.startswith("✘ ") and message in err
    assert not output.exists()


def test_unknown_formats_are_refused(chain, tmp_path):
    arguments = ("parse", "Hello.", "--model", chain)
    code, _, err = run(*arguments, "--to", "amr")
    assert code == 2 and "no format 'amr'" in err
    code, _, err = run(*arguments, "-o", tmp_path / "out.xml")
    assert code == 2 and "no format for 'out.xml'" in err
    code, _, err = run(*arguments, "--from", "pdf")
    assert code == 2 and "unknown format 'pdf'" in err


def test_what_is_read_is_not_replaced(chain, tmp_path):
    path = texts_of(tmp_path / "in.txt", "txt")
    before = path.read_text()
    code, _, err = run("parse", path, "-o", path, "--model", chain)
    assert code == 1 and "would overwrite the input" in err
    assert path.read_text() == before


def test_words_that_look_like_files_are_no_texts(chain, tmp_path):
    code, _, err = run("parse", "nofile.conllu", "--model", chain)
    assert code == 1 and "nofile.conllu: the file has graphs, not texts" in err
    code, _, err = run("parse", tmp_path, "--model", chain)
    assert code == 1 and "directory" in err


def test_text_lines_up_for_wide_characters(chain):
    out = run("parse", "猫 吃鱼 a", "--model", chain)[1]
    assert out.splitlines()[1:3] == ["   吃鱼  ARG1 猫", " * a     ARG1 吃鱼"]
    assert run("parse", " \n ", "--model", chain)[1] == ""


needs_signals = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def send(name):
    os.kill(os.getpid(), getattr(signal, name))


@needs_signals
@pytest.mark.parametrize("name", SIGNALS)
def test_an_interruption_is_the_end_of_the_input(name):
    def items():
        yield 1
        yield 2
        send(name)
        # Python notices a signal between two instructions.
        yield 3

    before = signal.getsignal(getattr(signal, name))
    numbers = Interruptible(items())
    assert list(numbers) == [1, 2] and numbers.signal == getattr(signal, name)
    seen = []
    numbers = Interruptible(iter(range(5)))
    for number in numbers:
        if number == 2:
            send(name)
        # What is done with an item is done to its end.
        seen.append(number)
    assert seen == [0, 1, 2] and numbers.signal == getattr(signal, name)
    assert signal.getsignal(getattr(signal, name)) is before


@needs_signals
def test_a_second_signal_interrupts_what_is_done_with_an_item():
    numbers = Interruptible(iter(range(5)))
    with pytest.raises(KeyboardInterrupt):
        for _ in numbers:
            send("SIGTERM")
            send("SIGINT")
    assert numbers.signal == signal.SIGTERM


@needs_signals
@pytest.mark.parametrize("name", SIGNALS)
def test_ignored_signals_are_still_ignored(name):
    """As in the background of a shell, and by `nohup`."""
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_IGN)
    try:
        numbers = Interruptible(iter(range(3)))
        for _ in numbers:
            send(name)
        assert numbers.signal is None
        assert signal.getsignal(number) == signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_items_end_if_a_process_dies_unless_there_are_none():
    def items(count):
        yield from range(count)
        raise ChildProcessError("died")

    numbers = Interruptible(items(2))
    assert list(numbers) == [0, 1] and str(numbers.error) == "died"
    with pytest.raises(ChildProcessError, match="died"):
        list(Interruptible(items(0)))


@Language.component("test_signals")
def signals(doc):
    if doc.text in SIGNALS:
        send(doc.text)
    return doc


@needs_signals
@pytest.mark.parametrize(
    ("suffix", "name", "code", "message"),
    [
        ("conllu", "SIGTERM", 143, "ended by SIGTERM"),
        ("jsonl", "SIGINT", 130, "interrupted"),
        ("html", "SIGHUP", 129, "ended by SIGHUP"),
        ("spacy", "SIGINT", 130, "interrupted"),
    ],
)
def test_signals_leave_a_valid_file(suffix, name, code, message, chain, tmp_path):
    nlp = spacy.load(chain)
    nlp.add_pipe("test_signals")
    nlp.to_disk(tmp_path / "stopping")
    output = tmp_path / f"out.{suffix}"
    arguments = ["--model", tmp_path / "stopping", "--batch-size", 1, "-o", output]
    result = run("parse", "Dogs bark.", "Cats purr.", name, "No.", *arguments)
    assert result == (code, "", f"⚠ {message}: the rest was not parsed\n")
    if suffix == "html":
        page = output.read_text()
        assert page.count("<article") == 2 and page.endswith("</html>\n")
    elif suffix == "jsonl":
        assert len([json.loads(line) for line in output.open()]) == 2
    else:
        assert [s.words[0] for s in read(output)] == ["Dogs", "Cats"]


BAD_ROWS = {
    "broken": "not JSON (Expecting value: line 1 column 1 (char 0))",
    '{"body": 5}': 'expected an object with a text, as in {"body": "..."}',
    "[1]": 'expected an object with a text, as in {"body": "..."}',
    '{"body": "\\ud800"}': "the text has an unpaired surrogate",
    '{"body": "a", "b": [{"\\ud800": 1}]}': "a column has an unpaired surrogate",
    '{"body": "a", "b": ["\\ud800"]}': "a column has an unpaired surrogate",
    '{"body": "a", "b": 1e999}': "not JSON (the number 1e999 is too large)",
    f'{{"body": "a", "b": {"[" * 500 + "]" * 500}}}': (
        "the JSON is nested more than 100 levels deep"
    ),
}


def test_bad_rows_are_listed_and_the_rest_is_parsed(chain, tmp_path):
    path, errors = tmp_path / "in.jsonl", tmp_path / "errors.jsonl"
    good = '{"body": "Dogs bark."}'
    path.write_text("\n".join([good, *BAD_ROWS, good]))
    arguments = ["parse", path, "--model", chain, "--text-column", "body"]
    code, out, err = run(*arguments, "--errors", errors)
    assert code == 0 and out.count("Dogs bark.\n") == 2
    assert f"{errors}: 8 texts were not parsed" in err
    found = [json.loads(line) for line in errors.read_text().splitlines()]
    assert [each["line"] for each in found] == [*range(2, 10)]
    assert [each["reason"] for each in found] == list(BAD_ROWS.values())
    assert [each.get("row") for each in found[:3]] == [None, {"body": 5}, [1]]
    code, _, err = run(*arguments)
    assert code == 1 and "in.jsonl, line 2: not JSON" in err


@pytest.mark.parametrize("format", ["jsonl", "lines"])
def test_lines_that_are_no_text_are_bad_rows(chain, tmp_path, format):
    path, errors = tmp_path / "in.txt", tmp_path / "errors.jsonl"
    good = b'{"text": "Dogs bark."}\n'
    path.write_bytes(good + b"caf\xe9\n" + b"a\0b\n" + good)
    arguments = ["parse", path, "--model", chain, "--from", format]
    code, out, err = run(*arguments, "--errors", errors)
    assert code == 0 and out.count("bark") >= 2
    assert f"{errors}: 2 texts were not parsed" in err
    found = [json.loads(line) for line in errors.read_text().splitlines()]
    assert [each["line"] for each in found] == [2, 3]
    assert "not UTF-8 (byte 4 of the line is 0xe9)" in found[0]["reason"]
    assert found[1]["reason"] == "the line has a NUL byte; is this a text file?"
    code, _, err = run(*arguments)
    assert code == 1 and "in.txt, line 2: not UTF-8" in err


@pytest.mark.parametrize("format", OUTPUT_FORMATS)
def test_long_docs_are_written_in_linear_time(format, nlp, tmp_path):
    def write(times):
        doc = to_doc([*sdp.read(EXAMPLES)] * times, nlp.vocab)
        path = tmp_path / "out.csv"
        return count_lines(write_results, [(doc, {})], path, format, "sdp", "")

    assert write(4) < 4.2 * write(1)
