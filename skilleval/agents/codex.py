"""The agent Codex: how `codex exec` is called and what its output means (seed 002).

Owns both, as observed with 0.171.0 (spec/agents 3 to 5). Folders, retries and time limits of a
trial are `harness`'s. The output names no cost, no model, and no skills that the agent could see.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from skilleval.model import Arm, Case, Event, Failure, Outcome, Suite, Usage
from skilleval.reading.jsonvalues import items, mapping, total, word
from skilleval.tools import Tools
from skilleval.trial import commandline, transcript
from skilleval.trial.transcript import Transcript, content

if TYPE_CHECKING:
    from skilleval.trial.harness import Ask, Program

Record = Mapping[str, Any]

NAME = "codex"
PROGRAM = "codex"
INSTALL = "install it: npm install -g @openai/codex"
SKILLS = ".codex/skills"
DROPPINGS = (".codex", ".agents")
HELP = ("codex", "exec", "--help")
OPTIONS = frozenset({"base_url", "effort"})
CREDENTIALS = (
    "CODEX_API_KEY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
)
_PROVIDER = "skilleval"  # of an endpoint that the user names
_KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")  # that it may be sent, the first that is set
_REPO_CHECK = "--skip-git-repo-check"
_UNATTENDED = (
    ("--full-auto",),  # until 0.5x; its successor
    ("--dangerously-bypass-approvals-and-sandbox",),
    ("--sandbox", "workspace-write"),
)
_CHANGES = {"add": "write", "update": "edit", "delete": "delete"}
_REJECTED = re.compile(r'Rejected\("((?:[^"\\\n]|\\.){1,2000})"\)')
_SHELL_FLAGS = {"-c", "-lc"}


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """Why `codex` cannot be started here; empty if it can.

    It starts no turn at an endpoint of ours without a key, also if that asks for none.
    """
    missing = commandline.missing(PROGRAM, INSTALL, tools)
    told = any(arm.agent == NAME and arm.options.get("base_url") for arm in suite.arms)
    if missing or not told or any(tools.environ.get(key) for key in _KEYS):
        return missing
    keys = " or ".join(_KEYS)
    anything = "any text will do at one that asks for none"
    return (f"codex needs a key for --harness-base-url: set {keys}; {anything}",)


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """What Codex made of the case, in a workspace of its own (see `harness.run`)."""
    from skilleval.trial import harness

    return harness.run(cast("Program", sys.modules[__name__]), case, arm, tools)


def argv(ask: Ask) -> list[str]:
    """The command line, in the flags that the installed version knows by its help."""
    found = [PROGRAM, "exec", "--json", *_unattended(ask.help)]
    if not ask.help or _REPO_CHECK in ask.help:
        found.append(_REPO_CHECK)
    if ask.model:
        found += ["--model", ask.model]
    if ask.effort:
        found += ["-c", f"model_reasoning_effort={json.dumps(ask.effort)}"]
    if ask.base_url:
        found += _endpoint(commandline.openai_url(ask.base_url), ask.keys)
    return [*found, *commandline.prompt_arguments(ask.prompt)]


def _unattended(help_text: str) -> tuple[str, ...]:
    """How it is told not to ask: `--full-auto`, as the seed has it, is gone since 2026."""
    known = [flags for flags in _UNATTENDED if flags[0] in help_text]
    return known[0] if known else _UNATTENDED[1]


def _endpoint(url: str, keys: Sequence[str]) -> list[str]:
    """An endpoint is handed over as a provider: it ignores OPENAI_BASE_URL."""
    fields = {"name": _PROVIDER, "base_url": url, "wire_api": "responses"}
    fields["env_key"] = next((key for key in _KEYS if key in keys), _KEYS[0])
    table = ",".join(f"{key}={json.dumps(value)}" for key, value in fields.items())
    provider = f"model_providers.{_PROVIDER}={{{table}}}"
    return ["-c", f'model_provider="{_PROVIDER}"', "-c", provider]


def stdin(ask: Ask) -> bytes | None:
    """The prompt, if it is too long for the command line."""
    return commandline.prompt_input(ask.prompt)


def environ(ask: Ask) -> dict[str, str]:
    """What it needs besides its credentials: the endpoint again, for old versions (seed 002)."""
    return {"OPENAI_BASE_URL": commandline.openai_url(ask.base_url)} if ask.base_url else {}


def read(stdout: str, stderr: str, exit_code: int | None) -> Transcript:
    """What its output says: a stream of items (spec/agents 4)."""
    stream = transcript.stream(stdout)
    events = transcript.with_skills((*_rejected(stderr), *_events(stream.records)))
    failure, error = _failure(stream.records, stderr, exit_code)
    if not failure:
        failure, error = transcript.refused(events)
    usage, details = _usage(stream.records)
    return Transcript(
        output=stream.plain or transcript.final(events),
        events=events,
        usage=usage,
        failure=failure,
        error=error,
        session=next((word(r["thread_id"]) for r in stream.records if "thread_id" in r), ""),
        notes=stream.notes,
        details=details,
        output_whole=stream.whole,
        events_whole=stream.whole,
    )


def _rejected(stderr: str) -> Iterator[Event]:
    """Commands that it did not run because they are dangerous: only its log tells of them."""
    for match in _REJECTED.finditer(stderr):
        yield Event("denied", "shell", output=match[1].replace('\\"', '"'))


def _events(records: Sequence[Record]) -> Iterator[Event]:
    """The events in the order in which they ended, then the calls that never did."""
    begun: dict[str, Record] = {}
    ended: dict[str, Record] = {}
    for record in records:
        item = mapping(record.get("item"))
        kind, key = record.get("type"), word(item.get("id"))
        if kind == "item.started":
            begun[key] = item
        elif kind == "item.completed":
            begun.pop(key, None)
            if not key or ended.get(key) != item:  # told twice is done once
                ended[key] = item
                yield from _item(item)
        elif kind == "error":
            said = word(record.get("message"))
            yield Event("retry" if said.startswith("Reconnecting") else "warning", output=said)
    for unfinished in begun.values():
        yield from _item(unfinished)


def _item(item: Record) -> Iterator[Event]:
    kind, status = word(item.get("type")), word(item.get("status"))
    failed = status == "failed"
    if kind == "agent_message":
        yield Event("text", output=word(item.get("text")))
    elif kind == "error":  # a warning: it comes in runs that go well, too
        yield Event("warning", output=word(item.get("message")))
    elif kind == "file_change":
        for change in map(mapping, items(item.get("changes"))):
            name = _CHANGES.get(word(change.get("kind")), "edit")
            yield _called(Event("call", name, change, failed=failed), status)
    elif kind == "command_execution":
        command = {"command": _command(word(item.get("command")))}
        output = word(item.get("aggregated_output"))
        failed = failed or item.get("exit_code") not in (0, None)
        yield _called(Event("call", "shell", command, output, failed), status)
    elif kind == "mcp_tool_call":
        output = content(mapping(item.get("result")).get("content"))
        error = transcript.complaint(item.get("error"))
        arguments = mapping(item.get("arguments"))
        call = Event("call", word(item.get("tool")), arguments, output or error, failed)
        yield _called(call, status)
    elif kind == "web_search":
        yield Event("call", kind, {"query": word(item.get("query"))})


def _called(call: Event, status: str) -> Event:
    return call._replace(kind="denied") if status == "declined" else call


def _command(line: str) -> str:
    """A command without the shell that it is wrapped in: `/bin/bash -lc 'COMMAND'`."""
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    wrapped = len(words) == 3 and words[0].endswith("sh") and words[1] in _SHELL_FLAGS
    return words[2] if wrapped else line


def _failure(records: Sequence[Record], stderr: str, exit_code: int | None) -> tuple[Failure, str]:
    """Failure and error. A turn that neither failed nor completed may still wait for the server."""
    ends = [r for r in records if r.get("type") in ("turn.completed", "turn.failed", "error")]
    last = ends[-1] if ends else {}
    if last.get("type") == "turn.failed":
        error = transcript.complaint(last.get("error")) or "the turn failed"
        return transcript.blame(error), error
    if any(r.get("type") == "turn.completed" for r in ends):
        if exit_code:
            return "agent", transcript.reason(f"exit status {exit_code}", stderr)
        return "", ""
    said = word(last.get("message"))
    if said and transcript.blame(said) == "infrastructure":
        return "infrastructure", said
    return transcript.stopped(stderr, exit_code, "completed turn")


def _usage(records: Sequence[Record]) -> tuple[Usage, dict[str, int]]:
    """The tokens of all turns. The input includes what was read from a cache; no cost is told."""
    turns = [mapping(r.get("usage")) for r in records if r.get("type") == "turn.completed"]
    given, cached, written, reasoning, creation = (
        total(turn.get(f"{name}_tokens") for turn in turns)
        for name in ("input", "cached_input", "output", "reasoning_output", "cache_write_input")
    )
    uncached = None if given is None or cached is None else max(0, given - cached)
    details = transcript.known(reasoning=reasoning, cache_creation=creation, uncached=uncached)
    return Usage(given, written, cached), details
