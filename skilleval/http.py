"""The only way out over HTTP. Owns an exchange and its deadline.

`post` makes one attempt under one total deadline; retry.py repeats it where that may help. What the
network, a server or a proxy does wrong is a value, `Response(status=None, error, kind)`, never an
exception. No error text holds a key.

Does not own: what a body means, which key goes into which header, when to retry (retry.py), what a
secret is (redaction.py). It keeps nothing between calls, asks for no compression and knows http and
https only. Proxies are what urllib reads from the environment; trust is what OpenSSL finds by
default or in `SSL_CERT_FILE`. Importing it is cheap: urllib, ssl and email wait for the first call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from skilleval.asking.address import parse, place
from skilleval.plaintext import one_line
from skilleval.redaction import redact, secrets_of

if TYPE_CHECKING:
    import socket
    import ssl
    import threading
    from http.client import HTTPConnection, HTTPResponse
    from urllib.request import OpenerDirector
    from urllib.request import Request as Outgoing

Kind = Literal[
    "", "timeout", "connection", "tls", "too_large", "bad_url", "bad_header", "redirect", "stopped"
]
LIMIT_BYTES = 32 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
GET_REDIRECTS = 5
TICK_S = 0.1
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})


class Request(NamedTuple):
    """What to ask, and what it may cost.

    `timeout_s` is the total for name look-up, connect, TLS, sending, headers and body together;
    `limit_bytes` the largest body accepted; `stop` is asked ten times a second whether to give up.
    Credentials before the host of `url` become a Basic `authorization` header unless there is one.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout_s: float
    limit_bytes: int = LIMIT_BYTES
    method: str = "POST"
    stop: Callable[[], bool] | None = None

    def __repr__(self) -> str:
        """Without headers and query: a request must be safe in a log and in a traceback."""
        return f"Request({self.method} {place(self.url)}, {len(self.body)} bytes)"


class Response(NamedTuple):
    """What came back. `status` is None when no whole answer did; `error` then says why, in a line.

    Header names are lower case, repeated ones are joined by ", ". `seconds` is the time of the
    last attempt, `tries` the number of attempts. `answered`: an answer had begun when it failed.
    """

    status: int | None
    body: bytes
    headers: Mapping[str, str]
    seconds: float
    error: str = ""
    kind: Kind = ""
    answered: bool = False
    tries: int = 1

    @property
    def text(self) -> str:
        """The body as UTF-8; what is not UTF-8 becomes U+FFFD."""
        return self.body.decode("utf-8", "replace")


def post(request: Request) -> Response:
    """One attempt, whatever the method. HTTP error statuses are answers, with their body.

    The same-origin redirects 307 and 308 are followed once with the body (a GET follows all kinds,
    five times); a redirect to another scheme, host or port is an error, and nothing is sent there.
    """
    started = time.monotonic()
    try:
        response = _within_deadline(_prepared(request))
    except _Failure as failure:
        kind, reason = failure.args
        text = redact(f"{request.method} {place(request.url)}: {reason}", secrets_of(request))
        response = Response(None, b"", {}, 0.0, one_line(text), kind, failure.answered)
    return response._replace(seconds=time.monotonic() - started)


class _Failure(Exception):
    """Why there is no answer: `args` are kind and reason. Stays inside this module."""

    answered = False


class _Watch:
    """The connections of one call, for ending them from another thread.

    Keeps a duplicate of each socket: http.client and ssl hand the original from object to object
    (tunnel, handshake, response), and shutting down the duplicate ends them all.
    """

    def __init__(self) -> None:
        import threading

        self.answered = False
        self.peer = ""
        self._handles: list[socket.socket] = []
        self._lock = threading.Lock()
        self._ended = False

    def connect(self, address: tuple[str, int], timeout_s: float, source: None) -> socket.socket:
        """As socket.create_connection, which it stands in for."""
        import socket

        self.peer = f"{address[0]}:{address[1]}"
        connection = socket.create_connection(address, timeout_s, source)
        with self._lock:
            if self._ended:
                connection.close()
                raise TimeoutError
            self._handles.append(connection.dup())
        return connection

    def end(self) -> None:
        import socket

        with self._lock:
            self._ended = True
            for handle in self._handles:
                with suppress(OSError):  # the other side may have gone already
                    handle.shutdown(socket.SHUT_RDWR)
                handle.close()
            self._handles.clear()


