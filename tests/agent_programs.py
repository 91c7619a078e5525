"""The real agent programs for tests: a skill, a model's script for it, and an environment.

One script drives all three: the model that sees the skill in its listing uses it, and one that does
not writes another file. Owns no rule: what has to hold is said in tests/real.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

PROGRAMS = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}

NAME = "zebra-greeting"
DESCRIPTION = "Use when somebody wants an equine greeting. Writes a file with it."
MANIFEST = f"""---
name: {NAME}
description: {DESCRIPTION}
---

# Greetings

Write greeting.txt with the word zebra.
"""
PROMPT = "Say hello to Grevy."
ASIDE = "How many stripes does Grevy have?"

WITH_SKILL = {
    "contains": DESCRIPTION,
    "turns": [
        {"calls": [{"skill": NAME}]},
        {
            "calls": [
                {"write": ["greeting.txt", "zebra\n"]},
                {"shell": "echo zebra | tee said.txt"},
            ]
        },
        {"text": "Greeted with the skill."},
    ],
}
SCRIPT = {
    "turns": [{"calls": [{"write": ["plain.txt", "hello\n"]}]}, {"text": "Greeted."}],
    "rules": [{"contains": ASIDE, "text": "Eighty."}, WITH_SKILL],
    "usage": {"input": 100, "output": 20, "cached": 30, "written": 7},
}


def require(*agents: str) -> None:
    """Skip, unless their programs are there, and what OpenCode needs to find a skill."""
    wanted = [PROGRAMS[agent] for agent in agents] + ["rg"] * ("opencode" in agents)
    missing = [program for program in wanted if not shutil.which(program)]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}; `.ci/agents` installs them")


def make_skill(folder: Path) -> Path:
    """The skill as a folder in this one."""
    skill = folder / NAME
    skill.mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(MANIFEST)
    return skill


def environment(home: Path) -> dict[str, str]:
    """What our own process may have: no key of whoever runs the tests, and no settings of theirs.

    Its HOME has the skill for every program, so that a baseline in this home would see it.
    """
    for folder in (".claude", ".codex", ".agents", ".config/opencode"):
        make_skill(home / folder / "skills")
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CODEX_API_KEY")
    given = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb"}
    # Claude Code would try ten times, for three minutes
    return given | dict.fromkeys(keys, "sk-scripted") | {"CLAUDE_CODE_MAX_RETRIES": "1"}


def processes(token: str) -> list[str]:
    """The command lines of all processes of this machine that have the token in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def is_alive(pid: int) -> bool:
    """Does that process still do anything? One that only waits to be noticed has no command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False
