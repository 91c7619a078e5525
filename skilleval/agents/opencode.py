"""The agent OpenCode: how `opencode run` is called and what its output means (seed 002).

Owns both, as observed with 1.18.33 (spec/agents 3 to 5). Folders, retries and time limits of a
trial are `harness`'s.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from skilleval.model import Arm, Case, Event, Failure, Outcome, Suite, Usage
from skilleval.reading.jsonvalues import amount, count, mapping, total, word
from skilleval.tools import Tools
from skilleval.trial import commandline, transcript
from skilleval.trial.transcript import Transcript

if TYPE_CHECKING:
    from skilleval.trial.harness import Ask, Program

Record = Mapping[str, Any]

NAME = "opencode"
PROGRAM = "opencode"
INSTALL = "install it: npm install -g opencode-ai"
SKILLS = ".opencode/skills"
DROPPINGS = (".opencode", ".claude", ".agents")
HELP = ("opencode", "run", "--help")
OPTIONS = frozenset({"base_url", "effort", "max_budget_usd"})
CREDENTIALS = (
    "ANTHROPIC_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENCODE_API_KEY",
    "OPENROUTER_API_KEY",
)
_PROVIDER = "skilleval"  # of an endpoint and a model that name no other
_NATIVE = {"anthropic", "openai"}  # speak their own protocol; others speak OpenAI's chat
_SKIP, _AUTO = "--dangerously-skip-permissions", "--auto"
_DENIED = re.compile(r"rejected permission", re.IGNORECASE)
_NO_RIPGREP = re.compile(r"ripgrep execution failed|ripgrep.*not found", re.IGNORECASE)
_LISTED = re.compile(r"Available skills: (.+)")
_WAITED = re.compile(r'^timestamp=(\S+) .*message="stream error".* error\.error="(.*)"', re.M)
# errors that the agent's own work leads to; all others are its surroundings'
_OWN_ERRORS = {"ContextOverflowError", "MessageAbortedError", "MessageOutputLengthError"}
_PATHS = ("filePath", "file_path")


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """Why `opencode` cannot be started here; empty if it can."""
    return commandline.missing(PROGRAM, INSTALL, tools)


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """What OpenCode made of the case, in a workspace of its own (see `harness.run`)."""
    from skilleval.trial import harness

    return harness.run(cast("Program", sys.modules[__name__]), case, arm, tools)


def argv(ask: Ask) -> list[str]:
    """The command line without the prompt, in the flags that the installed version knows.

    `--title` saves a second request, which would find a name for the session. The log of errors on
    stderr is the only word of a server that it waits for.
    """
    found = [PROGRAM, "run", "--dir", ask.workspace, "--format", "json"]
    found.append(_AUTO if _AUTO in ask.help and _SKIP not in ask.help else _SKIP)
    if "--title" in ask.help:
        found += ["--title", "skilleval"]
    if "--print-logs" in ask.help:
        found += ["--print-logs", "--log-level", "ERROR"]
    if ask.model:
        found += ["--model", _model(ask)]
    if ask.effort:  # which it calls a variant of the model
        found += ["--variant", ask.effort]
    return found


def stdin(ask: Ask) -> bytes:
    """The prompt, always: as an argument it gets quotes around it, and a number is a crash."""
    return commandline.encoded(ask.prompt)


def environ(ask: Ask) -> dict[str, str]:
    """What it needs besides its credentials; an endpoint is handed over as configuration."""
    found = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(_configuration(ask)),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }
    if ask.base_url:
        found["OPENAI_BASE_URL"] = commandline.openai_url(ask.base_url)
        found["OPENCODE_DISABLE_MODELS_FETCH"] = "1"  # the endpoint's model is described here
    return found


def _model(ask: Ask) -> str:
    """PROVIDER/MODEL; a model of the user's endpoint needs no provider of its own."""
    return f"{_PROVIDER}/{ask.model}" if ask.base_url and "/" not in ask.model else ask.model


def _configuration(ask: Ask) -> dict[str, Any]:
    found: dict[str, Any] = {"autoupdate": False, "share": "disabled"}
    if not ask.base_url:
        return found
    options = {"baseURL": commandline.openai_url(ask.base_url)}
    if not ask.model:
        return found | {"provider": {"openai": {"options": options}}}
    provider, _, model = _model(ask).partition("/")
    described: dict[str, Any] = {"options": options, "models": {model: {}}}
    if provider not in _NATIVE:
        options["apiKey"] = "{env:OPENAI_API_KEY}"
        described |= {"npm": "@ai-sdk/openai-compatible", "name": provider}
    return found | {"small_model": _model(ask), "provider": {provider: described}}


