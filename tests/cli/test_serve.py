"""`serve`: what the server answers, and to whom."""

import json
import re
import signal
import socket
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from select import select
from threading import Event

import pytest
import spacy
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from util import add_parser, run, save_chain, serving

from spacy_sdp.cli.server import (
    ADDRESS,
    LONG_TEXTS,
    LONGEST_SENTENCE,
    LONGEST_SHORT_TEXT,
    LONGEST_TEXT,
    LONGEST_WORD,
    Handler,
)
from spacy_sdp.pipeline.loading import load_pipeline

JSON = {"Content-Type": "application/json"}
# Only a hang takes this long.
TIMEOUT = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = save_chain(tmp_path_factory.mktemp("pipelines") / "chain")
    with serving([str(path), "missing"]) as server:
        yield server


def ask(server, method, path, body=None, headers=None):
    """RETURNS the status and the text of an answer."""
    connection = HTTPConnection(ADDRESS, server.server_port, timeout=TIMEOUT)
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def connect(port, data=b""):
    """Open a connection and send what a browser would not."""
    connection = socket.create_connection((ADDRESS, port), timeout=TIMEOUT)
    connection.sendall(data)
    return connection


def receive(connection):
    """RETURNS the status, headers and body of the answer; None if there is none."""
    with connection, HTTPResponse(connection) as response:
        try:
            response.begin()
        except ConnectionError:
            return None
        return response.status, response.headers, response.read().decode()


def request(*headers, body=b"{}", host="localhost"):
    """RETURNS a POST of these headers."""
    lines = ["POST /parse HTTP/1.1", f"Host: {host}", "Content-Type: application/json"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def question(text, pipeline):
    """RETURNS a POST that asks for the graphs of a text."""
    body = json.dumps({"text": text, "pipeline": str(pipeline)}).encode()
    return request(f"Content-Length: {len(body)}", body=body)


def status_of(server, data):
    return receive(connect(server.server_port, data))[0]


def parse(server, text, **changes):
    question = {"text": text, "pipeline": server.pipelines[0], **changes}
    status, answer = ask(server, "POST", "/parse", json.dumps(question), JSON)
    return status, json.loads(answer)


def test_the_page_offers_the_pipelines(server):
    status, page = ask(server, "GET", "/")
    assert status == 200
    # To choose from, and to compare with.
    assert page.count("<option>") == 4 and page.count("<option>missing</option>") == 2
    assert "connect-src 'self'" in page


def test_a_text_becomes_pictures_and_a_record(server):
    status, answer = parse(server, "Dogs <b>bark</b>. 猫睡")
    assert status == 200
    assert answer["html"].count("<article") == 2 and "<b>" not in answer["html"]
    (record,) = answer["records"]
    assert record["triples"][0][1:] == ["ARG1", "Dogs"]
    # There are no tags.
    assert record["sdp"]["tops"] and "clauses" not in record


def test_two_pipelines_are_compared(tmp_path):
    chain = save_chain(tmp_path / "chain")
    nlp = spacy.load(chain)
    nlp.remove_pipe("sentencizer")
    nlp.add_pipe("test_pairs", first=True)
    nlp.to_disk(tmp_path / "pairs")
    nlp = spacy.load(chain)
    nlp.tokenizer = Tokenizer(nlp.vocab)
    nlp.to_disk(tmp_path / "spaces")
    names = [str(tmp_path / name) for name in ("chain", "pairs", "spaces")]
    with serving(names) as server:
        status, answer = parse(server, "Dogs bark loudly. Cats purr.", other=names[1])
        assert status == 200 and len(answer["records"]) == 2
        # Both start a sentence at the fifth word, the second one also at others.
        assert answer["html"].count("<article") == 2
        assert answer["html"].count('class="edge match"') > 0
        assert 'class="edge missed"' not in answer["html"]
        assert parse(server, "Dogs bark.", other=names[0])[0] == 200
        status, answer = parse(server, "Dogs bark.", other=names[2])
        assert (
            status == 400 and "split this text into different words" in answer["error"]
        )
        status, answer = parse(server, "Dogs bark.", other="/etc")
        assert status == 400 and "Unknown pipeline '/etc'" in answer["error"]


def test_what_cannot_be_parsed_is_explained(server):
    assert parse(server, " ") == (400, {"error": "Type a sentence."})
    assert parse(server, None)[0] == 400
    status, answer = parse(server, "a " * LONGEST_TEXT)
    assert status == 413 and "characters" in answer["error"]
    status, answer = parse(server, "Hello.", pipeline="/etc")
    assert status == 400 and "Unknown pipeline '/etc'" in answer["error"]
    status, answer = parse(server, "Hello.", pipeline="missing")
    assert status == 500 and "E050" in answer["error"]
    status, answer = ask(server, "POST", "/parse", "{", JSON)
    assert status == 400 and "not JSON" in answer
    assert ask(server, "POST", "/parse", "[]", JSON)[0] == 400
    status, answer = parse(server, "Hello \ud800.")
    assert status == 400 and "an unpaired surrogate" in answer["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 411),
        (["Transfer-Encoding: chunked"], 411),
        (["Content-Length: 2", "Transfer-Encoding: chunked"], 400),
        (["Content-Length: 2", "Content-Length: 3"], 400),
        (["Content-Length: -2"], 400),
        (["Content-Length: ²"], 400),
        (["Content-Length: two"], 400),
        (["Content-Length:"], 400),
        (["Content-Length: 241001"], 413),
        ([f"Content-Length: {'9' * 5000}"], 413),
        (["Content-Length: 2"], 400),
    ],
)
def test_a_request_says_how_long_it_is(server, headers, status):
    assert status_of(server, request(*headers)) == status


