"""Decides claims about what the agent did: the commands of its tool calls, the skills it used.

A command counts where a tool call runs it, whatever came of it; what the agent says about it does
not. Of an agent that records no events, the log of its program is read, line by line, without what
it gave as its answer. What is not found is undecided, unless it would have been recorded; where a
part of the record was lost, or it is of a skill, a judge is not asked then, who would take what it
is not shown for what did not happen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from skilleval.assertions.rule import Rule
from skilleval.graders import meant, shell
from skilleval.graders.finding import Finding, compare, compare_part, listed, wanted
from skilleval.model import Outcome
from skilleval.reading import jsonvalues
from skilleval.stats.activation import LOST, NO_EVENTS, has_record, unseen, uses

_COMMANDS = ("command", "cmd")
# where a tool that nobody knows may be given commands
_LOOSE = ("script", "code", "commands", "args")
# what a log puts before a command
_PROMPT = re.compile(r"(?i)^(?:[$>+%⏺●•]\s+|(?:running|executing|exec|ran|executed)\b:?\s+)+")
# what a shell puts before one, where any other line may be prose; `set -x` writes a `+`
_SHELL_PROMPT = re.compile(r"^(?:(?:[\w.-]+@[\w.-]+\S* ?)?\$|[\w.-]+@[\w.-]+\S*#|\++) (?=\S)")
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
    """The simple commands that the agent ran, in order, and texts that may tell of more.

    `segments` is None if nothing is recorded of what it did. If not `whole`, it may have run others
    as well. Of a log, of which any line may be a command or not (`is_log`), only the lines are read
    that can be one that is asked for.
    """

    segments: Segments | None
    loose: tuple[str, ...] = ()
    whole: bool = True
    is_log: bool = False


def decide(rule: Rule, outcome: Outcome, record: Record) -> Finding:
    """The finding on a rule about commands or a skill. `record` is that of the outcome."""
    if rule.kind == "skill":
        return _skill(rule, outcome)
    if record.segments is None:
        return Finding(None, NO_EVENTS)
    if not rule.names:
        return _none_at_all(rule, record, record.segments)
    if "in_order" in rule.events:
        return _in_order(rule, record, record.segments)
    return _command(rule, record, record.segments)


def _none_at_all(rule: Rule, record: Record, segments: Segments) -> Finding:
    if record.is_log:
        return Finding(None, "a log of text does not tell which of its lines are commands")
    if not (segments or record.whole):
        return Finding(None, LOST, judged=False)
    shown = listed(" ".join(segment)[:80] for segment in segments)
    return Finding((not segments) is rule.negated, f"commands: {shown}")


def _command(rule: Rule, record: Record, segments: Segments) -> Finding:
    counts = {name: _count(name, segments) for name in rule.names}
    doubts = {name: doubt for name in rule.names if (doubt := _doubt(name, record, segments))}
    ran = [name for name, count in counts.items() if count]
    missing = [name for name in rule.names if name not in ran]
    seen = f"ran {listed(ran)}; {len(segments)} commands were recorded"
    holds: bool | None
    if rule.negated:
        holds = False if ran else None if doubts else True
    elif rule.quantity:
        [count] = counts.values()
        holds = (compare_part if doubts else compare)(count, rule.quantity)
        seen = f"{rule.names[0]!r} ran {count} times; asked for {wanted(rule.quantity)}"
    elif not missing or (rule.any_name and ran):
        holds = True
    else:
        sure = [name for name in missing if name not in doubts]
        holds = False if sure and not (rule.any_name and doubts) else None
        if holds is False:
            shown = listed(" ".join(segment)[:80] for segment in segments)
            seen = f"{listed(sure)} was not run; commands: {shown}"
    if holds is None:
        judged = record.whole or record.is_log
        return Finding(None, f"{seen}; {'; '.join(dict.fromkeys(doubts.values()))}", judged)
    return Finding(holds, seen)


def _doubt(name: str, record: Record, segments: Segments) -> str:
    """Why a command may have run more often than is recorded; "" if it did not."""
    if _is_told(name, record.loose):
        of_log = "the log" if record.is_log else "a command that may start others"
        return f"{of_log} speaks of {name!r}"
    parts = shell.segments(name)
    pairs = ((part, each) for part in parts for each in segments)
    if any(meant.may_be(*pair) and not meant.runs(*pair) for pair in pairs):
        return f"a command has the words of {name!r} in another order, or nearly these"
    if record.whole:
        return ""
    return f"{NO_EVENTS}, and its log need not name all" if record.is_log else LOST


def _in_order(rule: Rule, record: Record, segments: Segments) -> Finding:
    """Each command before the next one: by when they ran first, and where that is open, by all."""
    places = {name: _places(name, segments) for name in rule.names}
    doubts = {name: doubt for name in rule.names if (doubt := _doubt(name, record, segments))}
    if any(not places[name] and name not in doubts for name in rule.names):
        missing = [name for name in rule.names if not places[name]]
        return Finding(False, f"{listed(missing)} was not run")
    seen = ", ".join(
        f"{name!r} ran as number {found[0] + 1}" for name, found in places.items() if found
    )
    if doubts:
        reason = f"{seen}; {'; '.join(dict.fromkeys(doubts.values()))}"
        return Finding(None, reason, record.whole or record.is_log)
    for earlier, later in pairwise(rule.names):
        if places[earlier][0] >= places[later][-1]:
            return Finding(False, seen)
        if places[earlier][0] >= places[later][0]:
            return Finding(None, f"{seen}, but {later!r} more than once")
    return Finding(True, seen)


def _places(name: str, segments: Segments) -> list[int]:
    """Which of the recorded commands are this one; of one with `&&`, its last part."""
    parts = shell.segments(name)
    return [n for n, each in enumerate(segments) if parts and meant.runs(parts[-1], each)]


def _is_told(name: str, texts: Sequence[str]) -> bool:
    """Do texts that are no commands themselves hold the words of one? Its options may differ."""
    for program, *rest in shell.segments(name):
        words = [program.removeprefix("./"), *(word for word in rest if word[:1] != "-")]
        tests = [re.compile(rf"(?<![\w.-]){re.escape(w)}(?![\w/-]|\.\w)") for w in words]
        if any(all(test.search(text) for test in tests) for text in texts):
            return True
    return False


def _count(name: str, segments: Segments) -> int:
    """How many recorded commands are this one; of one with `&&`, as many as its parts."""
    wanted_parts = shell.segments(name)
    if not wanted_parts:
        return 0
    return min(sum(meant.runs(part, segment) for segment in segments) for part in wanted_parts)


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
    if has_record(outcome):
        calls = [event.input for event in outcome.events if event.kind == "call"]
        return _of_calls(calls, outcome.events_whole)
    records, whole = _records(outcome.stdout)
    if records:
        return _of_calls(records, whole and outcome.events_whole)
    return _logged(outcome, names)


def _of_calls(calls: Sequence[Mapping[str, Any]], whole: bool) -> Record:
    lines = [_of_call(call) for call in calls]
    segments = [segment for line in lines for segment in line.segments]
    loose = [text for line in lines for text in line.loose]
    written = [each for line in lines for each in line.written]
    loose += [text for path, text in written if meant.is_run(path, segments)]
    return Record(segments, tuple(loose), whole)


def _logged(outcome: Outcome, names: Iterable[str]) -> Record:
    """The commands in a log of plain text; None if there is none, or a program's JSON instead.

    A log that stands beside the answer is taken for all that was done (seed 002). Where what was
    printed is the answer, or there was more than one attempt, only what a shell has marked as a
    command is one, and what is not there may have been done all the same.
    """
    log = f"{outcome.stdout}\n{outcome.stderr}"
    if not log.strip() or outcome.stdout.lstrip().startswith(("{", "[")):
        return Record(None)
    programs = tuple({_hint(words[0]) for name in names for words in shell.segments(name)})
    said = {line.strip() for line in outcome.output.splitlines() if line.strip()}
    printed = [line.strip() for line in outcome.stdout.replace("\0", "\ufffd").splitlines()]
    whole = outcome.events_whole and outcome.attempts == 1 and said.isdisjoint(printed)
    whole = whole and any(printed)
    segments: Segments = []
    loose: list[str] = []
    lines = [(line, not whole) for line in printed if line not in said]
    lines += [(line.strip(), True) for line in outcome.stderr.splitlines()]
    for line, may_be_prose in lines:
        if not any(program in line for program in programs):
            continue
        command = _stripped(line)
        if _PROSE.match(command) or (may_be_prose and not _SHELL_PROMPT.match(line)):
            loose.append(line)
            continue
        found = shell.read(command)
        segments += found.segments
        loose += [*found.loose, *([line] if command == line else [])]
    return Record(segments, tuple(loose), whole, is_log=True)


def _hint(word: str) -> str:
    """What a line must hold to run this program, whatever its path or version."""
    name = shell.program(word).rpartition("/")[2]
    return {"python": "py"}.get(name, name)


def _stripped(line: str) -> str:
    """A line of a log without what marks it as a command: `$ npm test`, `Bash(npm test)`."""
    line = _PROMPT.sub("", _SHELL_PROMPT.sub("", line))
    call = _CALL.fullmatch(line)
    line = call[1] if call else line
    if len(line) > 2 and line[0] == line[-1] == "`":
        line = line[1:-1]
    return line.removesuffix("...").removesuffix("…").rstrip()


def _of_call(given: Any) -> shell.Line:
    """What a tool call runs, by its input; of a tool that nobody knows, what it may run."""
    for key in _COMMANDS:
        command = given.get(key)
        if isinstance(command, str) or (isinstance(command, list) and command):
            return shell.read(command)
    texts = [given[key] for key in _LOOSE if given.get(key)]
    path, text = given.get("path"), given.get("content")
    written = [shell.Written(path, text)] if isinstance(path, str) and isinstance(text, str) else []
    return shell.Line([], [str(each) for each in texts], written)


def _records(log: str) -> tuple[list[Mapping[str, Any]], bool]:
    """What tool calls were given, by a log of JSON lines in the shapes of seed 002's programs.

    A call that is told of when it starts and when it ends is one. With them comes whether every
    line that is meant as JSON could be read.
    """
    seen: set[str] = set()
    found: list[Mapping[str, Any]] = []
    whole = True
    for line in log.splitlines():
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            whole = False
            continue
        for call in _calls(value, _DEEPEST):
            key = next((str(call[name]) for name in _IDS if call.get(name)), "")
            if not key or key not in seen:
                seen.add(key)
                found.append(_input(call))
    return found, whole


def _calls(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    """What looks like a tool call, anywhere in a record."""
    if isinstance(value, dict) and jsonvalues.word(value.get("type")) in _CALLS:
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
