"""What the benchmarks work on: generated fixtures, and plain scripts to compare ours with.

Owns the making of those files, for `bench`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

# what a plain script for the same fixtures would be: the cost that we compare with
BARE_LOOP = """\
import json
import sys
from pathlib import Path

passed = total = 0
for path in sorted(Path(sys.argv[1]).glob("skills/*/evals/tasks.json")):
    for task in json.loads(path.read_text(encoding="utf-8"))["tasks"]:
        answer = (path.parent / "examples" / f"{task['id']}.md").read_text(encoding="utf-8")
        checks = [text in answer for text in task["must_include"]]
        checks += [text not in answer for text in task["must_not_include"]]
        passed += sum(checks)
        total += len(checks)
print(f"{passed}/{total} checks")
sys.exit(passed != total)
"""
# what a trial cannot do without: a copy of the prepared workspace, the agent, a hash of the tree
BARE_TRIALS = """\
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

fixtures, count = sys.argv[1], int(sys.argv[2])
base = tempfile.mkdtemp()
prepared = os.path.join(base, "prepared")
shutil.copytree(fixtures, prepared)
identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "x"]):
    subprocess.run(["git", *command], cwd=prepared, check=True)
for _ in range(count):
    workspace = os.path.join(base, "workspace")
    shutil.copytree(prepared, workspace)
    subprocess.run(["true"], cwd=workspace, capture_output=True)
    found = hashlib.sha256()
    for folder, _, names in sorted(os.walk(workspace)):
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:
                found.update(file.read())
    shutil.rmtree(workspace)
shutil.rmtree(base)
"""


class Size(NamedTuple):
    """How many fixtures to make: skills, tasks for each, checks for each task."""

    skills: int
    tasks: int
    checks: int

    @property
    def total(self) -> int:
        return self.skills * self.tasks * self.checks


def write_skills(root: str, size: Size) -> None:
    """Makes `root`/skills with that many valid skills, every worked example of which passes.

    Of the checks of a task one in four forbids a text; the others demand one.
    """
    for number in range(size.skills):
        name = f"skill-{number:04}"
        folder = os.path.join(root, "skills", name)
        tasks = [_task(number, position, size.checks) for position in range(size.tasks)]
        calls = [call for task in tasks for call in task["must_include"]]
        write_file(os.path.join(folder, "SKILL.md"), _SKILL.format(name=name, number=number))
        write_file(os.path.join(folder, "references", "calls.md"), _listed("Calls", calls))
        write_file(os.path.join(folder, "evals", "tasks.json"), _as_fixture(name, tasks))
        for task in tasks:
            example = os.path.join(folder, "evals", "examples", f"{task['id']}.md")
            write_file(example, _listed(_PROSE, task["must_include"]))


_SKILL = """---
name: {name}
description: Prepares payloads for the queue {number}. Use when a payload has to be queued.
---
# Queue {number}

Build the payload, hand it to the right call, and wait for its receipt.
The calls are listed in [the reference](references/calls.md).
"""
_PROSE = "I looked at the queue first, because its state decides which of the calls is safe.\n" * 8


def _task(skill: int, position: int, checks: int) -> dict[str, Any]:
    forbidden = checks // 4
    name = f"{skill}_{position}"
    return {
        "id": f"queue-payload-{position:03}",
        "prompt": f"Queue the payload number {position} and tell me how you did it.",
        "must_include": [f"enqueue_{name}_{i}(payload)" for i in range(checks - forbidden)],
        "must_not_include": [f"discard_{name}_{i}(payload)" for i in range(forbidden)],
    }


def _listed(text: str, calls: Sequence[str]) -> str:
    return f"{text}\n\n" + "".join(f"- `{call}`\n" for call in calls)


def _as_fixture(name: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    import json

    return json.dumps({"skill": name, "tasks": tasks}, indent=2) + "\n"


def write_file(path: str, text: str) -> None:
    """Writes a text file, making its folders."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def write_suite(root: str, cases: int) -> str:
    """Makes a skill with a suite of that many cases, five fixture files each. Returns its path."""
    import json

    folder = os.path.join(root, "skills", "demo")
    files = [f"files/input-{number}.txt" for number in range(5)]
    for name in files:
        write_file(os.path.join(folder, "evals", *name.split("/")), _PROSE * 4)
    write_file(os.path.join(folder, "SKILL.md"), _SKILL.format(name="demo", number=0))
    case = {"prompt": "Do nothing.", "expected_output": "Nothing.", "files": files}
    checks = ["The file `out.txt` exists", "A new git branch was created"]
    evals = [{"id": f"case-{i:03}", **case, "assertions": checks} for i in range(cases)]
    path = os.path.join(folder, "evals", "evals.json")
    write_file(path, json.dumps({"skill_name": "demo", "evals": evals}))
    return path


# asked as a judge, it thinks for a second
SLOW_KIRO = """\
#!/bin/sh
case "$*" in
    *--agent*) echo 'An answer that is long enough to be judged.' ;;
    *) sleep 1; echo '[{"number": 1, "name": "done", "reason": "it is", "pass": true}]' ;;
esac
"""


def write_scenarios(root: str, count: int) -> str:
    """Makes a skill with that many scenarios, and a slow `kiro-cli` in `root`. Returns its path."""
    import json

    folder = os.path.join(root, "skills", "demo")
    criteria = {"checklist": [{"name": "done", "description": "It is done", "max_score": 100}]}
    write_file(os.path.join(folder, "SKILL.md"), _SKILL.format(name="demo", number=0))
    for number in range(count):
        scenario = os.path.join(folder, "evals", f"scenario-{number}")
        write_file(os.path.join(scenario, "task.md"), "Do it.")
        write_file(os.path.join(scenario, "criteria.json"), json.dumps(criteria))
        write_file(os.path.join(scenario, "scenario.json"), '{"sandbox": false}')
    program = os.path.join(root, "kiro-cli")
    write_file(program, SLOW_KIRO)
    os.chmod(program, 0o755)
    return folder
