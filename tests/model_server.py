"""A model server on 127.0.0.1 that follows a script, for tests. Owns what the script means.

It answers /v1/messages (and count_tokens), /v1/chat/completions and /v1/responses, streamed or
whole as it is asked, and /v1/models. One script drives every client:

    script = {"turns": [{"calls": [{"write": ["a.txt", "x\\n"]}]}, {"text": "Done"}]}
    with ModelServer(script) as server:
        ...                              # point an agent program, or a judge, at server.url
        assert "a.txt" in server.requests[-1].text

A script has these keys, all optional:

* `turns`: what the model says. A turn has `text`, or `calls` of tools (with a `text` beside them or
  not): `{"shell": COMMAND}`, `{"write": [PATH, CONTENT]}`, `{"skill": NAME}`. Each becomes a call of
  a tool that the client declares: without a tool for files or skills, a shell command does it. The
  turn is chosen by the number of tool results in the conversation: one with two calls is over after
  two. The last turn stays.
* `rules`: `[{"contains": TEXT or [TEXT, …], "text": ANSWER}]`, or with any other keys of a script in
  place of `text`: the first rule of which all texts are in the request goes before the script.
* `errors`: `[{"status": 429, "times": 2, "retry_after": 1, "message": "…"}]` in place of the first
  answers, in this order; without `times` for ever.
* `usage`: `{"input": 100, "output": 20, "cached": 0, "written": 0}` of each answer: `cached` were
  read from a cache, `written` to one, `input` are the rest. None: the server says nothing of it.
* `delay`: seconds before each answer.
* `plain`: the answer to a request without tools, where the turn has calls (a title, say).

A turn may have a `delay` and a `usage` of its own. What a request contained is kept, except for its
headers: they hold keys. Knows no client by name; how each endpoint is spoken is in
`model_protocols`.
"""

from __future__ import annotations

import itertools
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from loopback import Loopback, Received, Reply, reply_json
from model_protocols import PROTOCOLS, Answer, Json, Protocol, ToolCall

COUNT_TOKENS = "/v1/messages/count_tokens"
MODEL = "fake-model"
USAGE = {"input": 100, "output": 20, "cached": 0, "written": 0}

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class Asked(NamedTuple):
    """One request. `text` is all that was said in it, by anybody, without the declared tools."""

    path: str
    body: Json
    text: str


class ModelServer(Loopback):
    """The server: a context manager. `requests` fills in the order of arrival."""

    requests: list[Asked]  # type: ignore[assignment]

    def __init__(self, script: Json) -> None:
        super().__init__()
        self.script = script
        self._given: Counter[int] = Counter()
        self._numbers = itertools.count(1)

    def next_reply(self, received: Received) -> Reply:
        if received.method == "GET" and received.path == "/v1/models":
            return reply_json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        if received.method != "POST" or received.path not in [COUNT_TOKENS, *PROTOCOLS]:
            return reply_json({"error": {"message": "no such endpoint"}}, 404)
        body = received.json()
        asked = Asked(received.path, body, _said(body))
        with self._lock:
            self.requests.append(asked)
        if received.path == COUNT_TOKENS:
            return reply_json({"input_tokens": USAGE["input"]})
        return self.answer(asked)

    def answer(self, asked: Asked) -> Reply:
        """The answer of the script."""
        protocol = PROTOCOLS[asked.path]
        script = _script_for(asked.text, self.script)
        turn = _turn(script.get("turns", [{"text": "ok"}]), protocol.results(asked.body))
        tools = protocol.tools(asked.body)
        delay_s = turn.get("delay", script.get("delay", 0))
        if turn.get("calls") and not tools:
            turn, delay_s = {"text": script.get("plain", "Plain")}, 0
        elif error := self._next_error(script):
            return _failure(error, delay_s)
        number = next(self._numbers)
        try:
            calls = tuple(
                ToolCall(f"call_{number:04}_{index}", *_tool_call(call, tools))
                for index, call in enumerate(turn.get("calls", []))
            )
        except LookupError as error:
            return _failure({"status": 400, "message": str(error)}, 0)
        usage = turn.get("usage", script.get("usage", {}))
        answer = Answer(
            id=f"answer_{number:04}",
            model=asked.body.get("model", MODEL),
            text=turn.get("text", ""),
            calls=calls,
            usage=usage if usage is None else {**USAGE, **usage},
        )
        return _reply(protocol, answer, bool(asked.body.get("stream")), delay_s)

    def _next_error(self, script: Json) -> Json | None:
        errors: Sequence[Json] = script.get("errors", ())
        with self._lock:
            for error in errors:
                if self._given[id(error)] < error.get("times", float("inf")):
                    self._given[id(error)] += 1
                    return error
        return None


