"""The contract of a SKILL.md (agentskills.io; spec/agentskills section 2.1). Reads no file.

There are two readings of that contract: the prose (ASCII, as several clients enforce it) and the
wider reference validator. What violates both is an error, what violates only the narrow reading a
warning. These rules always run; `skill_style` has the strict ones (S20 …).

| rule | error | warning |
|---|---|---|
| S01, S02, S03 | no front matter, not closed, no mapping | |
| S04, S05 | byte order mark, not UTF-8 | CRLF line ends |
| S06 | name missing, blank, a list or mapping | a number or date that should be quoted |
| S07 | uppercase, edge hyphen, "--", other characters | letters beyond ASCII, edge whitespace |
| S08 | name over 64 characters | |
| S09 | name differs from the folder | equal only after Unicode normalisation |
| S10, S11 | description missing, blank, no text; over 1024 characters | to be quoted |
| S12 | license is a list or mapping | blank, to be quoted |
| S13 | compatibility is a list or mapping, over 500 characters | blank, to be quoted |
| S14 | metadata is no mapping | a value that is no text |
| S15 | allowed-tools is a list (a common mistake) or mapping | blank, to be quoted |
| S16 | an unknown key that is nearly a known one | any other unknown key |

S16 is deliberately milder than the reference validator, which refuses every other key: real skills
carry foreign ones (`tags`, `model`, `version`), and a misspelt `descripton` is what does harm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from skilleval.formats.fields import kind
from skilleval.lint.fixture import Finding
from skilleval.lint.skill_text import Placed, SkillText, line_of
from skilleval.model import Level, Problem

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
_NAME_RULE = "use a-z, 0-9 and single hyphens between them"


def problems(skill: SkillText, *, strict: bool = False) -> Iterator[Problem]:
    """Everything that is wrong with a SKILL.md; `strict` adds the rules of style. Never raises."""
    for line, finding in _placed(skill, strict):
        yield Problem(skill.path, line, "", *finding)


def _placed(skill: SkillText, strict: bool) -> Iterator[Placed]:
    yield from _bytes(skill.text)
    if skill.front is None:
        yield _unreadable(skill)
        return
    for key, rule in _RULES.items():
        for finding in rule(skill):
            yield Placed(line_of(key, skill), finding)
    for key in skill.front:
        if key not in _RULES:
            yield Placed(line_of(str(key), skill), _unknown_key(key))
    if strict:
        from skilleval.lint import skill_style

        yield from skill_style.findings(skill)


def _bytes(text: str) -> Iterator[Placed]:
    if text.startswith("\ufeff"):
        message = "starts with a byte order mark, before the `---`: save it as UTF-8 without one"
        yield Placed(1, Finding("S04", "error", message))
    if not text.isascii() and (found := re.search(r"[\udc80-\udcff]", text)):
        line = text.count("\n", 0, found.start()) + 1
        yield Placed(line, Finding("S04", "error", "is not UTF-8; save the file as UTF-8"))
    if "\r\n" in text:
        message = "has CRLF line ends, which some clients take for no front matter: save it with LF"
        yield Placed(
            text.count("\n", 0, text.index("\r\n")) + 1, Finding("S05", "warning", message)
        )


def _unreadable(skill: SkillText) -> Placed:
    lines = skill.text.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip("\r") != "---":
        late = " (there is one further down)" if "---" in (line.rstrip() for line in lines) else ""
        message = f"has no front matter: the first line must be `---`{late}"
        return Placed(1, Finding("S01", "error", message))
    if not any(line.rstrip("\r") == "---" for line in lines[1:]):
        return Placed(1, Finding("S02", "error", "front matter is not closed: end it with `---`"))
    message = skill.problem or "front matter is not a mapping of keys to values"
    return Placed(skill.problem_line or 1, Finding("S03", "error", message))


def _text(skill: SkillText, key: str, rule: str, found: list[Finding]) -> str:
    """The value as text, "" if there is nothing to go on with; adds what is wrong to `found`."""
    value = (skill.front or {}).get(key)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, (list, tuple, Mapping)):
        found.append(Finding(rule, "error", f"{key} must be text, not {kind(value)}"))
        return ""
    written = str(value).lower() if isinstance(value, bool) else str(value)
    found.append(Finding(rule, "warning", f"{key} is {kind(value)} in YAML; quote it: {written!r}"))
    return written


def _required(skill: SkillText, key: str, rule: str, found: list[Finding]) -> str:
    text = _text(skill, key, rule, found)
    if not text.strip() and not found:
        state = "is blank" if key in (skill.front or {}) else "is missing"
        found.append(Finding(rule, "error", f"{key} {state}; every skill needs one"))
    return text


def _optional(skill: SkillText, key: str, rule: str, found: list[Finding]) -> str:
    text = _text(skill, key, rule, found)
    if key in (skill.front or {}) and not text.strip() and not found:
        found.append(Finding(rule, "warning", f"{key} is blank; give it a value or remove it"))
    return text


def _name(skill: SkillText) -> list[Finding]:
    found: list[Finding] = []
    written = _required(skill, "name", "S06", found)
    if not written.strip():
        return found
    name = _normal(written)
    found += _name_spelling(written, name)
    if len(name) > LONGEST_NAME:
        message = f"name has {len(name)} characters; {LONGEST_NAME} are allowed"
        found.append(Finding("S08", "error", message))
    if skill.directory and written != skill.directory:
        same = _normal(skill.directory) == name
        level: Level = "warning" if same else "error"
        message = f"name {written!r} differs from the folder {skill.directory!r}; rename one"
        found.append(Finding("S09", level, message))
    return found


def _normal(name: str) -> str:
    name = name.strip()
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFKC", name)


def _name_spelling(written: str, name: str) -> Iterator[Finding]:
    wrong = sorted({c for c in name if not (c.isalnum() or c == "-")})
    if name != name.lower():
        spelled = _spelled(name)
        rule = f"write {spelled!r}" if spelled else _NAME_RULE
        yield Finding("S07", "error", f"name {name!r} has capitals; {rule}")
    if wrong:
        listed = ", ".join(map(repr, wrong))
        yield Finding("S07", "error", f"name {name!r} has {listed}; {_NAME_RULE}")
    if name.startswith("-") or name.endswith("-") or "--" in name:
        yield Finding("S07", "error", f"name {name!r} has a hyphen too many; {_NAME_RULE}")
    if not name.isascii():
        message = f"name {name!r} has letters beyond ASCII, which some clients refuse; {_NAME_RULE}"
        yield Finding("S07", "warning", message)
    if written != written.strip():
        yield Finding("S07", "warning", f"name {written!r} has whitespace at an edge; remove it")


def _spelled(name: str) -> str:
    """How the name may be written; "" if that is nothing."""
    from unicodedata import normalize

    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall("[a-z0-9]+", plain))[:LONGEST_NAME].strip("-")


def _description(skill: SkillText) -> list[Finding]:
    found: list[Finding] = []
    text = _required(skill, "description", "S10", found)
    if len(text) > LONGEST_DESCRIPTION:
        message = f"description has {len(text)} characters; {LONGEST_DESCRIPTION} are allowed"
        found.append(Finding("S11", "error", message))
    return found


def _license(skill: SkillText) -> list[Finding]:
    found: list[Finding] = []
    _optional(skill, "license", "S12", found)
    return found


def _compatibility(skill: SkillText) -> list[Finding]:
    found: list[Finding] = []
    text = _optional(skill, "compatibility", "S13", found)
    if len(text) > LONGEST_COMPATIBILITY:
        message = f"compatibility has {len(text)} characters; {LONGEST_COMPATIBILITY} are allowed"
        found.append(Finding("S13", "error", message))
    return found


def _metadata(skill: SkillText) -> list[Finding]:
    metadata = (skill.front or {}).get("metadata", {})
    if metadata is None:
        return [Finding("S14", "warning", "metadata is empty; give it a value or remove it")]
    if not isinstance(metadata, Mapping):
        return [Finding("S14", "error", f"metadata must be a mapping, not {kind(metadata)}")]
    return [
        Finding("S14", "warning", f"metadata {key} is {kind(value)}, not text; {_quoting(value)}")
        for key, value in metadata.items()
        if not isinstance(value, str)
    ]


def _quoting(value: object) -> str:
    if isinstance(value, (list, tuple, Mapping)) or value is None:
        return "clients may show it as code"
    # YAML reads 1.10 as 1.1: the author knows what was meant, we do not
    return "quote it"


def _allowed_tools(skill: SkillText) -> list[Finding]:
    tools = (skill.front or {}).get("allowed-tools")
    if isinstance(tools, (list, tuple)):
        message = "allowed-tools is a list; it must be one text with spaces"
        if tools and all(isinstance(tool, str) for tool in tools):
            message += f": {' '.join(tools)}"
        return [Finding("S15", "error", message)]
    found: list[Finding] = []
    _optional(skill, "allowed-tools", "S15", found)
    return found


def _unknown_key(key: object) -> Finding:
    if close := _misspelt(str(key)):
        return Finding("S16", "error", f"unknown key {key!r} (did you mean {close!r}?)")
    message = f"unknown key {key!r}, which strict clients refuse; put it under metadata"
    return Finding("S16", "warning", f"{message} (known: {', '.join(_RULES)})")


def _misspelt(key: str) -> str:
    """The known key that this one is a slip of: at most two letters longer or shorter."""
    from difflib import get_close_matches

    spelled = key.lower().replace("_", "-").replace(" ", "-")
    # `disallowed-tools` exists elsewhere, and means the opposite of its neighbour
    near = [known for known in _RULES if abs(len(known) - len(spelled)) <= 2]
    return next(iter(get_close_matches(spelled, near, 1, 0.8)), "")


# the six keys of the standard, in its order
_RULES: dict[str, Callable[[SkillText], list[Finding]]] = {
    "name": _name,
    "description": _description,
    "license": _license,
    "compatibility": _compatibility,
    "metadata": _metadata,
    "allowed-tools": _allowed_tools,
}
