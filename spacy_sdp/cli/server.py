"""A local web server that shows the graphs of a text.

It uses the standard library: the limits on requests are a few lines, and a framework
would be one more dependency for a page that people run on their own machine.
"""

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
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy_transformers import Transformer

from ..display.page import POLICY, draw_article, draw_form
from ..display.picture import make_pictures
from ..formats.jsonl import to_object
from ..graph.spans import sentences
from ..pipeline.parser import SemanticParser
from .results import graph_of

T = TypeVar("T")

ADDRESS = "127.0.0.1"
# Names of this machine in a browser, with or without a port.
LOCAL_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{0,5})?", re.I)
METHODS = {"/": "GET", "/parse": "POST"}
LONGEST_TEXT = 20_000
# A character takes up to 12 bytes in JSON.
LONGEST_BODY = 12 * LONGEST_TEXT + 1000
# Parsing time is quadratic in the length of a sentence.
LONGEST_SENTENCE = 500
# spaCy's tokenizer takes quadratic time for many punctuation marks without a space.
LONGEST_WORD = 1000
# Longer texts have a separate worker, so that short ones do not wait for them.
LONGEST_SHORT_TEXT = 1000
# Maximum number of texts that are waiting or being parsed.
SHORT_TEXTS = 32
LONG_TEXTS = 4
# A slow or idle connection occupies a thread until it times out.
CONNECTIONS = 500
PARSE_COMMAND = "python -m spacy sdp parse"
# The page only connects to this server, whatever the texts contain.
SERVER_POLICY = f"{POLICY}; connect-src 'self'"
TITLE = "Who does what to whom?"
EXAMPLES = (
    "The shy cat wants to eat.",
    "The old mill was sold to a bank by the city council on Monday.",
    "Anna and Ben bought tea and cake.",
    "The doctor who lives next door never drinks coffee.",
    "A spokesman denied that the bank had closed the mill.",
    "What did the children find under the bridge?",
    "Although the council had promised to repair the bridge before winter, the farmers "
    "who live beyond the river still carry their apples through the cold water.",
)