# what to answer


def _said(body: Json) -> str:
    parts = (body.get(name) for name in ("system", "instructions", "messages", "input"))
    return "\n".join(_texts(list(parts)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _texts(child)


def _script_for(text: str, script: Json) -> Json:
    for rule in script.get("rules", []):
        wanted = rule["contains"]
        if all(part in text for part in ([wanted] if isinstance(wanted, str) else wanted)):
            said = {"turns": [{"text": rule["text"]}]} if "text" in rule else {}
            return {**script, **said, **rule}
    return script


def _turn(turns: Sequence[Json], results: int) -> Json:
    """The turn after so many tool results."""
    for turn in turns:
        calls = len(turn.get("calls", []))
        if results < calls or not calls:
            return turn
        results -= calls
    return turns[-1]


def _tool_call(call: Json, tools: Mapping[str, Json]) -> tuple[str, Json]:
    """Name and arguments of the declared tool that does what `call` wants."""
    ((kind, wanted),) = call.items()
    if kind == "write" and (name := _declared(tools, "write")):
        path, content = wanted
        return name, {_first(tools[name], "file_path", "filePath"): path, "content": content}
    if kind == "skill" and (name := _declared(tools, "skill")):
        return name, {_first(tools[name], "skill", "name"): wanted}
    command = _as_command(kind, wanted)
    name = _declared(tools, "bash", "exec_command", "shell_command", "shell")
    if name is None:
        raise LookupError(f"the client declares no tool for {kind!r}, only {', '.join(tools)}")
    described = {"description": kind} if "description" in tools[name] else {}
    return name, {_first(tools[name], "cmd", "command"): command, **described}


def _as_command(kind: str, wanted: Any) -> str:
    if kind == "write":
        path, content = wanted
        return f"printf %s {shlex.quote(content)} > {shlex.quote(path)}"
    return f"cat .codex/skills/{wanted}/SKILL.md" if kind == "skill" else wanted


def _declared(tools: Iterable[str], *names: str) -> str | None:
    return next((tool for tool in tools if tool.lower() in names), None)


def _first(parameters: Json, *names: str) -> str:
    return next(name for name in names if name in parameters)


# how to send it


def _reply(protocol: Protocol, answer: Answer, streamed: bool, delay_s: float) -> Reply:
    if not streamed:
        return reply_json(protocol.whole(answer))._replace(delay_s=delay_s)
    lines = []
    for event in protocol.events(answer):
        # a name on a line of its own for those protocols whose events have one
        name = f"event: {event['type']}\n" if "type" in event else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n")
    body = "".join([*lines, protocol.last]).encode()
    return Reply(200, body, {"Content-Type": "text/event-stream"}, delay_s)


def _failure(error: Json, delay_s: float) -> Reply:
    status = error["status"]
    kind = KINDS.get(status, "api_error")
    said = {"type": kind, "code": kind, "message": error.get("message", f"scripted {status}")}
    wait = {"Retry-After": str(error["retry_after"])} if "retry_after" in error else {}
    # one document for the clients of all protocols
    return reply_json({"type": "error", "error": said}, status, wait)._replace(delay_s=delay_s)