def read(stdout: str, stderr: str, exit_code: int | None) -> Transcript:
    """What its output says: a stream of parts (spec/agents 4)."""
    stream = transcript.stream(stdout)
    parts = _parts(stream.records)
    events = transcript.with_skills(event for part in parts for event in _event(part))
    failure, error = _failure(stream.records, events, stderr, exit_code)
    if not failure:
        failure, error = transcript.refused(events)
    usage, details = _usage(parts)
    listed = [found for event in events if (found := _LISTED.search(event.output)) and event.failed]
    return Transcript(
        output=stream.plain or transcript.final(events),
        events=events,
        usage=usage,
        failure=failure,
        error=error,
        skills=tuple(re.split(r",\s*", listed[-1][1].strip())) if listed else None,
        session=next((word(r["sessionID"]) for r in stream.records if "sessionID" in r), ""),
        notes=stream.notes,
        details=details,
        output_whole=stream.whole,
        events_whole=stream.whole,
    )


def _parts(records: Iterable[Record]) -> list[Record]:
    """The parts, each once, in its last state: `type` is that of the record."""
    found: dict[object, Record] = {}
    for number, record in enumerate(records):
        part = mapping(record.get("part"))
        found[word(part.get("id")) or number] = {**part, "type": word(record.get("type"))}
    return list(found.values())


def _event(part: Record) -> list[Event]:
    if part["type"] == "text":
        return [Event("text", output=word(part.get("text")))]
    if part["type"] != "tool_use":
        return []
    state = mapping(part.get("state"))
    given, name = mapping(state.get("input")), word(part.get("tool"))
    error = word(state.get("error"))
    code = mapping(state.get("metadata")).get("exit")
    failed = state.get("status") == "error" or (name == "bash" and code not in (0, None))
    if name == "skill":
        given = {**given, "skill": given.get("name")}
    path = next((given[key] for key in _PATHS if key in given), None)
    if path is not None:
        given = {**given, "path": path}
    call = Event(
        "call",
        "shell" if name == "bash" else name,
        given,
        error or word(state.get("output")),
        failed,
    )
    return [call._replace(kind="denied")] if _DENIED.search(error) else [call]


def _failure(
    records: Sequence[Record],
    events: Sequence[Event],
    stderr: str,
    exit_code: int | None,
) -> tuple[Failure, str]:
    """Failure and error. Without ripgrep no skill can be loaded: no finding about the skill."""
    errors = [r.get("error") for r in records if r.get("type") == "error"]
    if errors:
        return _error(errors[-1])
    waits = _waits(records, stderr) if exit_code is None else ""
    if waits:
        return transcript.blame(waits), f"still retrying: {waits}"
    if any(e.name == "skill" and e.failed and _NO_RIPGREP.search(e.output) for e in events):
        return "infrastructure", "its skill tool needs ripgrep; install it and put `rg` on PATH"
    if any(record.get("type") in ("step_finish", "text") for record in records):
        if exit_code:
            return "agent", transcript.reason(f"exit status {exit_code}", stderr)
        return "", ""
    return transcript.stopped(stderr, exit_code, "finished step")


def _waits(records: Sequence[Record], stderr: str) -> str:
    """The last failed request in the log, if no record came after it; "" if one did."""
    from datetime import datetime

    errors = _WAITED.findall(stderr)
    if not errors:
        return ""
    time, error = errors[-1]
    last = max((count(record.get("timestamp")) or 0 for record in records), default=0)
    try:
        waits = datetime.fromisoformat(time).timestamp() * 1000 > last
    except ValueError:
        return ""
    return word(error) if waits else ""


def _error(raw: Any) -> tuple[Failure, str]:
    error = mapping(raw)
    data, name = mapping(error.get("data")), word(error.get("name"))
    status, said = count(data.get("statusCode")), transcript.complaint(data or raw)
    message = ": ".join(filter(None, (name, said))) or "an error without a name"
    own = name in _OWN_ERRORS or transcript.outgrown(said)
    return "agent" if own else "infrastructure", message + (f" (status {status})" if status else "")


def _usage(parts: Sequence[Record]) -> tuple[Usage, dict[str, int]]:
    """Tokens and cost of all steps. The input leaves out what was read from a cache."""
    steps = [part for part in parts if part["type"] == "step_finish"]
    tokens = [mapping(step.get("tokens")) for step in steps]
    caches = [mapping(each.get("cache")) for each in tokens]
    given, written, reasoning = (
        total(each.get(name) for each in tokens) for name in ("input", "output", "reasoning")
    )
    cached, creation = (total(c.get(name) for c in caches) for name in ("read", "write"))
    costs = [usd for step in steps if (usd := amount(step.get("cost"))) is not None]
    usd = transcript.cost(sum(costs) if costs else None, given, written)
    details = transcript.known(reasoning=reasoning, cache_creation=creation, uncached=given)
    return Usage(given, written, cached, usd, "" if usd is None else "cli"), details