class RequestError(ValueError):
    """An invalid request, with the status and headers of the response."""

    def __init__(
        self, message: str, status: HTTPStatus, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class Worker:
    """Runs tasks one after the other, and refuses tasks if too many are waiting."""

    def __init__(self, places: int) -> None:
        """Create a worker without tasks.

        places (int): Maximum number of tasks that are waiting or running.
        """
        self._executor = ThreadPoolExecutor(max_workers=1)
        self._places = Semaphore(places)

    def run(self, task: Callable[[], T]) -> T:
        """RETURNS: The result of the task, after waiting for earlier tasks."""
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
        """Cancel all waiting tasks."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class Server(ThreadingHTTPServer):
    """Serves a page that shows the graphs of a text. Only for this machine."""

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
        load (Callable[[str], Language]): Loads a pipeline when it is first requested.
        attr (str): The attribute with the graphs.
        port (int): The port; 0 for any free port.
        """
        # Set these before opening the port: if it fails, server_close is called.
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
        """RETURNS (str): The address of the page."""
        return f"http://{ADDRESS}:{self.server_port}/"

    def page(self) -> str:
        """RETURNS (str): The page, as HTML."""
        return draw_form(TITLE, EXAMPLES, self.pipelines, SERVER_POLICY)

    def answer(self, question: Any) -> dict[str, Any]:
        """Parse a text.

        question (Dict[str, str]): The `text`, the name of the `pipeline`, and
            optionally of an `other` pipeline to compare it with.
        RETURNS (Dict[str, Any]): The graphs of each sentence as `html`, and the results
            of the pipelines for JSON as `records`.
        """
        if not isinstance(question, dict):
            raise RequestError("expected an object", HTTPStatus.BAD_REQUEST)
        text = question.get("text")
        names: list[Any] = [question.get("pipeline")]
        if question.get("other"):
            names.append(question["other"])
        for name in names:
            if name not in self.pipelines:
                known = ", ".join(self.pipelines)
                raise RequestError(
                    f"Unknown pipeline {name!r}. Available: {known}.",
                    HTTPStatus.BAD_REQUEST,
                )
        if not isinstance(text, str) or not text.strip():
            raise RequestError("Type a sentence.", HTTPStatus.BAD_REQUEST)
        if len(text) > LONGEST_TEXT:
            raise RequestError(
                f"The text has {len(text):,} characters, but the limit is "
                f"{LONGEST_TEXT:,}. For longer texts, use: {PARSE_COMMAND}",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RequestError(
                f"The text has an unpaired surrogate at character {error.start}.",
                HTTPStatus.BAD_REQUEST,
            ) from None
        is_short = len(text) <= LONGEST_SHORT_TEXT
        worker = self._short_texts if is_short else self._long_texts
        return worker.run(lambda: self._answer(text, names))

    def _answer(self, text: str, names: list[str]) -> dict[str, Any]:
        docs = [self._parse(text, name) for name in names]
        if len({tuple(token.text for token in doc) for doc in docs}) > 1:
            raise RequestError(
                f"{' and '.join(names)} cannot be compared, because they split this "
                "text into different words.",
                HTTPStatus.BAD_REQUEST,
            )
        graphs = [graph_of(doc, self.attr) for doc in docs]
        other = graphs[1] if len(graphs) > 1 else None
        pictures = make_pictures(graphs[0], other)
        titles = (names[0], names[1]) if other is not None else None
        return {
            "html": "".join(draw_article(picture, titles) for picture in pictures),
            "records": [
                to_object(doc, graph, self.attr)
                for doc, graph in zip(docs, graphs, strict=True)
            ],
        }

    def _parse(self, text: str, name: str) -> Doc:
        with self._loading:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
        nlp = self._loaded[name]
        # Other tokenizers are for languages that are written without spaces.
        if isinstance(nlp.tokenizer, Tokenizer):
            _check_words(text)
        doc = nlp.make_doc(text)
        for _, pipe in nlp.pipeline:
            # Check lengths before components whose time depends on them.
            has_boundaries = doc.has_annotation("SENT_START")
            if isinstance(pipe, SemanticParser) or (
                isinstance(pipe, Transformer) and has_boundaries
            ):
                _check_sentences(doc)
            doc = pipe(doc)
        return doc

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection. If there are too many, it waits in the backlog."""
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
        """Report an error, unless the client closed the connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        """Close the port, and cancel all waiting texts."""
        super().server_close()
        self._short_texts.stop()
        self._long_texts.stop()


def _check_words(text: str) -> None:
    length = max(map(len, text.split()))
    if length > LONGEST_WORD:
        raise RequestError(
            f"The text has {length:,} characters without a space between them, but the "
            f"limit is {LONGEST_WORD:,}. For such texts, use: {PARSE_COMMAND}",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )


def _check_sentences(doc: Doc) -> None:
    length = max(map(len, sentences(doc)), default=0)
    if length > LONGEST_SENTENCE:
        raise RequestError(
            f"The text has a sentence of {length:,} words, but the limit is "
            f"{LONGEST_SENTENCE:,}. For longer sentences, use: {PARSE_COMMAND}",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )


class TimedReader(io.RawIOBase):
    """Reads from a connection with a time limit for the whole request."""

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
    """Handles `GET /` and `POST /parse`, only for pages of this server."""

    server: Server
    server_version = "spacy-sdp"
    sys_version = ""
    # Time limit for sending a request and for reading the response, in seconds.
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
            # Show any error of the pipeline on the page.
            self._send_error(str(error), HTTPStatus.INTERNAL_SERVER_ERROR, {})
        else:
            self._send(content, content_type, HTTPStatus.OK, {})

    def _parse(self) -> str:
        return json.dumps(self.server.answer(self._read_question()))

    def _check_target(self) -> None:
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1:
            raise RequestError("expected one Host", HTTPStatus.BAD_REQUEST)
        # Another site may point its own name here (DNS rebinding). The Host reveals it.
        if not LOCAL_HOST.fullmatch(hosts[0]):
            raise RequestError(
                "This server only accepts requests from this machine.",
                HTTPStatus.FORBIDDEN,
            )
        method = METHODS.get(self.path)
        if method is None:
            raise RequestError(
                "Page not found. The only page is /", HTTPStatus.NOT_FOUND
            )
        if method != self.command:
            raise RequestError(
                f"{self.path} only supports {method}",
                HTTPStatus.METHOD_NOT_ALLOWED,
                {"Allow": method},
            )

    def _read_question(self) -> Any:
        # Other sites cannot send this type without a preflight request, which fails.
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
        # Several lengths or encodings would be ambiguous (RFC 9112, 6.3).
        is_clear = len(lengths) == 1 and "Transfer-Encoding" not in self.headers
        if not is_clear or not re.fullmatch("[0-9]+", lengths[0]):
            raise RequestError("expected one Content-Length", HTTPStatus.BAD_REQUEST)
        # Python does not parse numbers with thousands of digits.
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
        """End the response, and wait until the client has read it or timed out.

        Closing a connection with unread data resets it, and the response may be lost
        (RFC 9112, 9.6).
        """
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(io.DEFAULT_BUFFER_SIZE):
                pass
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests, to respect the privacy of users."""
