"""What skilleval.http promises, against real servers on the loopback interface."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path

import pytest
from loopback import Loopback, Reply, reply_json

from skilleval import __version__
from skilleval.asking.retry import Policy, retry_after_s, send
from skilleval.http import Request, Response, post
from skilleval.redaction import excerpt, redact, secrets_of

ROOT = Path(__file__).resolve().parent.parent
KEY = "sk-live-0123456789abcdef"
BEARER = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
DEADLINE_S = 0.25
SLACK_S = 3.0  # a busy machine; the servers below would take far longer
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "request_method")
NOW_S = 784111777.0  # the moment of RFC 9110's examples: Sun, 06 Nov 1994 08:49:37 GMT
PATIENT = Policy()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture
def other() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """PEM files, certificate and key in one: `right` is for 127.0.0.1, `wrong` for another host."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl command to make a certificate with")
    folder = tmp_path_factory.mktemp("certificates")
    return {
        "right": make_certificate(folder / "right.pem", "IP:127.0.0.1"),
        "wrong": make_certificate(folder / "wrong.pem", "DNS:other.invalid"),
    }


def make_certificate(path: Path, name: str) -> str:
    key = path.with_suffix(".key")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=skilleval test", "-addext", f"subjectAltName={name}"]
    subprocess.run(
        [*command, "-keyout", str(key), "-out", str(path)], check=True, capture_output=True
    )
    path.write_text(path.read_text() + key.read_text())
    return str(path)


def ask(url: str, **changes: object) -> Response:
    fields = {"headers": BEARER, "body": b"{}", "timeout_s": 10.0, **changes}
    return post(Request(url, **fields))  # type: ignore[arg-type]


