"""A small local server: type a sentence, see its graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from spacy.language import Language

from ..drawing.page import POLICY, asset, draw_article, end_page, start_page
from ..drawing.picture import make_pictures
from ..drawing.svg import escape_xml
from .results import graph_of, to_record

ADDRESS = "127.0.0.1"
HOSTS = (ADDRESS, "localhost")
LONGEST_TEXT = 20_000
# The page asks this server only, whatever stands in the texts.
SERVER_POLICY = f"{POLICY}; connect-src 'self'"
FORM = """\
<form id="parse">
<textarea name="text" aria-label="Text" autofocus>{text}</textarea>
<select name="pipeline" aria-label="Pipeline">{options}</select>
<button type="submit">Parse</button>
<button type="button" id="save-json" disabled>Save JSON</button>
<output id="note" class="note"></output>
</form>
"""
EXAMPLE = "The shy cat wants to eat."


class RequestError(ValueError):
    """A request that cannot be answered, and the status of the answer."""

    def __init__(self, message: str, status: HTTPStatus) -> None:
        super().__init__(message)
        self.status = status


class Server(ThreadingHTTPServer):
    """Serves a page that shows the graphs of a text, to this machine only."""

    daemon_threads = True

    def __init__(
        self,
        pipelines: list[str],
        load: Callable[[str], Language],
        *,
        attr: str,
        port: int,
    ) -> None:
        """Open the port.

        pipelines (List[str]): The names to choose from.
        load (Callable[[str], Language]): Loads one when it is asked for.
        attr (str): The attribute with the graphs.
        port (int): The port; 0 is any that is free.
        """
        super().__init__((ADDRESS, port), Handler)
        self.pipelines = pipelines
        self.attr = attr
        self._load = load
        self._loaded: dict[str, Language] = {}
        # Pipelines are not made for several threads.
        self._lock = Lock()

    @property
    def url(self) -> str:
        """RETURNS (str): Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/"

    def page(self) -> str:
        """RETURNS (str): The page, as HTML."""
        options = "".join(
            f"<option>{escape_xml(name)}</option>" for name in self.pipelines
        )
        form = FORM.format(text=escape_xml(EXAMPLE), options=options)
        scripts = asset("page.js"), asset("serve.js")
        start = start_page("Who does what to whom?", form, SERVER_POLICY)
        return start + end_page(*scripts)

    def answer(self, question: Any) -> dict[str, Any]:
        """Parse a text.

        question (Dict[str, str]): The `text`, and the name of the `pipeline`.
        RETURNS (Dict[str, Any]): The graph of each sentence as `html`, and as a
            `record` for other programs.
        """
        if not isinstance(question, dict):
            raise RequestError("expected an object", HTTPStatus.BAD_REQUEST)
        text, name = question.get("text"), question.get("pipeline")
        if name not in self.pipelines:
            known = ", ".join(self.pipelines)
            raise RequestError(
                f"There is no pipeline {name!r}, but {known}.", HTTPStatus.BAD_REQUEST
            )
        if not isinstance(text, str) or not text.strip():
            raise RequestError("Type a sentence.", HTTPStatus.BAD_REQUEST)
        if len(text) > LONGEST_TEXT:
            raise RequestError(
                f"The text has {len(text):,} characters, but {LONGEST_TEXT:,} is the "
                "limit here. For more, use: python -m spacy sdp parse",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
            doc = self._loaded[name](text)
        pictures = make_pictures(graph_of(doc, self.attr))
        return {
            "html": "".join(draw_article(picture) for picture in pictures),
            "record": to_record(doc, self.attr),
        }


class Handler(BaseHTTPRequestHandler):
    """Answers `GET /` and `POST /parse`, to pages of this very server."""

    server: Server
    server_version = "spacy-sdp"
    sys_version = ""

    def do_GET(self) -> None:
        if not self._is_local():
            self._send_error("This server is for this machine.", HTTPStatus.FORBIDDEN)
        elif self.path != "/":
            self._send_error("There is only one page: /", HTTPStatus.NOT_FOUND)
        else:
            self._send(self.server.page(), "text/html; charset=utf-8", HTTPStatus.OK)

    def do_POST(self) -> None:
        try:
            answer = self.server.answer(self._read_question())
        except RequestError as error:
            self._send_error(str(error), error.status)
        except Exception as error:
            # Whatever a pipeline raises is for the reader of the page.
            self._send_error(str(error), HTTPStatus.INTERNAL_SERVER_ERROR)
        else:
            self._send(json.dumps(answer), "application/json", HTTPStatus.OK)

    def _read_question(self) -> Any:
        if not self._is_local():
            raise RequestError("not this machine", HTTPStatus.FORBIDDEN)
        if self.path != "/parse":
            raise RequestError("POST goes to /parse", HTTPStatus.NOT_FOUND)
        # Other sites cannot send this type without asking first, and get no answer.
        if self.headers.get_content_type() != "application/json":
            raise RequestError("expected JSON", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        length = self.headers.get("Content-Length", "")
        # A character takes up to 12 bytes in JSON.
        if not length.isdecimal() or int(length) > 12 * LONGEST_TEXT + 1000:
            raise RequestError(
                f"The text is longer than {LONGEST_TEXT:,} characters.",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise RequestError(f"not JSON ({error})", HTTPStatus.BAD_REQUEST) from None

    def _is_local(self) -> bool:
        """Tell whether the browser thinks that it talks to this machine.

        A page elsewhere can have its own name point here; this is the name it uses.
        """
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        return host in HOSTS

    def _send_error(self, message: str, status: HTTPStatus) -> None:
        self._send(json.dumps({"error": message}), "application/json", status)

    def _send(self, content: str, content_type: str, status: HTTPStatus) -> None:
        body = content.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", SERVER_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet: what people type is nobody's business."""
