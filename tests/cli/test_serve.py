"""`serve`: what the server answers, and to whom."""

import json
import socket
from http.client import HTTPConnection

import pytest
from util import run, save_chain, serving

from spacy_sdp.cli.server import ADDRESS, LONGEST_TEXT

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = save_chain(tmp_path_factory.mktemp("pipelines") / "chain")
    with serving([str(path), "missing"]) as server:
        yield server


def ask(server, method, path, body=None, headers=None):
    """RETURNS the status and the text of an answer."""
    connection = HTTPConnection(ADDRESS, server.server_port, timeout=30)
    connection.request(method, path, body, headers or {})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


def parse(server, text, **changes):
    question = {"text": text, "pipeline": server.pipelines[0], **changes}
    status, answer = ask(server, "POST", "/parse", json.dumps(question), JSON)
    return status, json.loads(answer)


def test_the_page_offers_the_pipelines(server):
    status, page = ask(server, "GET", "/")
    assert status == 200
    assert page.count("<option>") == 2 and "<option>missing</option>" in page
    assert "connect-src 'self'" in page


def test_a_text_becomes_pictures_and_a_record(server):
    status, answer = parse(server, "Dogs <b>bark</b>. 猫睡")
    assert status == 200
    assert answer["html"].count("<svg") == 2 and "<b>" not in answer["html"]
    assert answer["record"]["triples"][0][1:] == ["ARG1", "Dogs"]
    assert answer["record"]["sdp"]["tops"]


def test_what_cannot_be_parsed_is_explained(server):
    assert parse(server, " ") == (400, {"error": "Type a sentence."})
    assert parse(server, None)[0] == 400
    status, answer = parse(server, "a " * LONGEST_TEXT)
    assert status == 413 and "characters" in answer["error"]
    status, answer = parse(server, "Hello.", pipeline="/etc")
    assert status == 400 and "There is no pipeline '/etc'" in answer["error"]
    status, answer = parse(server, "Hello.", pipeline="missing")
    assert status == 500 and "E050" in answer["error"]
    status, answer = ask(server, "POST", "/parse", "{", JSON)
    assert status == 400 and "not JSON" in answer
    assert ask(server, "POST", "/parse", "[]", JSON)[0] == 400
    length = {**JSON, "Content-Length": "999999999"}
    assert ask(server, "POST", "/parse", None, length)[0] == 413


def test_only_pages_of_this_machine_are_answered(server):
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "GET", "/", headers={"Host": "example.com"})[0] == 403
    foreign = {**JSON, "Host": "example.com"}
    assert ask(server, "POST", "/parse", "{}", foreign)[0] == 403
    # What a form on another site can send.
    plain = {"Content-Type": "text/plain"}
    assert ask(server, "POST", "/parse", "{}", plain)[0] == 415
    assert ask(server, "GET", "/etc/passwd")[0] == 404
    assert ask(server, "POST", "/", "{}", JSON)[0] == 404


def test_a_pipeline_that_is_not_there_is_refused():
    code, _, err = run("serve", "--model", "nosuch")
    assert code == 1 and "no package or folder 'nosuch'" in err


def test_a_long_sentence_does_not_occupy_the_server(server):
    status, answer = parse(server, "on and " * 2500)
    assert status == 200 and "too many for a picture" in answer["html"]


def test_a_port_in_use_is_refused(tmp_path):
    with socket.socket() as taken:
        taken.bind((ADDRESS, 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = run("serve", "--model", tmp_path, "--port", port)
    assert code == 1 and f"Port {port} is in use" in err