def ask_in_child(url: str, environment: Mapping[str, str]) -> Response:
    """`ask` in an interpreter of its own, for what is read from the environment once."""
    program = (
        "import sys, json; from skilleval.http import Request, post;"
        "r = post(Request(sys.argv[1], {'x-api-key': sys.argv[2]}, b'{}', 10));"
        "print(json.dumps([r.status, r.text, dict(r.headers), r.seconds, r.error, r.kind]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, url, KEY],
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    status, text, headers, seconds, error, kind = json.loads(done.stdout)
    return Response(status, text.encode(), headers, seconds, error, kind)


@contextlib.contextmanager
def mute_listener() -> Iterator[int]:
    """The port of a socket that lets clients connect and never speaks."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def assert_timeout(response: Response) -> None:
    assert (response.status, response.kind) == (None, "timeout")
    assert response.seconds < DEADLINE_S + SLACK_S


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "skilleval-http"]


# one exchange


def test_post_sends_method_path_headers_and_body(server: Loopback) -> None:
    server.on("/v1/chat", reply_json({"answer": 1}))
    ask(f"{server.url}/v1/chat?a=b", body=b'{"q": 1}')
    (received,) = server.requests
    assert (received.method, received.path, received.query) == ("POST", "/v1/chat", "a=b")
    assert received.json() == {"q": 1}
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["content-type"] == "application/json"


def test_request_says_who_asks_and_declines_compression(server: Loopback) -> None:
    ask(server.url, headers={"Accept-Encoding": "gzip"})
    assert server.requests[0].headers["user-agent"] == f"skilleval/{__version__}"
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_answer_has_status_body_and_lower_case_headers(server: Loopback) -> None:
    server.on("/", reply_json({"answer": 1}, headers={"X-Request-ID": "r1"}))
    response = ask(server.url)
    assert (response.status, json.loads(response.body)) == (200, {"answer": 1})
    assert response.headers["x-request-id"] == "r1"
    assert (response.error, response.kind, response.tries) == ("", "", 1)
    assert 0 < response.seconds < 10


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_error_status_is_an_answer_with_its_body(server: Loopback, status: int) -> None:
    server.on("/", Reply(status, b"no such model"))
    response = ask(server.url)
    assert (response.status, response.text, response.error) == (status, "no such model", "")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD"])
def test_every_method_goes_out_by_its_name(server: Loopback, method: str) -> None:
    server.on("/", Reply(200))
    assert ask(server.url, method=method, body=b"").status == 200
    assert server.requests[0].method == method


def test_get_sends_no_body(server: Loopback) -> None:
    ask(server.url, method="GET", body=b"")
    assert "content-length" not in server.requests[0].headers
    assert server.requests[0].body == b""


def test_post_without_body_says_length_zero(server: Loopback) -> None:
    ask(server.url, body=b"")
    assert server.requests[0].headers["content-length"] == "0"


def test_no_content_is_an_empty_answer(server: Loopback) -> None:
    server.on("/", Reply(204, headers={"Content-Length": ""}))
    response = ask(server.url)
    assert (response.status, response.body, response.error) == (204, b"", "")


def test_empty_body_is_an_answer(server: Loopback) -> None:
    server.on("/", Reply(200, b""))
    assert ask(server.url)[:2] == (200, b"")


def test_body_that_is_not_utf8_is_kept_and_read_with_replacement(server: Loopback) -> None:
    server.on("/", Reply(200, b"caf\xe9 \xff\xfe"))
    response = ask(server.url)
    assert response.body == b"caf\xe9 \xff\xfe"
    assert response.text == "caf\ufffd \ufffd\ufffd"


def test_chunked_body_is_joined(server: Loopback) -> None:
    chunked = {"Transfer-Encoding": "chunked", "Content-Length": ""}
    server.on("/", Reply(200, b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", chunked))
    assert ask(server.url).body == b"abcde"


def test_fifty_threads_get_their_own_answers(server: Loopback) -> None:
    for number in range(50):
        server.on(f"/{number}", Reply(200, f"{number}".encode(), delay_s=0.05))
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda number: ask(f"{server.url}/{number}").text, range(50)))
    assert answers == [str(number) for number in range(50)]


def test_import_loads_no_network_module() -> None:
    heavy = ("urllib.request", "http.client", "ssl", "email", "socket", "threading", "json")
    program = f"import sys, skilleval.http; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stdout.strip() == b"[]"


# the deadline


def test_silent_server_does_not_outlive_the_deadline(server: Loopback) -> None:
    server.on("/", Reply(fault="silent"))
    response = ask(server.url, timeout_s=DEADLINE_S)
    assert_timeout(response)
    assert response.error == f"POST {server.url}/: no answer within {DEADLINE_S} s"
    assert not response.answered


def test_server_that_never_accepts_does_not_outlive_the_deadline() -> None:
    with mute_listener() as port:
        assert_timeout(ask(f"http://127.0.0.1:{port}", timeout_s=DEADLINE_S))


def test_mute_tls_server_does_not_outlive_the_deadline() -> None:
    with mute_listener() as port:
        assert_timeout(ask(f"https://127.0.0.1:{port}", timeout_s=DEADLINE_S))


@pytest.mark.skipif(sys.platform != "linux", reason="a full backlog drops connects on Linux only")
def test_connect_does_not_outlive_the_deadline() -> None:
    with socket.socket() as listener, contextlib.ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        port = listener.getsockname()[1]
        assert_timeout(ask(f"http://127.0.0.1:{port}", timeout_s=DEADLINE_S))


def test_dripping_headers_do_not_outlive_the_deadline(server: Loopback) -> None:
    server.on("/", Reply(200, b"late", drip_s=0.1))
    response = ask(server.url, timeout_s=DEADLINE_S)
    assert_timeout(response)
    assert not response.answered


def test_dripping_body_does_not_outlive_the_deadline(server: Loopback) -> None:
    server.on("/", Reply(200, b"x" * 300, drip_s=0.1, drip="body"))
    response = ask(server.url, timeout_s=DEADLINE_S)
    assert_timeout(response)
    assert response.error.endswith(f"the answer was not complete within {DEADLINE_S} s")
    assert response.answered


def test_dripping_chunks_do_not_outlive_the_deadline(server: Loopback) -> None:
    chunked = {"Transfer-Encoding": "chunked", "Content-Length": ""}
    server.on("/", Reply(200, b"1\r\nx\r\n" * 100, chunked, drip_s=0.1, drip="body"))
    assert_timeout(ask(server.url, timeout_s=DEADLINE_S))


def test_deadline_is_one_for_all_redirects(server: Loopback) -> None:
    server.on("/", Reply(307, headers={"Location": "/again"}, delay_s=DEADLINE_S * 0.7))
    server.on("/again", Reply(200, delay_s=DEADLINE_S * 0.7))
    assert_timeout(ask(server.url, timeout_s=DEADLINE_S))


def test_proxy_that_drips_its_tunnel_does_not_outlive_the_deadline(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", server.url)
    server.on("api.invalid:443", Reply(200, drip_s=0.1))
    assert_timeout(ask("https://api.invalid/", timeout_s=DEADLINE_S))
    assert server.requests[0].method == "CONNECT"


def test_no_time_left_is_a_timeout_without_a_connection(server: Loopback) -> None:
    assert_timeout(ask(server.url, timeout_s=0.0))
    assert_timeout(ask(server.url, timeout_s=-1.0))
    assert server.requests == []


def test_slow_answer_within_the_deadline_is_an_answer(server: Loopback) -> None:
    server.on("/", Reply(200, b"ok", drip_s=0.005))
    assert ask(server.url, timeout_s=30.0).text == "ok"


def test_nothing_goes_on_after_the_deadline(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("/", Reply(200, b"x" * 600, drip_s=0.1))
    server.on("api.invalid:443", Reply(200, drip_s=0.1))
    ask(server.url, timeout_s=DEADLINE_S)
    monkeypatch.setenv("https_proxy", server.url)
    ask("https://api.invalid/", timeout_s=DEADLINE_S)
    patience = time.monotonic() + SLACK_S
    while workers() and time.monotonic() < patience:
        time.sleep(0.02)
    assert workers() == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc to count open files in")
def test_no_call_leaves_a_file_open(server: Loopback) -> None:
    server.on("/late", Reply(200, b"x" * 600, drip_s=0.05))
    server.on("/reset", Reply(fault="reset"))
    urls = [f"{server.url}/late", f"{server.url}/reset", server.url, "http://127.0.0.1:1/"]
    for url in urls:
        ask(url, timeout_s=0.15)
    patience = time.monotonic() + SLACK_S
    while client_sockets(server.port) and time.monotonic() < patience:
        time.sleep(0.02)
    assert client_sockets(server.port) == 0


def client_sockets(port: int) -> int:
    """How many sockets of this process are connected to `port`, dead or alive."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError, ValueError):
            probe = socket.socket(fileno=os.dup(int(name)))
            with probe:
                count += probe.getpeername()[1] == port
    return count


# what the network does wrong is a value


def test_refused_connection_is_a_value() -> None:
    with mute_listener() as port:
        pass
    response = ask(f"http://127.0.0.1:{port}/v1")
    assert (response.status, response.kind) == (None, "connection")
    assert response.error == f"POST http://127.0.0.1:{port}/v1: connection refused"


def test_unknown_host_is_a_value() -> None:
    response = ask("http://no-such-host.invalid/")
    assert (response.status, response.kind) == (None, "connection")
    assert "the host is not known" in response.error


@pytest.mark.parametrize(
    ("fault", "answered"),
    [
        ("reset", False),
        ("close", False),
        ("garbage", True),
        ("reset_body", True),
        ("close_body", True),
    ],
)
def test_broken_answer_is_a_value(server: Loopback, fault: str, answered: bool) -> None:
    server.on("/", Reply(200, b"not an answer" * 9, fault=fault))  # type: ignore[arg-type]
    response = ask(server.url)
    assert (response.status, response.body, response.kind) == (None, b"", "connection")
    assert response.answered is answered


def test_chunked_body_without_its_end_is_no_answer(server: Loopback) -> None:
    chunked = {"Transfer-Encoding": "chunked", "Content-Length": ""}
    server.on("/", Reply(200, b"5\r\nabc", chunked))
    response = ask(server.url)
    assert (response.status, response.kind) == (None, "connection")
    assert "broke off" in response.error


def test_body_at_the_limit_is_taken(server: Loopback) -> None:
    server.on("/", Reply(200, b"x" * 1000))
    assert len(ask(server.url, limit_bytes=1000).body) == 1000


def test_announced_body_over_the_limit_is_refused_unread(server: Loopback) -> None:
    server.on("/", Reply(200, b"x", {"Content-Length": "1001"}, drip_s=0))
    response = ask(server.url, limit_bytes=1000)
    assert (response.status, response.kind) == (None, "too_large")
    assert response.error.endswith("the answer is larger than 1000 bytes")


def test_unannounced_body_over_the_limit_is_refused(server: Loopback) -> None:
    server.on("/", Reply(200, b"x" * 200_000, {"Content-Length": ""}))
    response = ask(server.url, limit_bytes=100_000)
    assert (response.status, response.kind) == (None, "too_large")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/v1",
        "127.0.0.1/v1",
        "localhost:8080/v1",
        "http://",
        "http:///v1",
        "http://host:port/",
        "http://host:99999/",
        "http://[::1/",
        "http://host/a b",
        "http://host/a\r\nX-Injected: 1",
        "http://host/ü",
        "http://" + "a" * 70 + ".invalid/",
        "ftp://127.0.0.1/",
        "file:///etc/hostname",
        "data:,x",
    ],
)
def test_bad_url_is_a_value(url: str) -> None:
    response = ask(url)
    assert (response.status, response.kind) == (None, "bad_url")
    assert response.error.startswith("POST ")
    assert response.error.isprintable()


