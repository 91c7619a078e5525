"""Three protocols in which clients talk with models: what is in a request, and answers in each.

Pure: JSON in, JSON out. `model_server` decides what is answered, and sends it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]
Events = Iterator[Json]


class ToolCall(NamedTuple):
    id: str
    name: str
    arguments: Json


class Answer(NamedTuple):
    """What the model says, for any protocol."""

    id: str
    model: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Json | None = None


class Protocol(NamedTuple):
    """How one endpoint is spoken.

    `results` counts the tool results in a request, `tools` are the parameters of each tool that it
    declares. `whole` is an answer as a document, `events` the same as a stream, which ends with the
    text `last`.
    """

    results: Callable[[Json], int]
    tools: Callable[[Json], dict[str, Json]]
    whole: Callable[[Answer], Json]
    events: Callable[[Answer], Events]
    last: str = ""


# /v1/messages


def _messages_results(body: Json) -> int:
    blocks = itertools.chain.from_iterable(
        message["content"] for message in body["messages"] if isinstance(message["content"], list)
    )
    return sum(block["type"] == "tool_result" for block in blocks)


def _messages_tools(body: Json) -> dict[str, Json]:
    return {
        tool["name"]: tool["input_schema"]["properties"]
        for tool in body.get("tools", [])
        if tool.get("input_schema", {}).get("properties")
    }


def _messages_usage(usage: Json | None) -> Json:
    if usage is None:
        return {}
    return {
        "input_tokens": usage["input"],
        "cache_read_input_tokens": usage["cached"],
        "cache_creation_input_tokens": usage["written"],
        "output_tokens": usage["output"],
    }


def _messages_whole(answer: Answer) -> Json:
    text = [{"type": "text", "text": answer.text}] if answer.text or not answer.calls else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in answer.calls
    ]
    return {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [*text, *calls],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": _messages_usage(answer.usage),
    }


def _messages_events(answer: Answer) -> Events:
    whole = _messages_whole(answer)
    usage = whole["usage"] and {**whole["usage"], "output_tokens": 1}
    started = {**whole, "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": started}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            arguments = json.dumps(block["input"])
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": arguments}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": whole["usage"]}
    yield {"type": "message_stop"}


# /v1/chat/completions


def _chat_results(body: Json) -> int:
    return sum(message["role"] == "tool" for message in body["messages"])


def _chat_tools(body: Json) -> dict[str, Json]:
    functions = [tool["function"] for tool in body.get("tools", [])]
    return {function["name"]: function["parameters"]["properties"] for function in functions}


def _openai_usage(answer: Answer, input_name: str, output_name: str) -> Json | None:
    """Here the tokens from and to a cache are part of the input."""
    usage = answer.usage
    if usage is None:
        return None
    inputs = usage["input"] + usage["cached"] + usage["written"]
    return {
        f"{input_name}_tokens": inputs,
        f"{input_name}_tokens_details": {"cached_tokens": usage["cached"]},
        f"{output_name}_tokens": usage["output"],
        f"{output_name}_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": inputs + usage["output"],
    }


def _chat(answer: Answer, kind: str, choices: list[Json], usage: Json | None) -> Json:
    common = {"id": answer.id, "object": kind, "created": 1, "model": answer.model}
    return {**common, "choices": choices, **({"usage": usage} if usage else {})}


def _chat_message(answer: Answer) -> Json:
    calls = [
        {
            "index": index,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(answer.calls)
    ]
    said = {"role": "assistant", "content": answer.text or None}
    return {**said, "tool_calls": calls} if calls else said


def _chat_whole(answer: Answer) -> Json:
    reason = "tool_calls" if answer.calls else "stop"
    choice = {"index": 0, "message": _chat_message(answer), "finish_reason": reason}
    return _chat(answer, "chat.completion", [choice], _openai_usage(answer, "prompt", "completion"))


def _chat_events(answer: Answer) -> Events:
    kind = "chat.completion.chunk"
    reason = "tool_calls" if answer.calls else "stop"
    said = {"index": 0, "delta": _chat_message(answer), "finish_reason": None}
    yield _chat(answer, kind, [said], None)
    yield _chat(answer, kind, [{"index": 0, "delta": {}, "finish_reason": reason}], None)
    if usage := _openai_usage(answer, "prompt", "completion"):
        yield _chat(answer, kind, [], usage)


# /v1/responses


def _responses_results(body: Json) -> int:
    items = body["input"] if isinstance(body["input"], list) else []
    return sum(str(item.get("type")).endswith("_call_output") for item in items)


def _responses_tools(body: Json) -> dict[str, Json]:
    return {
        tool["name"]: tool["parameters"]["properties"]
        for tool in body.get("tools", [])
        if tool["type"] == "function"
    }


def _responses_whole(answer: Answer) -> Json:
    output: list[Json] = []
    if answer.text or not answer.calls:
        said = [{"type": "output_text", "text": answer.text, "annotations": []}]
        output.append({"type": "message", "role": "assistant", "content": said})
    for call in answer.calls:
        arguments = json.dumps(call.arguments)
        named = {"type": "function_call", "call_id": call.id, "name": call.name}
        output.append({**named, "arguments": arguments})
    numbered = [
        {**item, "id": f"{answer.id}_{index}", "status": "completed"}
        for index, item in enumerate(output)
    ]
    usage = _openai_usage(answer, "input", "output")
    return {
        "id": answer.id,
        "object": "response",
        "created_at": 1,
        "model": answer.model,
        "status": "completed",
        "output": numbered,
        **({"usage": usage} if usage else {}),
    }


def _responses_events(answer: Answer) -> Events:
    whole = _responses_whole(answer)
    started = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": started}
    for index, item in enumerate(whole["output"]):
        yield from _responses_item(index, item)
    yield {"type": "response.completed", "response": whole}


def _responses_item(index: int, item: Json) -> Events:
    """An item from its beginning, when it is empty, to its end: some clients read the pieces."""
    place = {"item_id": item["id"], "output_index": index}
    begun = {**item, "status": "in_progress"}
    if item["type"] == "message":
        (part,) = item["content"]
        pieces = [
            {"type": "response.content_part.added", "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", "delta": part["text"]},
            {"type": "response.output_text.done", "text": part["text"]},
            {"type": "response.content_part.done", "part": part},
        ]
        begun, place = {**begun, "content": []}, {**place, "content_index": 0}
    else:
        pieces = [
            {"type": "response.function_call_arguments.delta", "delta": item["arguments"]},
            {"type": "response.function_call_arguments.done", "arguments": item["arguments"]},
        ]
        begun = {**begun, "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    for piece in pieces:
        yield {**piece, **place}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


PROTOCOLS = {
    "/v1/messages": Protocol(_messages_results, _messages_tools, _messages_whole, _messages_events),
    "/v1/chat/completions": Protocol(
        _chat_results, _chat_tools, _chat_whole, _chat_events, "data: [DONE]\n\n"
    ),
    "/v1/responses": Protocol(
        _responses_results, _responses_tools, _responses_whole, _responses_events
    ),
}
