"""Verdicts from stored states: what happened to git, to files, and what the agent said."""

import json

import pytest
from evidence import CASES, OPEN, calls, decided, git, of_row, outcome, sha, verdict

from skilleval import assertions, engine
from skilleval.graders import state as state_grader
from skilleval.model import Case, Evidence, FileChange, Outcome, Rules, State
from skilleval.runfolder import serial
from skilleval.tools import Tools

PLAIN, HARD = CASES["deterministic_plain"], CASES["deterministic_hard"]


def grade_row(row):
    if row["assertion"] == "":
        return "error"  # refused when the suite is read: see formats/test_evals
    return decided(row["assertion"], of_row(row), row["should_trigger"])


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row["id"])
def test_plain_case_has_its_verdict(row):
    assert grade_row(row) == row["want"]


# rows that a rule may decide where the stored evidence proves the answer
PROVEN = {
    "neg-file-1": "pass",
    "msg-contains2": "pass",
    "two-commits": "fail",
    "contains-file": "fail",
}


@pytest.mark.parametrize("row", HARD, ids=lambda row: row["id"])
def test_hard_case_has_its_verdict(row):
    assert grade_row(row) == PROVEN.get(row["id"], row["want"])


FEAT = git("ba", "feat main", "feat")
COMMITTED = git("ba", subjects=["fix: Parser bug"])
TWO = git("cba", subjects=["feat: two", "wip"])
PUSHED = git("ba", "feat main", "feat", {"feat": "b"})
OPENED = git("ba", "feat main", "feat", {"feat": "b"}, [OPEN])
WORKED = outcome(now=OPENED)
IDLE = outcome()
GIT = [
    ("A branch was created", outcome(now=FEAT), "pass"),
    ("A branch was created", outcome(now=git(branches="main feat")), "fail"),
    ("A branch was created", IDLE, "fail"),
    ("A new branch named `feat` was created", outcome(now=FEAT), "pass"),
    ("A new branch named `release/2.0` was created", outcome(now=FEAT), "fail"),
    ("A branch named `feat` was not created", outcome(now=FEAT), "fail"),
    ("A branch named `other` was not created", outcome(now=FEAT), "pass"),
    ("Exactly two branches were created", outcome(now=FEAT), "fail"),
    ("Exactly two branches were created", outcome(now=git("a", "feat more main", "feat")), "pass"),
    ("At most one branch was created", IDLE, "pass"),
    ("At most one branch was created", outcome(now=git("a", "b1 b2 main", "b1")), "fail"),
    ("No more than 2 branches were created", outcome(now=git("a", "b1 b2 main", "main")), "pass"),
    ("The agent never created a branch", IDLE, "pass"),
    ("The agent didn’t create any branches", outcome(now=FEAT), "fail"),
    (
        "A branch was created",
        outcome(now=git("a", "main fix-HEAD-parsing", "fix-HEAD-parsing")),
        "pass",
    ),
    ("A branch was created", outcome(now=git(current="HEAD")), "fail"),
    ("A commit was created", outcome(now=COMMITTED), "pass"),
    ("A commit was created", outcome(now=git("a", "main", "main")), "fail"),
    ("At least two commits were created", outcome(now=COMMITTED), "fail"),
    ("At least two commits were created", outcome(now=TWO), "pass"),
    ("Exactly two new commits were created", outcome(now=TWO), "pass"),
    ("Only one commit was created", outcome(now=TWO), "fail"),
    ("No more than one commit was created", outcome(now=TWO), "fail"),
    ("No more than one commit was created", IDLE, "pass"),
    ("Not a single commit was made", IDLE, "pass"),
    ("Nothing was committed", outcome(now=COMMITTED), "fail"),
    ("A commit was created on the new branch", outcome(now=FEAT), "pass"),
    ("A commit was created on the new branch", outcome(now=COMMITTED), "fail"),
    ("A commit was created on branch `feat`", outcome(now=FEAT), "pass"),
    ("A commit was created on branch `feat`", outcome(now=COMMITTED), "fail"),
    ('The commit message contains "parser bug"', outcome(now=COMMITTED), "pass"),
    ('The commit message contains "login"', outcome(now=COMMITTED), "judge"),
    ('The commit message contains "login"', IDLE, "fail"),
    ('The commit message starts with "fix:"', outcome(now=COMMITTED), "pass"),
    ('The commit message starts with "feat:"', outcome(now=COMMITTED), "fail"),
    ('The commit message does not start with "feat:"', outcome(now=COMMITTED), "pass"),
    ('The commit message is "fix: parser bug"', outcome(now=COMMITTED), "pass"),
    ('The commit message is "fix"', outcome(now=COMMITTED), "fail"),
    ('The commit message does not contain "WIP"', outcome(now=TWO), "fail"),
    ('A commit with the message "wip" was created', outcome(now=TWO), "pass"),
    ("The branch was pushed", outcome(now=PUSHED), "pass"),
    ("The branch was pushed", outcome(now=FEAT), "fail"),
    ("Changes were pushed to remote", outcome(now=git("ba", remote={"main": "b"})), "pass"),
    ("Changes were pushed to remote", outcome(was=git("ba", remote={"main": "b"})), "fail"),
    ("The changes were pushed to `main`", outcome(now=PUSHED), "fail"),
    ("The changes were pushed to origin/feat", outcome(now=PUSHED), "pass"),
    ("The agent did not push to `main`", outcome(now=PUSHED), "pass"),
    ("Nothing was pushed", outcome(now=PUSHED), "fail"),
    ("Nothing was pushed", outcome(now=FEAT), "pass"),
    ("The new branch was pushed", outcome(now=git("ba", remote={"main": "b"})), "fail"),
    ("A new branch was created on the remote", outcome(now=PUSHED), "pass"),
    ("A pull request was opened", WORKED, "pass"),
    ("Exactly one PR was opened", WORKED, "pass"),
    ("Two PRs were opened", WORKED, "fail"),
    ("The agent did not open a PR", WORKED, "fail"),
    ("A PR was opened", outcome(now=git("ba", "main", prs=[OPEN])), "fail"),
    ("A branch was created and pushed", outcome(now=PUSHED), "pass"),
    ("A branch was created and pushed", outcome(now=FEAT), "fail"),
    ("A branch was created but no commit was made", outcome(now=FEAT), "fail"),
    (
        "A branch was created but no commit was made",
        outcome(now=git("a", "feat main", "feat")),
        "pass",
    ),
    ("The agent created a branch, committed the changes and opened a PR", WORKED, "pass"),
    (
        "The agent created a branch, committed the changes and opened a PR",
        outcome(now=PUSHED),
        "fail",
    ),
    ("No branches, commits or pull requests were created", IDLE, "pass"),
    ("No branches, commits or pull requests were created", outcome(now=COMMITTED), "fail"),
    ("The agent did not create a branch or open a PR", outcome(now=COMMITTED), "pass"),
    ("A branch was created and its name says what it is for", IDLE, "fail"),
    ("A branch was created and its name says what it is for", outcome(now=FEAT), "judge"),
    ("The branch policy was created", IDLE, "judge"),
    ("A branch was created and then deleted", IDLE, "judge"),
    ("The agent explains why a commit was created", IDLE, "judge"),
    ("If a branch was created, it was pushed", IDLE, "judge"),
]


