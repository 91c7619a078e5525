"""Real git repositories, changed by the real git; what counts is the change between two looks."""

import json
import os
import shutil
from pathlib import Path

import pytest
from harness_fake import counting_git, git, repository, tools

from skilleval.errors import SkillevalError
from skilleval.trial import gitstate

CASES = json.loads((Path(__file__).parent.parent / "data" / "git-changes.json").read_text())


@pytest.fixture
def work(tmp_path):
    return repository(tmp_path / "work")


@pytest.fixture
def look(tmp_path):
    """`look` with the tools of a test; the first argument is the repository."""
    given = tools(tmp_path)
    return lambda folder, since=None, **options: gitstate.look(str(folder), given, since, **options)


def changed(look, work, *commands, **options):
    """The change that git commands make to a repository."""
    before = look(work, **options)
    for command in commands:
        git(work, *command)
    after = look(work, before, **options)
    return gitstate.change(before.state, after.state)


COMMIT = ("commit", "-q", "--allow-empty", "-m")


# What a state holds


def test_state_has_the_field_names_of_the_seed(look, work):
    sha = git(work, "rev-parse", "HEAD")
    assert look(work).state == {
        "local_branches": ["main"],
        "remote_branches": [],
        "current_branch": "main",
        "head_sha": sha,
        "commit_count": 1,
        "commits": [f"{sha[:7]} commit 0"],
        "remote_names": [],
        "open_prs": [],
        "branch_heads": {"main": sha},
        "remote_branch_heads": {},
        "commit_shas": [sha],
        "tags": {},
        "other_pushes": {},
        "pushes": {},
        "status_porcelain": [],
        "changed_files": [],
    }


def test_read_gives_the_state(tmp_path, look, work):
    assert gitstate.read(str(work), tools(tmp_path)) == look(work).state


def test_initial_is_what_a_look_gives(look, work):
    assert gitstate.initial(str(work), "commit 0") == look(work)


def test_no_repository_is_an_empty_state(tmp_path, look):
    assert look(tmp_path) == gitstate.Look()


def test_repository_without_a_commit_has_a_branch_and_no_head(tmp_path, look):
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q", "-b", "trunk")
    state = look(tmp_path / "new").state
    assert (state["current_branch"], state["head_sha"], state["commit_count"]) == ("trunk", "", 0)


def test_long_history_is_counted_whole_and_listed_in_part(tmp_path, look):
    state = look(repository(tmp_path / "long", commits=60)).state
    assert (state["commit_count"], len(state["commits"]), len(state["commit_shas"])) == (60, 20, 50)
    assert state["commits"][0].endswith(" commit 59")


def test_status_names_changed_renamed_and_new_files(look, work):
    git(work, "mv", "README.md", "LIES MICH.md")
    (work / "sub").mkdir()
    (work / "sub" / "ä.txt").write_text("x")
    state = look(work).state
    assert state["status_porcelain"] == ["R  README.md -> LIES MICH.md", "?? sub/ä.txt"]
    assert state["changed_files"] == ["LIES MICH.md", "sub/ä.txt"]