@pytest.mark.parametrize(
    "headers",
    [
        {"x-api-key": f"{KEY}\n"},
        {"x-api-key": f"{KEY}\r\nX-Injected: 1"},
        {"x-api-key": f"{KEY}…"},
        {"x-api-key\n": KEY},
        {"": KEY},
    ],
)
def test_header_that_cannot_be_sent_is_a_value(
    server: Loopback, headers: Mapping[str, str]
) -> None:
    response = ask(server.url, headers=headers)
    assert (response.status, response.kind) == (None, "bad_header")
    assert KEY not in response.error
    assert server.requests == []


def test_malformed_proxy_is_a_value_without_its_password(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http:/user:pass-of-proxy@127.0.0.1")
    response = ask(server.url)
    assert (response.status, response.kind) == (None, "bad_url")
    assert "proxy" in response.error
    assert "pass-of-proxy" not in response.error


# TLS


def test_self_signed_certificate_is_refused(certificates: Mapping[str, str]) -> None:
    with Loopback(certificates["right"]) as server:
        response = ask(server.url)
        assert (response.status, response.kind) == (None, "tls")
        assert "self-signed" in response.error.replace("self signed", "self-signed")
        assert "SSL_CERT_FILE" in response.error
        assert server.requests == []


def test_authority_named_in_the_environment_is_trusted(certificates: Mapping[str, str]) -> None:
    with Loopback(certificates["right"]) as server:
        server.on("/", Reply(200, b"trusted"))
        response = ask_in_child(server.url, {"SSL_CERT_FILE": certificates["right"]})
        assert (response.status, response.text) == (200, "trusted")
        assert server.requests[0].headers["x-api-key"] == KEY


def test_certificate_of_another_host_is_refused(certificates: Mapping[str, str]) -> None:
    with Loopback(certificates["wrong"]) as server:
        response = ask_in_child(server.url, {"SSL_CERT_FILE": certificates["wrong"]})
        assert (response.status, response.kind) == (None, "tls")
        assert server.requests == []


def test_plain_server_at_an_https_address_is_a_tls_error(server: Loopback) -> None:
    response = ask(server.url.replace("http://", "https://"))
    assert (response.status, response.kind) == (None, "tls")


# redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_redirect_to_another_host_is_refused_and_carries_nothing(
    server: Loopback, other: Loopback, status: int, method: str
) -> None:
    other.on("/", Reply(200, b"stolen"))
    server.on("/", Reply(status, headers={"Location": f"{other.url}/?key={KEY}"}))
    response = ask(server.url, method=method)
    assert (response.status, response.kind) == (None, "redirect")
    assert server.url in response.error
    assert other.url in response.error
    assert KEY not in response.error
    assert other.requests == []