@pytest.mark.parametrize(("text", "came", "want"), GIT)
def test_git_claim(text, came, want):
    assert decided(text, came) == want


CONTROLS = [
    ("A new branch was created", IDLE, "pass"),
    ("A new branch was created", outcome(now=FEAT), "fail"),
    ("A new branch was created", outcome(now=git(branches="main feat")), "fail"),
    ("No new branch was created", IDLE, "pass"),
    ("No new branch was created", outcome(now=FEAT), "fail"),
    ("Exactly two commits were created", outcome(now=COMMITTED), "fail"),
    ("Exactly two commits were created", IDLE, "pass"),
    ("At most one commit was created", outcome(now=COMMITTED), "fail"),
    ("A branch named `feat` was created", outcome(now=git("a", "x main", "x")), "pass"),
    ('The commit message contains "fix"', outcome(now=COMMITTED), "fail"),
    ('The commit message contains "fix"', IDLE, "pass"),
    ("Changes were pushed", outcome(now=PUSHED), "fail"),
    ("A branch was created and pushed", IDLE, "pass"),
    ("A branch was created and pushed", outcome(now=FEAT), "fail"),
    ("A commit was created with a good message", IDLE, "pass"),
    ("A commit was created with a good message", outcome(now=COMMITTED), "fail"),
    ("The file `a.md` exists", outcome({}, {"a.md": "x"}), "pass"),
    ("No file was created", outcome({}, {"a.md": "x"}), "fail"),
    ('The output contains "x"', outcome(output="x"), "pass"),
    ("The tone is polite", IDLE, "judge"),
]


