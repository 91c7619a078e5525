"""Decides claims about what the agent did: the commands of its tool calls, the skills it used.

A command counts where a tool call runs it, whatever came of it; what the agent says about it does
not. Of an agent that records no events, the log of its program is read, line by line, without what
it gave as its answer. What there is no record of is left undecided; of the use of a skill a judge
is not asked then, who would take what it is not shown for what did not happen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from skilleval.assertions.rule import Rule
from skilleval.graders import shell
from skilleval.graders.finding import Finding, compare, listed, wanted
from skilleval.model import Outcome
from skilleval.stats.activation import NO_EVENTS, unseen, uses

_COMMANDS = ("command", "cmd")
# what a log puts before a command
_PROMPT = re.compile(r"(?i)^(?:[$>+%⏺●•]\s+|(?:running|executing|exec|ran|executed)\b:?\s+)+")
_CALL = re.compile(r"(?i)(?:bash|shell|exec|run|terminal)\((.*)\)")
# the beginning of a sentence about a program, which is no command
_PROSE = re.compile(
    r"(?i)\S+\s+(?:is|are|was|were|will|would|can|could|should|must|may|has|have|had|does|did|needs?"
    r"|isn't|wasn't|and|or|of)\b"
)
# tool calls in the records of agent programs, what they are known by, and where their input is
_CALLS = frozenset({"command_execution", "tool_call", "mcp_tool_call", "function_call"})
_CALLS |= {"tool_use", "tool", "local_shell_call"}
_IDS = ("id", "call_id", "callID")
_INPUTS = ("state", "action", "input", "arguments")
_DEEPEST = 6
Segments = list[list[str]]


class Record(NamedTuple):
    """The simple commands that the agent ran, in order, and lines of a log that may tell more.

    `segments` is None if nothing is recorded of what it did. Of a log, of which any line may be a
    command or not (`is_log`), only the lines are read that can be one that is asked for.
    """

    segments: Segments | None
    loose: tuple[str, ...] = ()
    is_log: bool = False


def decide(rule: Rule, outcome: Outcome, record: Record) -> Finding:
    """The finding on a rule about commands or a skill. `record` is that of the outcome."""
    if rule.kind == "skill":
        return _skill(rule, outcome)
    if record.segments is None:
        return Finding(None, NO_EVENTS)
    if "in_order" in rule.events:
        return _in_order(rule, record, record.segments)
    return _command(rule, record, record.segments)


def _command(rule: Rule, record: Record, segments: Segments) -> Finding:
    if not rule.names and record.is_log:
        return Finding(None, "a log of text does not tell which of its lines are commands")
    if not rule.names:  # no command at all
        shown = listed(" ".join(segment)[:80] for segment in segments)
        return Finding((not segments) is rule.negated, f"commands: {shown}")
    counts = {name: _count(name, segments) for name in rule.names}
    ran = [name for name, count in counts.items() if count]
    seen = f"ran {listed(ran)}; {len(segments)} commands were recorded"
    told = [name for name in rule.names if not counts[name] and _is_told(name, record.loose)]
    if told and not (rule.negated and ran):
        return Finding(None, f"{seen}; the log speaks of {listed(told)}")
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


def _in_order(rule: Rule, record: Record, segments: Segments) -> Finding:
    """Each command before the next one: by when they ran first, and where that is open, by all."""
    places = {name: _places(name, segments) for name in rule.names}
    missing = [name for name in rule.names if not places[name]]
    if missing:
        told = any(_is_told(name, record.loose) for name in missing)
        return Finding(None if told else False, f"{listed(missing)} was not run")
    seen = ", ".join(f"{name!r} ran as number {places[name][0] + 1}" for name in rule.names)
    for earlier, later in pairwise(rule.names):
        if places[earlier][0] >= places[later][-1]:
            return Finding(False, seen)
        if places[earlier][0] >= places[later][0]:
            return Finding(None, f"{seen}, but {later!r} more than once")
    return Finding(True, seen)


def _places(name: str, segments: Segments) -> list[int]:
    """Which of the recorded commands are this one; of one with `&&`, its last part."""
    parts = shell.segments(name)
    return [n for n, each in enumerate(segments) if parts and shell.runs(parts[-1], each)]


def _is_told(name: str, lines: Sequence[str]) -> bool:
    """Do lines of a log that are no commands themselves hold the words of one?"""
    words = rf"(?<![\w./-]){re.escape(name)}(?![\w-])"
    return any(re.search(words, line) for line in lines)


def _count(name: str, segments: Segments) -> int:
    """How many recorded commands are this one; of one with `&&`, as many as its parts."""
    wanted_parts = shell.segments(name)
    if not wanted_parts:
        return 0
    return min(sum(shell.runs(part, segment) for segment in segments) for part in wanted_parts)


def _skill(rule: Rule, outcome: Outcome) -> Finding:
    """What nobody knows is a skip, and no question: a judge would see no use of it either."""
    used = [event.name for event in outcome.events if event.kind == "skill"]
    triggered = uses(outcome, rule.names) if rule.names else bool(used)
    seen = f"skills used: {listed(used)}"
    if not triggered and (doubt := unseen(outcome)):
        return Finding(None, doubt if doubt == NO_EVENTS else f"{seen}, but {doubt}", judged=False)
    return Finding(triggered is not rule.negated, seen)


def recorded(outcome: Outcome, names: Iterable[str]) -> Record:
    """What is recorded of the commands that the agent ran. `names` are those that are asked for."""
    if outcome.events:
        calls = [event.input for event in outcome.events if event.kind == "call"]
        return Record([segment for call in calls for segment in _of_call(call)])
    records = list(_records(outcome.stdout))
    if records:
        return Record([segment for record in records for segment in _of_call(record)])
    return _logged(outcome, names)


def _logged(outcome: Outcome, names: Iterable[str]) -> Record:
    """The commands in a log of plain text; None if there is none, or a program's JSON instead."""
    log = f"{outcome.stdout}\n{outcome.stderr}"
    if not log.strip() or outcome.stdout.lstrip().startswith(("{", "[")):
        return Record(None)
    programs = tuple({_hint(words[0]) for name in names for words in shell.segments(name)})
    said = {line.strip() for line in outcome.output.splitlines()}
    segments: Segments = []
    loose: list[str] = []
    for line in map(str.strip, log.splitlines()):
        if line in said or not any(program in line for program in programs):
            continue
        command = _stripped(line)
        if _PROSE.match(command):
            loose.append(line)
        else:
            segments += shell.segments(command)
            loose += [line] if command == line else []
    return Record(segments, tuple(loose), is_log=True)


