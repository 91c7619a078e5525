"""The scripts that the example skills bundle, run as their users run them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SKILLS = Path(__file__).resolve().parent.parent / "skills"
NAMES = ("commit-push-pr", "fix-failing-tests", "review-diff", "validate-config",
         "write-release-notes")  # fmt: skip
SCRIPTS = sorted(path for name in NAMES for path in (SKILLS / name / "scripts").glob("*.py"))
NOTES = SKILLS / "write-release-notes/scripts/check_notes.py"
DIFF = SKILLS / "review-diff/scripts/number_diff.py"
FAILURES = SKILLS / "fix-failing-tests/scripts/group_failures.py"
PREFLIGHT = SKILLS / "commit-push-pr/scripts/preflight.py"


def run(script, *arguments, cwd=None, text=None):
    return subprocess.run(
        [sys.executable, str(script), *map(str, arguments)],
        cwd=cwd,
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def tasks(skill):
    return json.loads((SKILLS / skill / "evals/tasks.json").read_text("utf-8"))["tasks"]


def example(skill, task):
    return (SKILLS / skill / f"evals/examples/{task['id']}.md").read_text("utf-8")


def block(text, *languages):
    found = re.search(rf"```({'|'.join(languages)})\n(.*?)```", text, re.DOTALL)
    assert found, f"no block of {languages}"
    return found[2]


# every script


def test_every_example_skill_has_a_script():
    assert len(SCRIPTS) == len(NAMES)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_help_tells_the_exit_statuses(script):
    done = run(script, "--help")
    assert done.returncode == 0
    assert "exit status:" in done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_unknown_flag_is_a_usage_error(script):
    done = run(script, "--no-such-flag")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.skipif(os.name == "nt", reason="no executable bit")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_script_can_be_executed(script):
    assert os.access(script, os.X_OK)
    assert script.read_text("utf-8").startswith("#!/usr/bin/env python3\n")


# write-release-notes

COMMITS = """\
aaaa111 feat!: rename the option (#10)
bbbb222 Revert "feat: dark mode (#8)" (#11)
cccc333 fix: close the file (#9)
    Closes #3
dddd444 feat: dark mode (#8)
"""
GOOD_NOTES = "## Breaking changes\n\n- Renamed. (#10)\n\n## Fixed\n\n- Closed. (cccc333, #3)\n"


def check_notes(folder, notes, commits=COMMITS):
    (folder / "commits.txt").write_text(commits, encoding="utf-8")
    (folder / "notes.md").write_text(notes, encoding="utf-8")
    done = run(NOTES, "--commits", "commits.txt", "notes.md", cwd=folder)
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if found else 0)
    return [(item["line"], item["code"]) for item in found]


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        (GOOD_NOTES, []),
        (GOOD_NOTES + "- More. (#12)\n", [(8, "unknown_reference")]),
        (GOOD_NOTES + "- More. (`abc1234`)\n", [(8, "unknown_reference")]),
        (GOOD_NOTES + "- 1234567 rows, defaced pages, see v1.2.3-4abc567.\n", []),
        (GOOD_NOTES + "- Dark mode. (#8)\n", [(8, "reverted_listed")]),
        (GOOD_NOTES.replace("Breaking changes", "New"), [(0, "breaking_missing")]),
        ("## Breaking\n\n### API\n\n- Renamed. (aaaa111)\n", []),
    ],
    ids=["good", "number", "hash", "no-reference", "reverted", "heading", "sub-heading"],
)
def test_notes_are_compared_with_the_commits(tmp_path, notes, expected):
    assert check_notes(tmp_path, notes) == expected


def test_reverted_revert_stands_again(tmp_path):
    commits = 'eeee555 Revert "Revert "feat: dark mode (#8)" (#11)" (#14)\n' + COMMITS
    assert check_notes(tmp_path, GOOD_NOTES + "- Dark mode. (#8)\n", commits) == []


def test_breaking_footer_in_a_real_git_log_is_seen(repository):
    git(repository, "commit", "--allow-empty", "-m", "fix: x", "-m", "BREAKING CHANGE: y")
    log = git(repository, "log", "--format=%h %s%n%w(0,4,4)%b")
    assert check_notes(repository, "# Notes\n", log) == [(0, "breaking_missing")]


def test_list_without_commits_decides_nothing(tmp_path):
    (tmp_path / "empty.txt").write_text("nothing here\n", encoding="utf-8")
    done = run(NOTES, "--commits", "empty.txt", "empty.txt", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("task", tasks("write-release-notes"), ids=lambda task: task["id"])
def test_worked_example_of_release_notes_passes_its_own_check(tmp_path, task):
    commits = re.search(r"```\n(.*?)```", task["prompt"], re.DOTALL)[1]
    notes = block(example("write-release-notes", task), "markdown")
    assert check_notes(tmp_path, notes, commits) == []


# review-diff


def test_added_lines_have_the_numbers_of_the_new_file(repository):
    file = repository / "a.txt"
    file.write_text("".join(f"line {n}\n" for n in range(60)), encoding="utf-8")
    git(repository, "add", "--all")
    git(repository, "commit", "-m", "base")
    lines = file.read_text("utf-8").splitlines()
    changed = ["first", "-- looks like a header", *lines[:30], "++ so does this", *lines[33:]]
    file.write_text("\n".join(changed), encoding="utf-8")  # no line break at the end
    done = run(DIFF, "--added", text=git(repository, "diff"))
    assert done.returncode == 0
    for row in done.stdout.splitlines():
        place, text = row.split("\t")
        assert text[1:] == changed[int(place.removeprefix("a.txt:")) - 1]
    assert len(done.stdout.splitlines()) == 4  # the last line lost its line break


def test_removed_line_that_looks_like_a_header_is_a_line(repository):
    file = repository / "b.sql"
    file.write_text("select 1;\n-- a comment\n++ odd", encoding="utf-8")  # no last line break
    git(repository, "add", "--all")
    git(repository, "commit", "-m", "base")
    file.write_text("select 2;\n", encoding="utf-8")
    done = run(DIFF, text=git(repository, "diff"))
    assert done.stdout.splitlines() == [
        "b.sql:-\t-select 1;",
        "b.sql:-\t--- a comment",
        "b.sql:-\t-++ odd",
        "b.sql:1\t+select 2;",
    ]


def test_quoted_path_is_readable(repository):
    (repository / "größe.txt").write_text("x\n", encoding="utf-8")
    git(repository, "add", "--all")
    done = run(DIFF, text=git(repository, "diff", "--cached"))
    assert done.stdout == "größe.txt:1\t+x\n"


@pytest.mark.parametrize("text", ["", "hello\n", "+++ b/a\n@@ -1,2 +1,3 @@\n a\n+b\n"])
def test_incomplete_diff_is_refused(text):
    done = run(DIFF, text=text)
    assert done.returncode == 1
    assert done.stderr.startswith("number_diff: ")


@pytest.mark.parametrize("task", tasks("review-diff"), ids=lambda task: task["id"])
def test_worked_review_cites_lines_of_its_diff(task):
    done = run(DIFF, text=block(task["prompt"], "diff"))
    known = {row.split("\t")[0] for row in done.stdout.splitlines()}
    cited = re.findall(r"^- (?:\[\w+\] )?(\S+:\d+) ", example("review-diff", task), re.MULTILINE)
    assert cited
    assert set(cited) <= known


# fix-failing-tests


def junit(folder, *cases):
    suites = f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"
    (folder / "report.xml").write_text(suites, encoding="utf-8")
    return run(FAILURES, "report.xml", cwd=folder)


def failed(name, message, kind="failure"):
    return f'<testcase classname="t" name="{name}"><{kind} message="{message}"/></testcase>'


def test_failures_with_one_cause_are_one_group_and_the_largest_is_first(tmp_path):
    done = junit(
        tmp_path,
        failed("a", "KeyError: 'x'"),
        failed("b", "timeout after 3.1 s at 0x7f01", "error"),
        failed("c", "timeout after 12 s at 0x7f99", "error"),
        '<testcase classname="t" name="d"/>',
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["tests"], report["failed"]) == (1, 4, 3)
    assert [group["tests"] for group in report["groups"]] == [["t::b", "t::c"], ["t::a"]]


def test_passing_report_ends_with_0(tmp_path):
    assert junit(tmp_path, '<testcase name="a"/>').returncode == 0


@pytest.mark.parametrize("case", ["", '<testcase name="a"><skipped/></testcase>', "<broken"])
def test_report_in_which_nothing_ran_is_no_pass(tmp_path, case):
    done = junit(tmp_path, case)
    assert (done.returncode, done.stdout) == (2, "")


# commit-push-pr


def git(folder, *arguments, check=True):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    command = ["git", *identity, "-c", "commit.gpgsign=false", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=check)
    return done.stdout.decode("utf-8")


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message=root")
    return tmp_path


def preflight(folder, *arguments):
    done = run(PREFLIGHT, *arguments, cwd=folder)
    report = json.loads(done.stdout)
    assert done.returncode == (1 if report["blockers"] else 0)
    return report


def commit(folder, name, text, branch=None):
    if branch:
        git(folder, "switch", "--quiet", "--create", branch)
    (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "--", name)
    git(folder, "commit", "--quiet", f"--message={text}")


def test_topic_branch_with_changes_has_no_blocker(repository):
    commit(repository, "a.txt", "one", branch="fix/a")
    (repository / "a.txt").write_text("two", encoding="utf-8")
    (repository / "new file.txt").write_text("x", encoding="utf-8")
    (repository / "inner").mkdir()
    report = preflight(repository / "inner")
    assert (report["blockers"], report["branch"], report["base"]) == ([], "fix/a", "main")
    assert (report["unstaged"], report["untracked"]) == (["a.txt"], ["new file.txt"])


def test_base_branch_is_a_blocker(repository):
    assert "create a topic branch" in preflight(repository)["blockers"][0]
    assert preflight(repository, "--base", "develop")["blockers"] == []


def test_detached_head_is_a_blocker(repository):
    git(repository, "switch", "--quiet", "--detach")
    assert "detached HEAD" in preflight(repository)["blockers"][0]


@pytest.mark.parametrize(
    ("name", "expected"), [(".env", 1), ("server.pem", 1), (".env.example", 0), ("env.py", 0)]
)
def test_staged_secret_is_a_blocker(repository, name, expected):
    git(repository, "switch", "--quiet", "--create", "fix/a")
    (repository / name).write_text("x", encoding="utf-8")
    git(repository, "add", "--force", "--", name)
    assert len(preflight(repository)["blockers"]) == expected


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick"])
def test_half_done_operation_is_a_blocker(repository, operation):
    commit(repository, "a.txt", "one")
    commit(repository, "a.txt", "two", branch="fix/a")
    git(repository, "switch", "--quiet", "main")
    commit(repository, "a.txt", "three")
    git(repository, "switch", "--quiet", "fix/a")
    git(repository, operation, "main", check=False)
    report = preflight(repository)
    assert (report["in_progress"], report["unmerged"]) == (operation, ["a.txt"])
    assert any("half done" in line for line in report["blockers"])


def test_branch_behind_its_upstream_is_a_blocker(repository):
    commit(repository, "a.txt", "one", branch="fix/a")
    commit(repository, "a.txt", "two", branch="there")
    git(repository, "switch", "--quiet", "fix/a")
    git(repository, "branch", "--quiet", "--set-upstream-to=there")
    report = preflight(repository)
    assert (report["ahead"], report["behind"]) == (0, 1)
    assert report["blockers"] == ["1 commits behind there: integrate them first"]


def test_folder_outside_of_a_repository_is_refused(tmp_path):
    done = run(PREFLIGHT, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
