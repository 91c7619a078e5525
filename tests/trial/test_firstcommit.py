"""A first commit made without git: git takes it for its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness_fake import git

from skilleval.trial import firstcommit

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="left to git on other systems"
)


def repository_by_git(folder):
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "First")


def build(folder):
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep.txt").write_text("sorts before the folder `deep`\n")
    (folder / "deep-er").write_text("and so does this\n")
    (folder / "deep" / "er" / "none").write_bytes(b"")
    (folder / "empty").mkdir()
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("deep/er")
    (folder / "twice").write_text("#!/bin/sh\n")
    (folder / "windows.txt").write_bytes(b"a\r\nb\r\n")
    (folder / "binary").write_bytes(os.urandom(70_000))
    (folder / "ünï \udcff\n").write_text("a name of any bytes")
    (folder / ("n" * 250)).mkdir()
    for number in range(300):
        (folder / ("n" * 250) / f"{number}").write_text(f"{number}\n" * number)
    return folder


@pytest.fixture
def made(tmp_path):
    folder = build(tmp_path)
    assert firstcommit.make(str(folder), "First", ())
    return folder


def test_git_finds_no_fault_in_it(made):
    done = subprocess.run(
        ["git", "fsck", "--strict", "--full"], cwd=made, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert git(made, "verify-pack", *map(str, (made / ".git/objects/pack").glob("*.idx"))) == ""


def test_files_are_those_that_git_would_commit(made, tmp_path_factory):
    other = build(tmp_path_factory.mktemp("other"))
    (other / "binary").write_bytes((made / "binary").read_bytes())
    repository_by_git(other)
    assert git(made, "rev-parse", "HEAD^{tree}") == git(other, "rev-parse", "HEAD^{tree}")
    assert git(made, "ls-files", "--stage") == git(other, "ls-files", "--stage")


def test_nothing_is_left_to_commit(made):
    assert git(made, "status", "--porcelain") == ""


def test_change_of_the_same_length_is_seen(made):
    (made / "run.sh").write_text("#!/bin/hs\n")
    assert git(made, "status", "--porcelain").strip() == "M run.sh"


def test_agent_can_work_on_from_it(made):
    (made / "new").write_text("x")
    repository_by_git(made)
    git(made, "checkout", "--quiet", "-b", "work")
    git(made, "gc", "--quiet")
    assert git(made, "log", "--format=%s").splitlines() == ["First", "First"]
    assert git(made, "diff", "--name-only", "main~", "work") == "new"


def test_commit_says_who_and_when(made):
    name, mail, subject, age = git(made, "log", "--format=%an%n%ce%n%s%n%cr").splitlines()
    assert (name, mail, subject) == ("skilleval", "skilleval@localhost", "First")
    assert "second" in age


def test_folder_without_files_has_an_empty_commit(tmp_path):
    assert firstcommit.make(str(tmp_path), "First", ())
    assert git(tmp_path, "rev-list", "--count", "main") == "1"
    assert git(tmp_path, "status", "--porcelain") == ""


def test_hidden_paths_are_not_committed(tmp_path):
    for path in (".tool/skills/a/SKILL.md", ".tools", "b/.tool"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    assert firstcommit.make(str(tmp_path), "First", [".tool/skills/a", ".tool"])
    assert git(tmp_path, "ls-files").split() == [".tools", "b/.tool"]


@pytest.mark.parametrize("name", [".gitignore", "a/.gitattributes", ".gitmodules", "a/.GIT/HEAD"])
def test_what_git_reads_itself_is_left_to_git(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("*.log\n")
    assert not firstcommit.make(str(tmp_path), "First", ())
    assert not (tmp_path / ".git").exists()


def test_what_would_fill_the_memory_is_left_to_git(tmp_path):
    with open(tmp_path / "large", "wb") as file:
        file.truncate(firstcommit.LARGEST_BYTES + 1)
    assert not firstcommit.make(str(tmp_path), "First", ())


def test_it_takes_few_files(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    assert firstcommit.make(str(tmp_path), "First", ())
    inside = list(Path(tmp_path, ".git").rglob("*"))
    assert len(inside) == 9