@pytest.mark.parametrize(("text", "came", "want"), CONTROLS)
def test_negative_control(text, came, want):
    assert decided(text, came, should_trigger=False) == want


BEFORE = {"a.py": "1", "b.py": "2", "docs/c.md": "3"}
SAME = outcome(BEFORE)
EDITED = outcome(BEFORE, {**BEFORE, "a.py": "new"})
ADDED = outcome(BEFORE, {**BEFORE, "out/report.md": "Total: 42", "x.csv": ""})
REMOVED = outcome(BEFORE, {"a.py": "1", "docs/c.md": "3"})
FILES = [
    ("The file `a.py` exists", SAME, "pass"),
    ("The file `A.py` exists", SAME, "fail"),
    ("The file `a.py` was created", SAME, "fail"),
    ("The file `a.py` was created", EDITED, "pass"),
    ("The file `a.py` was not created", EDITED, "pass"),
    ("The file `c.md` exists", SAME, "pass"),
    ("The file `./docs/c.md` exists", SAME, "pass"),
    ("The file `docs/../a.py` exists", SAME, "pass"),
    ("The file `ocs/c.md` exists", SAME, "fail"),
    ("The file `../a.py` exists", SAME, "fail"),
    ("The file `../a.py` was not created", SAME, "judge"),
    ("The file `C:\\a.py` exists", SAME, "fail"),
    ("The file `report.md` was created", ADDED, "pass"),
    ("The agent wrote a report to `report.md`", SAME, "fail"),
    ("The agent wrote a report to `report.md`", ADDED, "judge"),
    ("`report.md` and `missing.md` exist", ADDED, "fail"),
    ("`report.md` or `missing.md` exists", ADDED, "pass"),
    ("Neither `report.md` nor `missing.md` was created", ADDED, "fail"),
    ("At least one of `missing.md` and `x.csv` exists", ADDED, "pass"),
    ("A file was created", ADDED, "pass"),
    ("A file was created", SAME, "fail"),
    ("Exactly two files were created", ADDED, "pass"),
    ("Exactly one Markdown file was created", ADDED, "pass"),
    ("At least one `.csv` file was created in `out/`", ADDED, "fail"),
    ("At least one Markdown file was created in `out/`", ADDED, "pass"),
    ("No new file was created", ADDED, "fail"),
    ("No new file was created", EDITED, "pass"),
    ("No files were created or modified", EDITED, "fail"),
    ("No files were created or modified", REMOVED, "pass"),
    ("No files were modified", SAME, "pass"),
    ("The agent did not modify any files", EDITED, "fail"),
    ("The workspace is unchanged", SAME, "pass"),
    ("The workspace is unchanged", ADDED, "fail"),
    ("The workspace is unchanged", REMOVED, "fail"),
    ("`a.py` is unchanged", SAME, "pass"),
    ("`a.py` is unchanged", EDITED, "fail"),
    ("`b.py` is unchanged", REMOVED, "fail"),
    ("`typo.py` is unchanged", SAME, "judge"),
    ("`a.py` was modified", EDITED, "pass"),
    ("`a.py` was modified", SAME, "fail"),
    ("`b.py` was deleted", REMOVED, "pass"),
    ("`b.py` no longer exists", REMOVED, "pass"),
    ("`b.py` was deleted", SAME, "fail"),
    ("`typo.py` was deleted", REMOVED, "fail"),
    ("`b.py` was not deleted", REMOVED, "fail"),
    ("`b.py` does not exist", REMOVED, "pass"),
    ("Only `a.py` was modified", EDITED, "pass"),
    ("Only `a.py` was modified", outcome(BEFORE, {**BEFORE, "a.py": "n", "b.py": "n"}), "fail"),
    ("Only `a.py` was modified", outcome(BEFORE, {**BEFORE, "a.py": "n", "n.py": "n"}), "judge"),
    ("Only `a.py` was modified", SAME, "fail"),
    ("No files other than `a.py` were changed", EDITED, "pass"),
    ("No files other than `a.py` were changed", SAME, "pass"),
    ("No files other than `a.py` were changed", REMOVED, "fail"),
    ("`x.csv` is empty", ADDED, "pass"),
    ("`a.py` is not empty", SAME, "pass"),
    ("`missing.py` is not empty", SAME, "fail"),
    ("The folder `docs` exists", SAME, "pass"),
    ("The folder `out` was created", ADDED, "pass"),
    ("The folder `lib` exists", SAME, "judge"),
    ("The folder `docs` does not exist", SAME, "fail"),
    ("The file `*.csv` exists", ADDED, "pass"),
    ("No `*.log` file was created", ADDED, "pass"),
    ("The file `SKILL.md` exists", outcome({}, {".codex/skills/x/SKILL.md": "x"}), "fail"),
    ("The file `re\u0301.md` exists", outcome({}, {"r\u00e9.md": "x"}), "pass"),
    ("The file `r\u00e9.md` exists", outcome({}, {"re\u0301.md": "x"}), "pass"),
    ("The file “my report.md” exists", outcome({}, {"my report.md": "x"}), "pass"),
    ("The file `[id].tsx` exists", outcome({}, {"app/[id].tsx": "x"}), "pass"),
    ("The file `[id].tsx` exists", outcome({}, {"app/i.tsx": "x"}), "fail"),
    ("The file `a.md` was created with a good structure", SAME, "fail"),
    ("`a.py` was not modified to please the linter", EDITED, "judge"),
    ("The change to `a.py` is minimal", EDITED, "judge"),
]


