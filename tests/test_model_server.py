"""The scripted model server says in every protocol what its script says."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from model_server import ModelServer

COMMAND = {"properties": {"command": {"type": "string"}}}
BASH = {"properties": {"command": {"type": "string"}, "description": {"type": "string"}}}


class Client(NamedTuple):
    """How a client speaks: where to, with which names for its tools, and how it asks for more."""

    path: str
    tools: list[Any]
    reply_to: str

    def body(self, text: str = "Hello", results: int = 0, **other: Any) -> dict[str, Any]:
        said: dict[str, Any] = {"role": "user", "content": text}
        if self.reply_to == "messages":
            blocks = [{"type": "tool_result", "tool_use_id": "x", "content": ""}]
            answers = [{"role": "user", "content": blocks}] * results
        elif self.reply_to == "chat":
            answers = [{"role": "tool", "tool_call_id": "x", "content": ""}] * results
        else:
            answers = [{"type": "function_call_output", "call_id": "x", "output": ""}] * results
        conversation = {"input" if self.reply_to == "responses" else "messages": [said, *answers]}
        return {"model": "m", "tools": self.tools, **conversation, **other}


MESSAGES = Client(
    "/v1/messages",
    [
        {"name": "Bash", "input_schema": BASH},
        {"name": "Write", "input_schema": {"properties": {"file_path": {}, "content": {}}}},
        {"name": "Skill", "input_schema": {"properties": {"skill": {}}}},
    ],
    "messages",
)
CHAT = Client(
    "/v1/chat/completions",
    [
        {"type": "function", "function": {"name": "bash", "parameters": BASH}},
        {
            "type": "function",
            "function": {
                "name": "write",
                "parameters": {"properties": {"filePath": {}, "content": {}}},
            },
        },
        {
            "type": "function",
            "function": {"name": "skill", "parameters": {"properties": {"name": {}}}},
        },
    ],
    "chat",
)
RESPONSES = Client(
    "/v1/responses",
    [
        {"type": "custom", "name": "apply_patch"},
        {"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}},
    ],
    "responses",
)
CLIENTS = [MESSAGES, CHAT, RESPONSES]
each_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.reply_to)


class Answered(NamedTuple):
    """What a client makes of an answer. A call is the tool's name and its arguments."""

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    usage: Mapping[str, Any] | None = None


def post(server: ModelServer, path: str, body: Any, key: str = "") -> str:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as reply:
        return reply.read().decode()


def ask(server: ModelServer, client: Client, *said: Any, **other: Any) -> Answered:
    """What the client is told, when it asks for the whole answer."""
    reply = json.loads(post(server, client.path, client.body(*said, **other)))
    return {"messages": from_message, "chat": from_chat, "responses": from_response}[
        client.reply_to
    ](reply)


class Refused(NamedTuple):
    status: int
    retry_after: str | None
    error: Mapping[str, str]


def refused(server: ModelServer, client: Client, *said: Any) -> Refused:
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(server, client, *said)
    reply = caught.value
    return Refused(reply.code, reply.headers["Retry-After"], json.load(reply)["error"])


