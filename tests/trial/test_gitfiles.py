"""Real repositories, read as files and compared with what git says."""

import os

import pytest
from harness_fake import git, repository

from skilleval.trial import gitfiles


@pytest.fixture
def work(tmp_path):
    return repository(tmp_path / "work")


def told(work):
    lines = git(work, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")
    return dict(line.split() for line in lines.splitlines())


@pytest.mark.parametrize("packed", [False, True])
def test_branches_are_those_of_git(work, packed):
    git(work, "branch", "feat/a")
    if packed:
        git(work, "pack-refs", "--all")
        git(work, "commit", "-q", "--allow-empty", "-m", "moves main on")
    assert gitfiles.heads(str(work / ".git")) == told(work)


def test_branches_of_a_bare_repository(tmp_path, work):
    git(tmp_path, "clone", "-q", "--bare", str(work), "bare.git")
    assert gitfiles.heads(str(tmp_path / "bare.git")) == told(work)


@pytest.mark.parametrize("packed", [False, True])
def test_tags_are_those_of_git(work, packed):
    git(work, "tag", "v1")
    git(work, "tag", "-a", "-m", "two", "rel/v2")
    if packed:
        git(work, "pack-refs", "--all")
    assert gitfiles.tags(str(work / ".git")) == {
        name: git(work, "rev-parse", f"refs/tags/{name}") for name in ("rel/v2", "v1")
    }


def test_remotes_are_those_of_the_configuration(work):
    git(work, "remote", "add", "b/c", "x")
    git(work, "remote", "add", "a", "y")
    assert gitfiles.remote_names(str(work / ".git")) == ["a", "b/c"]


def test_pushes_are_told_from_fetches_and_say_what_was_there_before(tmp_path, work):
    git(tmp_path, "clone", "-q", "--bare", str(work), "bare.git")
    ours, theirs = (tmp_path / name for name in ("ours", "theirs"))
    for name in ("ours", "theirs"):
        git(tmp_path, "clone", "-q", "bare.git", name)
    old = git(ours, "rev-parse", "HEAD")
    git(theirs, "push", "-q", "origin", "HEAD:refs/heads/theirs")
    git(ours, "fetch", "-q")
    assert gitfiles.pushes(str(ours / ".git")) == {}
    git(ours, "commit", "-q", "--allow-empty", "-m", "x")
    git(ours, "push", "-q", "origin", "HEAD:refs/heads/feat/ours", "main")
    new = git(ours, "rev-parse", "HEAD")
    assert gitfiles.pushes(str(ours / ".git")) == {
        "origin/feat/ours": [["0" * 40, new]],
        "origin/main": [[old, new]],
    }


@pytest.mark.parametrize(
    ("command", "moved"),
    [
        (("status",), False),
        (("commit", "--allow-empty", "-m", "x"), True),
        (("checkout", "-b", "b"), True),
        (("tag", "t"), True),
        (("pack-refs", "--all"), True),
        (("remote", "add", "r", "u"), True),
    ],
)
def test_mark_of_the_refs_is_the_same_while_they_are(work, command, moved):
    folder = str(work / ".git")
    before = gitfiles.refs_mark(folder)
    git(work, *command)
    assert (gitfiles.refs_mark(folder) != before) is moved


def test_mark_of_refs_that_cannot_be_read_is_never_the_same(work):
    (work / ".git" / "reftable").mkdir()
    assert gitfiles.refs_mark(str(work / ".git")) != gitfiles.refs_mark(str(work / ".git"))


def test_mark_of_the_index_changes_with_it(work):
    before = gitfiles.index_mark(str(work / ".git"))
    (work / "new").write_text("x")
    git(work, "add", ".")
    assert gitfiles.index_mark(str(work / ".git")) != before


def test_nothing_there_is_empty_and_no_error(tmp_path):
    folder = str(tmp_path / "gone")
    assert (gitfiles.heads(folder), gitfiles.head(folder), gitfiles.remote_names(folder)) == (
        {},
        "",
        [],
    )


def test_link_out_of_the_folder_is_not_followed(tmp_path, work):
    (tmp_path / "secret").write_text("ref: refs/heads/stolen")
    os.unlink(work / ".git" / "HEAD")
    os.symlink(tmp_path / "secret", work / ".git" / "HEAD")
    assert gitfiles.head(str(work / ".git")) == ""


def test_pipe_holds_nobody_up(work):
    os.mkfifo(work / ".git" / "refs" / "heads" / "pipe")
    assert gitfiles.heads(str(work / ".git"))["pipe"] == ""


def test_repository_of_a_folder_is_the_innermost_that_holds_it(tmp_path):
    inner = tmp_path / "outer" / "inner"
    (inner / "deep").mkdir(parents=True)
    for folder in (tmp_path / "outer", inner):
        (folder / ".git").mkdir()
    assert gitfiles.repository_of(str(inner / "deep")) == str(inner)
    assert gitfiles.repository_of(str(tmp_path / "outer")) == str(tmp_path / "outer")