@pytest.mark.parametrize(("text", "came", "want"), FILES)
def test_file_claim(text, came, want):
    assert decided(text, came) == want


def said(text, files=None, before=None):
    return outcome(before or {}, files or before or {}, output=text)


DONE = {"report.md": "# Report\r\nTotal: 42\n", "data.json": '{"a": [1, 2.5]}'}
TEXTS = [
    ('The output contains "alpha" and "beta"', said("ALPHA, Beta"), "pass"),
    ('The output contains "alpha" or "beta"', said("beta"), "pass"),
    ('The output contains "alpha" or "beta"', said("none"), "fail"),
    ('The output contains at least one of "a1", "b1" and "c1"', said("b1"), "pass"),
    ('The output contains no "TODO"', said("done"), "pass"),
    ('The output contains no "TODO"', said("todo: more"), "fail"),
    ('The output contains neither "a1" nor "b1"', said("b1"), "fail"),
    ('The output doesn’t contain "a1" or "b1"', said("c1"), "pass"),
    ('"x1" does not appear in the output', said("x1"), "fail"),
    ('The output contains "x1" but not "y1"', said("y1"), "judge"),
    ("The output includes “x1”", said("x1"), "pass"),
    ("The output includes 'x1'", said("x1"), "pass"),
    ('The output contains "Straße"', said("STRASSE"), "pass"),
    ('The output contains "cafe\u0301"', said("CAF\u00c9"), "pass"),
    ('The output contains "a\nb"', said("a\r\nb"), "pass"),
    ('The output contains "x1" twice', said("x1 x1"), "judge"),
    ('The output contains "x1" at the end', said("x1 y"), "judge"),
    ('The output contains "x1" at the end', said("y"), "fail"),
    ('The output contains "thank you" in French', said("merci"), "judge"),
    ('The output contains "x1" if it worked', said("no"), "judge"),
    ('report.md contains "Total: 42"', said("", DONE), "pass"),
    ('report.md contains "Total: 43"', said("Total: 43", DONE), "fail"),
    ('report.md contains "# report\ntotal"', said("", DONE), "pass"),
    ('missing.md contains "x1"', said("x1", DONE), "fail"),
    ('missing.md does not contain "x1"', said("", DONE), "fail"),
    ('report.md does not contain "x1"', said("", DONE), "pass"),
    ('The text "Total: 42" appears in report.md', said("", DONE), "pass"),
    ('`report.md` exists and contains "Total"', said("", DONE), "pass"),
    ('`report.md` exists and contains "Sum"', said("", DONE), "fail"),
    ('The release notes contain "x1"', said("x1"), "judge"),
    ("The output is valid JSON", said('  {"a": 1}\n'), "pass"),
    ("The output is valid JSON", said('{"a": NaN}'), "fail"),
    ("The output is valid JSON", said("[1,]"), "fail"),
    ("The output is valid JSON", said("{} {}"), "fail"),
    ("The output is valid JSON", said("9" * 5000), "pass"),
    ("The output is valid JSON", said("[" * 100_000), "judge"),
    ("The output is not valid JSON", said("x"), "pass"),
    ("The output is valid JSON", said(""), "fail"),
    ("The output is a valid JSON object", said("[]"), "fail"),
    ("The output is a JSON array", said("[]"), "pass"),
    ("The output is a valid JSON number", said("true"), "fail"),
    ("The output is a valid JSON number", said("1"), "pass"),
    ('The output is valid JSON with a key "a"', said("{}"), "fail"),
    ('The output is valid JSON with a key "a"', said("x"), "fail"),
    ("`data.json` is valid JSON", said("", DONE), "pass"),
    ("`report.md` is valid JSON", said("{}", DONE), "fail"),
    ("`missing.json` is valid JSON", said("{}", DONE), "fail"),
    ("`missing.json` is invalid JSON", said("{}", DONE), "fail"),
]