def test_status_leaves_out_what_is_hidden(look, work):
    for name in (".fake/skills/demo/SKILL.md", ".fakes"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("x")
    assert look(work, hidden=[".fake"]).state["changed_files"] == [".fakes"]


# What changed


def test_new_commit_is_new(look, work):
    change = changed(look, work, (*COMMIT, "fix: a b"))
    head = git(work, "rev-parse", "HEAD")
    assert change["new_commit_shas"] == [head]
    assert change["new_commits"] == [f"{head[:7]} fix: a b"]
    assert change["head_advanced"]


def test_reset_in_a_long_history_makes_no_old_commit_new(tmp_path, look):
    long = repository(tmp_path / "long", commits=70)
    before = look(long)
    git(long, "reset", "-q", "--hard", "HEAD~3")
    after = look(long, before)
    change = gitstate.change(before.state, after.state)
    assert (change["new_commit_shas"], change["new_commits"]) == ([], [])
    assert after.state["commit_count"] == 67
    assert after.state["commits"][0].endswith(" commit 66")


def test_more_new_commits_than_lines_are_all_new(look, work):
    change = changed(look, work, *[(*COMMIT, f"n{number}") for number in range(25)])
    assert len(change["new_commit_shas"]) == 25
    assert len(change["new_commits"]) == 20


def test_amended_commit_replaces_the_old_one(look, work):
    before = look(work)
    git(work, "commit", "-q", "--amend", "--allow-empty", "-m", "better")
    after = look(work, before)
    assert [line[8:] for line in after.state["commits"]] == ["better"]
    assert (after.state["commit_count"], len(after.state["commit_shas"])) == (1, 1)
    assert len(gitstate.change(before.state, after.state)["new_commit_shas"]) == 1


def test_merge_of_an_old_branch_is_one_new_commit(look, work):
    git(work, "checkout", "-q", "-b", "side")
    git(work, *COMMIT, "on side")
    git(work, "checkout", "-q", "main")
    change = changed(look, work, ("merge", "-q", "--no-ff", "-m", "merge side", "side"))
    assert [line[8:] for line in change["new_commits"]] == ["merge side"]


def test_stash_is_no_commit(look, work):
    (work / "README.md").write_text("changed\n")
    change = changed(look, work, ("stash", "-q"))
    assert change["new_commit_shas"] == []
    assert not change["head_advanced"]


def test_commit_on_no_branch_counts(look, work):
    change = changed(look, work, ("checkout", "-q", "--detach"), (*COMMIT, "floating"))
    assert [line[8:] for line in change["new_commits"]] == ["floating"]
    assert (change["current_branch"], change["eval_branch"]) == ("HEAD", None)


def test_commit_that_only_a_tag_reaches_counts(look, work):
    change = changed(
        look,
        work,
        ("checkout", "-q", "--detach"),
        (*COMMIT, "released"),
        ("tag", "-a", "-m", "v1", "v1"),
        ("checkout", "-q", "main"),
    )
    assert [line[8:] for line in change["new_commits"]] == ["released"]


@pytest.mark.parametrize("name", ["fix-HEAD-parsing", "HEAD-x", "release/2.0", "+plus", "ümlaut"])
def test_branch_of_any_name_is_seen(look, work, name):
    change = changed(look, work, ("branch", name))
    assert change["new_branches"] == [name]
    assert not change["current_branch_changed"]
    assert change["new_commit_shas"] == []


def test_branch_in_another_worktree_has_its_own_name(tmp_path, look, work):
    change = changed(look, work, ("worktree", "add", "-q", "-b", "wt", str(tmp_path / "wt")))
    assert change["new_branches"] == ["wt"]


def test_deleted_branch_is_told(look, work):
    git(work, "branch", "old")
    assert changed(look, work, ("branch", "-D", "old"))["deleted_branches"] == ["old"]


def test_subject_with_control_characters_stays_one_line(look, work):
    change = changed(look, work, (*COMMIT, "a\tb\x1b[31m 'c' \"d\""))
    assert [line[8:] for line in change["new_commits"]] == ["a\tb\x1b[31m 'c' \"d\""]


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["id"])
def test_change_of_states_is_that_of_the_seed(row):
    change = gitstate.change(row["pre"], row["post"])
    assert {name: change[name] for name in row["diff"]} == row["diff"]


def test_new_pull_request_is_one_of_a_new_number():
    before, after = {"open_prs": [{"number": 1}]}, {"open_prs": [{"number": 2}, {"number": 1}]}
    assert gitstate.change(before, after)["new_open_prs"] == [{"number": 2}]


# Remotes


@pytest.fixture
def cloned(tmp_path, work):
    """A clone of a bare repository, with a second branch there."""
    git(work, "branch", "dev")
    git(tmp_path, "clone", "-q", "--bare", str(work), "remote.git")
    git(tmp_path, "clone", "-q", "remote.git", "clone")
    return tmp_path / "clone"


