"""What a run left outside: only what its manifest and our marker prove to be the run's is removed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import build
import pytest

from skilleval.errors import SuiteError
from skilleval.runfolder import cleaning
from skilleval.tools import Tools
from skilleval.trial import workspace

FAKE = Path(__file__).parent.parent / "bin" / "gh-cleanup"


@pytest.fixture
def place(tmp_path):
    """A run folder, a folder for temporary files, and a PATH with the fake gh."""
    (tmp_path / "bin").mkdir()
    shutil.copy(FAKE, tmp_path / "bin" / "gh")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "w" / "x-workspace" / "iteration-1").mkdir(parents=True)
    return tmp_path


def tools(place, **more):
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    named = {"PATH": path, "FAKE_GH": str(place / "calls"), "TMPDIR": str(place / "tmp"), **more}
    return Tools(environ={**os.environ, **named})


def manifest(place, text=None, **fields):
    path = place / "w" / "x-workspace" / "iteration-1" / "cleanup.json"
    build.write(path, json.dumps(fields) if text is None else text)
    return path


def leftovers(place):
    return cleaning.leftovers(str(place / "w" / "x-workspace" / "iteration-1"), tools(place))


def ours(folder):
    """A trial's folder as `workspace` leaves it."""
    build.write(folder / workspace.MARKER, "1\n")
    build.write(folder / "workspace" / "file", "x")
    return str(folder)


def calls(place):
    path = place / "calls"
    return path.read_text().splitlines() if path.exists() else []


def git(*arguments):
    done = subprocess.run(["git", *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout.split()


def remote(place, *branches):
    """A bare repository with those branches beside main."""
    source, bare = place / "source", place / "bare.git"
    git("init", "-q", "-b", "main", source)
    identity = ("-c", "user.email=a@example.org", "-c", "user.name=a")
    git("-C", source, *identity, "commit", "-q", "--allow-empty", "-m", "x")
    for branch in branches:
        git("-C", source, "branch", branch)
    git("clone", "-q", "--bare", source, bare)
    return str(bare)


def heads(bare):
    return git("-C", bare, "for-each-ref", "--format=%(refname:short)", "refs/heads")


def test_branches_of_the_manifest_are_deleted_and_no_others(place):
    bare = remote(place, "feat/x", "feat/mine")
    path = manifest(place, source_repo=bare, remote_branches=["feat/x"])
    assert cleaning.remove(leftovers(place), tools(place)) == ()
    assert heads(bare) == ["feat/mine", "main"]
    assert json.loads(path.read_text())["remote_branches"] == []


def test_a_name_that_looks_like_an_option_is_none(place):
    bare = remote(place)
    manifest(place, source_repo=bare, remote_branches=["--all"])
    cleaning.remove(leftovers(place), tools(place))
    assert heads(bare) == ["main"]


def test_pull_requests_are_closed_in_the_repository_of_the_run(place):
    manifest(place, source_repo="https://github.com/o/r.git", pr_numbers=[7, 9])
    assert cleaning.remove(leftovers(place), tools(place)) == ()
    assert calls(place) == ["pr close 7 --repo o/r", "pr close 9 --repo o/r"]


def test_what_could_not_be_removed_stays_in_the_manifest(place):
    path = manifest(place, source_repo="git@github.com:o/r.git", pr_numbers=[7, 9], note="kept")
    found = leftovers(place)
    problems = cleaning.remove(found, tools(place, FAKE_GH_FAILS="pr close 7*"))
    assert problems == ("pull request 7: GraphQL: Could not resolve to a PullRequest",)
    left = json.loads(path.read_text())
    assert (left["pr_numbers"], left["note"]) == ([7], "kept")


@pytest.mark.parametrize("source", ["/srv/repo", "https://gitlab.com/o/r", "evil.com:github.com/o"])
def test_pull_requests_of_no_github_repository_are_left_alone(place, source):
    manifest(place, source_repo=source, pr_numbers=[7])
    found = leftovers(place)
    assert (found.texts, len(found.refused)) == ((), 1)
    cleaning.remove(found, tools(place))
    assert calls(place) == []


def test_a_folder_of_a_trial_is_removed(place):
    folder = ours(place / "tmp" / "skilleval-abc")
    manifest(place, workspaces=[folder])
    assert cleaning.remove(leftovers(place), tools(place)) == ()
    assert not os.path.exists(folder)


def foreign(place):
    """Folders that a manifest may name and that are not ours to remove."""
    outside = ours(place / "outside" / "skilleval-abc")
    link = place / "tmp" / "skilleval-link"
    link.symlink_to(outside)
    unmarked = place / "tmp" / "skilleval-unmarked"
    unmarked.mkdir()
    marked_by_link = place / "tmp" / "skilleval-forged"
    marked_by_link.mkdir()
    (marked_by_link / workspace.MARKER).symlink_to(unmarked)
    return {
        "outside": outside,
        "link": str(link),
        "unmarked": str(unmarked),
        "marked by a link": str(marked_by_link),
        "another name": ours(place / "tmp" / "precious"),
        "below one of ours": ours(place / "tmp" / "skilleval-a" / "skilleval-b"),
        "dots": str(place / "tmp" / "skilleval-a" / ".." / "precious"),
        "relative": "skilleval-x",
        "the temporary folder": str(place / "tmp"),
        "root": "/",
    }


def test_nothing_is_removed_that_is_not_proven_to_be_ours(place):
    paths = foreign(place)
    manifest(place, workspaces=list(paths.values()))
    found = leftovers(place)
    assert found.workspaces == ()
    assert len(found.refused) == len([path for path in paths.values() if os.path.lexists(path)])
    cleaning.remove(found, tools(place))
    assert all(os.path.lexists(path) for name, path in paths.items() if name != "relative")


def test_a_folder_that_is_gone_is_nothing_to_do(place):
    manifest(place, workspaces=[str(place / "tmp" / "skilleval-gone")])
    assert leftovers(place).texts == ()


def test_a_run_without_a_manifest_has_left_nothing(place):
    assert leftovers(place).texts == ()


@pytest.mark.parametrize("text", ["", "{", "null", "[]"])
def test_a_damaged_manifest_removes_nothing(place, text):
    manifest(place, text)
    with pytest.raises(SuiteError, match=r"cleanup\.json"):
        leftovers(place)


@pytest.mark.parametrize("value", [None, "x", {"a": 1}, [None, True, "7", 1.5]])
def test_a_field_of_a_wrong_type_is_nothing(place, value):
    manifest(place, source_repo="https://github.com/o/r", pr_numbers=value)
    assert leftovers(place).texts == ()


def test_a_name_cannot_steer_the_terminal_of_who_is_asked(place):
    manifest(place, source_repo="s", remote_branches=["\x1b[2Jx\ny"])
    assert leftovers(place).texts == ("delete branch x y of s",)
