"""What the tests of workspaces share: a fake agent program, cases for it, repositories.

The fake's answer may hold lines for its `read`: `@skills a b` (its listing), `@used a` (a skill that
it used), `@fail KIND how`, `@tokens IN OUT`, `@model M S` (the model that answered, the session).
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from skilleval.model import Arm, Case, Event, Usage
from skilleval.tools import Tools
from skilleval.trial.transcript import Transcript

BIN = Path(__file__).parent / "bin"
SKILL = "demo"


class Fake(NamedTuple):
    """The agent program `harness-agent`, as an agent module would describe it."""

    variables: Mapping[str, str] = {}
    NAME: str = "fake-agent"
    PROGRAM: str = "harness-agent"
    SKILLS: str = ".fake/skills"
    DROPPINGS: tuple[str, ...] = (".fake", ".fake-log")
    CREDENTIALS: tuple[str, ...] = ("FAKE_API_KEY",)
    HELP: tuple[str, ...] = ()

    def argv(self, ask):
        return [self.PROGRAM, "--", ask.prompt]

    def stdin(self, ask):
        return None

    def environ(self, ask):
        return {"ASKED_MODEL": ask.model, **self.variables}

    def read(self, stdout, stderr, exit_code):
        said, told = [], {}
        for line in stdout.splitlines():
            word, _, rest = line.partition(" ")
            if word == "@skills":
                told["skills"] = tuple(rest.split())
            elif word == "@used":
                told["events"] = (Event("skill", name=rest),)
            elif word == "@fail":
                told["failure"], _, told["error"] = rest.partition(" ")
            elif word == "@tokens":
                told["usage"] = Usage(*map(int, rest.split()), cost_usd=0.5, cost_source="cli")
            elif word == "@model":
                told["model"], told["session"] = rest.split()
            else:
                said.append(line)
        return Transcript(output="\n".join(said), **told)


def environ(tmp_path, **more):
    """An environment with the fakes on PATH, and a temporary folder of the test."""
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    home = tmp_path / "user"
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return {"PATH": path, "TMPDIR": str(temporary), "HOME": str(home), **more}


def tools(tmp_path, sleep=lambda seconds: None, **more):
    return Tools(sleep=sleep, environ=environ(tmp_path, **more))


def counting_git(tmp_path):
    """(PATH whose git notes its calls, the file with a line for each)."""
    folder = tmp_path / "counting"
    folder.mkdir()
    (folder / "git.path").write_text(shutil.which("git"))
    shutil.copy(BIN / "harness-git", folder / "git")
    (folder / "git.log").write_text("")
    return os.pathsep.join([str(folder), str(BIN), os.environ["PATH"]]), folder / "git.log"


def skill(tmp_path, name=SKILL, folder="skills", manifest=None):
    """A skill with a script, and with the answers that no agent may see."""
    root = tmp_path / folder / name
    for path, text in {
        "SKILL.md": manifest or f"---\nname: {name}\ndescription: Does it. Use it.\n---\n\nDo.\n",
        "scripts/check.py": "print(1)\n",
        "scripts/evals/kept.txt": "a folder of that name deeper down is the skill's own\n",
        "evals/evals.json": '{"answer": 42}\n',
        "__pycache__/x.pyc": "x",
        ".git/HEAD": "ref: refs/heads/main\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def arm(tmp_path, with_skill=True, **options):
    if not (tmp_path / "skills" / SKILL).exists():
        skill(tmp_path)
    given = {
        "skill": str(tmp_path / "skills" / SKILL),
        "skill_name": SKILL,
        "retries": 0,
        **options,
    }
    return Arm(f"fake-{with_skill}", "fake-agent", "model-1", with_skill, given)


def case(script, tmp_path=None, files=None, **annotations):
    """A case whose prompt is the script; `files` are written to a folder of evals."""
    if files:
        root = tmp_path / "evals"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        annotations["fixtures"] = str(root)
    return Case("c1", script, files=tuple(files or ()), annotations=annotations)


def git(folder, *arguments):
    """What the real git prints in a folder."""
    identity = {
        f"GIT_{who}_{what}": f"{who}@x"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env={**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def repository(folder, commits=1):
    """A repository with a README and as many commits, on main."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("hello\n")
    git(folder, "add", ".")
    for number in range(commits):
        git(folder, "commit", "-q", "--allow-empty", "-m", f"commit {number}")
    return folder