def test_remote_branches_lose_the_name_of_the_remote(look, cloned):
    state = look(cloned).state
    head = git(cloned, "rev-parse", "HEAD")
    assert state["remote_names"] == ["origin"]
    assert state["remote_branches"] == ["dev", "main"]
    assert state["remote_branch_heads"] == {"dev": head, "main": head}


@pytest.mark.parametrize("options", [{}, {"remote": "remote.git"}], ids=["tracked", "looked at"])
def test_push_to_an_existing_branch_is_seen(tmp_path, look, cloned, options):
    options = {name: str(tmp_path / value) for name, value in options.items()}
    change = changed(look, cloned, (*COMMIT, "x"), ("push", "-q", "origin", "main"), **options)
    assert (change["new_remote_branches"], change["pushed_branches"]) == ([], ["main"])


def test_pushed_branch_is_compared_with_head(look, cloned):
    change = changed(
        look,
        cloned,
        ("checkout", "-q", "-b", "feat"),
        (*COMMIT, "x"),
        ("push", "-q", "-u", "origin", "feat"),
    )
    assert change["eval_branch"] == "feat"
    assert change["eval_branch_pushed_matches_head"]
    git(cloned, *COMMIT, "later")
    later = gitstate.change({}, look(cloned).state)
    assert (later["eval_branch_pushed"], later["eval_branch_pushed_matches_head"]) == (True, False)


def test_push_past_the_remote_is_seen_where_the_remote_is_here(tmp_path, look, cloned):
    remote = str(tmp_path / "remote.git")
    change = changed(look, cloned, ("push", "-q", remote, "HEAD:refs/heads/sly"), remote=remote)
    assert change["new_remote_branches"] == ["sly"]


@pytest.mark.parametrize("options", [{}, {"remote": "remote.git"}], ids=["tracked", "looked at"])
def test_push_to_another_remote_hides_behind_no_branch_of_origin(tmp_path, look, cloned, options):
    options = {name: str(tmp_path / value) for name, value in options.items()}
    git(tmp_path, "init", "-q", "--bare", "other.git")
    add = ("remote", "add", "team/other", str(tmp_path / "other.git"))
    change = changed(look, cloned, add, ("push", "-q", "team/other", "main"), **options)
    assert change["pushed_branches"] == ["team/other/main"]
    assert change["new_remote_branches"] == []


def test_fetch_from_another_remote_and_its_new_name_are_no_push(tmp_path, look, cloned):
    add = ("remote", "add", "other", str(tmp_path / "remote.git"))
    change = changed(
        look, cloned, add, ("fetch", "-q", "other"), ("remote", "rename", "other", "x")
    )
    assert (change["pushed_branches"], change["new_remote_branches"]) == ([], [])


def test_branch_pushed_to_another_remote_is_compared_with_head(tmp_path, look, cloned):
    git(tmp_path, "init", "-q", "--bare", "fork.git")
    git(cloned, "remote", "add", "fork", str(tmp_path / "fork.git"))
    commands = (("checkout", "-q", "-b", "feat"), (*COMMIT, "x"), ("push", "-q", "fork", "feat"))
    assert changed(look, cloned, *commands)["eval_branch_pushed_matches_head"]


@pytest.mark.parametrize("options", [{}, {"remote": "remote.git"}], ids=["tracked", "looked at"])
def test_branch_deleted_on_the_remote_is_gone(tmp_path, look, cloned, options):
    options = {name: str(tmp_path / value) for name, value in options.items()}
    change = changed(look, cloned, ("push", "-q", "origin", "--delete", "dev"), **options)
    assert change["deleted_remote_branches"] == ["dev"]
    assert (change["pushed_branches"], change["deleted_branches"]) == ([], [])


