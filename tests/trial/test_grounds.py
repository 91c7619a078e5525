"""What a trial starts from: real files, real repositories, real clones."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from harness_fake import arm, case, counting_git, git, repository, tools

from skilleval.errors import SkillevalError
from skilleval.model import Case
from skilleval.trial import grounds

HIDDEN = (".fake/skills/demo", ".fake")


def make(tmp_path, case_, given=None, **options):
    return grounds.ground(case_, arm(tmp_path, **options), HIDDEN, given or tools(tmp_path))


def paths(ground):
    return [file.change.path for file in ground.state.files]


# Where files go


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (["files/a.txt"], ["a.txt"]),
        (["files/x/a.txt", "files/x/b/c.txt"], ["a.txt", "b/c.txt"]),
        (["data/a.txt"], ["data/a.txt"]),
        (["files/x/a.txt", "files/b.txt"], ["a.txt", "b.txt"]),
        (["files/x/a.txt", "files/y/a.txt"], ["x/a.txt", "y/a.txt"]),
        (["./files//a.txt"], ["a.txt"]),
        (["files"], ["files"]),
        ([], []),
    ],
)
def test_file_goes_where_the_seed_puts_it(files, wanted):
    assert list(grounds.targets(files).values()) == wanted


@pytest.mark.parametrize("path", ["../a", "files/../../a", "/etc/passwd", "", ".", "x/.git/config"])
def test_file_outside_the_folder_is_refused(path):
    with pytest.raises(SkillevalError, match="must be a path inside"):
        grounds.targets([path])


def test_two_files_in_one_place_are_refused():
    with pytest.raises(SkillevalError, match=r"'a.txt' and 'files/a.txt' are both 'a.txt'"):
        grounds.targets(["a.txt", "files/a.txt"])


# What is in the workspace


def test_files_are_committed_before_the_first_look(tmp_path):
    made = make(tmp_path, case("", tmp_path, {"files/a.txt": "A", "files/b/c.txt": "C"}))
    assert paths(made) == ["a.txt", "c.txt"]
    assert git(made.workspace, "ls-files").split() == ["a.txt", "c.txt"]
    assert git(made.workspace, "status", "--porcelain") == ""
    assert made.state.git["commit_count"] == 1


def test_staged_files_are_staged_and_not_committed(tmp_path):
    made = make(tmp_path, case("", tmp_path, {"files/a.txt": "A"}, stage=True))
    assert git(made.workspace, "status", "--porcelain") == "A  a.txt"
    assert made.state.git["status_porcelain"] == ["A  a.txt"]
    assert git(made.workspace, "log", "--format=%s") == "Initial commit"


def test_folder_of_a_case_is_copied_whole_with_its_modes(tmp_path):
    root = tmp_path / "evals"
    (root / "files" / "app" / "bin").mkdir(parents=True)
    script = root / "files" / "app" / "bin" / "run"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    made = make(tmp_path, Case("c", "", files=("files/app",), annotations={"fixtures": str(root)}))
    assert os.access(Path(made.workspace) / "app" / "bin" / "run", os.X_OK)


def test_repository_of_a_case_without_files_has_one_empty_commit(tmp_path):
    made = make(tmp_path, case(""))
    assert (paths(made), made.state.git["commits"][0][8:]) == ([], "Initial commit")


def test_state_is_what_git_says(tmp_path):
    made = make(tmp_path, case("", tmp_path, {"files/a.txt": "A"}))
    assert made.state.git["head_sha"] == git(made.workspace, "rev-parse", "main")
    assert made.state.git["current_branch"] == git(made.workspace, "branch", "--show-current")


@pytest.mark.parametrize("inside", [True, False], ids=["the link itself", "in a folder"])
def test_link_that_leads_out_is_refused(tmp_path, inside):
    root = tmp_path / "evals"
    (root / "files").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (root / "files" / "link").symlink_to(tmp_path / "secret")
    name = "files/link" if inside else "files"
    with pytest.raises(SkillevalError, match="link that leaves"):
        make(tmp_path, Case("c", "", files=(name,), annotations={"fixtures": str(root)}))


def test_missing_file_is_named(tmp_path):
    lacking = Case("c7", "", files=("files/x",), annotations={"fixtures": str(tmp_path)})
    with pytest.raises(SkillevalError, match="case c7: copy files: No such file"):
        make(tmp_path, lacking)


# Made once


def test_ground_is_made_once_for_the_same_files(tmp_path):
    path, log = counting_git(tmp_path)
    given = tools(tmp_path, PATH=path)
    same = case("", tmp_path, {"files/a.txt": "A"}, stage=True)
    first = make(tmp_path, same, given)
    calls = log.read_text()
    assert make(tmp_path, same._replace(id="c2", prompt="other"), given, timeout_s=1) == first
    assert calls
    assert log.read_text() == calls


def test_first_trial_alone_has_the_workspace_that_was_made_for_it(tmp_path):
    same = case("", tmp_path, {"files/a.txt": "A"})
    first, second = make(tmp_path, same), make(tmp_path, same)
    assert (first.spare, second.spare) == (first.workspace, "")
    assert second == first._replace(spare="")
    staged = make(tmp_path, same._replace(annotations={**same.annotations, "stage": True}))
    cloned = make(tmp_path, same, source_repo=str(repository(tmp_path / "source")))
    assert (staged.spare, cloned.spare) == ("", "")  # what git makes is not like its copies


def test_files_that_git_reads_itself_are_committed_by_git(tmp_path):
    files = {"files/p/.gitignore": "*.log\n", "files/p/a.log": "x", "files/p/b.txt": "B"}
    made = make(tmp_path, case("", tmp_path, files))
    assert git(made.workspace, "ls-files").split() == [".gitignore", "b.txt"]
    assert git(made.workspace, "status", "--porcelain") == ""
    assert made.state.git["head_sha"] == git(made.workspace, "rev-parse", "main")


def test_hidden_files_of_a_case_are_not_committed(tmp_path):
    made = make(tmp_path, case("", tmp_path, {"files/p/.fake/x": "x", "files/p/b.txt": "B"}))
    assert git(made.workspace, "ls-files").split() == ["b.txt"]
    assert git(made.workspace, "status", "--porcelain") == ""


def test_changed_file_makes_a_new_ground(tmp_path):
    first = make(tmp_path, case("", tmp_path, {"files/a.txt": "A"}))
    second = make(tmp_path, case("", tmp_path, {"files/a.txt": "BB"}))
    assert [g.state.files[0].change.content for g in (first, second)] == ["A", "BB"]


def test_many_at_once_make_one_ground(tmp_path):
    same, given, found = case("", tmp_path, {"files/a.txt": "A"}), tools(tmp_path), []
    threads = [
        threading.Thread(target=lambda: found.append(make(tmp_path, same, given))) for _ in range(8)
    ]
    arm(tmp_path)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({ground.folder for ground in found}) == 1


def test_grounds_are_gone_when_the_process_ends(tmp_path):
    script = (
        "import sys; sys.path[:0] = sys.argv[1:3]; from pathlib import Path\n"
        "from harness_fake import *; from skilleval.trial import grounds\n"
        "tmp = Path(sys.argv[3])\n"
        "print(grounds.ground(case('', tmp), arm(tmp), ('.fake',), tools(tmp)).folder)\n"
    )
    root = Path(__file__).parent.parent.parent
    argv = [sys.executable, "-c", script, str(root), str(root / "tests"), str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
    assert list((tmp_path / "temporary").iterdir()) == []


# A source repository


@pytest.mark.parametrize(
    ("source", "elsewhere"),
    [
        ("https://x.org/o/r", True),
        ("file:///srv/r", True),
        ("git@host:o/r.git", True),
        ("host:r", True),
        ("github.com/o/r", True),
        ("/srv/repo", False),
        ("srv/repo", False),
        ("./a:b", False),
        ("C:\\repo", False),
        ("", False),
    ],
)
def test_address_is_told_from_a_folder(source, elsewhere):
    assert grounds.is_address(source) is elsewhere


def test_source_folder_is_cloned_with_its_history_and_the_files_on_top(tmp_path):
    source = repository(tmp_path / "source", commits=3)
    with_files = case("", tmp_path, {"files/a.txt": "A"})
    made = make(tmp_path, with_files, source_repo=str(source))
    assert paths(made) == ["README.md", "a.txt"]
    assert made.state.git["commit_count"] == 4
    assert made.state.git["remote_branches"] == ["main"]
    assert git(made.workspace, "status", "--porcelain") == ""


def test_users_repository_shares_no_file_with_what_agents_can_reach(tmp_path):
    source = repository(tmp_path / "source", commits=3)
    made = make(tmp_path, case(""), source_repo=str(source))
    below = [Path(at, name) for at, _, names in os.walk(source) for name in names]
    users = {path.stat().st_ino for path in below}
    ours = [Path(at, name) for at, _, names in os.walk(made.folder) for name in names]
    assert users.isdisjoint(path.stat().st_ino for path in ours)
    assert {path.stat().st_nlink for path in below} == {1}


@pytest.mark.parametrize("gone", ["remote", "folder"])
def test_source_whose_clone_an_agent_removed_is_cloned_again(tmp_path, gone):
    source = repository(tmp_path / "source")
    made = make(tmp_path, case(""), source_repo=str(source))
    shutil.rmtree(getattr(made, gone))
    again = make(tmp_path, case(""), source_repo=str(source))
    assert Path(again.remote).is_dir()
    assert git(again.workspace, "remote", "get-url", "origin") == again.remote


def test_source_that_moved_on_is_cloned_again(tmp_path):
    source = repository(tmp_path / "source")
    make(tmp_path, case(""), source_repo=str(source))
    git(source, "commit", "-q", "--allow-empty", "-m", "later")
    assert make(tmp_path, case(""), source_repo=str(source)).state.git["commit_count"] == 2


def test_source_by_address_is_its_own_remote(tmp_path):
    source = repository(tmp_path / "source")
    made = make(tmp_path, case(""), source_repo=f"file://{source}")
    assert made.remote == ""
    assert git(made.workspace, "remote", "get-url", "origin") == f"file://{source}"


def test_missing_source_is_named(tmp_path):
    with pytest.raises(SkillevalError, match=r"source repository .*/nowhere: git clone: "):
        make(tmp_path, case(""), source_repo=str(tmp_path / "nowhere"))


def test_password_of_a_source_is_in_no_message(tmp_path):
    with pytest.raises(SkillevalError) as caught:
        make(tmp_path, case(""), source_repo="http://me:hunter22@127.0.0.1:9/o/r")
    assert "127.0.0.1:9" in str(caught.value)
    assert "hunter22" not in str(caught.value)
