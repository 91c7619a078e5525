"""The agent behind an endpoint, against a real server (seed 000; spec/scenarios sections 6 and 7)."""

import json
from pathlib import Path

import build
import pytest
from loopback import Loopback, Reply, reply_json

from skilleval import engine, settings
from skilleval.agents import http
from skilleval.formats import scenario
from skilleval.model import Arm, Case
from skilleval.tools import Tools

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "scenarios" / "cases.json").read_text("utf-8")
)
PATH = "/v1/chat/completions"
KEY = "OPENKATA_EVAL_HTTP_API_KEY"
HELLO = {
    "choices": [{"message": {"content": "Hello"}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
}


@pytest.fixture
def server():
    with Loopback() as running:
        running.on(PATH, reply_json(HELLO))
        yield running


class Waits:
    """Tools that never wait, and remember for how long they should have."""

    def __init__(self, **environ):
        self.seconds = []
        self.tools = Tools(sleep=self.seconds.append, environ=environ)


def arm(base_url, model="m", timeout_s=10.0):
    options = {"base_url": base_url, "key_name": KEY, "timeout_s": timeout_s}
    return Arm(model, "http", model, options=options)


def run(server, *, base="/v1", waits=None, **more):
    waits = waits or Waits()
    return http.run(Case("c", "Say hello"), arm(server.url + base, **more), waits.tools)


def test_the_reply_is_the_output_with_its_usage(server):
    outcome = run(server)
    assert (outcome.status, outcome.output, outcome.attempts) == ("ok", "Hello", 1)
    assert (outcome.usage.input, outcome.usage.output) == (7, 3)
    assert outcome.seconds is not None


@pytest.mark.parametrize("case", DATA["http"], ids=lambda case: case["base"])
def test_shared_cases_of_urls(server, case):
    path = case["url"].removeprefix("http://h")
    server.on(path, reply_json(HELLO))
    assert run(server, base=case["base"].removeprefix("http://h")).output == "Hello"
    assert [request.path for request in server.requests] == [path]


@pytest.mark.parametrize("case", [case for case in DATA["http_body"] if not case["system"]])
def test_shared_cases_of_bodies(server, case):
    tools = Tools(environ={KEY: case["key"]} if case["key"] else {})
    http.run(Case("c", case["user"]), arm(f"{server.url}/v1", case["model"]), tools)
    [request] = server.requests
    assert request.json() == case["body"]
    assert request.headers.get("authorization") == case["auth"]
    assert request.headers["content-type"] == "application/json"


def test_the_key_is_a_bearer_token(server):
    run(server, waits=Waits(**{KEY: "hunter2"}))
    assert server.requests[0].headers["authorization"] == "Bearer hunter2"


@pytest.mark.parametrize(
    "case", [case for case in DATA["http_answer"] if case["status"] != 429], ids=lambda c: c["body"]
)
def test_shared_cases_of_answers(server, case):
    server.on(PATH, Reply(case["status"], case["body"].encode()))
    outcome = run(server)
    if case["want"].startswith("error"):
        assert outcome.status == "error"
        assert outcome.error.startswith("agent completion: parsing response")
    else:
        assert (outcome.status, outcome.output) == ("ok", case["want"])


def test_two_throttled_calls_and_a_success_are_three_calls(server):
    server.on(PATH, Reply(429, b"busy"), Reply(429, b"busy"), reply_json(HELLO))
    waits = Waits()
    outcome = run(server, waits=waits)
    assert (outcome.output, outcome.attempts) == ("Hello", 3)
    assert (len(server.requests), waits.seconds) == (3, [1, 2])


def test_a_model_throttled_three_times_is_an_error(server):
    server.on(PATH, Reply(429, b"busy"))
    waits = Waits()
    outcome = run(server, waits=waits)
    assert outcome.error == "agent completion: throttled after 3 attempts: HTTP 429: busy"
    assert (outcome.attempts, len(server.requests), waits.seconds) == (3, 3, [1, 2, 4])


def test_any_other_failure_is_an_error_at_once(server):
    server.on(PATH, Reply(500, b"oops"))
    waits = Waits()
    outcome = run(server, waits=waits)
    assert (outcome.status, outcome.error) == ("error", "agent completion: HTTP 500: oops")
    assert outcome.failure == "infrastructure"
    assert (len(server.requests), waits.seconds) == (1, [])


def test_no_choices_are_an_error(server):
    server.on(PATH, reply_json({"choices": []}))
    assert run(server).error == "agent completion: no choices in response"


def test_a_server_that_never_answers_ends_at_the_timeout(server):
    server.on(PATH, Reply(fault="silent"))
    outcome = run(server, timeout_s=0.3)
    assert outcome.status == "error"
    assert "no answer within 0.3 s" in outcome.error
    assert len(server.requests) == 1


def test_a_refused_key_is_in_no_error(server):
    server.on(PATH, Reply(401, b"bad key hunter2"))
    outcome = run(server, waits=Waits(**{KEY: "hunter2"}))
    assert outcome.error.startswith("agent completion: HTTP 401: bad key")
    assert "hunter2" not in outcome.error


def test_without_a_base_url_nothing_is_started():
    outcome = http.run(Case("c", "p"), arm(""), Tools())
    assert outcome.error.startswith("agent completion: ")
    assert "the URL must look like http://host/path" in outcome.error


def suite(root, sandbox="false", **flags):
    folder = build.scenario(root, files={"scenario.json": f'{{"sandbox": {sandbox}}}'})
    chosen = settings.resolve(flags, {}, str(root), scenario.SETTINGS)
    return scenario.configured(scenario.load(str(folder)), chosen)


def test_the_missing_base_url_is_told_before_the_run(tmp_path):
    assert http.preflight(suite(tmp_path, backend="http"), Tools()) == (http.NO_BASE_URL,)


def test_the_judge_needs_a_base_url_too(tmp_path):
    loaded = suite(tmp_path, "true", backend="http")
    assert http.preflight(loaded, Tools()) == (http.NO_BASE_URL,)
    apart = suite(tmp_path, "true", backend="http", judge_base_url="http://judge/v1")
    assert http.preflight(apart, Tools()) == ()


def test_the_backend_kiro_needs_no_base_url(tmp_path):
    assert http.preflight(suite(tmp_path), Tools()) == ()


def test_the_engine_runs_a_direct_scenario_against_the_endpoint(tmp_path, server):
    build.write(tmp_path / ".openkata-eval.yaml", f"http: {{base_url: '{server.url}/v1'}}\n")
    loaded = suite(tmp_path, backend="http", model="m")._replace(judge={})
    [result] = engine.run(loaded)
    assert (result.outcome.status, result.outcome.output) == ("ok", "Hello")
    [request] = server.requests
    assert request.json() == {
        "model": "m",
        "messages": [{"role": "user", "content": "# S\n\n\nSay hello.\n"}],
    }
