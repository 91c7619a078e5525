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
    return f"file://{bare}"


def heads(bare):
    folder = bare.removeprefix("file://")
    return git("-C", folder, "for-each-ref", "--format=%(refname:short)", "refs/heads")


def test_branches_of_the_manifest_are_deleted_and_no_others(place):
    bare = remote(place, "feat/x", "feat/mine")
    path = manifest(place, source_repo=bare, remote_branches=["feat/x"])
    assert cleaning.remove(leftovers(place), tools(place)) == ()
    assert heads(bare) == ["feat/mine", "main"]
    assert json.loads(path.read_text())["remote_branches"] == []


def head(bare, branch="main"):
    return git("-C", bare.removeprefix("file://"), "rev-parse", f"refs/heads/{branch}")[0]


def moved(place, bare, branch):
    """Another commit on a branch of the remote, as somebody else pushes it; returns its id."""
    identity = ("-c", "user.email=b@example.org", "-c", "user.name=b")
    git("-C", place / "source", "checkout", "-q", branch)
    git("-C", place / "source", *identity, "commit", "-q", "--allow-empty", "-m", "y")
    git("-C", place / "source", "push", "-q", bare, branch)
    return head(bare, branch)


def test_branches_that_still_are_what_the_run_pushed_are_deleted(place):
    bare = remote(place, "feat")
    path = manifest(
        place, source_repo=bare, remote_branches=["feat"], remote_branch_heads={"feat": head(bare)}
    )
    assert cleaning.remove(leftovers(place), tools(place)) == ()
    assert heads(bare) == ["main"]
    left = json.loads(path.read_text())
    assert (left["remote_branches"], left["remote_branch_heads"]) == ([], {})


def test_a_branch_that_has_moved_since_is_left_alone_and_named(place):
    bare = remote(place, "feat")
    pushed = {"feat": head(bare)}
    path = manifest(place, source_repo=bare, remote_branches=["feat"], remote_branch_heads=pushed)
    now = moved(place, bare, "feat")
    [problem] = cleaning.remove(leftovers(place), tools(place))
    assert problem == (
        f"branch feat: has moved since the run pushed it (is at {now[:12]} now); left alone"
    )
    assert heads(bare) == ["feat", "main"]
    assert json.loads(path.read_text())["remote_branch_heads"] == pushed


def test_a_branch_that_is_gone_already_is_nothing_to_do(place):
    bare = remote(place)
    path = manifest(
        place, source_repo=bare, remote_branches=["feat"], remote_branch_heads={"feat": head(bare)}
    )
    assert cleaning.remove(leftovers(place), tools(place)) == ()
    assert json.loads(path.read_text())["remote_branches"] == []


@pytest.mark.parametrize("noted", ["x", "--force", f"{'0' * 40}:refs/heads/main", 7])
def test_a_branch_with_no_commit_noted_for_it_is_left_alone(place, noted):
    bare = remote(place, "feat")
    manifest(place, source_repo=bare, remote_branches=["feat"], remote_branch_heads={"feat": noted})
    found = leftovers(place)
    assert found.refused == ("branch feat: remote_branch_heads has no commit for it; left alone",)
    assert cleaning.remove(found, tools(place)) == ()
    assert heads(bare) == ["feat", "main"]


def test_branches_of_a_repository_on_this_machine_are_left_alone(place):
    bare = remote(place, "feat").removeprefix("file://")
    manifest(place, source_repo=bare, remote_branches=["feat"])
    found = leftovers(place)
    assert (found.texts, len(found.refused)) == ((), 1)
    assert f"branches ['feat']: {bare} is a folder, and runs push to a copy" in found.refused[0]
    assert cleaning.remove(found, tools(place)) == ()
    assert heads(bare) == ["feat", "main"]


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


@pytest.mark.parametrize("value", [-1, 0, True, "7", 7.0, None, [7]])
def test_what_is_no_number_of_a_pull_request_is_refused_by_name(place, value):
    path = manifest(place, source_repo="https://github.com/o/r", pr_numbers=[value, 9])
    found = leftovers(place)
    assert found.texts == ("close pull request 9 of https://github.com/o/r",)
    assert found.refused == (
        f"{path}: pr_numbers: {value!r} is no number of a pull request; left alone",
    )
    assert cleaning.remove(found, tools(place)) == ()
    assert json.loads(path.read_text())["pr_numbers"] == [value]


def test_a_token_in_the_address_is_not_shown(place):
    token = "https://me:ghp_abcdef@github.com/o/r"
    manifest(place, source_repo=token, pr_numbers=[7], remote_branches=["x"])
    assert leftovers(place).texts == (
        "close pull request 7 of https://[redacted]@github.com/o/r",
        "delete branch x of https://[redacted]@github.com/o/r",
    )
    manifest(place, source_repo="https://me:ghp_abcdef@example.org/r", pr_numbers=[7])
    [refused] = leftovers(place).refused
    assert "ghp_abcdef" not in refused


def test_a_token_that_a_program_says_is_not_told(place):
    manifest(place, source_repo="https://github.com/o/r", pr_numbers=[7])
    environ = {"GH_TOKEN": "Could not resolve", "FAKE_GH_FAILS": "pr close 7*"}
    [problem] = cleaning.remove(leftovers(place), tools(place, **environ))
    assert problem == "pull request 7: GraphQL: [redacted] to a PullRequest"


def test_an_address_whose_token_was_not_written_down_is_asked_without_one(place):
    manifest(place, source_repo="https://[redacted]@example.org/r", remote_branches=["x"])
    assert leftovers(place).source == "https://example.org/r"


def test_a_name_cannot_steer_the_terminal_of_who_is_asked(place):
    manifest(place, source_repo="https://s", remote_branches=["\x1b[2Jx\ny"])
    assert leftovers(place).texts == ("delete branch x y of https://s",)
