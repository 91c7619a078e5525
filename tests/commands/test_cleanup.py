"""`skilleval cleanup`: asks, removes what manifests list, and nothing else."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import build
import pytest

from skilleval.trial import workspace

FAKE = Path(__file__).parent.parent / "bin" / "gh-cleanup"
GITHUB = "https://github.com/o/r"


@pytest.fixture
def place(tmp_path):
    """Two runs, of which one left a pull request and a folder."""
    (tmp_path / "bin").mkdir()
    shutil.copy(FAKE, tmp_path / "bin" / "gh")
    folder = tmp_path / "tmp" / "skilleval-abc"
    build.write(folder / workspace.MARKER, "1\n")
    runs = tmp_path / "eval-workspace" / "x-workspace"
    for number, fields in (
        (1, {"source_repo": GITHUB, "pr_numbers": [7], "workspaces": [str(folder)]}),
        (2, {}),
    ):
        build.write(runs / f"iteration-{number}" / "cleanup.json", json.dumps(fields))
        build.write(runs / f"iteration-{number}" / "evals_meta.json", "{}")
    return tmp_path


def environment(place):
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "FAKE_GH": str(place / "calls"), "TMPDIR": str(place / "tmp")}


def cleanup(place, *arguments, **more):
    return build.skilleval("cleanup", *arguments, cwd=place, env={**environment(place), **more})


def is_there(place):
    return (place / "tmp" / "skilleval-abc").exists()


def test_nobody_to_ask_is_a_refusal(place):
    done = cleanup(place)
    assert (done.returncode, is_there(place)) == (2, True)
    assert f"  close pull request 7 of {GITHUB}\n" in done.stdout
    assert "add --yes to remove all of this" in done.stderr
    assert not (place / "calls").exists()


def test_yes_removes_what_is_listed(place):
    done = cleanup(place, "--yes")
    assert (done.returncode, done.stderr, is_there(place)) == (0, "", False)
    assert done.stdout.endswith("removed 2 of 2\n")
    assert (place / "calls").read_text() == "pr close 7 --repo o/r\n"
    assert "nothing to clean up in 2 runs" in cleanup(place, "--yes").stdout


@pytest.mark.parametrize(("answer", "left"), [("n\n", True), ("\n", True), ("y\n", False)])
def test_on_a_terminal_the_answer_decides(place, answer, left):
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer.encode())
        done = subprocess.run(
            [sys.executable, "-m", "skilleval", "cleanup"],
            cwd=place,
            stdin=theirs,
            env={**os.environ, "PYTHONPATH": str(build.ROOT), **environment(place)},
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, is_there(place)) == (0, left)
    assert done.stderr == "remove all of this? [y/N]\n"


def test_what_fails_is_said_and_stays_listed(place):
    done = cleanup(place, "--yes", FAKE_GH_FAILS="pr close*")
    assert (done.returncode, is_there(place)) == (1, False)
    assert "error: pull request 7: GraphQL" in done.stderr
    manifest = place / "eval-workspace" / "x-workspace" / "iteration-1" / "cleanup.json"
    assert json.loads(manifest.read_text())["pr_numbers"] == [7]


def test_one_iteration_is_cleaned_alone(place):
    other = place / "eval-workspace" / "x-workspace" / "iteration-2"
    assert "nothing to clean up" in cleanup(place, "--iteration", other, "--yes").stdout
    assert is_there(place)


def test_a_foreign_folder_is_left_alone_and_said(place):
    (place / "tmp" / "skilleval-abc" / workspace.MARKER).unlink()
    done = cleanup(place, "--yes")
    assert is_there(place)
    assert f"has no {workspace.MARKER}, so it is not ours; left alone" in done.stderr


@pytest.mark.parametrize("arguments", [["--iteration", "gone"], ["--workspace", "gone"]])
def test_no_such_folder_is_a_usage_error(place, arguments):
    assert cleanup(place, *arguments).returncode == 2
