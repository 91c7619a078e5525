"""Makes small skill repositories for tests. Owns their layout; asserts nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"

TASK = {"id": "t1", "prompt": "How?", "must_include": ["apiCall("], "must_not_include": ["bad ="]}
GOOD = "Use apiCall( for it."


def skill(root, name="demo", tasks=(TASK,), examples=None, text=None):
    """A skill folder with fixtures; `tasks` may be raw text, `examples` maps ids to answers."""
    folder = Path(root) / "skills" / name
    (folder / "evals" / "examples").mkdir(parents=True, exist_ok=True)
    manifest = (
        f"---\nname: {name}\ndescription: Does it. Use when asked.\n---\n\nCall apiCall(x).\n"
    )
    write(folder / "SKILL.md", manifest if text is None else text)
    raw = tasks if isinstance(tasks, (str, bytes)) else json.dumps({"tasks": list(tasks)})
    write(folder / "evals" / "tasks.json", raw)
    for identifier, answer in ({"t1": GOOD} if examples is None else examples).items():
        write(folder / "evals" / "examples" / f"{identifier}.md", answer)
    return folder


def write(path, content):
    """A file with text or bytes, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def script(name, *arguments, cwd, env=None, **options):
    """Runs one of our scripts as a user would, in a process of its own."""
    return subprocess.run(
        [sys.executable, str(SCRIPTS / name), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        **options,
    )


def skilleval(*arguments, cwd, env=None):
    """Runs `python -m skilleval` from a checkout, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "skilleval", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


CHECKLIST = {
    "context": "What the scenario tests",
    "type": "weighted_checklist",
    "checklist": [
        {"name": "says-hello", "description": "The answer says hello", "max_score": 60},
        {"name": "is-short", "description": "The answer has one line", "max_score": 40},
    ],
}


def scenario(
    root, name="scenario-a", *, skill="demo", criteria=CHECKLIST, files=None, text="# S\n"
):
    """A scenario folder in a skill that has a SKILL.md; `files` adds or overrides, None removes.

    Names in `files` are relative to the scenario; `criteria` may be raw text.
    """
    home = Path(root) / "skills" / skill
    if not (home / "SKILL.md").exists():
        write(home / "SKILL.md", text)
    folder = home / "evals" / name
    raw = criteria if isinstance(criteria, (str, bytes)) else json.dumps(criteria)
    content = {"task.md": "Say hello.\n", "criteria.json": raw, **(files or {})}
    folder.mkdir(parents=True, exist_ok=True)
    for path, value in content.items():
        if value is not None:
            write(folder / path, value)
    return folder
