"""A skill with a suite for the agent `fake`, and runs of it as users call them."""

import json
import os
import subprocess
import sys

import build

EVALS = "skills/demo/evals/evals.json"
PASSING = ({"say": "alpha and beta"}, {"write": ["out.txt", "Total: 42\n"]})
NO_JUDGE = {"OPENROUTER_API_KEY": "", "OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}


def make(root, cases=("one",), steps=PASSING, prompt="Write out.txt"):
    """The skill `demo` with cases of those ids, and the script of what the agent does."""
    folder = root / "skills" / "demo"
    build.write(folder / "SKILL.md", "---\nname: demo\ndescription: D. Use when.\n---\nGuide.\n")
    evals = [
        {
            "id": each,
            "prompt": prompt,
            "expected_output": "a file",
            "assertions": ["The file `out.txt` exists", 'The output contains "alpha"'],
        }
        for each in cases
    ]
    document = {"skill_name": "demo", "evals": evals}
    build.write(folder / "evals" / "evals.json", json.dumps(document))
    script(root, steps)


def script(root, steps):
    """What the agent does from now on."""
    build.write(root / "script.json", json.dumps(list(steps)))


def line(*arguments, agent=("--agent", "fake", "--fake", "scripted:script.json")):
    """A command line that runs the suite."""
    return [sys.executable, "-m", "skilleval", "run", EVALS, *agent, "--quiet", *arguments]


def environ(**more):
    """The environment of a run that has no judge."""
    return {**os.environ, "PYTHONPATH": str(build.ROOT), **NO_JUDGE, **more}


def run(root, *arguments, agent=("--agent", "fake", "--fake", "scripted:script.json"), **options):
    """Runs the suite; `options` are of the process."""
    return subprocess.run(
        line(*arguments, agent=agent),
        cwd=root,
        env=environ(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        **options,
    )


def resume(root, *arguments):
    """Goes on with what there is, naming nothing of what it is."""
    return run(root, "--resume", *arguments, agent=())


def report(root, *arguments):
    """What `skilleval report` prints of all runs."""
    return build.skilleval("report", "eval-workspace", *arguments, cwd=root).stdout


def folder(root, number=1):
    """The folder of a run."""
    return root / "eval-workspace" / "demo-workspace" / f"iteration-{number}"


def read(path):
    """A JSON file."""
    return json.loads(path.read_text())


def trials(root, number=1):
    """What is in each trial.json of a run, by its folder relative to the run's."""
    place = folder(root, number)
    found = {path.parent.relative_to(place).as_posix(): path for path in place.rglob("trial.json")}
    return {name: read(found[name]) for name in sorted(found)}
