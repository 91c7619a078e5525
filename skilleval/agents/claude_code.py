"""The agent Claude Code: how `claude -p` is called and what its output means (seed 002).

Owns both, as observed with 2.1.332 (spec/agents 3 to 5). Folders, retries and time limits of a
trial are `harness`'s. The seed asks for `--output-format json`; that shows no tool call, so it is
`stream-json` here, and both are read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from skilleval.model import Arm, Case, Event, Failure, Outcome, Suite, Usage
from skilleval.reading.jsonvalues import amount, count, items, mapping, total, word
from skilleval.tools import Tools
from skilleval.trial import commandline, transcript
from skilleval.trial.transcript import Transcript, content

if TYPE_CHECKING:
    from skilleval.trial.harness import Ask, Program

Record = Mapping[str, Any]

NAME = "claude-code"
PROGRAM = "claude"
INSTALL = "install it: npm install -g @anthropic-ai/claude-code"
SKILLS = ".claude/skills"
DROPPINGS = (".claude",)
HELP: tuple[str, ...] = ()
OPTIONS = frozenset({"base_url", "effort", "max_budget_usd"})
CREDENTIALS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLOUD_ML_REGION",
    "GOOGLE_APPLICATION_CREDENTIALS",
)
_WORDS = {"Bash": "shell", "Read": "read", "Write": "write", "Edit": "edit", "Skill": "skill"}
# tools that only put a question to a user, which a run without one always refuses
_QUESTIONS = {"AskUserQuestion", "ExitPlanMode"}


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """Why `claude` cannot be started here; empty if it can."""
    return commandline.missing(PROGRAM, INSTALL, tools)


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """What Claude Code made of the case, in a workspace of its own (see `harness.run`)."""
    from skilleval.trial import harness

    return harness.run(cast("Program", sys.modules[__name__]), case, arm, tools)


def argv(ask: Ask) -> list[str]:
    """The command line. The prompt comes last, behind `--`: before it some flags swallow words."""
    found = [PROGRAM, "-p", "--output-format", "stream-json", "--verbose"]
    found.append("--dangerously-skip-permissions")
    if ask.model:
        found += ["--model", ask.model]
    if ask.effort:
        found += ["--effort", ask.effort]
    if ask.max_budget_usd is not None:
        found += ["--max-budget-usd", format(ask.max_budget_usd, "f")]
    return [*found, *commandline.prompt_arguments(ask.prompt)]


def stdin(ask: Ask) -> bytes | None:
    """The prompt, if it is too long for the command line."""
    return commandline.prompt_input(ask.prompt)


def environ(ask: Ask) -> dict[str, str]:
    """What it needs besides its credentials. As root it skips permissions only in a sandbox."""
    found = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    if getattr(os, "geteuid", lambda: 1)() == 0:
        found["IS_SANDBOX"] = "1"
    if ask.base_url:
        found["ANTHROPIC_BASE_URL"] = commandline.anthropic_url(ask.base_url)
    return found


def read(stdout: str, stderr: str, exit_code: int | None) -> Transcript:
    """What its output says: one result, a list, or a stream of events (spec/agents 4)."""
    stream = transcript.stream(stdout)
    result = _result(stream.records)
    start = _last(stream.records, "system", "init")
    events = transcript.with_skills(_events(stream.records, _denials(result)))
    failure, error = _failure(stream, result, stderr, exit_code)
    if not failure:
        failure, error = transcript.refused(e for e in events if e.name not in _QUESTIONS)
    spent, details, notes = _usage(stream.records, result)
    listed = start.get("skills")
    return Transcript(
        output=_output(stream, result, events, failure),
        events=events,
        usage=spent,
        failure=failure,
        error=error,
        skills=tuple(map(word, listed)) if isinstance(listed, list) else None,
        session=word(result.get("session_id")) or word(start.get("session_id")),
        model=_model(stream.records, result),
        notes=stream.notes + notes,
        details=details,
        output_whole=stream.whole or "result" in result,
        events_whole=stream.whole,
    )


def _result(records: Sequence[Record]) -> Record:
    """The last result; one that is alone needs no `type`. {} if there is none."""
    alone = len(records) == 1 and "result" in records[0]
    return records[0] if alone else _last(records, "result")


def _model(records: Sequence[Record], result: Record) -> str:
    """The models that the agent's own messages came from; else those that the result names.

    What the program makes up about a failed request is from no model, in angle brackets.
    """
    messages = (mapping(r.get("message")) for r in records if not r.get("parent_tool_use_id"))
    named = dict.fromkeys(word(message.get("model")) for message in messages)
    said = [model for model in named if model and not model.startswith("<")]
    return ", ".join(said or mapping(result.get("modelUsage")))


def _last(records: Sequence[Record], kind: str, subtype: str = "") -> Record:
    for record in reversed(records):
        if record.get("type") == kind and subtype in ("", record.get("subtype")):
            return record
    return {}


def _output(
    stream: transcript.Stream,
    result: Record,
    events: Sequence[Event],
    failure: Failure,
) -> str:
    """The answer. What it says about a failed request is no answer."""
    if stream.plain:
        return stream.plain
    if failure == "infrastructure":
        return ""
    return word(result.get("result")) if "result" in result else transcript.final(events)


def _events(records: Sequence[Record], denied: Mapping[str, Event]) -> list[Event]:
    """The events in order; a call holds its result, wherever in the stream that came."""
    events: list[Event] = []
    calls: dict[str, int] = {}
    said: set[tuple[str, str]] = set()
    for record in records:
        if record.get("subtype") == "api_retry":
            events.append(Event("retry", output=_retry(record)))
        parent, message = word(record.get("parent_tool_use_id")), mapping(record.get("message"))
        for block in map(mapping, items(message.get("content"))):
            kind, key = block.get("type"), word(block.get("id") or block.get("tool_use_id"))
            if kind == "tool_use" and key not in calls:
                calls[key] = len(events)
                events.append(_call(block, parent))
            elif kind == "tool_result" and key in calls:
                events[calls[key]] = _answered(events[calls[key]], block)
            elif kind == "text" and record.get("type") == "assistant":
                text = word(block.get("text"))
                # a message comes in one line a block; snapshots of it repeat the earlier ones
                if (word(message.get("id")), text) not in said:
                    said.add((word(message.get("id")), text))
                    events.append(_said(record, text, parent))
    for key in denied.keys() & calls.keys():
        events[calls[key]] = events[calls[key]]._replace(kind="denied")
    return events + [event for key, event in denied.items() if key not in calls]


def _answered(call: Event, block: Record) -> Event:
    return call._replace(output=content(block.get("content")), failed=block.get("is_error") is True)


def _said(record: Record, text: str, parent: str) -> Event:
    """A text of the model, or of the program about a failed request (in the same place)."""
    kind: Any = "warning" if record.get("is_api_error_message") else "text"
    return Event(kind, output=text, parent=parent)


def _call(block: Record, parent: str = "") -> Event:
    given = mapping(block.get("input"))
    name = word(block.get("name"))
    if "file_path" in given:
        given = {**given, "path": given["file_path"]}
    return Event("call", _WORDS.get(name, name), given, parent=parent)


def _denials(result: Record) -> dict[str, Event]:
    """The calls that were refused, by their ids. A stream shows them as calls in error, too."""
    return {
        word(each.get("tool_use_id")): _call(
            {"name": each.get("tool_name"), "input": each.get("tool_input")}
        )._replace(kind="denied")
        for each in map(mapping, items(result.get("permission_denials")))
    }


def _retry(record: Record) -> str:
    status = count(record.get("error_status"))
    return f"{word(record.get('error'))}{f' (status {status})' if status else ''}"


def _failure(
    stream: transcript.Stream, result: Record, stderr: str, exit_code: int | None
) -> tuple[Failure, str]:
    """Failure and error; `is_error` decides, not `subtype`: a failed request is a "success"."""
    if not result:
        return _no_result(stream, stderr, exit_code)
    if result.get("is_error") is True:
        return _is_error(result)
    if exit_code:
        return "agent", transcript.reason(f"exit status {exit_code}", stderr)
    return "", ""


def _no_result(
    stream: transcript.Stream, stderr: str, exit_code: int | None
) -> tuple[Failure, str]:
    last = stream.records[-1] if stream.records else {}
    if last.get("subtype") == "api_retry":  # killed while it waited for the server
        tries = count(last.get("attempt"))
        return "infrastructure", f"{_retry(last)}, still retrying (attempt {tries})"
    if stream.plain and exit_code == 0:
        return "", ""
    return transcript.stopped(stderr, exit_code, "result")


def _is_error(result: Record) -> tuple[Failure, str]:
    said = "; ".join(filter(None, map(word, items(result.get("errors")))))
    subtype = word(result.get("subtype"))
    error = word(result.get("result")) or said or subtype or "is_error without a reason"
    if subtype == "error_max_budget_usd":
        return "budget", error
    if subtype == "error_max_turns":
        return "agent", error
    blame = transcript.blame(error, count(result.get("api_error_status")))
    is_request = result.get("terminal_reason") == "api_error" or result.get("api_error")
    if is_request and not transcript.outgrown(error):
        blame = "infrastructure"
    return blame, error


def _usage(
    records: Sequence[Record], result: Record
) -> tuple[Usage, dict[str, int], tuple[str, ...]]:
    """Tokens and cost of the result; `usage` leaves sub-agents out, `modelUsage` does not.

    Without a result, what each message said last, once for each id: a lower bound, for a message
    tells its output before it is written.
    """
    models = [mapping(each) for each in mapping(result.get("modelUsage")).values()]
    counts = [mapping(result.get("usage"))] if result else _messages(records)

    def spent(name: str, of_models: str) -> int | None:
        both = (
            total(each.get(name) for each in counts),
            total(each.get(of_models) for each in models),
        )
        return max((number for number in both if number is not None), default=None)

    given, written = spent("input_tokens", "inputTokens"), spent("output_tokens", "outputTokens")
    usd = transcript.cost(amount(result.get("total_cost_usd")), given, written)
    priced = all(each.get("costBasis", "list") == "list" for each in models)
    usage = Usage(
        given,
        written,
        spent("cache_read_input_tokens", "cacheReadInputTokens"),
        usd,
        "" if usd is None else "cli" if priced else "cli-unreconciled",
    )
    creation = spent("cache_creation_input_tokens", "cacheCreationInputTokens")
    bound = ("tokens are a lower bound: the output has no result",) if counts and not result else ()
    return usage, transcript.known(cache_creation=creation, uncached=given), bound


def _messages(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The last usage of each message."""
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        message = mapping(record.get("message"))
        if record.get("type") == "assistant" and mapping(message.get("usage")):
            found[word(message.get("id"))] = mapping(message.get("usage"))
    return list(found.values())
