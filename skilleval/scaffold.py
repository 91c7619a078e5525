"""The files of a new skill with its first suite. Owns the templates; overwrites nothing.

The suite has one positive case and one negative control (seed 002). The positive one does not force
the skill: that an agent never uses it is the failure that matters most. What is written passes
`validate --strict`, and every assertion in it is decided by a rule: a first run needs no key. It is
meant to be edited, and says where.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from skilleval import skill, writing, yamlread
from skilleval.errors import UsageError

_SKILL = """\
---
name: {quoted}
description: >-
  Turns notes into an action list, each entry with a person and a date. Use when the user asks for
  the tasks, action items or next steps in notes or minutes.
---

# {name}

This is a template: write here, and in the description, what an agent has to know. The
description decides whether the skill is used at all.

1. Read the notes in full.
2. Write `ACTIONS.md`, one line for each task: `- task (who, until when)`.
3. Leave out what nobody has to do. Write `unknown` for a person or a date that is not in the notes.
4. Say in one sentence that `ACTIONS.md` is written.
"""
_NOTES = """\
Minutes, 3 March

Ada will send the offer by Friday.
The new logo was liked by everybody.
Someone has to book a room for April.
"""


class Written(NamedTuple):
    """The files that were written, and those that were there and stay as they are."""

    new: tuple[str, ...]
    kept: tuple[str, ...]


def write(name: str, output: str) -> Written:
    """Makes `output/name` with SKILL.md, evals/evals.json and evals/files/.

    Raises `UsageError` for a name that no skill may have (agentskills.io), `OSError` if a file
    cannot be written.
    """
    _check(name)
    # a name such as 2048 or null would be none in YAML without quotes
    is_text = yamlread.load(name, skill.MANIFEST) == name
    text = _SKILL.format(name=name, quoted=name if is_text else json.dumps(name))
    contents = {
        skill.MANIFEST: text,
        os.path.join("evals", "evals.json"): json.dumps(_suite(name), indent=2) + "\n",
        os.path.join("evals", "files", "notes.txt"): _NOTES,
    }
    new, kept = [], []
    for relative, content in contents.items():
        path = os.path.join(output, name, relative)
        if os.path.lexists(path):
            kept.append(path)
        else:
            writing.write_text(path, content)
            new.append(path)
    return Written(tuple(new), tuple(kept))


def _check(name: str) -> None:
    """A name is what the validators say it is: that of a skill, and of a folder everywhere."""
    from skilleval.formats import evals
    from skilleval.lint import skill_md
    from skilleval.lint.skill_text import SkillText

    front = {"name": name, "description": "x"}
    found = skill_md.problems(SkillText(name, "---\n---\n", name, front, 1))
    wrong = [problem.message for problem in found if problem.rule in ("S06", "S07", "S08")]
    if reason := evals.unsafe(name):
        wrong.append(reason)
    if wrong:
        raise UsageError(f"{name!r} cannot be the name of a skill: {wrong[0]}")


def _suite(name: str) -> dict[str, object]:
    return {
        "skill_name": name,
        "evals": [
            {
                "id": "natural-trigger",
                "prompt": "Who has to do what after this meeting? The minutes are in notes.txt.",
                "expected_output": "The skill triggers by itself: an ACTIONS.md with two tasks, and"
                " the logo is none.",
                "files": ["files/notes.txt"],
                "assertions": [
                    "The file `ACTIONS.md` exists",
                    'The file `ACTIONS.md` contains "Ada" and "unknown"',
                    'The file `ACTIONS.md` does not contain "logo"',
                ],
            },
            {
                "id": "negative-control",
                "prompt": "How many lines does notes.txt have?",
                "expected_output": "A number. The skill does NOT trigger.",
                "files": ["files/notes.txt"],
                "should_trigger": False,
                "assertions": [
                    "The file `ACTIONS.md` does not exist",
                    "The file `notes.txt` is unchanged",
                ],
            },
        ],
    }
