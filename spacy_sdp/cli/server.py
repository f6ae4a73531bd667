"""A small local server: type a sentence, see its graph."""

from __future__ import annotations

import io
import json
import re
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Semaphore
from time import monotonic
from typing import Any, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy_transformers import Transformer

from ..display.page import POLICY, draw_article, draw_form
from ..display.picture import make_pictures
from ..graph.spans import sentences
from ..pipeline.parser import SemanticParser
from .results import graph_of, to_record

T = TypeVar("T")

ADDRESS = "127.0.0.1"
# What a browser calls this machine, with or without a port.
LOCAL_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{0,5})?", re.I)
METHODS = {"/": "GET", "/parse": "POST"}
LONGEST_TEXT = 20_000
# A character takes up to 12 bytes in JSON.
LONGEST_BODY = 12 * LONGEST_TEXT + 1000
# Time grows with the square of the length of a sentence.
LONGEST_SENTENCE = 500
# Longer texts have a worker of their own, so that short ones do not wait for them.
LONGEST_SHORT_TEXT = 1000
# How many texts may wait or be parsed.
SHORT_TEXTS = 32
LONG_TEXTS = 4
# A slow or idle connection takes a thread until its time is up.
CONNECTIONS = 500
PARSE_COMMAND = "python -m spacy sdp parse"
# The page asks this server only, whatever stands in the texts.
SERVER_POLICY = f"{POLICY}; connect-src 'self'"
TITLE = "Who does what to whom?"
EXAMPLE = "The shy cat wants to eat."


