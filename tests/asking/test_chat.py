"""Two dialects of asking a model, against a real server on the loopback interface."""

import json
from pathlib import Path

import pytest
from loopback import Loopback, Reply, reply_json

from skilleval.asking.chat import Endpoint, EndpointError, complete, style_of
from skilleval.asking.retry import Policy
from skilleval.model import Usage
from skilleval.tools import Tools

CASES = json.loads(
    (Path(__file__).parent.parent / "data/judge/cases.json").read_text(encoding="utf-8")
)
OPENAI, ANTHROPIC = "/v1/chat/completions", "/anthropic/v1/messages"
KEY = "sk-test-0123456789"
ONCE = Policy(tries=1)
TOOLS = Tools(sleep=lambda seconds: None)


@pytest.fixture
def server():
    with Loopback() as running:
        yield running


def said(text, **more):
    return reply_json({"choices": [{"message": {"content": text}}], **more})


def ask(server, base="/v1", key=KEY, **options):
    endpoint = Endpoint(server.url + base, "m", key, timeout_s=5, policy=ONCE)
    return complete(endpoint, "s", "u", TOOLS, **options)


def anthropic(server, answer, **options):
    server.on(ANTHROPIC, reply_json(answer))
    return ask(server, "/anthropic", **options)


@pytest.mark.parametrize("case", CASES["http"], ids=lambda case: case["base"])
def test_url_is_the_base_with_chat_completions(server, case):
    path = case["url"].removeprefix("http://h")
    server.on(path, said("hey"))
    assert ask(server, case["base"].removeprefix("http://h")).text == "hey"


def test_whole_url_is_taken_as_it_is(server):
    server.on(OPENAI, said("hey"))
    assert ask(server, OPENAI).text == "hey"


@pytest.mark.parametrize("case", CASES["http_body"], ids=["system and key", "neither"])
def test_body_holds_model_and_messages_and_nothing_else(server, case):
    server.on(OPENAI, said("hey"))
    endpoint = Endpoint(server.url + "/v1", case["model"], case["key"])
    reply = complete(endpoint, case["system"], case["user"], TOOLS)
    [request] = server.requests
    assert (request.method, request.json()) == ("POST", case["body"])
    assert request.headers.get("authorization") == case["auth"]
    assert request.headers["content-type"] == "application/json"
    assert reply.request_bytes == len(request.body)


@pytest.mark.parametrize("case", CASES["http_answer"], ids=lambda case: case["want"] or "null")
def test_answer_is_the_first_choice_or_an_error_that_says_why(server, case):
    server.on(OPENAI, Reply(case["status"], case["body"].encode()))
    if not case["want"].startswith("error"):
        assert ask(server).text == case["want"]
        return
    with pytest.raises(EndpointError) as error:
        ask(server)
    assert case["want"].removeprefix("error ").removesuffix("parse") in str(error.value)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"choices": []}, "no choices in response"),
        ({}, "no choices in response"),
        ({"choices": "x"}, "no choices in response"),
        ([], "parsing response: not an object"),
        ({"choices": [{"message": {"content": 0}}]}, "parsing response: content is neither"),
        ({"error": {"message": "overloaded"}}, "error in response: .*overloaded"),
        ({"error": f"bad key {KEY}"}, r"bad key \[redacted\]"),
    ],
)
def test_answer_without_a_text_is_an_error(server, document, why):
    server.on(OPENAI, reply_json(document))
    with pytest.raises(EndpointError, match=why):
        ask(server)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "false"}, "false"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "b"}]}, "b"),
        ({"content": None, "tool_calls": [{"function": {"arguments": "[1]"}}]}, "[1]"),
        ({"content": "x", "tool_calls": [{"function": {"arguments": "[1]"}}]}, "x"),
        ({"content": None, "tool_calls": [5]}, ""),
        ({"content": "", "reasoning_content": "I think [true]"}, ""),
        ({"content": None, "refusal": "I cannot"}, "I cannot"),
        ({"content": "\ud835 cut"}, "\ufffd cut"),
        ({}, ""),
    ],
)
def test_text_of_a_message(server, message, text):
    server.on(OPENAI, reply_json({"choices": [{"message": message}]}))
    assert ask(server).text == text


def test_key_never_stands_in_an_error(server):
    server.on(OPENAI, Reply(401, f"wrong key {KEY}".encode()))
    with pytest.raises(EndpointError, match=r"^HTTP 401: wrong key \[redacted\]$"):
        ask(server)
    assert KEY not in repr(Endpoint(f"http://{KEY}@h/v1", "m", KEY))


def test_success_is_status_200_alone(server):
    server.on(OPENAI, Reply(202, b"queued"))
    with pytest.raises(EndpointError, match=r"^HTTP 202: queued$"):
        ask(server)


def test_failure_says_what_it_cost(server):
    server.on(OPENAI, Reply(503, b"busy"))
    endpoint = Endpoint(server.url + "/v1", "m", policy=Policy(tries=3))
    with pytest.raises(EndpointError) as error:
        complete(endpoint, "", "u", TOOLS)
    assert error.value.reply.tries == len(server.requests) == 3
    assert error.value.reply.request_bytes == len(server.requests[0].body)
    assert error.value.reply.usage == Usage()