@pytest.mark.parametrize(
    "location",
    [
        "http://localhost:{port}/",
        "https://127.0.0.1:{port}/",
        "//127.0.0.1:1/",
        "http://127.0.0.1/",
        "file:///etc/hostname",
        "http://[::1/",
        "http://127.0.0.1:{port}@other.invalid/",
    ],
)
def test_redirect_to_another_origin_is_refused(server: Loopback, location: str) -> None:
    server.on("/", Reply(307, headers={"Location": location.format(port=server.port)}))
    response = ask(server.url)
    assert (response.status, response.kind) == (None, "redirect")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [307, 308])
def test_redirect_on_the_same_host_keeps_method_body_and_key(server: Loopback, status: int) -> None:
    server.on("/", Reply(status, headers={"Location": "/v2?page=1"}))
    server.on("/v2", Reply(200, b"moved"))
    assert ask(server.url, body=b"question").text == "moved"
    first, second = server.requests
    assert (second.method, second.query, second.body) == ("POST", "page=1", b"question")
    assert second.headers["authorization"] == first.headers["authorization"]


def test_post_is_redirected_once(server: Loopback) -> None:
    server.on("/", Reply(307, headers={"Location": "/"}))
    response = ask(server.url)
    assert (response.status, response.kind) == (None, "redirect")
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [301, 302, 303])
def test_redirect_that_would_turn_post_into_get_is_refused(server: Loopback, status: int) -> None:
    server.on("/", Reply(status, headers={"Location": "/v2"}))
    response = ask(server.url)
    assert (response.status, response.kind) == (None, "redirect")
    assert len(server.requests) == 1


