"""One question to a model over HTTP. Owns the two dialects, OpenAI-compatible and Anthropic.

The dialect follows from the URL alone: a Claude model behind an OpenAI-compatible gateway is asked
as the gateway asks for it. Deadlines are http.py's, retries retry.py's; what a reply means is the
caller's. It does not stream, and it offers the model no tools.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from skilleval.asking import retry
from skilleval.errors import ModelError
from skilleval.http import Request, Response
from skilleval.model import Usage
from skilleval.reading.jsonvalues import amount, count, mapping, word
from skilleval.reading.reply import writable
from skilleval.redaction import excerpt, redact, secrets_of
from skilleval.tools import Tools

Style = Literal["openai", "anthropic"]
Body = dict[str, Any]
ANTHROPIC_VERSION = "2023-06-01"
# Anthropic's API needs a limit; every model of the last generations can write as much
ANTHROPIC_MAX_TOKENS = 8192
TRUNCATED = ("length", "max_tokens", "model_context_window_exceeded")
REFUSED = (400, 422)


class Endpoint(NamedTuple):
    """Where to ask, whom, and how patiently. `base_url` holds the version already (`…/v1`).

    `key` may be empty. `style` is empty to follow from the URL. `timeout_s` bounds one attempt.
    """

    base_url: str
    model: str
    key: str = ""
    style: Style | Literal[""] = ""
    timeout_s: float = 120.0
    policy: retry.Policy = retry.DEFAULT_POLICY

    def __repr__(self) -> str:
        """Without the key: an endpoint must be safe in a traceback."""
        return f"Endpoint({redact(self.base_url, [self.key])!r}, {self.model!r})"


class Reply(NamedTuple):
    """What the model said. `finish` is the endpoint's own word for why it stopped.

    `seconds` is all the time it took, waits included; `request_bytes` the size of the last request
    body; `tries` the number of requests.
    """

    text: str
    usage: Usage
    finish: str
    seconds: float
    request_bytes: int
    tries: int = 1

    @property
    def truncated(self) -> bool:
        """Was it cut off by a limit of tokens?"""
        return self.finish in TRUNCATED


class EndpointError(ModelError):
    """No usable reply. `reply` says what asking cost; its text is empty."""

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


def style_of(base_url: str) -> Style:
    """The dialect of an endpoint: `anthropic` at Anthropic's host and below its paths."""
    address = base_url.partition("://")[2].rstrip("/").lower()
    host = address.partition("/")[0].rpartition("@")[2].partition(":")[0]
    if host == "api.anthropic.com" or address.endswith(("/messages", "/anthropic")):
        return "anthropic"
    return "openai"