@pytest.mark.parametrize(("text", "came", "want"), TEXTS, ids=[row[0][:40] for row in TEXTS])
def test_text_claim(text, came, want):
    assert decided(text, came) == want


def kept(note, content="", size=100):
    return outcome({}, {"r.md": FileChange("", size, content, note)})


@pytest.mark.parametrize(
    ("text", "came", "want"),
    [
        ('r.md contains "x1"', kept("cut", "x1 and more"), "pass"),
        ('r.md contains "x1"', kept("cut", "other"), "judge"),
        ('r.md does not contain "x1"', kept("cut", "other"), "judge"),
        ('r.md does not contain "x1"', kept("cut", "x1"), "fail"),
        ('r.md contains "x1"', kept("binary"), "judge"),
        ('r.md contains "x1"', kept("not kept"), "judge"),
        ("r.md is valid JSON", kept("cut", "{}"), "judge"),
    ],
)
def test_what_was_not_stored_is_not_guessed(text, came, want):
    assert decided(text, came) == want


def test_an_unchanged_file_has_the_content_that_was_stored_before():
    before = {"r.md": FileChange("", 2, "x1")}
    came = outcome(before)
    [file] = came.after.files
    unchanged = file._replace(change=FileChange("r.md", 2, note="not kept"))
    came = came._replace(after=came.after._replace(files=(unchanged,)))
    assert decided('r.md contains "x1"', came) == "pass"


def test_a_folder_that_cannot_be_read_hides_what_may_be_in_it():
    came = outcome({}, {"locked/": FileChange("", 0, note="unreadable: Permission denied")})
    assert decided("`a.md` exists", came) == "judge"
    assert decided("`a.md` was not created", came) == "judge"
    assert decided("No file was created", came) == "judge"
    assert (
        decided(
            "No file was deleted",
            outcome({"locked/a": "1"}, {"locked/": FileChange("", 0, note="unreadable: x")}),
        )
        == "judge"
    )


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("A commit was created", "judge"),
        ("No commit was created", "judge"),
        ("`a.md` exists", "judge"),
        ('The output contains "x1"', "pass"),
    ],
)
def test_without_a_stored_state_only_the_output_is_judged(text, want):
    assert decided(text, Outcome("ok", output="x1")) == want


def test_a_repository_that_is_gone_holds_no_commit_and_proves_nothing_else():
    came = outcome()
    came = came._replace(after=came.after._replace(git={}))
    assert decided("A commit was created", came) == "fail"
    assert decided("No commit was created", came) == "judge"


def test_a_repository_that_git_could_not_read_proves_nothing():
    came = outcome({}, {"a.md": "x"}, now=git("ba"))
    came = came._replace(after=came.after._replace(git=None))
    for text in ("A commit was created", "The branch was pushed", "HEAD has not moved"):
        assert decided(text, came) == "judge"
    assert decided("No commit was created", came, should_trigger=False) == "judge"
    assert decided("`a.md` was created", came) == "pass"
    assert serial.from_json(Outcome, serial.to_json(came)).after.git is None


