"""The strict rules over a SKILL.md, beyond its contract (spec/agentskills section 2.1).

All are warnings. The size limits are those that the standard recommends; how many tokens a text
has is estimated at four characters each.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from skilleval.lint.fixture import Finding
from skilleval.lint.skill_text import Placed, SkillText, line_of
from skilleval.reading import markdown

LONGEST_BODY_LINES = 500
LARGEST_BODY_TOKENS = 5000
CHARACTERS_PER_TOKEN = 4
_VAGUE = frozenset(
    (
        *("helper", "helpers", "util", "utils", "utility", "utilities", "tool", "tools", "common"),
        *("misc", "stuff", "skill", "skills", "my", "new", "test", "temp", "example", "manager"),
        *("general", "data", "files", "file", "documents", "things", "agent", "assistant", "the"),
    )
)
_WHEN = (
    r"(?i)\b(?:when|whenever|if|before|after|while|during|triggers?|use (?:this|it|for|to|in|on))\b"
)
_QUOTED = r"\"[^\"]*\"|“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)"
_FIRST = (
    r"\bI(?:['’](?:m|ll|ve|d)| (?:am|can|will|have|do|help|use|make|write|create|generate))\b"
    r"|\b(?:[Ww]e|[Mm]y|[Oo]ur)\b"
)
# "use when you need …" is how the standard itself words the second half of a description
_SECOND = r"(?i)(?<!when )(?<!if )\b(?:you|your)\b"
_LINK = r"!?\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?[^)\n]*\)"


def findings(skill: SkillText) -> Iterator[Placed]:
    """S20 to S28, each at its line."""
    lines = skill.text.split("\n")
    body = "\n".join(lines[skill.body_line - 1 :])
    for finding in _size(body):
        yield Placed(skill.body_line, finding)
    yield from _links(skill, lines)
    front = skill.front or {}
    for key, rule in (("description", _wording), ("name", _vague), ("allowed-tools", _commas)):
        value = front.get(key)
        if isinstance(value, str):
            for finding in rule(value):
                yield Placed(line_of(key, skill), finding)


def _size(body: str) -> Iterator[Finding]:
    if not body.strip():
        yield Finding("S28", "warning", "has no body: write what the agent has to do")
    lines = body.rstrip("\n").count("\n") + 1
    if lines > LONGEST_BODY_LINES:
        message = (
            f"body has {lines} lines; keep it under {LONGEST_BODY_LINES}: move parts to references/"
        )
        yield Finding("S20", "warning", message)
    tokens = len(body) // CHARACTERS_PER_TOKEN
    if tokens > LARGEST_BODY_TOKENS:
        message = (
            f"body has about {tokens} tokens; keep it under {LARGEST_BODY_TOKENS}:"
            " move parts to references/"
        )
        yield Finding("S21", "warning", message)


def _links(skill: SkillText, lines: list[str]) -> Iterator[Placed]:
    files = frozenset(skill.files)
    if not files:
        return  # unknown is not "none": a skill has at least its SKILL.md
    folders = {folder for path in files for folder in _folders(path)}
    for number, line in _prose(lines, skill.body_line):
        for target in re.findall(_LINK, line):
            if message := _broken(target, files, folders):
                yield Placed(number, Finding("S22", "warning", message))


def _prose(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    """The numbered lines of the body outside code: blocks left out, inline code blanked."""
    for line in markdown.lines("\n".join(lines[first - 1 :])):
        if line.kind not in ("fence", "code"):
            yield first - 1 + line.number, re.sub(r"`[^`]*`", "``", line.text)


def _folders(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _broken(target: str, files: frozenset[str], folders: set[str]) -> str:
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|#|//|\{|<|\$", target):
        return ""  # an address, an anchor, or a placeholder in a template
    from urllib.parse import unquote

    path = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
    if path.startswith("/"):
        return f"link {target!r} is absolute; write it relative to the skill folder"
    path = posixpath.normpath(path)
    if path == ".." or path.startswith("../"):
        return f"link {target!r} leaves the skill folder, and is not there once it is installed"
    if path == "." or path in files or path in folders:
        return ""
    return f"link {target!r} leads to no file of the skill"


def _wording(description: str) -> Iterator[Finding]:
    if "<" in description or ">" in description:
        message = "description has angle brackets, which some clients refuse; write it without"
        yield Finding("S27", "warning", message)
    if not re.search(r"[A-Za-z]{3}", description):
        return  # the words below are English
    if not re.search(_WHEN, description):
        message = 'description does not say when to use the skill; add "Use when …"'
        yield Finding("S23", "warning", message)
    spoken = re.sub(_QUOTED, "", description)
    if found := re.search(_FIRST, spoken) or re.search(_SECOND, spoken):
        message = (
            f"description says {found[0]!r}; write it in the third person, as a catalogue does"
        )
        yield Finding("S24", "warning", message)


def _vague(name: str) -> Iterator[Finding]:
    if all(part in _VAGUE for part in name.strip().lower().split("-")):
        yield Finding(
            "S25", "warning", f"name {name!r} is vague; say what the skill does, and to what"
        )


def _commas(tools: str) -> Iterator[Finding]:
    # a comma inside the parentheses belongs to the pattern of a tool
    if "," in re.sub(r"\([^)]*\)", "", tools):
        yield Finding(
            "S26", "warning", "allowed-tools has commas; separate the tools by spaces only"
        )