def test_a_request_that_ends_early_is_refused(server):
    connection = connect(server.server_port, request("Content-Length: 20"))
    connection.shutdown(socket.SHUT_WR)
    status, _, answer = receive(connection)
    assert status == 400 and "not complete" in answer


def test_what_is_not_read_does_not_reset_the_connection(server):
    body = b" " * 2_000_000
    data = request(f"Content-Length: {len(body)}", body=body)
    assert status_of(server, data) == 413


def test_only_pages_of_this_machine_are_answered(server):
    assert server.server_address[0] == "127.0.0.1"
    foreign = {"Host": "example.com"}
    assert ask(server, "GET", "/", headers=foreign)[0] == 403
    assert ask(server, "POST", "/parse", "{}", {**JSON, **foreign})[0] == 403
    # What a form on another site can send.
    plain = {"Content-Type": "text/plain"}
    assert ask(server, "POST", "/parse", "{}", plain)[0] == 415
    assert ask(server, "GET", "/etc/passwd")[0] == 404
    assert ask(server, "POST", "/", "{}", JSON)[0] == 405
    assert ask(server, "GET", "/parse")[0] == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1", 200),
        ("127.0.0.1:5000", 200),
        ("[::1]", 200),
        ("[::1]:5000", 200),
        ("", 403),
        ("localhost:evil.example", 403),
        ("localhost:80:80", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example:80", 403),
        ("evil.example@localhost", 403),
        ("127x0x0x1", 403),
        ("::1", 403),
        ("localhost\r\nHost: localhost", 400),
    ],
)
def test_the_host_is_compared_exactly(server, host, status):
    assert (
        status_of(server, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()) == status
    )


def test_a_request_without_a_host_is_refused(server):
    assert status_of(server, b"GET / HTTP/1.1\r\n\r\n") == 400


@pytest.mark.parametrize("data", [b"", b"POST /par", request()[:-8]])
def test_an_idle_connection_is_closed(server, monkeypatch, data):
    monkeypatch.setattr(Handler, "timeout", 0.5)
    assert receive(connect(server.server_port, data)) is None


def test_a_request_that_does_not_come_is_refused(server, monkeypatch):
    monkeypatch.setattr(Handler, "timeout", 0.5)
    data = request("Content-Length: 20")
    status, _, answer = receive(connect(server.server_port, data))
    assert status == 408 and "took longer than 0.5 seconds" in answer


def test_a_request_that_comes_slowly_is_refused(server, monkeypatch):
    monkeypatch.setattr(Handler, "timeout", 0.5)
    connection = connect(server.server_port, request("Content-Length: 1000", body=b""))
    for _ in range(1000):
        connection.sendall(b" ")
        if select([connection], [], [], 0.1)[0]:
            break
    assert receive(connection)[0] == 408


def test_a_pipeline_that_is_not_there_is_refused():
    code, _, err = run("serve", "--model", "nosuch")
    assert code == 1 and "no package or folder 'nosuch'" in err


def test_a_long_sentence_has_no_picture(server):
    status, answer = parse(server, "on and " * 200)
    assert status == 200 and "too long for a picture" in answer["html"]


