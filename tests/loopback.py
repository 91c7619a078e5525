"""A real HTTP server on 127.0.0.1 for tests. Owns how a server can behave, and misbehave.

    with Loopback() as server:
        server.on("/v1/chat/completions", Reply(429, headers={"Retry-After": "2"}), reply_json({}))
        ...                                  # ask server.url + "/v1/chat/completions"
        assert len(server.requests) == 2

A path (without query; for a proxy, the whole URL or "host:port") gets its replies one after the
other, the last one again and again; a function in place of a reply computes one from the request.
A path nobody scripted is answered with 404. Knows nothing of what is being tested.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple

Fault = Literal["", "silent", "reset", "close", "garbage", "reset_body", "close_body"]


class Received(NamedTuple):
    """One request as it arrived. Header names are lower case; `path` is without the query."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Reply(NamedTuple):
    """One answer. Headers that are the empty string are left out, `Content-Length` too.

    `delay_s` passes before its first byte; with `drip_s`, each byte of the headers and the body (or
    only of the `drip` part) waits that long. `fault`: `silent` never answers, `reset` and `close`
    end the connection before an answer, `reset_body` and `close_body` in the middle of the body,
    `garbage` sends the body in place of HTTP.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}
    delay_s: float = 0.0
    drip_s: float = 0.0
    drip: Literal["all", "body"] = "all"
    fault: Fault = ""


Script = Reply | Callable[[Received], Reply]


def reply_json(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A Reply with `document` as its JSON body."""
    body = json.dumps(document).encode()
    return Reply(status, body, {"Content-Type": "application/json", **(headers or {})})


class Loopback:
    """The server: a context manager. `requests` fills in the order of arrival.

    With `certificate` (a PEM file with certificate and private key) it speaks TLS.
    """

    def __init__(self, certificate: str = "") -> None:
        self.requests: list[Received] = []
        self._scripts: dict[str, list[Script]] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.loopback = self
        self.port: int = self._server.server_address[1]
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # the handshake belongs to the handler's thread: a silent client must not block accept
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )

    def on(self, path: str, *replies: Script) -> None:
        """Script `path`, in place of what it was told before."""
        self._scripts[path] = list(replies)

    def __enter__(self) -> Loopback:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def next_reply(self, received: Received) -> Reply:
        with self._lock:
            self.requests.append(received)
            scripts = self._scripts.get(received.path, [Reply(404, b"nothing scripted here")])
            script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        return script if isinstance(script, Reply) else script(received)

    def pause(self, seconds: float) -> bool:
        """Wait; False when the server stops meanwhile."""
        return not self._stopping.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    loopback: Loopback

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: that a client goes away, or refuses a certificate, is what tests are for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.command, path, query, headers, self.rfile.read(length))
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.perform(self.server.loopback.next_reply(received))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_CONNECT = answer

    def perform(self, reply: Reply) -> None:
        pause = self.server.loopback.pause
        if reply.fault == "silent" or not pause(reply.delay_s):
            pause(60)
        elif reply.fault == "reset":
            self.reset()
        elif reply.fault == "garbage":
            self.wfile.write(reply.body)
        elif reply.fault != "close":
            self.speak(reply)

    def speak(self, reply: Reply) -> None:
        body = reply.body if self.command != "HEAD" else b""
        if reply.fault in ("reset_body", "close_body"):
            body = body[: len(body) // 2]
        self.write(_head(reply), reply.drip_s if reply.drip == "all" else 0)
        self.write(body, reply.drip_s)
        if reply.fault == "reset_body":
            self.server.loopback.pause(0.05)  # a reset overtakes what is still under way
            self.reset()

    def write(self, data: bytes, drip_s: float) -> None:
        step = 1 if drip_s else max(len(data), 1)
        for start in range(0, len(data), step):
            if not self.server.loopback.pause(drip_s):
                return
            self.wfile.write(data[start : start + step])

    def reset(self) -> None:
        # no lingering: the kernel sends RST in place of FIN
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.wfile.close()
        self.connection.close()

    def finish(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            super().finish()

    def log_message(self, format: str, *values: Any) -> None:
        """Keep the test's output clean."""


def _head(reply: Reply) -> bytes:
    headers = {"Content-Length": str(len(reply.body)), "Connection": "close", **reply.headers}
    lines = [f"{name}: {value}" for name, value in headers.items() if value]
    return "\r\n".join([f"HTTP/1.1 {reply.status} scripted", *lines, "", ""]).encode("latin-1")