class RequestError(ValueError):
    """A request that cannot be answered, and the status and headers of the answer."""

    def __init__(
        self, message: str, status: HTTPStatus, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class Worker:
    """Does one task after the other, in order, and refuses one too many."""

    def __init__(self, places: int) -> None:
        """Start with nothing to do.

        places (int): How many tasks may wait or be under way.
        """
        self._executor = ThreadPoolExecutor(max_workers=1)
        self._places = Semaphore(places)

    def run(self, task: Callable[[], T]) -> T:
        """RETURNS: What the task gives, when its turn has come."""
        if not self._places.acquire(blocking=False):
            raise RequestError(
                "The server is busy with other texts: try again in a few seconds.",
                HTTPStatus.SERVICE_UNAVAILABLE,
                {"Retry-After": "5"},
            )
        try:
            return self._executor.submit(task).result()
        finally:
            self._places.release()

    def stop(self) -> None:
        """Drop all tasks that wait."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class Server(ThreadingHTTPServer):
    """Serves a page that shows the graphs of a text, to this machine only."""

    daemon_threads = True
    request_queue_size = CONNECTIONS

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
        # Before the port is opened: if that fails, server_close is called.
        self._short_texts = Worker(SHORT_TEXTS)
        self._long_texts = Worker(LONG_TEXTS)
        self._connections = Semaphore(CONNECTIONS)
        self.pipelines = pipelines
        self.attr = attr
        self._load = load
        self._loaded: dict[str, Language] = {}
        self._loading = Lock()
        super().__init__((ADDRESS, port), Handler)

    @property
    def url(self) -> str:
        """RETURNS (str): Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/"

    def page(self) -> str:
        """RETURNS (str): The page, as HTML."""
        return draw_form(TITLE, EXAMPLE, self.pipelines, SERVER_POLICY)

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
                f"limit here. For more, use: {PARSE_COMMAND}",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RequestError(
                f"The text has half a character (a lone surrogate) at {error.start}.",
                HTTPStatus.BAD_REQUEST,
            ) from None
        is_short = len(text) <= LONGEST_SHORT_TEXT
        worker = self._short_texts if is_short else self._long_texts
        return worker.run(lambda: self._parse(text, name))

    def _parse(self, text: str, name: str) -> dict[str, Any]:
        with self._loading:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
        nlp = self._loaded[name]
        doc = nlp.make_doc(text)
        for _, pipe in nlp.pipeline:
            # Before the components whose work grows with the length of a sentence.
            has_boundaries = doc.has_annotation("SENT_START")
            if isinstance(pipe, SemanticParser) or (
                isinstance(pipe, Transformer) and has_boundaries
            ):
                _check_sentences(doc)
            doc = pipe(doc)
        pictures = make_pictures(graph_of(doc, self.attr))
        return {
            "html": "".join(draw_article(picture) for picture in pictures),
            "record": to_record(doc, self.attr),
        }

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection, or have it wait in the backlog if there are too many."""
        self._connections.acquire()
        try:
            return super().get_request()
        except OSError:
            self._connections.release()
            raise

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        super().shutdown_request(request)
        self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless it is only that somebody closed the page."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Close the port, and drop all texts that wait."""
        super().server_close()
        self._short_texts.stop()
        self._long_texts.stop()


def _check_sentences(doc: Doc) -> None:
    length = max(map(len, sentences(doc)), default=0)
    if length > LONGEST_SENTENCE:
        raise RequestError(
            f"The text has a sentence of {length:,} words, but {LONGEST_SENTENCE:,} "
            f"is the limit here. For more, use: {PARSE_COMMAND}",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )


class TimedReader(io.RawIOBase):
    """What comes from a connection until a time is up, however slowly."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection = connection
        self._end = monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    """Answers `GET /` and `POST /parse`, to pages of this very server."""

    server: Server
    server_version = "spacy-sdp"
    sys_version = ""
    # Seconds to send a request, and to take an answer.
    timeout = 10

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(TimedReader(self.connection, self.timeout))

    def do_GET(self) -> None:
        self._reply(self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        self._reply(self._parse, "application/json")

    def _reply(self, make_content: Callable[[], str], content_type: str) -> None:
        try:
            self._check_target()
            content = make_content()
        except RequestError as error:
            self._send_error(str(error), error.status, error.headers)
        except Exception as error:
            # Whatever a pipeline raises is for the reader of the page.
            self._send_error(str(error), HTTPStatus.INTERNAL_SERVER_ERROR, {})
        else:
            self._send(content, content_type, HTTPStatus.OK, {})

    def _parse(self) -> str:
        return json.dumps(self.server.answer(self._read_question()))

    def _check_target(self) -> None:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1:
            raise RequestError("expected one Host", HTTPStatus.BAD_REQUEST)
        # A page elsewhere can have its own name point here; this is the name it uses.
        if not LOCAL_HOST.fullmatch(hosts[0]):
            raise RequestError("This server is for this machine.", HTTPStatus.FORBIDDEN)
        method = METHODS.get(self.path)
        if method is None:
            raise RequestError("There is only one page: /", HTTPStatus.NOT_FOUND)
        if method != self.command:
            raise RequestError(
                f"{self.path} is for {method} only",
                HTTPStatus.METHOD_NOT_ALLOWED,
                {"Allow": method},
            )

    def _read_question(self) -> Any:
        # Other sites cannot send this type without asking first, and get no answer.
        if self.headers.get_content_type() != "application/json":
            raise RequestError("expected JSON", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        length = self._read_length()
        try:
            body = self.rfile.read(length)
        except TimeoutError:
            raise RequestError(
                f"The request took longer than {self.timeout} seconds.",
                HTTPStatus.REQUEST_TIMEOUT,
            ) from None
        if len(body) < length:
            raise RequestError("The request is not complete.", HTTPStatus.BAD_REQUEST)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"not JSON ({error})", HTTPStatus.BAD_REQUEST) from None

    def _read_length(self) -> int:
        lengths = self.headers.get_all("Content-Length", [])
        if not lengths:
            raise RequestError("expected a Content-Length", HTTPStatus.LENGTH_REQUIRED)
        # What else tells where the request ends might differ (RFC 9112, 6.3).
        is_clear = len(lengths) == 1 and "Transfer-Encoding" not in self.headers
        if not is_clear or not re.fullmatch("[0-9]+", lengths[0]):
            raise RequestError("expected one Content-Length", HTTPStatus.BAD_REQUEST)
        # Python does not read numbers of thousands of digits.
        if len(lengths[0]) > 9 or int(lengths[0]) > LONGEST_BODY:
            raise RequestError(
                f"The text is longer than {LONGEST_TEXT:,} characters.",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        return int(lengths[0])

    def _send_error(
        self, message: str, status: HTTPStatus, headers: dict[str, str]
    ) -> None:
        self._send(json.dumps({"error": message}), "application/json", status, headers)

    def _send(
        self,
        content: str,
        content_type: str,
        status: HTTPStatus,
        headers: dict[str, str],
    ) -> None:
        body = content.encode()
        self.connection.settimeout(self.timeout)
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", SERVER_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def finish(self) -> None:
        """End the answer, and wait until the client has read it or time is up.

        To close a connection that has something unread resets it, and what was sent
        may be lost (RFC 9112, 9.6).
        """
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(io.DEFAULT_BUFFER_SIZE):
                pass
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet: what people type is nobody's business."""