URL = "https://example.org/o/r.git"
UNTRACED = [
    ("The branch was pushed", f"git push {URL} main", "judge"),
    ("Nothing was pushed", f"git -C . push -u {URL} main", "judge"),
    ("Nothing was pushed", "git push git@example.org:o/r HEAD", "judge"),
    ("Nothing was pushed", "git push ../other main", "judge"),
    ("Nothing was pushed", 'git push "$REMOTE" main', "judge"),
    ("Nothing was pushed", f"git push --repo={URL}", "judge"),
    ("Nothing was pushed", f"git remote add x {URL}; git push x; git remote remove x", "judge"),
    ("Nothing was pushed", "git push origin main", "pass"),
    ("Nothing was pushed", "git push", "pass"),
    ("Nothing was pushed", f"git fetch {URL} main", "pass"),
    ("The branch was pushed", "git push origin main", "fail"),
    ("The branch was pushed", "git push nowhere main", "fail"),
    ("The agent did not push to `main`", f"git push {URL} feat:main", "judge"),
    ("The agent did not push to `main`", f"git push {URL} +refs/heads/main", "judge"),
    ("The agent did not push to `main`", f"git push {URL} HEAD", "judge"),
    ("The agent did not push to `main`", f"git push {URL} --all", "judge"),
    ("The agent did not push to `main`", f"git push {URL}", "judge"),
    ("The agent did not push to `main`", f"git push {URL} feat", "pass"),
    ("The branch `feat` was pushed", f"git push {URL} feat", "judge"),
    ("A commit was created", f"git push {URL} main", "fail"),
]


@pytest.mark.parametrize(("text", "command", "want"), UNTRACED)
def test_a_push_that_leaves_no_trace_decides_nothing(text, command, want):
    came = calls(command, now={**git(), "remote_names": ["origin"]})
    assert decided(text, came) == want


def test_a_push_that_is_seen_is_one_whatever_else_was_pushed():
    now = {**PUSHED, "remote_names": ["origin"]}
    came = calls(f"git push {URL} feat", now=now)
    assert decided("The branch was pushed", came) == "pass"
    assert decided("Nothing was pushed", came) == "fail"
    assert decided("Nothing was pushed", came, should_trigger=False) == "fail"


def test_pull_requests_that_nobody_could_list_are_unknown():
    now = {**git("ba", "feat main", "feat"), "open_prs": None}
    came = outcome(now=now)
    assert decided("A branch was created", came) == "pass"
    assert decided("A PR was opened", came) == "judge"
    assert decided("No PR was opened", came) == "judge"
    unseen = outcome(
        was={**git(), "open_prs": None}, now=git("ba", "feat main", "feat", prs=[OPEN])
    )
    assert decided("A PR was opened", unseen) == "judge"


def test_what_others_did_on_a_shared_remote_is_not_the_agents():
    theirs = {"number": 8, "headRefName": "theirs", "state": "OPEN"}
    now = {**git("a", remote={"theirs": "c"}, prs=[theirs]), "pushes": {}}
    came = outcome(now=now)
    for text, want in (
        ("A PR was opened", "fail"),
        ("No PR was opened", "pass"),
        ("Changes were pushed to remote", "fail"),
        ("Nothing was pushed", "pass"),
    ):
        assert (text, decided(text, came)) == (text, want)
    assert "for what it pushed" in verdict("A PR was opened", came).reason


@pytest.mark.parametrize("shared", [{}, {"pushes": {}}], ids=["own", "shared"])
def test_a_push_to_another_remote_is_a_push(shared):
    state = git("a", remote={"main": "a"})
    log = {"other_pushes": {"other": {"main": [["0" * 40, sha("a")]]}}}
    came = outcome(was=state, now={**state, **shared, **log})
    for text, want in (
        ("Nothing was pushed", "fail"),
        ("The agent did not push to `main`", "fail"),
        ("The agent did not push to `other/main`", "fail"),
        ("The agent did not push to `side`", "pass"),
        ("Changes were pushed to the remote", "pass"),
        ("The branch `main` was pushed", "pass"),
        ("The branch `side` was pushed", "fail"),
    ):
        assert (text, decided(text, came)) == (text, want)
    assert decided("Changes were pushed", came, should_trigger=False) == "fail"
    assert "'other/main'" in verdict("Nothing was pushed", came).reason


def test_a_new_branch_may_be_pushed_to_a_fork():
    was, now = git("a", remote={"main": "a"}), git("ba", "feat main", "feat", {"main": "a"})

    def pushed(letter):
        log = {"other_pushes": {"fork": {"feat": [["0" * 40, sha(letter)]]}}}
        return outcome(was=was, now={**now, "pushes": {}, **log})

    assert decided("The branch was pushed", pushed("b")) == "pass"
    assert decided("The branch was pushed", pushed("a")) == "fail"
    assert "its remote head is aaaaaa" in verdict("The branch was pushed", pushed("a")).reason