def test_get_follows_redirects_on_the_same_host_but_not_for_ever(server: Loopback) -> None:
    server.on("/loop", Reply(302, headers={"Location": "/loop"}))
    server.on("/", Reply(302, headers={"Location": "v2"}))
    server.on("/v2", Reply(200, b"moved"))
    assert ask(server.url, method="GET", body=b"").text == "moved"
    assert ask(f"{server.url}/loop", method="GET", body=b"").kind == "redirect"


def test_redirect_without_location_is_an_ordinary_answer(server: Loopback) -> None:
    server.on("/", Reply(302, b"somewhere"))
    assert ask(server.url)[:2] == (302, b"somewhere")


# proxies


def test_proxy_from_the_environment_is_used(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.on("http://api.invalid/v1", Reply(200, b"by proxy"))
    assert ask("http://api.invalid/v1").text == "by proxy"
    assert server.requests[0].headers["host"] == "api.invalid"


def test_no_proxy_is_honoured(
    server: Loopback, other: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", other.url)
    monkeypatch.setenv("no_proxy", "example.invalid, 127.0.0.1")
    server.on("/", Reply(200, b"direct"))
    assert ask(server.url).text == "direct"
    assert other.requests == []


def test_key_does_not_show_in_the_request_for_a_tunnel(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", server.url.replace("//", "//user:pass-of-proxy@"))
    server.on("api.invalid:443", Reply(403))
    response = ask(f"https://api.invalid/v1?key={KEY}")
    assert (response.status, response.kind) == (None, "connection")
    assert f"through the proxy 127.0.0.1:{server.port}" in response.error
    assert "pass-of-proxy" not in response.error
    (received,) = server.requests
    assert KEY not in repr(received)
    assert received.headers["proxy-authorization"].startswith("Basic ")


def test_tls_through_a_tunnel_reaches_the_host(certificates: Mapping[str, str]) -> None:
    with Loopback(certificates["right"]) as server, tunnel(server.port) as proxy:
        server.on("/", Reply(200, b"through"))
        environment = {"SSL_CERT_FILE": certificates["right"], "https_proxy": proxy}
        response = ask_in_child(server.url, environment)
        assert (response.status, response.text) == (200, "through")
        assert server.requests[0].headers["x-api-key"] == KEY


@contextlib.contextmanager
def tunnel(port: int) -> Iterator[str]:
    """The URL of a proxy for one connection, which it passes on to `port`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=pass_on, args=(listener, port), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)
        assert not thread.is_alive(), "nobody came through the tunnel"


def pass_on(listener: socket.socket, port: int) -> None:
    client, _ = listener.accept()
    with client, socket.create_connection(("127.0.0.1", port)) as server:
        while b"\r\n\r\n" not in client.recv(65536, socket.MSG_PEEK):
            time.sleep(0.01)
        client.recv(65536)
        client.sendall(b"HTTP/1.1 200 go on\r\n\r\n")
        back = threading.Thread(target=pump, args=(server, client), daemon=True)
        back.start()
        pump(client, server)
        back.join(10)


def pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


# secrets


@pytest.mark.parametrize(
    "header", ["Authorization", "x-api-key", "API-Key", "Proxy-Authorization", "X-Goog-Api-Key"]
)
def test_key_is_in_no_error_text(server: Loopback, header: str) -> None:
    server.on("/reset", Reply(fault="reset"))
    server.on("/garbage", Reply(body=KEY.encode(), fault="garbage"))
    server.on("/redirect", Reply(307, headers={"Location": f"http://{KEY}.invalid/{KEY}"}))
    server.on("/tunnel", Reply(307, headers={"Location": f"/{KEY} {KEY}"}))
    for path in ("reset", "garbage", "redirect", "tunnel", KEY):
        for timeout_s in (5.0, 0.0):
            url = f"{server.url}/{path}?key={KEY}"
            response = ask(url, headers={header: f"Bearer {KEY}"}, timeout_s=timeout_s)
            assert KEY not in response.error, response.error


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hidden-word@127.0.0.1:1/x",
        "http://hidden-word@127.0.0.1:1/x",
        "http://user:hidden%2Dword@127.0.0.1:1/hidden-word",
        "http://user:hidden/hidden-word@127.0.0.1:1/x",
        "user:hidden-word@127.0.0.1:1/x",
        "http://127.0.0.1:1/x?key=hidden-word",
        "http://127.0.0.1:1/hidden-word?api_key=hidden-word#f",
        "http://127.0.0.1:port/x?a=1&access_token=hidden-word",
    ],
)
def test_credentials_of_the_url_are_in_no_error_text_and_no_repr(url: str) -> None:
    request = Request(url, {}, b"", 5.0)
    response = post(request)
    assert response.status is None
    assert "hidden-word" not in response.error
    assert "hidden-word" not in repr(request).replace("/hidden-word", "")


def test_repr_of_a_request_shows_no_header() -> None:
    request = Request("http://127.0.0.1/v1?key=k", BEARER, b"{}", 1.0)
    assert repr(request) == "Request(POST http://127.0.0.1/v1, 2 bytes)"


def test_credentials_of_the_url_become_a_header(server: Loopback) -> None:
    url = server.url.replace("//", "//user:p%40ss@")
    ask(url, headers={})
    ask(url, headers={"Authorization": "Bearer of the caller"})
    sent = [received.headers["authorization"] for received in server.requests]
    assert sent == ["Basic dXNlcjpwQHNz", "Bearer of the caller"]


def test_excerpt_hides_a_key_that_the_server_echoes(server: Loopback) -> None:
    request = Request(server.url, BEARER, b"{}", 10.0)
    server.on("/", Reply(401, f'{{"error": "bad key: {KEY}"}}'.encode()))
    assert excerpt(post(request), secrets_of(request)) == '{"error": "bad key: [redacted]"}'


@pytest.mark.parametrize("offset", range(270, 301, 3))
def test_excerpt_leaves_no_half_of_a_key_where_it_cuts(offset: int) -> None:
    response = Response(500, b"x" * offset + KEY.encode() + b"y" * 900, {}, 0.0)
    assert "sk-" not in excerpt(response, [KEY])


@pytest.mark.parametrize("secret", ['k"e\\y-word', "k/e+y=word", "key word 1", "schlüssel"])
def test_redact_knows_the_escaped_forms(secret: str) -> None:
    from urllib.parse import quote, quote_plus

    text = " ".join([secret, json.dumps(secret), quote(secret, safe=""), quote_plus(secret)])
    assert redact(text, [secret]).replace("[redacted]", "").strip(' "') == ""


def test_redact_hides_the_longer_of_two_secrets_whole() -> None:
    assert redact("abcdef abcd", ["abcd", "abcdef"]) == "[redacted] [redacted]"


def test_redact_hides_credentials_in_any_url() -> None:
    assert redact("at http://user:word@host/x", ()) == "at http://[redacted]@host/x"


def test_redact_leaves_the_text_alone_for_empty_and_tiny_secrets() -> None:
    assert redact("an example text", ["", "x", "ex", "exa"]) == "an example text"


def test_excerpt_is_one_printable_line() -> None:
    response = Response(500, b"a\r\n\x1b[31mb\x00\t c\xff", {}, 0.0)
    assert excerpt(response, ()) == "a b c\ufffd"


def test_excerpt_names_an_empty_body_and_the_size_of_a_long_one() -> None:
    assert excerpt(Response(500, b" \n", {}, 0.0), ()) == "(empty body)"
    assert excerpt(Response(500, b"x" * 5000, {}, 0.0), (), 10) == "xxxxxxxxxx… (5000 bytes)"
    assert excerpt(Response(500, b"x" + b" " * 500 + b"y", {}, 0.0), (), 10) == "x… (502 bytes)"
    assert excerpt(Response(500, b" " * 500 + b"y", {}, 0.0), (), 10) == "y"


# retries


class Clock:
    """Time that passes only by sleeping, and a post that answers from a list."""

    def __init__(self, *answers: Response, attempt_s: float = 0.0) -> None:
        self.now_s = NOW_S
        self.answers = list(answers)
        self.attempt_s = attempt_s
        self.sleeps: list[float] = []
        self.timeouts: list[float] = []

    def post(self, request: Request) -> Response:
        self.timeouts.append(request.timeout_s)
        self.now_s += min(self.attempt_s, request.timeout_s)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now_s += seconds

    def send(self, policy: Policy = PATIENT, draw: float = 0.5, timeout_s: float = 60) -> Response:
        return send(
            Request("http://api.invalid/", {}, b"", timeout_s),
            post=self.post,
            sleep=self.sleep,
            now=lambda: self.now_s,
            policy=policy,
            random=lambda: draw,
        )


def answer(status: int | None, retry_after: str = "", **more: object) -> Response:
    headers = {"retry-after": retry_after} if retry_after else {}
    return Response(status, b"", headers, 0.0, **more)  # type: ignore[arg-type]


OK = answer(200)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_passing_trouble_is_retried(status: int) -> None:
    response = Clock(answer(status), answer(status), OK).send()
    assert (response.status, response.tries) == (200, 3)


@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 403, 404, 413, 422, 501])
def test_any_other_status_is_the_answer(status: int) -> None:
    clock = Clock(answer(status), OK)
    assert clock.send()[0] == status
    assert clock.sleeps == []


@pytest.mark.parametrize("kind", ["connection", "timeout"])
def test_failure_before_an_answer_is_retried(kind: str) -> None:
    assert Clock(answer(None, error="x", kind=kind), OK).send().status == 200


@pytest.mark.parametrize("kind", ["tls", "too_large", "bad_url", "bad_header", "redirect"])
def test_failure_that_will_not_pass_is_not_retried(kind: str) -> None:
    response = Clock(answer(None, error="x", kind=kind), OK).send()
    assert (response.kind, response.tries) == (kind, 1)


@pytest.mark.parametrize("kind", ["connection", "timeout"])
def test_failure_within_an_answer_is_not_retried(kind: str) -> None:
    response = Clock(answer(None, error="x", kind=kind, answered=True), OK).send()
    assert (response.status, response.tries) == (None, 1)


def test_last_response_comes_back_when_the_tries_are_used_up() -> None:
    clock = Clock(answer(503))
    response = clock.send(Policy(tries=3))
    assert (response.status, response.tries, len(clock.sleeps)) == (503, 3, 2)


def test_one_try_is_one_attempt() -> None:
    clock = Clock(answer(503))
    assert clock.send(Policy(tries=1)).tries == 1
    assert clock.sleeps == []


def test_retry_after_seconds_is_waited() -> None:
    clock = Clock(answer(429, "2"), OK)
    assert clock.send().status == 200
    assert clock.sleeps == [2]


def test_retry_after_date_is_waited() -> None:
    clock = Clock(answer(503, formatdate(NOW_S + 7, usegmt=True)), OK)
    assert clock.send().status == 200
    assert clock.sleeps == [7]


def test_retry_after_may_exceed_the_cap_of_the_back_off() -> None:
    clock = Clock(answer(429, "90"), OK)
    clock.send(Policy(cap_s=5))
    assert clock.sleeps == [90]


@pytest.mark.parametrize("value", ["600", "1e9", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_no_wait_goes_beyond_the_total(value: str) -> None:
    clock = Clock(answer(429, value))
    response = clock.send(Policy(tries=50, total_s=600))
    assert response.status == 429
    assert clock.now_s - NOW_S < 600


def test_wait_that_is_too_long_gives_up_at_once() -> None:
    clock = Clock(answer(429, "601"), OK)
    response = clock.send(Policy(total_s=600))
    assert (response.status, response.tries, clock.sleeps) == (429, 1, [])


def test_attempt_gets_no_more_time_than_is_left() -> None:
    clock = Clock(answer(None, error="x", kind="timeout"), attempt_s=1000)
    clock.send(Policy(tries=9, base_s=2, total_s=100), draw=0.5, timeout_s=60)
    assert clock.timeouts == [60, 39]
    assert clock.now_s - NOW_S == 100


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("2", 2.0),
        (" 120 ", 120.0),
        ("1.5", 1.5),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sunday, 06-Nov-94 08:49:47 GMT", 10.0),  # RFC 850
        ("Sun Nov  6 08:49:47 1994", 10.0),  # asctime
        ("Sun, 06 Nov 1994 10:49:47 +0200", 10.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Sun, 06 Nov 1994 08:49:36 GMT", None),
        ("", None),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("1e3", None),
        ("\u0663", None),
        (".", None),
        ("soon", None),
        ("Sun, 99 Nov 1994 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_read_in_every_form(value: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": value}, NOW_S) == seconds


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system cannot change its time zone")
def test_retry_after_date_without_a_zone_is_utc_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "XYZ-9")
        time.tzset()
        assert retry_after_s({"retry-after": "Sun Nov  6 08:49:47 1994"}, NOW_S) == 10
    time.tzset()


def test_retry_after_never_fails_on_nonsense() -> None:
    draw = random.Random(1994)
    words = [
        "Sun,",
        "06",
        "Nov",
        "94",
        "08:49:37",
        "GMT",
        "-",
        "+9999",
        ":",
        "99999999",
        "\x00",
        "",
    ]
    for _ in range(3000):
        value = " ".join(draw.choices(words, k=draw.randint(1, 7)))
        seconds = retry_after_s({"retry-after": value}, NOW_S)
        assert seconds is None or seconds >= 0, value


def test_retry_after_that_has_passed_leaves_the_back_off_in_charge() -> None:
    clock = Clock(answer(429, "Sun, 06 Nov 1994 00:00:00 GMT"), OK)
    clock.send(Policy(base_s=4), draw=0.25)
    assert clock.sleeps == [1.0]


def test_back_off_doubles_up_to_the_cap() -> None:
    clock = Clock(answer(500))
    clock.send(Policy(tries=7, base_s=1, cap_s=10), draw=1.0)
    assert clock.sleeps == [1, 2, 4, 8, 10, 10]


def test_jitter_stays_between_zero_and_the_back_off() -> None:
    policy = Policy(tries=9, base_s=0.5, cap_s=8, total_s=1000)
    seen: list[float] = []
    for seed in range(200):
        clock = Clock(answer(503))
        draw = random.Random(seed)
        request = Request("http://api.invalid/", {}, b"", 1)
        send(
            request,
            post=clock.post,
            sleep=clock.sleep,
            now=lambda: clock.now_s,  # noqa: B023
            policy=policy,
            random=draw.random,
        )
        limits = [min(8, 0.5 * 2**attempt) for attempt in range(8)]
        assert all(0 <= wait <= limit for wait, limit in zip(clock.sleeps, limits, strict=True))
        seen += [wait / limit for wait, limit in zip(clock.sleeps, limits, strict=True)]
    assert 0.45 < sum(seen) / len(seen) < 0.55, "full jitter is even over the whole back-off"


def test_total_is_kept_whatever_the_server_says() -> None:
    for seed in range(300):
        draw = random.Random(seed)
        codes = [str(draw.choice([0, 1, 5, 30, 400])), "", formatdate(NOW_S + 50, usegmt=True)]
        replies = [answer(draw.choice([429, 503]), draw.choice(codes)) for _ in range(20)]
        clock = Clock(*replies, attempt_s=draw.choice([0.0, 1.0, 80.0]))
        policy = Policy(tries=draw.randint(1, 20), total_s=120)
        response = clock.send(policy, draw=draw.random())
        assert clock.now_s - NOW_S <= 120, f"seed {seed}"
        assert response.tries == len(clock.timeouts) <= policy.tries


def test_real_server_is_asked_again_after_a_reset_and_a_storm(server: Loopback) -> None:
    server.on(
        "/", Reply(fault="reset"), Reply(429, headers={"Retry-After": "2"}), Reply(200, b"ok")
    )
    sleeps: list[float] = []
    request = Request(server.url, BEARER, b"{}", 10.0)
    response = send(request, post=post, sleep=sleeps.append, now=time.time, random=lambda: 0.25)
    assert (response.status, response.text, response.tries) == (200, "ok", 3)
    assert sleeps == [0.25, 2]
    assert [received.body for received in server.requests] == [b"{}"] * 3


def test_default_jitter_is_random(server: Loopback) -> None:
    server.on("/", Reply(503))
    sleeps: list[float] = []
    request = Request(server.url, {}, b"", 10.0)
    policy = Policy(tries=4, base_s=1, cap_s=1)
    send(request, post=post, sleep=sleeps.append, now=time.time, policy=policy)
    assert len(set(sleeps)) == 3