def complete(
    endpoint: Endpoint,
    system: str,
    user: str,
    tools: Tools,
    *,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Reply:
    """The model's reply to `user`, under the instructions of `system` (empty: none).

    An OpenAI-compatible body holds `model` and `messages`, and else only what was asked for here
    (seed 000, spec/scenarios section 6). A setting that the endpoint refuses is left out.
    Raises EndpointError for every failure: `HTTP <code>: <body>`, or what was wrong.
    """
    dialect = _DIALECTS[endpoint.style or style_of(endpoint.base_url)]
    body = dialect.body(endpoint.model, system, user)
    if temperature is not None:
        body["temperature"] = temperature
    if max_tokens is not None:
        body["max_tokens"] = max_tokens
    started, tries = tools.now(), 0
    while True:
        request = _request(endpoint, dialect, body)
        response = retry.send(
            request, post=tools.post, sleep=tools.sleep, now=tools.now, policy=endpoint.policy
        )
        tries += response.tries
        if not _drop_refused(body, response):
            break
    cost = Reply("", Usage(), "", max(0.0, tools.now() - started), len(request.body), tries)
    try:
        text, finish, usage = _read(response, dialect, secrets_of(request))
    except ModelError as error:
        raise EndpointError(str(error), cost) from None
    return cost._replace(text=writable(text), finish=finish, usage=usage)


def _request(endpoint: Endpoint, dialect: _Dialect, body: Body) -> Request:
    headers = {"content-type": "application/json"} | dialect.headers(endpoint.key)
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Request(dialect.url(endpoint.base_url), headers, data, endpoint.timeout_s)


def _drop_refused(body: Body, response: Response) -> bool:
    """Takes a setting that the endpoint says it does not know out of `body`, one at a time.

    Reasoning models refuse a temperature, and know the limit of tokens by another name.
    """
    if response.status not in REFUSED:
        return False
    if "max_tokens" in body and "max_completion_tokens" in response.text:
        body["max_completion_tokens"] = body.pop("max_tokens")
        return True
    return "temperature" in response.text and body.pop("temperature", None) is not None


def _read(
    response: Response, dialect: _Dialect, secrets: tuple[str, ...]
) -> tuple[str, str, Usage]:
    """Text, finish and usage. Raises ModelError."""
    if response.status is None:
        raise ModelError(response.error)
    if response.status != 200:
        raise ModelError(f"HTTP {response.status}: {excerpt(response, secrets)}")
    try:
        document = json.loads(response.text)
    except (ValueError, RecursionError):
        raise ModelError(f"parsing response: not JSON: {excerpt(response, secrets)}") from None
    if not isinstance(document, dict):
        raise ModelError(f"parsing response: not an object: {excerpt(response, secrets)}")
    if document.get("error"):  # some gateways report a failure under status 200
        raise ModelError(f"error in response: {excerpt(response, secrets)}")
    return dialect.read(document)


def _text(content: object) -> str:
    """A content that is a text, nothing, or a list of parts of which some are text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ModelError("parsing response: content is neither text nor a list of parts")
    parts = [mapping(part) for part in content]
    return "".join(word(part.get("text")) for part in parts if part.get("type") == "text")


def _openai_url(base_url: str) -> str:
    base = base_url.rstrip("/")
    return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


def _openai_headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _openai_body(model: str, system: str, user: str) -> Body:
    messages = [{"role": "system", "content": system}] if system else []
    return {"model": model, "messages": [*messages, {"role": "user", "content": user}]}


def _openai_read(document: Mapping[str, Any]) -> tuple[str, str, Usage]:
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ModelError("no choices in response")
    choice = mapping(choices[0])
    message = mapping(choice.get("message"))
    text = _text(message.get("content"))
    if not text:  # asked for JSON, some models call a tool that nobody offered, or decline
        text = _tool_arguments(message.get("tool_calls")) or word(message.get("refusal"))
    spent = mapping(document.get("usage"))
    details = mapping(spent.get("prompt_tokens_details"))
    usage = Usage(
        input=count(spent.get("prompt_tokens")),
        output=count(spent.get("completion_tokens")),
        cached=count(details.get("cached_tokens")),
    )
    return text, word(choice.get("finish_reason")), _priced(usage, spent.get("cost"))


def _tool_arguments(calls: object) -> str:
    if not isinstance(calls, list) or not calls:
        return ""
    return word(mapping(mapping(calls[0]).get("function")).get("arguments"))


def _anthropic_url(base_url: str) -> str:
    base = base_url.rstrip("/")
    if base.endswith("/messages"):
        return base
    return f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages"


def _anthropic_headers(key: str) -> dict[str, str]:
    version = {"anthropic-version": ANTHROPIC_VERSION}
    return version | ({"x-api-key": key} if key else {})


def _anthropic_body(model: str, system: str, user: str) -> Body:
    body: Body = {"model": model, "max_tokens": ANTHROPIC_MAX_TOKENS}
    if system:
        body["system"] = system
    return body | {"messages": [{"role": "user", "content": user}]}


def _anthropic_read(document: Mapping[str, Any]) -> tuple[str, str, Usage]:
    content = document.get("content")
    if not isinstance(content, list):
        raise ModelError("no content in response")
    text = _text(content)
    if not text:
        given = [mapping(part).get("input") for part in content]
        text = next((json.dumps(part) for part in given if isinstance(part, dict)), "")
    spent = mapping(document.get("usage"))
    cached = count(spent.get("cache_read_input_tokens"))
    # what came from or went into the cache is not in input_tokens
    read = [count(spent.get("input_tokens")), cached]
    read.append(count(spent.get("cache_creation_input_tokens")))
    usage = Usage(
        input=None if read[0] is None else sum(tokens or 0 for tokens in read),
        output=count(spent.get("output_tokens")),
        cached=cached,
    )
    return text, word(document.get("stop_reason")), usage


class _Dialect(NamedTuple):
    url: Callable[[str], str]
    headers: Callable[[str], dict[str, str]]
    body: Callable[[str, str, str], Body]
    read: Callable[[Mapping[str, Any]], tuple[str, str, Usage]]


_DIALECTS: Mapping[Style, _Dialect] = {
    "openai": _Dialect(_openai_url, _openai_headers, _openai_body, _openai_read),
    "anthropic": _Dialect(_anthropic_url, _anthropic_headers, _anthropic_body, _anthropic_read),
}


def _priced(usage: Usage, cost: object) -> Usage:
    """With the price in dollars that some gateways give (OpenRouter's `usage.cost`)."""
    usd = amount(cost)
    return usage if usd is None else usage._replace(cost_usd=usd, cost_source="endpoint")