def _hint(word: str) -> str:
    """What a line must hold to run this program, whatever its path or version."""
    name = shell.program(word).rpartition("/")[2]
    return {"python": "py"}.get(name, name)


def _stripped(line: str) -> str:
    """A line of a log without what marks it as a command: `$ npm test`, `Bash(npm test)`."""
    line = _PROMPT.sub("", line)
    call = _CALL.fullmatch(line)
    line = call[1] if call else line
    if len(line) > 2 and line[0] == line[-1] == "`":
        line = line[1:-1]
    return line.removesuffix("...").removesuffix("…").rstrip()


def _of_call(given: Any) -> Segments:
    for key in _COMMANDS:
        command = given.get(key)
        if isinstance(command, str) or (isinstance(command, list) and command):
            return shell.segments(command)
    return []


def _records(log: str) -> Iterator[Mapping[str, Any]]:
    """What tool calls were given, by a log of JSON lines in the shapes of seed 002's programs.

    A call that is told of when it starts and when it ends is one.
    """
    seen: set[str] = set()
    for line in log.splitlines():
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for call in _calls(value, _DEEPEST):
            key = next((str(call[name]) for name in _IDS if call.get(name)), "")
            if not key or key not in seen:
                seen.add(key)
                yield _input(call)


def _calls(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """What looks like a tool call, anywhere in a record."""
    if isinstance(value, dict) and value.get("type") in _CALLS:
        yield value
    elif depth and isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _calls(each, depth - 1)


def _input(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a call was given: its own fields, or those of its input."""
    given: Any = call
    for name in _INPUTS:
        while isinstance(given, dict) and name in given:
            given = given[name]
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {}
    return given if isinstance(given, dict) else {}