def save_parser(path, examples):
    """Save a pipeline with a small parser."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    add_parser(nlp, examples)
    nlp.to_disk(path)
    return path


def test_a_sentence_has_a_longest_length(tmp_path, examples):
    with serving([str(save_parser(tmp_path / "parser", examples))]) as server:
        assert parse(server, "a " * LONGEST_SENTENCE)[0] == 200
        assert parse(server, "It rains. " * LONGEST_SENTENCE)[0] == 200
        status, answer = parse(server, "a " * 10_000)
    assert status == 413
    assert answer["error"] == (
        "The text has a sentence of 10,000 words, but the limit is 500. For longer "
        "sentences, use: python -m spacy sdp parse"
    )


def test_a_text_without_spaces_has_a_longest_length(server):
    status, answer = parse(server, "(" * LONGEST_WORD + " " + ")" * LONGEST_WORD)
    assert status == 200 and len(answer["records"][0]["tokens"]) == 2 * LONGEST_WORD
    status, answer = parse(server, "Hello " + "(" * (LONGEST_TEXT - 6))
    assert status == 413
    assert answer["error"] == (
        "The text has 19,994 characters without a space between them, but the limit is "
        "1,000. For such texts, use: python -m spacy sdp parse"
    )


def test_texts_of_languages_without_spaces_have_no_longest_word(tmp_path):
    nlp = spacy.blank("zh")
    for name in ("sentencizer", "test_chain"):
        nlp.add_pipe(name)
    nlp.to_disk(tmp_path)
    with serving([str(tmp_path)]) as server:
        status, answer = parse(server, "猫睡。" * LONGEST_WORD)
    assert status == 200 and len(answer["records"][0]["tokens"]) == 3 * LONGEST_WORD


@Language.component("test_pairs")
def split_pairs(doc):
    """Start a sentence at every other word."""
    for token in doc:
        token.is_sent_start = token.i % 2 == 0
    return doc


GATE = Event()


@Language.component("test_gate")
def wait_at_gate(doc):
    """Have long texts wait until the gate is open."""
    if len(doc.text) > LONGEST_SHORT_TEXT:
        assert GATE.wait(TIMEOUT)
    return doc


def test_long_texts_wait_and_short_ones_do_not(tmp_path):
    nlp = spacy.blank("en")
    for name in ("sentencizer", "test_gate", "test_chain"):
        nlp.add_pipe(name)
    nlp.to_disk(tmp_path)
    GATE.clear()
    with serving([str(tmp_path)]) as server, ThreadPoolExecutor(LONG_TEXTS + 3) as pool:
        data = question("It rains. " * 500, tmp_path)
        connections = [connect(server.server_port, data) for _ in range(LONG_TEXTS + 3)]
        answers = as_completed(pool.submit(receive, each) for each in connections)
        for _ in range(3):
            status, headers, text = next(answers).result()
            assert (status, headers["Retry-After"]) == (503, "5")
            assert "try again in a few seconds" in text
        assert parse(server, "It rains.")[0] == 200
        GATE.set()
        assert [each.result()[0] for each in answers] == [200] * LONG_TEXTS


@contextmanager
def serving_process(path):
    """Serve in a process of its own; YIELDS it and its port."""
    command = [sys.executable, "-m", "spacy_sdp", "serve", "--model", path]
    process = subprocess.Popen(
        [*command, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        found = re.match(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


def memory(process, what):
    """RETURNS the memory of a process in MB: VmRSS is now, VmHWM the most."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf8")
    return int(re.search(rf"{what}:\s+(\d+) kB", status)[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_200_requests_at_once_and_200_idle_connections(tmp_path, examples):
    path = save_parser(tmp_path / "parser", examples)
    short = question("The shy cat wants to eat.", path)
    long = question("a " * 10_000, path)
    with serving_process(path) as (process, port), ExitStack() as stack:
        assert receive(connect(port, short))[0] == 200
        loaded = memory(process, "VmRSS")
        for data in (b"", short[:20], short[:-5], long[:-5]):
            for _ in range(50):
                stack.enter_context(connect(port, data))
        for _ in range(20):
            leaving = connect(port, short)
            # Close by a reset, without waiting.
            leaving.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            leaving.close()
        requests = [long if i % 10 == 0 else short for i in range(200)]
        connections = [connect(port, each) for each in requests]
        answers = [receive(each) for each in connections]
        statuses = [answer[0] for answer in answers]
        assert {413} <= set(statuses[::10]) <= {413, 503}
        del statuses[::10]
        assert {200} <= set(statuses) <= {200, 503}
        assert receive(connect(port, short))[0] == 200
        assert receive(connect(port, long))[0] == 413
        assert memory(process, "VmHWM") < loaded + 300
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=TIMEOUT)[1] == ""
        assert process.returncode == 0


def test_a_port_in_use_is_refused(tmp_path):
    with socket.socket() as taken:
        taken.bind((ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("serve", "--model", tmp_path, "--port", port)
    assert code == 1 and f"Port {port} is already in use" in err


def test_the_transformer_of_the_server_is_safe_in_threads():
    pytest.importorskip("en_sdp_dm_md", reason="en_sdp_dm_md is not installed")
    nlp = load_pipeline("en_sdp_dm_md", threads=True)
    model = nlp.config["components"]["transformer"]["model"]
    assert model["@architectures"] == "spacy_sdp.TransformerModel.v1"