def test_nobody_listening_is_an_error():
    with Loopback() as gone:
        pass
    with pytest.raises(EndpointError, match="refused"):
        ask(gone)


def test_usage_is_what_the_endpoint_reports(server):
    details = {"prompt_tokens_details": {"cached_tokens": 3}, "cost": 0.25}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, **details}
    server.on(OPENAI, said("hey", usage=usage))
    assert ask(server).usage == Usage(10, 2, 3, 0.25, "endpoint")


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "10", "cost": True}, {"cost": -1}])
def test_usage_that_nobody_reported_is_unknown(server, usage):
    server.on(OPENAI, said("hey", usage=usage))
    assert ask(server).usage == Usage()


def test_refused_temperature_is_left_out(server):
    refusal = reply_json({"error": {"message": "temperature is not supported"}}, 400)
    server.on(OPENAI, refusal, said("hey"))
    assert ask(server, temperature=0).tries == 2
    first, second = (request.json() for request in server.requests)
    assert first.pop("temperature") == 0
    assert first == second


def test_limit_of_tokens_goes_by_the_name_that_the_endpoint_knows(server):
    refusal = "'max_tokens' is not supported, use 'max_completion_tokens'"
    server.on(OPENAI, Reply(400, refusal.encode()), said("hey"))
    ask(server, max_tokens=99)
    assert [r.json().get("max_tokens") for r in server.requests] == [99, None]
    assert server.requests[1].json()["max_completion_tokens"] == 99


def test_other_refusals_are_not_asked_again(server):
    server.on(OPENAI, Reply(400, b"no such model"))
    with pytest.raises(EndpointError, match="HTTP 400: no such model"):
        ask(server, temperature=0)
    assert len(server.requests) == 1


def test_refusal_of_every_setting_comes_to_an_end(server):
    server.on(OPENAI, Reply(400, b"temperature, max_tokens, max_completion_tokens"))
    with pytest.raises(EndpointError):
        ask(server, temperature=0, max_tokens=1)
    assert len(server.requests) == 3


@pytest.mark.parametrize("finish", ["length", "stop"])
def test_reply_cut_off_by_its_length_says_so(server, finish):
    server.on(OPENAI, reply_json({"choices": [{"message": {}, "finish_reason": finish}]}))
    assert ask(server).truncated is (finish == "length")


@pytest.mark.parametrize(
    ("base", "style"),
    [
        ("https://api.anthropic.com", "anthropic"),
        ("https://API.anthropic.com:443/v1/", "anthropic"),
        ("https://gateway.example/anthropic", "anthropic"),
        ("https://gateway.example/v1/messages/", "anthropic"),
        ("https://api.openai.com/v1", "openai"),
        ("https://gateway.example/anthropic/v1", "openai"),
        ("https://api.anthropic.com.example/v1", "openai"),
        ("", "openai"),
    ],
)
def test_dialect_follows_from_the_url(base, style):
    assert style_of(base) == style


def test_claude_behind_an_openai_compatible_url_is_asked_that_way(server):
    server.on(OPENAI, said("hey"))
    endpoint = Endpoint(server.url + "/v1", "claude-sonnet-4.6")
    assert complete(endpoint, "", "u", TOOLS).text == "hey"


def test_dialect_can_be_given(server):
    server.on("/v1/messages", reply_json({"content": [{"type": "text", "text": "hey"}]}))
    endpoint = Endpoint(server.url + "/v1", "m", style="anthropic")
    assert complete(endpoint, "", "u", TOOLS).text == "hey"


def test_anthropic_request_has_its_own_headers_and_fields(server):
    answer = {"content": [{"type": "text", "text": "hey"}], "stop_reason": "end_turn"}
    assert anthropic(server, answer, temperature=0).text == "hey"
    [request] = server.requests
    messages = [{"role": "user", "content": "u"}]
    wanted = {"model": "m", "max_tokens": 8192, "system": "s", "temperature": 0}
    assert request.json() == {**wanted, "messages": messages}
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers


@pytest.mark.parametrize("base", ["/anthropic", "/anthropic/v1/messages"])
def test_anthropic_url_is_completed(server, base):
    server.on(ANTHROPIC, reply_json({"content": []}))
    assert ask(server, base).text == ""


def test_anthropic_usage_counts_what_came_from_the_cache_as_input(server):
    cache = {"cache_read_input_tokens": 5, "cache_creation_input_tokens": 2}
    usage = {"input_tokens": 10, "output_tokens": 3, **cache}
    assert anthropic(server, {"content": [], "usage": usage}).usage == Usage(17, 3, 5)


def test_anthropic_tool_call_stands_in_for_a_text(server):
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "input": {"a": [1]}}]
    assert json.loads(anthropic(server, {"content": content}).text) == {"a": [1]}


def test_anthropic_reply_cut_off_says_so(server):
    assert anthropic(server, {"content": [], "stop_reason": "max_tokens"}).truncated


def test_anthropic_answer_without_content_is_an_error(server):
    with pytest.raises(EndpointError, match="no content in response"):
        anthropic(server, {"type": "message"})