def test_tags_are_part_of_the_state_here_and_on_a_remote_of_ones_own(tmp_path, look, cloned):
    remote = str(tmp_path / "remote.git")
    git(cloned, "tag", "v1")
    git(cloned, "push", "-q", "origin", "v1")
    state = look(cloned, remote=remote).state
    assert state["tags"] == state["remote_tags"] == {"v1": git(cloned, "rev-parse", "HEAD")}


def test_remote_whose_name_has_a_slash(tmp_path, look, work):
    git(tmp_path, "clone", "-q", "--bare", str(work), "other.git")
    git(work, "remote", "add", "team/x", str(tmp_path / "other.git"))
    git(work, "fetch", "-q", "team/x")
    state = look(work).state
    assert (state["remote_names"], state["remote_branches"]) == (["team/x"], ["main"])


# What an agent may have done to the repository


def test_removed_repository_does_not_lead_to_the_one_above(look, work):
    inner = work / "inner"
    inner.mkdir()
    assert look(inner).state == {}


@pytest.mark.parametrize("kind", ["link", "file"])
def test_repository_elsewhere_is_none(tmp_path, look, work, kind):
    place = tmp_path / "place"
    place.mkdir()
    if kind == "link":
        (place / ".git").symlink_to(work / ".git")
    else:
        (place / ".git").write_text(f"gitdir: {work / '.git'}\n")
    assert look(place).state == {}


def test_broken_repository_is_an_error_that_names_git(look, work):
    (work / ".git" / "HEAD").write_text("nonsense\n")
    with pytest.raises(SkillevalError, match=r"git for-each-ref: .*not a git repository"):
        look(work)


def test_new_repository_in_place_of_the_old_has_new_commits_only(look, work):
    before = look(work)
    shutil.rmtree(work / ".git")
    git(work, "init", "-q", "-b", "main")
    git(work, *COMMIT, "afresh")
    after = look(work, before)
    assert [line[8:] for line in after.state["commits"]] == ["afresh"]
    assert len(gitstate.change(before.state, after.state)["new_commits"]) == 1


def test_configuration_of_the_repository_runs_nothing(tmp_path, look, work):
    trace = tmp_path / "trace"
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {trace}\n")
    hook.chmod(0o755)
    git(work, "config", "core.fsmonitor", str(hook))
    git(work, "config", "gpg.program", str(hook))
    git(work, "config", "log.showSignature", "true")
    assert look(work).state["commit_count"] == 1
    assert not trace.exists()


def test_pipe_in_place_of_a_ref_holds_nobody_up(look, work):
    before = look(work)
    os.mkfifo(work / ".git" / "refs" / "heads" / "pipe")
    os.replace(work / ".git" / "refs" / "heads" / "pipe", work / ".git" / "packed-refs")
    assert gitstate.marks(str(work)) != ("", "")
    assert before.refs_mark


# What it costs


@pytest.fixture
def counted(tmp_path, work):
    """(look, count of git processes since the last time)."""
    path, log = counting_git(tmp_path)
    given = tools(tmp_path, PATH=path)

    def count():
        calls = log.read_text().splitlines() if log.exists() else []
        log.write_text("")
        return len(calls)

    return lambda since=None, **o: gitstate.look(str(work), given, since, **o), count


def test_nothing_changed_costs_no_process(counted):
    look, count = counted
    before = look()
    count()
    assert look(before, touched=False) == before
    assert count() == 0


def test_changed_files_cost_one_process(counted, work):
    look, count = counted
    before = look()
    count()
    (work / "new.txt").write_text("x")
    assert look(before).state["changed_files"] == ["new.txt"]
    assert count() == 1


@pytest.mark.parametrize(
    ("commands", "processes"),
    [
        ([(*COMMIT, "x")], 3),
        ([("branch", "b")], 2),
        ([("commit", "-q", "--amend", "--allow-empty", "-m", "y")], 4),
    ],
    ids=["commit", "branch", "rewritten"],
)
def test_changed_refs_cost_at_most_four_processes(counted, work, commands, processes):
    look, count = counted
    before = look()
    for command in commands:
        git(work, *command)
    count()
    look(before)
    assert count() == processes
