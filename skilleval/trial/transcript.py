"""What an agent program told of its work, in the words that all of them share.

Owns the noun, the lenient reading of the streams of JSON that the programs write, and the rules
that hold for all of them: what is the final answer, which skill a call used, whose fault an error
is. What a program's own records mean is its agent module's (`agents`).

The shared words of a call's `name` are `shell` (`input["command"]` is the command line), `read`,
`write`, `edit` and `delete` (`input["path"]`), and `skill` (`input["skill"]`); every other tool
keeps its own name. The other keys of `input` are the program's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.model import EMPTY, Event, Failure, Usage
from skilleval.plaintext import counted
from skilleval.process.capture import CUT
from skilleval.reading.jsonvalues import items, mapping, word

# what no later stage can be given: a lone surrogate is no UTF-8, and NUL ends a string elsewhere
_UNSAFE = re.compile("[\0\ud800-\udfff]")
# what programs print around a line and nobody sees: colours, a cleared line, a title, a mark
_UNSEEN = re.compile(r"(?:[\s\0\ufeff]+|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\a\x1b]*(?:\a|\x1b\\))*")
_DEEPEST = 40
_LONGEST_REASON = 2_000
_DECODER = json.JSONDecoder(strict=False)  # strings with raw control characters are still read

_NAME = r"([^\s/\\\"'`;|&<>()*?\[\]{}$.:][^\s/\\\"'`;|&<>()*?\[\]{}$:]{0,63})"
_SKILL_PATH = re.compile(rf"(?<![\w-])skills[/\\]{_NAME}[/\\]|{_NAME}[/\\]SKILL\.md(?!\w)")
_WRITTEN = re.compile(r">>?\s*\S+")
_FRONT_MATTER = re.compile(r"(?m)^---[ \t]*\n(?:[a-z].*\n)*?name:[ \t]*[\"']?([\w.-]+)")

_STATUS = re.compile(r"(?:status|API Error):?\s*(\d{3})\b", re.IGNORECASE)
_OVERFLOW = re.compile(r"prompt is too long|context (?:length|window)|too many tokens", re.I)
_SURROUNDINGS = re.compile(
    r"rate.?limit|overloaded|high demand|quota|usage limit|credit balance"
    r"|unauthori[sz]ed|authenticat|api.?key|not logged in|/login|environment variable"
    r"|connect(?:ion|ing|ed)?\b|disconnected|network|lookup address|timed? ?out"
    r"|ECONN|ENOTFOUND|EAI_AGAIN"
    r"|bad request"
    r"|(?:selected|unknown|unsupported) model|model.{0,80}not (?:found|supported|exist)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"unexpected argument|un(?:known|recognized) (?:option|argument)|cannot be used with root"
    r"|requires --\w+|trusted directory|no longer supported|^(?:usage|options):"
    r"|argument .{0,80} is invalid|invalid value .{0,80} for|value is required for|loading config",
    re.IGNORECASE | re.MULTILINE,
)


class Transcript(NamedTuple):
    """All that the output of one attempt says. "" or None where it says nothing of it.

    `output` is the final answer. `failure` and `error` say that the attempt failed, and of what;
    a timeout is nothing that a program tells. `skills` are those that the program itself lists
    as visible to the agent, None if it has no such list. `model` is the one that answered (more
    than one: with commas), `session` what the program calls this conversation. `details` are
    tokens that `Usage` has no field for: `cache_creation`, `reasoning`, and `uncached`, the input
    that was not read from a cache (Claude leaves the cached part out of `Usage.input`, Codex
    includes it). `notes` say what was left out or has to be known. `output_whole` and
    `events_whole` are false where a part of them was lost.
    """

    output: str = ""
    events: tuple[Event, ...] = ()
    usage: Usage = Usage()
    failure: Failure = ""
    error: str = ""
    skills: tuple[str, ...] | None = None
    session: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    details: Mapping[str, int] = EMPTY
    output_whole: bool = True
    events_whole: bool = True


class Stream(NamedTuple):
    """The JSON objects of an output. `plain` is all of it, if none was meant as JSON.

    `whole` is false if a part is missing, or a line that was meant as an object is none.
    """

    records: tuple[dict[str, Any], ...] = ()
    plain: str = ""
    notes: tuple[str, ...] = ()
    whole: bool = True


def stream(stdout: str) -> Stream:
    """The records of an output: one object, a list of them, or one a line. Never raises.

    Lines that are no JSON (a warning, a half line where the output was cut or ended) are counted
    in the notes. The records are safe to store: see `safe`.
    """
    text = stdout.removeprefix("\ufeff")
    whole = _parsed(text)
    if whole:
        return Stream(tuple(whole))
    records: list[dict[str, Any]] = []
    junk, cut, meant, broken = 0, 0, False, False
    for line in text.split("\n"):  # and no other separator: one may stand within a JSON string
        found = _parsed(line)
        marker = None if found else CUT.fullmatch(line.strip())
        if found:
            records += found
        elif marker:
            cut += int(marker[1])
        elif bare := line[_begin(line) :]:
            junk += 1
            meant = meant or bare[0] in "{["
            broken = broken or bare.startswith(("{", "[{"))
    plain = "" if records or meant else str(safe(text))
    return Stream(tuple(records), plain, _notes(0 if plain else junk, cut), not (cut or broken))


def _notes(junk: int, cut: int) -> tuple[str, ...]:
    notes = []
    if junk:
        notes.append(f"{counted(junk, 'line')} of the output skipped: no JSON")
    if cut:
        notes.append(
            f"{counted(cut, 'byte')} of the output cut: what the agent did there is unknown"
        )
    return tuple(notes)


def _parsed(text: str) -> list[dict[str, Any]]:
    """The objects of a JSON text; none if it is not JSON, or holds no objects."""
    begin = _begin(text)
    if text[begin : begin + 1] not in ("{", "["):
        return []
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError):
        return []
    if _begin(text, end) < len(text):
        return []
    values = value if isinstance(value, list) else [value]
    return [safe(each) for each in values if isinstance(each, dict)]


def _begin(text: str, start: int = 0) -> int:
    """Where what can be seen of the text begins, from `start` on; its length if nothing can."""
    unseen = _UNSEEN.match(text, start)
    return unseen.end() if unseen else start


def safe(value: Any, depth: int = 0) -> Any:
    """JSON that every later stage can take: no lone surrogates, no NUL, no depth without end."""
    if isinstance(value, str):
        return _UNSAFE.sub("\ufffd", value)
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, list):
        return [safe(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {safe(key): safe(each, depth + 1) for key, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def content(value: Any) -> str:
    """A message's or a result's text: a string, or a list of blocks; "" for anything else."""
    blocks = [mapping(block) for block in items(value)]
    return word(value) or "\n".join(word(block.get("text")) for block in blocks if "text" in block)


def complaint(error: Any) -> str:
    """What an error says: a text, or an object with a `message`; "" for anything else."""
    return word(error) or word(mapping(error).get("message"))


def known(**numbers: int | None) -> dict[str, int]:
    """The `details` of a transcript: those of the numbers that are known."""
    return {name: number for name, number in numbers.items() if number is not None}


def cost(usd: float | None, *tokens: int | None) -> float | None:
    """What was paid. 0 for work that took tokens means that the program knows no price: None."""
    return None if usd == 0 and any(tokens) else usd


def final(events: Iterable[Event]) -> str:
    """What the agent said after its last call of a tool, its messages as lines; sub-agents' not.

    If it said nothing after that, the last that it did say (spec/agents 4, seed 002's own cases).
    """
    groups: list[list[str]] = [[]]
    for event in events:
        if event.kind == "text" and event.output and not event.parent:
            groups[-1].append(event.output)
        elif event.kind in ("call", "denied") and groups[-1]:
            groups.append([])
    return "\n".join(next(filter(None, reversed(groups)), []))


def with_skills(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events, and behind each call that was the first to use a skill, a `skill` event."""
    found: list[Event] = []
    seen: set[str] = set()
    for event in events:
        found.append(event)
        for name in used_skills(event):
            if name not in seen:
                seen.add(name)
                found.append(Event("skill", name, parent=event.parent))
    return tuple(found)


def used_skills(event: Event) -> Iterator[str]:
    """The names of the skills that a call used (spec/agents 4, "Detection rule").

    It called the tool for skills, read a file in `skills/NAME/`, or ran a command that touches one
    or that reads NAME/SKILL.md. A call in error used none, unless it printed the SKILL.md before.
    """
    if event.kind != "call":
        return
    command = word(event.input.get("command")) if event.name == "shell" else ""
    if "SKILL.md" in command:
        yield from _FRONT_MATTER.findall(event.output)
    if event.failed:
        return
    if event.name == "skill":
        yield word(event.input.get("skill")).lstrip("/").rpartition(":")[2]
    path = word(event.input.get("path")) if event.name == "read" else ""
    # a file that the command writes is no skill that it uses
    for match in _SKILL_PATH.finditer(path or _WRITTEN.sub(" ", command)):
        yield match[1] or match[2]


def blame(message: str, status: int | None = None) -> Failure:
    """Whose failure an error of a program is: the agent's own, or its surroundings'.

    `status` is that of the server's answer, if known; else it is looked for in the message.
    A conversation that outgrew the model is the agent's own work. (spec/agents 5.) The body of a
    server's answer is the server's: Codex shows that of a 400 as it is, without the status.
    """
    if outgrown(message):
        return "agent"
    if any("error" in each or "detail" in each for each in _parsed(message)):
        return "infrastructure"
    number = _STATUS.search(message)
    status = status or (int(number[1]) if number else None)
    if status and status >= 400:
        return "infrastructure"
    return "infrastructure" if _SURROUNDINGS.search(message) else "agent"


def outgrown(message: str) -> bool:
    """Does an error say that the conversation became longer than the model can read?"""
    return bool(_OVERFLOW.search(message))


def stopped(stderr: str, exit_code: int | None, missing: str) -> tuple[Failure, str]:
    """Failure and error of a program that ended without saying how it went.

    `missing` names what it should have said. One that was killed (`exit_code` None) is judged by
    who killed it. One that refused its command line never began: no failure of the agent.
    """
    if exit_code is None:
        return "", ""
    if exit_code == 0:
        return "agent", f"the output has no {missing}"
    failure: Failure = "infrastructure" if _REFUSED.search(stderr) else blame(stderr)
    return failure, reason(f"exit status {exit_code}", stderr)


def reason(message: str, details: str) -> str:
    """An error with the end of what was printed about it, in one text of bounded length."""
    text = str(safe(details)).strip()
    if len(text) > _LONGEST_REASON:
        text = f"…{text[-_LONGEST_REASON:]}"
    return f"{message}: {text}" if text else message


def refused(events: Iterable[Event]) -> tuple[Failure, str]:
    """The failure of an attempt in which the agent was denied a tool; nothing if it was not.

    A tool that worked later was not denied to it: only that one call was, such as a dangerous
    command. That is the agent's own doing, and no failure.
    """
    names: dict[str, None] = {}
    for event in events:
        if event.kind == "denied":
            names[event.name] = None
        elif event.kind == "call" and not event.failed:
            names.pop(event.name, None)
    return ("permission", f"permission denied: {', '.join(names)}") if names else ("", "")


def dialect(records: Iterable[Mapping[str, Any]]) -> str:
    """The agent whose program writes such records, "" if none of ours does."""
    for record in records:
        kind = word(record.get("type"))
        if kind.startswith(("thread.", "turn.", "item.")):
            return "codex"
        if "sessionID" in record and kind:
            return "opencode"
        if "session_id" in record and kind in ("system", "assistant", "user", "result"):
            return "claude-code"
    return ""
