"""The hooks of this repository as pre-commit runs them: offline, and pinned to a revision."""

import json
import os
import subprocess
import sys

import pytest
from checkout import ROOT

from skilleval import bench

pytest.importorskip("pre_commit", reason="pre-commit is not installed: pip install pre-commit")

EXAMPLE = "skills/skill-0001/evals/examples/queue-payload-000.md"
CONFIG = """repos:
- repo: {url}
  rev: v1
  hooks:
  - id: skilleval-validate
  - id: skilleval-weights
"""


@pytest.fixture
def environ(tmp_path):
    """No network, nobody's settings, and nothing left behind."""
    programs = os.path.dirname(sys.executable)
    return {
        "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "PRE_COMMIT_COLOR": "never",
        "PIP_NO_INDEX": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_{what}": "tester@example.org" for who, what in IDENTITY},
    }


IDENTITY = [(who, what) for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]


@pytest.fixture
def git(environ):
    """Runs git in a folder."""

    def run(folder, *arguments):
        subprocess.run(["git", *arguments], cwd=folder, env=environ, check=True, timeout=60)

    return run


@pytest.fixture
def hooks(checkout, git):
    """This checkout as a git repository with one tagged commit."""
    git(checkout, "init", "--quiet")
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "all")
    git(checkout, "tag", "v1")
    return checkout


@pytest.fixture
def repository(tmp_path, git):
    """A user's repository: two skills that are right, all files staged."""
    folder = tmp_path / "repository"
    bench.write_skills(str(folder), bench.Size(2, 1, 4))
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    return folder


@pytest.fixture
def pre_commit(environ, repository):
    """Runs pre-commit in the user's repository; returns its exit code and what it printed."""

    def run(*arguments):
        command = [sys.executable, "-m", "pre_commit", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=repository, env=environ, capture_output=True, text=True, timeout=120
        )
        return done.returncode, done.stdout + done.stderr

    return run


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_manifest_is_valid(pre_commit):
    assert pre_commit("validate-manifest", ROOT / ".pre-commit-hooks.yaml") == (0, "")


def test_own_configuration_is_valid(pre_commit):
    assert pre_commit("validate-config", ROOT / ".pre-commit-config.yaml") == (0, "")


def test_valid_skills_pass(pre_commit, hooks):
    code, output = pre_commit("try-repo", hooks, "skilleval-validate", "--all-files")
    assert code == 0, output
    assert "Passed" in output


def test_failing_example_fails_with_its_file_and_rule(pre_commit, hooks, repository):
    write(repository / EXAMPLE, "I called nothing.\n")
    code, output = pre_commit("try-repo", hooks, "skilleval-validate", "--all-files")
    assert code == 1
    [line] = [line for line in output.splitlines() if "F04" in line and "enqueue_1_0_0" in line]
    assert line.startswith("skills/skill-0001/evals/")
    assert "skill-0000" not in output


@pytest.mark.parametrize(
    ("name", "rule"),
    [("evals/evals.json", "E01"), ("evals/scenario-1/criteria.json", "C01")],
)
def test_fixtures_of_the_other_formats_are_checked_too(
    pre_commit, hooks, repository, git, name, rule
):
    write(repository / "skills" / "skill-0001" / name, "[1\n")
    git(repository, "commit", "--quiet", "--message", "all")
    git(repository, "add", "--all")
    code, output = pre_commit("try-repo", hooks, "skilleval-validate")
    assert code == 1
    assert f"skill-0001/{name}:2: {rule}: invalid JSON" in output


def test_files_that_are_no_skill_are_left_alone(pre_commit, hooks, repository, git):
    write(repository / "docs" / "references" / "page.md", "a page\n")
    write(repository / "src" / "tasks.json", "[1\n")
    write(repository / "src" / "evals.json", "[1\n")
    git(repository, "add", "--all")
    code, output = pre_commit("try-repo", hooks, "skilleval-validate", "--all-files")
    assert code == 0, output


@pytest.mark.parametrize(("weight", "expected"), [(60, 0), (50, 1)], ids=["100", "90"])
def test_weights_have_to_sum_to_100(pre_commit, hooks, repository, git, weight, expected):
    criteria = repository / "skills" / "x" / "evals" / "scenario-1" / "criteria.json"
    checklist = [{"name": "a", "max_score": 40}, {"name": "b", "max_score": weight}]
    write(criteria, json.dumps({"checklist": checklist}))
    git(repository, "add", "--all")
    code, output = pre_commit("try-repo", hooks, "skilleval-weights", "--all-files")
    assert code == expected, output
    assert ("sum=90 (expected 100)" in output) == bool(expected)


def test_pinned_revision_checks_the_skill_of_a_staged_file(pre_commit, hooks, repository, git):
    write(repository / ".pre-commit-config.yaml", CONFIG.format(url=hooks))
    git(repository, "add", "--all")
    code, output = pre_commit("run")
    assert code == 0, output
    git(repository, "commit", "--quiet", "--no-verify", "--message", "all")
    write(repository / EXAMPLE, "I called nothing.\n")
    git(repository, "add", "--all")
    code, output = pre_commit("run")
    assert code == 1
    assert "F04" in output
    assert "skill-0001" in output