@pytest.mark.parametrize(("shared", "want"), [({}, "fail"), ({"pushes": {}}, "judge")])
def test_to_delete_a_branch_of_the_remote_is_to_push(shared, want):
    was, now = (git("a", remote=heads) for heads in ({"main": "a", "side": "a"}, {"main": "a"}))
    came = outcome(was={**was, **shared}, now={**now, **shared})
    assert decided("Nothing was pushed", came) == want
    assert decided("The agent did not push to `side`", came) == want
    assert decided("The agent did not push to `main`", came) == "pass"
    assert decided("Changes were pushed", came, should_trigger=False) == want
    assert decided("Changes were pushed to the remote", came) == "fail"
    assert "'side'" in verdict("Nothing was pushed", came).reason


def test_to_push_a_tag_is_to_push():
    state = git("a", remote={"main": "a"})
    came = outcome(was={**state, "remote_tags": {}}, now={**state, "remote_tags": {"v1": sha("a")}})
    assert decided("Nothing was pushed", came) == "fail"
    assert decided("The agent did not push to `main`", came) == "pass"


def test_what_the_agent_pushed_to_a_shared_remote_is_its_own():
    own = {"number": 7, "headRefName": "feat", "headRefOid": sha("b"), "state": "OPEN"}
    state = git("ba", "feat main", "feat", {"feat": "b", "theirs": "c"}, [own])
    came = outcome(now={**state, "pushes": {"feat": [["0" * 40, sha("b")]]}})
    assert decided("A PR was opened", came) == "pass"
    assert decided("The branch was pushed", came) == "pass"
    assert decided("The agent did not push to `theirs`", came) == "pass"


def test_a_rewritten_history_longer_than_the_list_is_all_new():
    was = {**git("a"), "commit_shas": [f"{n:040x}" for n in range(50)]}
    now = {**git("b"), "commit_shas": [f"{n:040x}" for n in range(100, 150)]}
    now["head_sha"] = now["commit_shas"][0]
    assert decided("A commit was created", outcome(was=was, now=now)) == "pass"


def test_a_stash_is_no_commit():
    subjects = ["WIP on main: aaaaaaa Initial commit", "index on main: aaaaaaa Initial commit"]
    now = {**git("cba", subjects=subjects), "head_sha": "a" * 40}
    assert decided("A commit was created", outcome(now=now)) == "fail"
    assert decided("No commit was created", outcome(now=now)) == "pass"


EVIDENCE = [
    ("A branch was created", IDLE, "new branches: none; current branch: 'main'"),
    ("A branch was created", outcome(now=git(branches="main feat")), "'main' is checked out"),
    ("Exactly two commits were created", outcome(now=COMMITTED), "asked for exactly 2"),
    (
        "The branch was pushed",
        outcome(now=git("cba", "feat main", "feat", {"feat": "b"})),
        "bbbbbb",
    ),
    (
        "A PR was opened",
        outcome(now=git("ba", "feat main", "feat", prs=[{**OPEN, "state": "CLOSED"}])),
        "#2 'feat' into 'main' CLOSED",
    ),
    ("The file `a.md` was created", ADDED, "no file 'a.md'; new files: 'out/report.md', 'x.csv'"),
    ("The file `a.py` was created", SAME, "was there before the agent, and has not changed"),
    (
        'The output contains "a1", "b1" and "c1"',
        said("b1"),
        "'a1', 'c1' is not in the output; 'b1' is",
    ),
    ("The output is valid JSON", said("{"), "the output is no valid JSON: "),
]


@pytest.mark.parametrize(("text", "came", "evidence"), EVIDENCE)
def test_evidence_names_what_was_found_and_looked_for(text, came, evidence):
    assert evidence in verdict(text, came).reason


def test_evidence_lists_the_first_few_of_many():
    came = outcome({}, {f"f{n}.md": "x" for n in range(100)})
    reason = verdict("No file was created", came).reason
    assert "and 92 more" in reason
    assert len(reason) < 200


def test_undecided_is_a_skip_that_a_judge_can_take_over():
    found = verdict("A branch was created and its name is short", outcome(now=FEAT))
    assert (found.status, found.score, found.method) == ("skip", None, "undecided")
    assert found.reason.startswith("so far it holds: ")


