"""Grades by what the agent did: the commands of its tool calls, and the skills that it used.

A command counts where a tool call runs it, whatever came of it; what the agent says about it does
not. Of an agent that records no events, the log of its program is read, line by line, without what
it gave as its answer. What there is no record of is left undecided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from skilleval.assertions.rule import Rule, from_params
from skilleval.graders import shell
from skilleval.graders.finding import Finding, compare, listed, together, verdict, wanted
from skilleval.model import Check, Evidence, Graded, Outcome
from skilleval.stats.activation import uses
from skilleval.tools import Tools

NO_EVENTS = "no tool events"
_COMMANDS = ("command", "cmd")
# what a log puts before a command
_PROMPT = re.compile(r"(?i)^(?:[$>+%]\s+|(?:running|executing|exec)\b:?\s+)+")
Segments = list[list[str]]


def grade(checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    """A verdict on each check by the rule in its params (see `assertions.check`)."""
    segments = _segments(evidence.outcome)
    verdicts = []
    for check in checks:
        rule = from_params(check.params)
        if rule.kind == "all":
            finding = together([_decide(part, segments, evidence.outcome) for part in rule.parts])
        else:
            finding = _decide(rule, segments, evidence.outcome)
        verdicts.append(verdict(check, finding, partial=rule.partial))
    return Graded(tuple(verdicts))


def _decide(rule: Rule, segments: Segments | None, outcome: Outcome) -> Finding:
    return _skill(rule, outcome) if rule.kind == "skill" else _command(rule, segments)


def _command(rule: Rule, segments: Segments | None) -> Finding:
    if segments is None:
        return Finding(None, NO_EVENTS)
    counts = {name: _count(name, segments) for name in rule.names}
    ran = [name for name, count in counts.items() if count]
    seen = f"ran {listed(ran)}; {len(segments)} commands were recorded"
    if rule.negated:
        return Finding(not ran, seen)
    if rule.quantity:
        [count] = counts.values()
        asked = f"{rule.names[0]!r} ran {count} times; asked for {wanted(rule.quantity)}"
        return Finding(compare(count, rule.quantity), asked)
    missing = [name for name in rule.names if name not in ran]
    if not missing or (rule.any_name and ran):
        return Finding(True, seen)
    shown = listed(" ".join(segment)[:80] for segment in segments)
    return Finding(False, f"{listed(missing)} was not run; commands: {shown}")


def _count(name: str, segments: Segments) -> int:
    """How many recorded commands are this one; of one with `&&`, as many as its parts."""
    wanted_parts = shell.segments(name)
    if not wanted_parts:
        return 0
    return min(sum(shell.runs(part, segment) for segment in segments) for part in wanted_parts)


def _skill(rule: Rule, outcome: Outcome) -> Finding:
    """An agent that ended before it used the skill may have been about to."""
    if not outcome.events:
        return Finding(None, NO_EVENTS)
    used = [event.name for event in outcome.events if event.kind == "skill"]
    triggered = uses(outcome, rule.names) if rule.names else bool(used)
    seen = f"skills used: {listed(used)}"
    if not triggered and (outcome.failure or outcome.timed_out):
        return Finding(None, f"{seen}, but the agent did not come to its end")
    return Finding(triggered is not rule.negated, seen)


def _segments(outcome: Outcome) -> Segments | None:
    """The simple commands that the agent ran; None if nothing is recorded of what it did."""
    if outcome.events:
        calls = [event.input for event in outcome.events if event.kind == "call"]
        return [s for call in calls for s in _of_call(call)]
    records = list(_records(outcome.stdout))
    if records:
        return [segment for record in records for segment in _of_call(record)]
    return _logged(outcome)


def _logged(outcome: Outcome) -> Segments | None:
    """The commands in a log of plain text; None if there is none, or a program's JSON instead."""
    log = f"{outcome.stdout}\n{outcome.stderr}"
    if not log.strip() or outcome.stdout.lstrip().startswith(("{", "[")):
        return None
    said = {line.strip() for line in outcome.output.splitlines()}
    lines = [line.strip() for line in log.splitlines()]
    logged = [_PROMPT.sub("", line) for line in lines if line not in said]
    return [segment for line in logged for segment in shell.segments(line)]


def _of_call(given: Any) -> Segments:
    for key in _COMMANDS:
        command = given.get(key)
        if isinstance(command, str) or (isinstance(command, list) and command):
            return shell.segments(command)
    return []


def _records(log: str) -> Iterator[dict[str, Any]]:
    """The tool calls in a log of JSON lines, in the shapes of the programs of seed 002."""
    for line in log.splitlines():
        if line.startswith("{"):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            item = value.get("item")
            if isinstance(item, dict) and item.get("type") == "command_execution":
                yield item
