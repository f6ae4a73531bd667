"""`parse --n-process 2`, and signals: nothing hangs, nothing is left."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin
from util import add_parser, run, to_examples

from spacy_sdp.cli import workers
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import docbin, sdp
from spacy_sdp.formats.bridge import to_doc

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

# It kills processes, which other systems do in other ways.
processes = pytest.importorskip("processes") if os.name == "posix" else None

needs_ps = pytest.mark.skipif(
    shutil.which("ps") is None or os.name != "posix", reason="needs ps and signals"
)
TOO_LONG = "a" * 1_000_001


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A pipeline whose components a new process finds, too."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    docs = [to_doc([sentence], nlp.vocab) for sentence in sdp.read(EXAMPLES)]
    add_parser(nlp, to_examples(docs))
    path = tmp_path_factory.mktemp("pipelines") / "tiny"
    nlp.to_disk(path)
    return path


def test_long_files_are_parsed_in_several_processes_without_a_transformer(tiny, bert):
    nlp = spacy.load(tiny)
    cores = min(os.cpu_count(), workers.MAX_PROCESSES)
    long = workers.SIZE_FOR_PROCESSES
    chosen = [workers.choose_processes(nlp, size) for size in (None, long - 1, long)]
    assert chosen == [1, 1, cores]
    nlp.add_pipe("transformer", config={"model": {"name": str(bert)}})
    assert workers.choose_processes(nlp, long) == 1


def test_workers_only_send_the_name_of_a_file(tiny, tmp_path):
    """The parent would wait for the rest of a longer message if a worker is killed."""
    texts = ["Dogs bark. " * 1000, TOO_LONG]
    sent = workers._work(str(tiny), None, str(tmp_path), texts, docbin.to_bytes([]))
    assert [str(path) for path in tmp_path.iterdir()] == [sent]
    errors, docs = pickle.loads(Path(sent).read_bytes())
    assert errors[0] is None and "E088" in errors[1]
    (doc,) = DocBin().from_bytes(docs).get_docs(spacy.blank("en").vocab)
    assert doc.text == texts[0]


@needs_ps
@pytest.mark.parametrize(
    "fault, code, message",
    [
        ("Ctrl-C", 130, "⚠ interrupted: the rest was not parsed\n"),
        (
            "worker killed",
            1,
            "✘ A worker process died, and the rest was not parsed. Did it run out of "
            "memory? Try a smaller --n-process or --batch-size.\n",
        ),
        ("parent terminated", 143, "⚠ ended by SIGTERM: the rest was not parsed\n"),
        ("all terminated", 143, "⚠ ended by SIGTERM: the rest was not parsed\n"),
        ("terminal closed", 129, "⚠ ended by SIGHUP: the rest was not parsed\n"),
        ("parent killed", -9, None),
    ],
)
def test_nothing_hangs_and_nothing_is_left(fault, code, message, tiny, tmp_path):
    texts = tmp_path / "in.jsonl"
    processes.write_texts(texts)
    (tmp_path / "out").mkdir()
    outcome = processes.try_fault(fault, tiny, texts, tmp_path / "out")
    assert (outcome.code, outcome.left) == (code, 0)
    if message is not None:
        assert (outcome.stderr, outcome.parts) == (message, 0)
    if fault == "parent killed":
        assert outcome.texts is None
    else:
        assert 0 < outcome.texts < 100_000


def test_processes_give_the_same_bytes(tiny, tmp_path):
    rows = [{"body": f"Dog {i} barks. It is loud.", "id": i} for i in range(9)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(r)}\n" for r in rows))
    nlp = spacy.blank("en")
    # Tokens that the tokenizer would not make.
    words = spacy.tokens.Doc(nlp.vocab, words=["Do", "gs", "bark"])
    docbin.write_docs([words, nlp.make_doc("Cats purr.")], tmp_path / "docs.spacy")
    arguments = [tmp_path / "rows.jsonl", "Fish swim.", tmp_path / "docs.spacy"]
    arguments += [TOO_LONG, "--text-column", "body", "--errors", "ERRORS"]
    arguments += ["--model", tiny, "--batch-size", 3, "-o", "OUT", "--to", "FORMAT"]
    written = []
    for n in (1, 2):
        for format in ("jsonl", "spacy") if n == 1 else ("jsonl",):
            names = {
                "ERRORS": tmp_path / f"errors{n}.jsonl",
                "OUT": tmp_path / f"out{n}.{format}",
                "FORMAT": format,
            }
            names = [names.get(each, each) for each in arguments]
            code, out, err = run("parse", *names, "--n-process", n)
            assert (code, out) == (0, "") and "1 text was not parsed" in err
        written.append(
            [(tmp_path / f"{name}{n}.jsonl").read_bytes() for name in ("out", "errors")]
        )
    assert written[0] == written[1]
    records = [json.loads(line) for line in written[0][0].splitlines()]
    assert [record.get("id") for record in records] == [*range(9), None, None, None]
    assert records[10]["text"] == "Do gs bark "
    error = json.loads(written[0][1])
    assert error["input"] == TOO_LONG and "E088" in error["reason"]


def test_an_error_in_the_input_ends_the_processes(tiny, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "Dogs bark."}\n' * 5 + "broken\n")
    arguments = ["--model", tiny, "--batch-size", 1, "--n-process", 2]
    output = tmp_path / "out.jsonl"
    code, _, err = run("parse", tmp_path / "in.jsonl", *arguments, "-o", output)
    assert code == 1 and "in.jsonl, line 6: not JSON" in err
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@needs_ps
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("command", ["convert", "draw"])
def test_signals_leave_no_half_written_file(command, name, tmp_path):
    """The input is standard input, which does not end before the signal."""
    output = tmp_path / "out.html"
    arguments = ["-", output, "--to", "sdp"] if command == "convert" else ["-"]
    arguments += [] if command == "convert" else ["--output", output]
    arguments = [sys.executable, "-m", "spacy_sdp", command, *arguments]
    with subprocess.Popen(
        list(map(str, [*arguments, "--from", "sdp"])),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdin.write(EXAMPLES.read_bytes())
        process.stdin.flush()
        assert processes.wait_until(lambda: any(tmp_path.glob(".*.part")))
        number = getattr(signal, name)
        process.send_signal(number)
        err = process.communicate(timeout=60)[1].decode()
    assert (process.returncode, err) == (128 + number, f"⚠ ended by {name}\n")
    assert list(tmp_path.iterdir()) == []


@needs_ps
def test_nothing_is_left_if_nobody_reads_the_output(tiny, tmp_path):
    processes.write_texts(tmp_path / "in.jsonl", 3000)
    command = [sys.executable, "-m", "spacy_sdp", "parse", tmp_path / "in.jsonl"]
    command += ["--model", tiny, "--n-process", 2, "--batch-size", 20]
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        children = processes.find_workers(process.pid)
        process.stdout.close()
        assert "Traceback" not in process.stderr.read().decode()
        assert process.wait(timeout=60) == 1
    assert children and not any(map(processes.is_running, children))