def test_decided_verdicts_are_deterministic_and_scored():
    for text, score in (("A branch was created", 1), ("No branch was created", 0)):
        found = verdict(text, outcome(now=FEAT))
        assert (found.score, found.method) == (score, "deterministic")


def test_verdicts_are_the_same_from_the_stored_outcome():
    rows = [row for row in PLAIN + HARD if row["assertion"]]
    for row in rows:
        came = of_row(row)
        stored = serial.from_json(Outcome, json.loads(json.dumps(serial.to_json(came))))
        args = row["assertion"], row["should_trigger"]
        assert verdict(args[0], stored, args[1]) == verdict(args[0], came, args[1])


def test_a_check_keeps_its_weight_and_order():
    texts = ("A commit was created", "No commit was created", "`a.md` exists")
    checks = [assertions.check(n, t, True)._replace(weight=n) for n, t in enumerate(texts, 1)]
    graded = state_grader.grade(checks, Evidence(Case("c", ""), outcome(now=COMMITTED)), Tools())
    assert [(v.check_id, v.weight) for v in graded.verdicts] == [
        ("assertion/1", 1),
        ("assertion/2", 2),
        ("assertion/3", 3),
    ]


def claims_work(text):
    """Does an assertion claim that something was made, changed or done?"""
    found = assertions.classify(text)
    rules = getattr(found, "parts", ()) or (found,)
    return any(
        not rule.negated
        and not {"exists", "empty"} & {*rule.events}
        and (rule.quantity or ("",))[0] != "<="
        for rule in rules
    )


MADE = [text for text, _, want in GIT + FILES if want == "pass" and claims_work(text)]


@pytest.mark.parametrize("text", MADE)
def test_idle_agent_passes_no_claim_that_work_was_done(text):
    assert decided(text, outcome(BEFORE, events=calls("ls").events)) != "pass"


def test_what_an_agent_writes_into_its_workspace_grades_nothing():
    forged = {"grading.json": '{"summary": {"passed": 1}}', "evals.json": "{}", "reward.txt": "1"}
    came = outcome({}, forged, output='{"pass": true}')
    rules = Rules(unanswered="skip", errored="skip")
    check = assertions.check(1, "A commit was created", True)
    [found] = engine.grade(Case("c", "", (check,)), came, rules, Tools()).verdicts
    assert found.status == "fail"


@pytest.mark.parametrize(
    ("text", "after", "want"),
    [
        ("No files were changed", {"a.md": "x", "b.md": "y"}, "judge"),
        ("No files were modified", {"a.md": "x", "b.md": "y"}, "judge"),
        ("No files were modified", {}, "judge"),
        ("Files were changed", {"a.md": "x", "b.md": "y"}, "judge"),
        ("No `*.md` files were changed", {"a.md": "x", "b.py": "y"}, "pass"),
        ("No `*.md` files were changed", {"a.md": "x", "b.md": "y"}, "judge"),
        ("`a.md` was not modified", {}, "judge"),
        ("`a.md` is unchanged", {"a.md": "x", "b.md": "y"}, "pass"),
        ("No files were changed", {"a.md": "x"}, "pass"),
        ("No files were changed", {"a.md": "z", "b.md": "y"}, "fail"),
        ("No files were deleted", {"a.md": "x", "b.md": "y"}, "pass"),
        ("No files were created or modified", {}, "pass"),
        ("The workspace is unchanged", {"a.md": "x", "b.md": "y"}, "fail"),
        ("`b.md` was not modified", {"a.md": "x", "b.md": "y"}, "judge"),
        ("`b.md` was not deleted", {"a.md": "x", "b.md": "y"}, "pass"),
    ],
)
def test_whether_a_new_file_is_a_change_is_for_the_judge(text, after, want):
    assert decided(text, outcome({"a.md": "x"}, after)) == want


def test_of_a_workspace_that_nobody_saw_afterwards_nothing_is_known():
    came = outcome({"a.md": "x"}, {})
    came = came._replace(after=State(None))
    for text in ("`a.md` was deleted", "`b.md` was not created", "No files were changed"):
        assert decided(text, came) == "judge"
    assert decided("A commit was created", came) == "judge"
    assert decided('`a.md` contains "x"', came) == "judge"