def from_message(reply: Any) -> Answered:
    blocks = reply["content"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [(block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"]
    assert reply["stop_reason"] == ("tool_use" if calls else "end_turn")
    return Answered(text, calls, reply["usage"] or None)


def from_chat(reply: Any) -> Answered:
    message = reply["choices"][0]["message"]
    calls = [call["function"] for call in message.get("tool_calls", [])]
    assert reply["choices"][0]["finish_reason"] == ("tool_calls" if calls else "stop")
    named = [(call["name"], json.loads(call["arguments"])) for call in calls]
    return Answered(message["content"] or "", named, reply.get("usage"))


def from_response(reply: Any) -> Answered:
    output = reply["output"]
    text = "".join(part["text"] for item in output for part in item.get("content", []))
    calls = [item for item in output if item["type"] == "function_call"]
    named = [(call["name"], json.loads(call["arguments"])) for call in calls]
    return Answered(text, named, reply.get("usage"))


def events(server: ModelServer, client: Client) -> list[Any]:
    """The data of a stream; that of a protocol without an end of its own ends with [DONE]."""
    stream = post(server, client.path, client.body(stream=True))
    data = [line[6:] for line in stream.splitlines() if line.startswith("data: ")]
    if client is CHAT:
        assert data.pop() == "[DONE]"
    return [json.loads(each) for each in data]


def joined_message(stream: list[Any]) -> Answered:
    started, *_ = stream
    reply = {**started["message"], "content": []}
    for event in stream:
        if event["type"] == "content_block_start":
            reply["content"].append(event["content_block"])
        elif event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
            reply["content"][event["index"]]["text"] += event["delta"]["text"]
        elif event["type"] == "content_block_delta":
            reply["content"][event["index"]]["input"] = json.loads(event["delta"]["partial_json"])
        elif event["type"] == "message_delta":
            reply = {**reply, **event["delta"], "usage": event["usage"]}
    assert stream[-1]["type"] == "message_stop"
    return from_message(reply)


def joined_chat(stream: list[Any]) -> Answered:
    said, ended, counted = stream
    choice = {"message": said["choices"][0]["delta"], **ended["choices"][0]}
    return from_chat({"choices": [choice], "usage": counted["usage"]})


def joined_response(stream: list[Any]) -> Answered:
    """Of the three that say the same (pieces, items, the end), clients read any."""
    begun: dict[int, dict[str, Any]] = {}
    for event in stream:
        place = event.get("output_index")
        if event["type"] == "response.output_item.added":
            begun[place] = json.loads(json.dumps(event["item"]))
        elif event["type"] == "response.content_part.added":
            begun[place]["content"].append(dict(event["part"]))
        elif event["type"] == "response.output_text.delta":
            begun[place]["content"][event["content_index"]]["text"] += event["delta"]
        elif event["type"] == "response.function_call_arguments.delta":
            begun[place]["arguments"] += event["delta"]
    items = [event["item"] for event in stream if event["type"] == "response.output_item.done"]
    assert [{**item, "status": "completed"} for item in begun.values()] == items
    assert stream[-1]["type"] == "response.completed"
    assert stream[-1]["response"]["output"] == items
    return from_response(stream[-1]["response"])


@each_client
def test_text_is_said(client):
    with ModelServer({"turns": [{"text": "Grüße"}]}) as server:
        assert ask(server, client).text == "Grüße"


@each_client
def test_stream_says_the_same(client):
    turn = {"text": "First", "calls": [{"shell": "ls"}, {"write": ["a", 'x"\n']}]}
    with ModelServer({"turns": [turn]}) as server:
        whole, stream = ask(server, client), events(server, client)
    join = {"messages": joined_message, "chat": joined_chat, "responses": joined_response}
    assert join[client.reply_to](stream) == whole
    assert (whole.text, len(whole.calls)) == ("First", 2)


CALLS = [{"shell": "ls"}, {"write": ["a.txt", "x"]}, {"skill": "demo"}]


def test_calls_become_those_of_the_declared_tools():
    with ModelServer({"turns": [{"calls": CALLS}]}) as server:
        assert ask(server, MESSAGES).calls == [
            ("Bash", {"command": "ls", "description": "shell"}),
            ("Write", {"file_path": "a.txt", "content": "x"}),
            ("Skill", {"skill": "demo"}),
        ]
        assert ask(server, CHAT).calls == [
            ("bash", {"command": "ls", "description": "shell"}),
            ("write", {"filePath": "a.txt", "content": "x"}),
            ("skill", {"name": "demo"}),
        ]


def test_without_a_tool_for_it_a_shell_command_does_it():
    with ModelServer({"turns": [{"calls": CALLS}]}) as server:
        assert ask(server, RESPONSES).calls == [
            ("exec_command", {"cmd": "ls"}),
            ("exec_command", {"cmd": "printf %s x > a.txt"}),
            ("exec_command", {"cmd": "cat .codex/skills/demo/SKILL.md"}),
        ]


def test_shell_command_writes_any_text(tmp_path):
    path, content = "it's a $HOME.txt", "zebra's\n%s \\n $HOME `ls` \"\n"
    with ModelServer({"turns": [{"calls": [{"write": [path, content]}]}]}) as server:
        ((_, arguments),) = ask(server, RESPONSES).calls
    subprocess.run(["sh", "-c", arguments["cmd"]], cwd=tmp_path, check=True)
    assert (tmp_path / path).read_text() == content


def test_call_that_no_declared_tool_can_do_is_refused_by_name():
    with ModelServer({"turns": [{"calls": [{"shell": "ls"}]}]}) as server:
        client = MESSAGES._replace(tools=MESSAGES.tools[1:])
        error = refused(server, client)
    assert error.status == 400
    assert error.error["message"] == "the client declares no tool for 'shell', only Write, Skill"


@each_client
def test_turn_follows_from_the_number_of_tool_results(client):
    two = {"calls": [{"shell": "1"}, {"shell": "2"}]}
    turns = [two, {"calls": [{"shell": "3"}]}, {"text": "Done"}]
    with ModelServer({"turns": turns}) as server:
        said = [ask(server, client, "Hello", results) for results in range(5)]
    assert [len(each.calls) for each in said] == [2, 2, 1, 0, 0]
    assert [each.text for each in said] == ["", "", "", "Done", "Done"]


def test_last_turn_stays():
    with ModelServer({"turns": [{"calls": [{"shell": "ls"}]}]}) as server:
        assert len(ask(server, CHAT, "Hello", 7).calls) == 1


@each_client
def test_rule_answers_what_contains_its_text(client):
    rules = [{"contains": "zebra", "text": "Z"}, {"contains": ["cat", "dog"], "text": "CD"}]
    with ModelServer({"turns": [{"text": "else"}], "rules": rules}) as server:
        asked = ["a zebra", "a cat", "cat and dog", "cat, dog and zebra"]
        assert [ask(server, client, text).text for text in asked] == ["Z", "else", "CD", "Z"]


def test_rule_may_have_turns_of_its_own():
    rule = {"contains": "zebra", "turns": [{"calls": [{"shell": "ls"}]}, {"text": "Z"}]}
    with ModelServer({"turns": [{"text": "else"}], "rules": [rule]}) as server:
        assert len(ask(server, CHAT, "zebra").calls) == 1
        assert ask(server, CHAT, "zebra", 1).text == "Z"


def test_rule_looks_at_the_instructions_and_not_at_the_tools():
    rules = [{"contains": "zebra", "text": "Z"}, {"contains": "Skill", "text": "S"}]
    with ModelServer({"rules": rules}) as server:
        system = [{"type": "text", "text": "a zebra"}]
        assert ask(server, MESSAGES, system=system).text == "Z"
        assert ask(server, RESPONSES, instructions="a zebra").text == "Z"
        assert ask(server, MESSAGES).text == "ok"


@each_client
def test_errors_come_before_the_turns(client):
    errors = [{"status": 529, "times": 2}, {"status": 429, "times": 1, "retry_after": 7}]
    with ModelServer({"turns": [{"text": "Done"}], "errors": errors}) as server:
        replies = [refused(server, client) for _ in range(3)]
        assert ask(server, client).text == "Done"
    assert [reply.status for reply in replies] == [529, 529, 429]
    assert [reply.retry_after for reply in replies] == [None, None, "7"]
    assert replies[0].error["type"] == "overloaded_error"


def test_error_without_times_stays():
    with ModelServer({"errors": [{"status": 401, "message": "no such key"}]}) as server:
        replies = [refused(server, CHAT) for _ in range(5)]
    assert {reply.error["message"] for reply in replies} == {"no such key"}


def test_error_of_a_rule_meets_nobody_else():
    rule = {"contains": "zebra", "errors": [{"status": 500, "times": 1}], "text": "Z"}
    with ModelServer({"rules": [rule]}) as server:
        assert ask(server, CHAT).text == "ok"
        assert refused(server, CHAT, "zebra").status == 500
        assert ask(server, CHAT, "zebra").text == "Z"


USED = {"input": 100, "output": 20, "cached": 30, "written": 7}


def test_cached_tokens_are_beside_the_input_or_part_of_it():
    with ModelServer({"usage": USED}) as server:
        assert ask(server, MESSAGES).usage == {
            "input_tokens": 100,
            "cache_read_input_tokens": 30,
            "cache_creation_input_tokens": 7,
            "output_tokens": 20,
        }
        chat, response = ask(server, CHAT).usage, ask(server, RESPONSES).usage
    assert (chat["prompt_tokens"], chat["completion_tokens"]) == (137, 20)
    assert (response["input_tokens"], response["output_tokens"]) == (137, 20)
    assert chat["prompt_tokens_details"] == response["input_tokens_details"]
    assert chat["prompt_tokens_details"] == {"cached_tokens": 30}
    assert chat["total_tokens"] == response["total_tokens"] == 157


@each_client
def test_unknown_usage_is_left_out(client):
    with ModelServer({"usage": None}) as server:
        assert ask(server, client).usage is None


def test_turn_may_have_its_own_usage():
    turns = [{"calls": [{"shell": "ls"}], "usage": {"output": 5}}, {"text": "Done"}]
    with ModelServer({"turns": turns, "usage": USED}) as server:
        outputs = [ask(server, MESSAGES, "Hello", n).usage["output_tokens"] for n in (0, 1)]
    assert outputs == [5, 20]


def test_answer_waits_for_the_delay():
    with ModelServer({"delay": 0.2}) as server:
        started = time.monotonic()
        ask(server, CHAT)
    assert time.monotonic() - started >= 0.2


def test_request_without_tools_gets_no_calls_and_takes_no_error():
    script = {"turns": [{"calls": CALLS}], "plain": "A title", "errors": [{"status": 500}]}
    with ModelServer(script) as server:
        title = ask(server, CHAT, tools=[])
        assert (title.text, title.calls) == ("A title", [])
        assert refused(server, CHAT).status == 500


def test_requests_are_kept_without_their_headers():
    with ModelServer({}) as server:
        post(server, CHAT.path, CHAT.body("Hi", temperature=0), key="s3cret")
    (asked,) = server.requests
    assert (asked.path, asked.body["temperature"], asked.text) == (CHAT.path, 0, "user\nHi")
    assert "s3cret" not in repr(vars(server))


def test_tokens_are_counted_and_models_listed():
    with ModelServer({}) as server:
        assert json.loads(post(server, "/v1/messages/count_tokens", MESSAGES.body())) == {
            "input_tokens": 100
        }
        with urllib.request.urlopen(f"{server.url}/v1/models") as reply:
            assert [model["id"] for model in json.load(reply)["data"]] == ["fake-model"]


def test_other_endpoint_is_not_found():
    with ModelServer({}) as server:
        assert refused(server, CHAT._replace(path="/chat/completions")).status == 404
    assert server.requests == []