def _within_deadline(request: Request) -> Response:
    """The exchange on a worker thread, left behind when its time is up.

    A socket timeout bounds one operation, and a server that sends a byte now and then resets it for
    ever; nothing bounds getaddrinfo. Shutting the socket down ends the thread; in a name look-up
    or a connect, it ends by itself, and being a daemon it never holds up the interpreter's exit.
    """
    import threading

    if request.timeout_s <= 0:
        raise _Failure("timeout", "no time was left to ask")
    watch = _Watch()
    box: list[Response | _Failure] = []
    worker = threading.Thread(
        target=lambda: box.append(_exchange(request, watch)), name="skilleval-http", daemon=True
    )
    worker.start()
    try:
        _wait(worker, request)
        if not box and not worker.is_alive():
            raise RuntimeError("the http worker ended without a result; its traceback is on stderr")
        result = box[0] if box else _timeout(request, watch)
        answered = watch.answered  # before the end, which a worker may take for an answer's
    finally:
        watch.end()
    if isinstance(result, _Failure):
        result.answered = answered
        raise result
    return result


def _wait(worker: threading.Thread, request: Request) -> None:
    until = time.monotonic() + request.timeout_s
    while worker.is_alive() and (left := until - time.monotonic()) > 0:
        if request.stop and request.stop():
            raise _Failure("stopped", "given up before there was an answer")
        worker.join(min(left, TICK_S) if request.stop else left)


def _exchange(request: Request, watch: _Watch) -> Response | _Failure:
    from http.client import HTTPException
    from urllib.error import URLError

    try:
        return _ask(request, watch)
    except _Failure as failure:
        return failure
    except (OSError, HTTPException, ValueError) as error:
        wrapped = error.reason if isinstance(error, URLError) else error
        cause = wrapped if isinstance(wrapped, Exception) else error
        if isinstance(cause, TimeoutError):
            return _timeout(request, watch)
        kind, reason = _explained(cause)
        if kind == "connection" and not isinstance(cause, OSError):
            watch.answered = True  # words came, though not those of HTTP: no use in asking again
        return _Failure(kind, f"{reason}{_by_proxy(request, watch)}")


def _ask(request: Request, watch: _Watch) -> Response:
    """Send, follow what may be followed, read."""
    from urllib.request import Request as Outgoing

    opener = _opener(watch)
    url, headers = request.url, dict(request.headers)
    data = request.body or (None if request.method == "GET" else b"")
    hops = GET_REDIRECTS if request.method == "GET" else 1
    for _ in range(hops + 1):
        outgoing = Outgoing(url, data, headers, method=request.method)
        with opener.open(outgoing, timeout=request.timeout_s) as answer:
            watch.answered = True
            location = answer.headers.get("location")
            if answer.status not in REDIRECT_STATUSES or not location:
                return _read(answer, request.limit_bytes)
            url = _redirected(request, url, answer.status, location)
    raise _Failure("redirect", f"redirected more than {hops} times")


def _opener(watch: _Watch) -> OpenerDirector:
    """urllib with proxies and two schemes; without redirects, error exceptions, file and ftp."""
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.request import AbstractHTTPHandler, OpenerDirector, ProxyHandler

    def watched(kind: Callable[..., HTTPConnection]) -> Callable[..., HTTPConnection]:
        def connection(host: str, **options: object) -> HTTPConnection:
            made = kind(host, **options)
            # http.client's own seam: the one place that sees a socket before tunnel and handshake
            setattr(made, "_create_connection", watch.connect)  # noqa: B010
            return made

        return connection

    class Handler(AbstractHTTPHandler):
        http_request = https_request = AbstractHTTPHandler.do_request_

        def http_open(self, req: Outgoing) -> HTTPResponse:
            return self.do_open(watched(HTTPConnection), req)

        def https_open(self, req: Outgoing) -> HTTPResponse:
            return self.do_open(watched(HTTPSConnection), req, context=_trust())

    opener = OpenerDirector()
    opener.add_handler(ProxyHandler())
    opener.add_handler(Handler())
    return opener


def _read(answer: HTTPResponse, limit: int) -> Response:
    """The whole body, or a failure: half a body is no answer."""
    too_large = _Failure("too_large", f"the answer is larger than {limit} bytes")
    if (answer.length or 0) > limit:
        raise too_large
    body = bytearray()
    while chunk := answer.read(CHUNK_BYTES):
        body += chunk
        if len(body) > limit:
            raise too_large
    if answer.length:  # http.client counts down, and does not complain about an early end
        missing = f"the answer broke off, {answer.length} bytes before its end"
        raise _Failure("connection", missing)
    headers: dict[str, str] = {}
    for name, value in answer.headers.items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return Response(answer.status, bytes(body), headers, 0.0)


def _redirected(request: Request, url: str, status: int, location: str) -> str:
    """The next URL, on the same origin. Raises _Failure for every other."""
    from urllib.parse import urljoin

    here = parse(url)
    try:
        there = parse(urljoin(url, location))
    except ValueError:
        reason = f"{here.origin} redirects to what is no http address; nothing was sent there"
        raise _Failure("redirect", reason) from None
    if here.origin != there.origin:
        reason = f"{here.origin} redirects to {there.origin}; nothing was sent there"
        raise _Failure("redirect", f"{reason}, use its address if it is right")
    if request.method not in ("GET", "HEAD") and status not in (307, 308):
        reason = f"redirected by status {status}, which would turn {request.method} into GET"
        raise _Failure("redirect", reason)
    return there.url


def _prepared(request: Request) -> Request:
    """`request` as it goes out: checked, credentials in a header. Raises _Failure."""
    from base64 import b64encode
    from urllib.parse import unquote

    from skilleval import __version__

    try:
        address = parse(request.url)
    except ValueError as error:
        raise _Failure("bad_url", str(error)) from None
    headers = {"user-agent": f"skilleval/{__version__}"}
    if address.userinfo:
        credentials = b64encode(unquote(address.userinfo).encode()).decode()
        headers["authorization"] = f"Basic {credentials}"
    headers |= {name.lower(): value for name, value in request.headers.items()}
    headers["accept-encoding"] = "identity"
    _check_headers(headers)
    return request._replace(url=address.url, headers=headers)


def _check_headers(headers: Mapping[str, str]) -> None:
    """http.client would quote the value in its complaint, so that a key could show up there."""
    for name, value in headers.items():
        if not name or not f"{name}{value}".isascii() or not f"{name}{value}".isprintable():
            reason = f'header "{name}" holds a line break or a character outside printable ASCII'
            raise _Failure("bad_header", f"{reason}; look for a newline at the end of a key")


def _explained(error: Exception) -> tuple[Kind, str]:
    """The kind and one line for what urllib and its friends raise.

    Quotes only what the system or OpenSSL say: the other messages hold URLs, a proxy's password
    or the server's own words.
    """
    import socket
    import ssl
    from http.client import HTTPException, IncompleteRead, InvalidURL, RemoteDisconnected

    match error:
        case ssl.SSLCertVerificationError():
            reason = f"the certificate is not trusted: {error.verify_message}"
            return "tls", f"{reason}; SSL_CERT_FILE can name the authority's file"
        case ssl.SSLError() if not isinstance(error, ssl.SSLEOFError):
            return "tls", f"TLS failed: {error.reason or error}"
        case socket.gaierror():
            return "connection", f"the host is not known: {error.strerror}"
        case RemoteDisconnected():
            return "connection", "the server closed the connection without an answer"
        case IncompleteRead():
            return "connection", "the answer broke off before its end"
        case OSError():
            return "connection", (error.strerror or str(error)).lower()
        case HTTPException() if not isinstance(error, InvalidURL):
            return "connection", f"the server does not speak HTTP ({type(error).__name__})"
    reason = "the URL, a redirect's or a proxy's in the environment is not valid"
    return "bad_url", f"{reason} ({type(error).__name__})"


def _timeout(request: Request, watch: _Watch) -> _Failure:
    what = "the answer was not complete" if watch.answered else "no answer"
    reason = f"{what} within {request.timeout_s:.3g} s{_by_proxy(request, watch)}"
    return _Failure("timeout", reason)


def _by_proxy(request: Request, watch: _Watch) -> str:
    """Who failed, when it was not the host of the URL."""
    direct = parse(request.url).origin.partition("://")[2]
    return f" (through the proxy {watch.peer})" if watch.peer.lower() not in ("", direct) else ""


@cache
def _trust() -> ssl.SSLContext:
    """The verifying default context, loaded once: reading the authorities takes milliseconds."""
    import ssl

    return ssl.create_default_context()
