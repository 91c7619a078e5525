"""Whole trials: real workspaces, real git, and an agent program whose prompt is a shell script."""

import contextlib
import json
import os
import re
import shutil
import threading
import time
from pathlib import Path

import pytest
from evidence import decided
from harness_fake import (
    SKILL,
    Fake,
    arm,
    case,
    counting_git,
    environ,
    git,
    repository,
    skill,
    tools,
)

from skilleval.model import Delta, Outcome, Usage
from skilleval.process import TOKEN_NAME, owner
from skilleval.runfolder import serial
from skilleval.trial import harness, temporary

READS_THE_ANSWERS = "cat ../evals/evals.json"


@pytest.fixture
def run(tmp_path):
    """Runs a script as an agent; options are the arm's."""

    def trial(script, *, files=None, with_skill=True, annotations=None, given=None, **options):
        cases = case(script, tmp_path, files, **(annotations or {}))
        chosen = arm(tmp_path, with_skill, **options)
        return harness.run(Fake(), cases, chosen, given or tools(tmp_path))

    return trial


def is_alive(pid):
    """Does a process do anything? One that is dead may stay in /proc until its parent looks."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def paths(changes):
    return [change.path for change in changes]


# What the program is asked


@pytest.mark.parametrize(
    ("with_skill", "force", "sent"),
    [(True, True, "Use the $demo skill. do it"), (False, True, "do it"), (True, False, "do it")],
)
def test_skill_is_named_only_where_a_case_forces_it(tmp_path, with_skill, force, sent):
    assert harness.prompt(case("do it", force=force), arm(tmp_path, with_skill)) == sent


def test_program_is_asked_all_that_the_arm_says(tmp_path):
    asked = []

    class Noting(Fake):
        def argv(self, ask):
            asked.append(ask)
            return super().argv(ask)

    options = {"effort": "high", "base_url": "http://x", "max_budget_usd": 0.5}
    harness.run(
        Noting(HELP=("echo", "--flag")), case("pwd"), arm(tmp_path, **options), tools(tmp_path)
    )
    [ask] = asked
    assert ask._replace(workspace="", home="") == harness.Ask(
        prompt="pwd",
        workspace="",
        home="",
        model="model-1",
        effort="high",
        base_url="http://x",
        max_budget_usd=0.5,
        version="harness-agent 1.2.3",
        help="--flag",
    )
    assert (os.path.basename(ask.workspace), os.path.basename(ask.home)) == ("workspace", "home")


def test_version_is_recorded_and_asked_once(tmp_path, run):
    calls = tmp_path / "calls"
    program = tmp_path / "bin" / "harness-agent"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $1 >> {calls}\necho v7\n")
    program.chmod(0o755)
    given = tools(tmp_path, PATH=f"{program.parent}:/bin:/usr/bin")
    for _ in "ab":
        assert "harness-agent --version: v7" in run("x", given=given).notes
    assert calls.read_text().split() == ["--version", "--", "--"]


def test_program_starts_in_its_workspace_with_its_variables(run):
    outcome = run("pwd; echo $ASKED_MODEL; cat; echo $HOME")
    folder, model, home = outcome.output.splitlines()
    assert (os.path.basename(folder), model) == ("workspace", "model-1")
    assert home == os.path.join(os.path.dirname(folder), "home")


def test_program_is_given_its_input(tmp_path):
    class Reading(Fake):
        def stdin(self, ask):
            return f"{ask.prompt} by stdin".encode()

        def argv(self, ask):
            return ["cat"]

    outcome = harness.run(Reading(), case("asked"), arm(tmp_path), tools(tmp_path))
    assert outcome.output == "asked by stdin"


def test_everything_it_starts_carries_the_token(run):
    told = run(f"sh -c 'echo ${TOKEN_NAME}'").output
    assert re.fullmatch(f"{owner.ours().token}:[0-9a-f]{{32}}", told)


# What comes of it


def test_outcome_holds_files_before_and_after_and_the_change(run):
    files = {"files/same.txt": "same", "files/old.txt": "old", "files/gone.txt": "gone"}
    outcome = run("echo new > new.txt; echo more >> old.txt; rm gone.txt; echo said", files=files)
    assert (outcome.status, outcome.output, outcome.exit_code) == ("ok", "said", 0)
    delta = outcome.delta
    assert (paths(delta.added), paths(delta.modified), delta.deleted) == (
        ["new.txt"],
        ["old.txt"],
        ("gone.txt",),
    )
    after = {file.change.path: file.change.content for file in outcome.after.files}
    assert after == {"same.txt": "same", "old.txt": "oldmore\n", "new.txt": "new\n"}
    assert [file.change.path for file in outcome.before.files] == [
        "gone.txt",
        "old.txt",
        "same.txt",
    ]
    assert outcome.after.git["status_porcelain"] == [" D gone.txt", " M old.txt", "?? new.txt"]


def test_outcome_holds_the_change_of_git(run):
    outcome = run("git checkout -q -b feat; git commit -q --allow-empty -m 'fix: it'")
    assert outcome.delta.git["new_branches"] == ["feat"]
    assert [line[8:] for line in outcome.delta.git["new_commits"]] == ["fix: it"]
    assert outcome.before.git["current_branch"] == "main"
    assert outcome.after.git["current_branch"] == "feat"


def test_push_is_seen_and_reaches_no_source(tmp_path, run):
    source = repository(tmp_path / "source")
    script = "git commit -q --allow-empty -m x; git push -q origin main 2>&1"
    outcome = run(script, source_repo=str(source))
    assert outcome.delta.git["pushed_branches"] == ["main"]
    assert git(source, "log", "-1", "--format=%s") == "commit 0"


def test_push_to_a_source_by_address_reaches_it(tmp_path, run):
    source = repository(tmp_path / "source")
    outcome = run("git push -q origin main:feat", source_repo=f"file://{source}")
    assert outcome.delta.git["new_remote_branches"] == ["feat"]
    assert git(source, "branch", "--list", "feat")


def test_push_to_another_remote_and_a_deletion_are_seen(tmp_path, run):
    source = repository(tmp_path / "source")
    git(source, "branch", "side")
    git(tmp_path, "init", "-q", "--bare", "other.git")
    script = f"git remote add other {tmp_path}/other.git; git push -q other main 2>&1;"
    outcome = run(f"{script} git push -q origin --delete side", source_repo=str(source))
    assert outcome.delta.git["pushed_branches"] == ["other/main"]
    assert outcome.delta.git["deleted_remote_branches"] == ["side"]
    assert "side" in git(source, "branch", "--list", "side")


def test_branch_of_another_trial_on_a_shared_remote_is_not_ones_own(tmp_path, run):
    repository(tmp_path / "source")
    git(tmp_path, "clone", "-q", "--bare", "source", "shared.git")
    address = f"file://{tmp_path}/shared.git"
    commit = "git commit -q --allow-empty -m"
    other = run(f"{commit} x; git push -q origin HEAD:refs/heads/theirs", source_repo=address)
    assert git(tmp_path / "shared.git", "rev-parse", "theirs") == other.after.git["head_sha"]
    one = run("git fetch -q; git push -q origin HEAD:refs/heads/mine", source_repo=address)
    idle = run("git fetch -q; git checkout -q theirs", source_repo=address)
    assert "theirs" in one.after.git["remote_branches"]
    pushed = [each.delta.git["pushed_branches"] for each in (other, one, idle)]
    assert pushed == [["theirs"], ["mine"], []]
    assert idle.delta.git["new_remote_branches"] == []
    commits = [len(each.delta.git["new_commit_shas"]) for each in (other, one, idle)]
    assert commits == [1, 0, 0]
    merged = run(f"git pull -q origin theirs; {commit} y", source_repo=address)
    assert merged.delta.git["new_commit_shas"] == [merged.after.git["head_sha"]]


def test_outcome_survives_storage(run):
    outcome = run(
        "echo x > a; git add a; git commit -qm a; echo '@tokens 5 6'; echo '@skills demo'"
    )
    stored = json.loads(json.dumps(serial.to_json(outcome)))
    assert serial.from_json(Outcome, stored) == outcome


def test_silent_agent_that_ends_well_is_graded(run):
    outcome = run("true")
    assert (outcome.status, outcome.output, outcome.failure) == ("ok", "", "")


def test_skill_and_droppings_are_no_change(run):
    outcome = run(
        "echo x > .fake-log; mkdir -p .fake/sub; echo x > .fake/sub/y; cat .fake/skills/demo/SKILL.md"
    )
    assert (paths(outcome.delta.added), outcome.delta.git["new_commits"]) == ([], [])
    assert outcome.after.git["status_porcelain"] == []


def test_commit_of_everything_does_not_hold_the_skill(run):
    outcome = run("echo x > a; git add --all; git commit -qm all; git ls-tree -r --name-only HEAD")
    assert outcome.output == "a"


def test_raw_output_is_kept(run):
    outcome = run("echo '@tokens 1 2'; echo said; echo oops >&2")
    assert (outcome.stdout, outcome.stderr) == ("@tokens 1 2\nsaid\n", "oops\n")


def test_model_and_session_that_the_program_tells_are_kept(run):
    outcome = run("echo '@model big-1 s-7'; echo said")
    assert (outcome.model, outcome.session) == ("big-1", "s-7")


def test_flood_of_output_is_cut_and_told(run):
    outcome = run("head -c 30000000 /dev/zero | tr '\\0' x")
    assert len(outcome.stdout) < 11_000_000
    assert any("cut out of the middle: " in note for note in outcome.notes)


def test_process_left_behind_is_ended_and_told(run):
    outcome = run("setsid sleep 300 & echo $!")
    assert "left running, and ended: 1 process" in outcome.notes
    assert not is_alive(outcome.output)


def test_workspace_is_kept_when_asked_and_named(tmp_path, run):
    outcome = run("echo x > a", given=tools(tmp_path, SKILL_EVAL_KEEP_WORKSPACE="1"))
    assert f"workspace kept: {outcome.source}/workspace" in outcome.notes
    assert Path(outcome.source, "workspace", "a").exists()
    assert Path(outcome.source, temporary.MARKER).exists()


def test_workspace_of_a_trial_that_could_not_begin_is_kept_and_named(tmp_path, run):
    given = tools(tmp_path, SKILL_EVAL_KEEP_WORKSPACE="1")
    outcome = run("true", given=given, skill=str(tmp_path / "none"))
    assert outcome.status == "error"
    assert f"workspace kept: {outcome.source}/workspace" in outcome.notes
    assert Path(outcome.source, "workspace").exists()


# How it fails


def test_missing_program_is_infrastructure(tmp_path):
    outcome = harness.run(Fake(PROGRAM="no-such-agent"), case("x"), arm(tmp_path), tools(tmp_path))
    assert (outcome.status, outcome.failure) == ("error", "infrastructure")
    assert "not found on PATH; install it" in outcome.error


def test_failed_program_that_did_something_is_graded_and_told(run):
    outcome = run("echo x > a; echo why >&2; exit 3")
    assert (outcome.status, outcome.failure, outcome.exit_code) == ("ok", "agent", 3)
    assert "agent: exit code 3: why" in outcome.notes


def test_failed_program_that_did_nothing_is_an_error(run):
    outcome = run("echo why >&2; exit 3")
    assert (outcome.status, outcome.failure) == ("error", "agent")
    assert outcome.error == "exit code 3: why"


def test_timeout_with_something_to_show_is_graded(run):
    outcome = run("echo x > right.txt; sleep 60", timeout_s=0.3)
    assert (outcome.status, outcome.timed_out, outcome.failure) == ("ok", True, "timeout")
    assert paths(outcome.delta.added) == ["right.txt"]


def test_timeout_with_nothing_to_show_is_an_error(run):
    outcome = run("sleep 60", timeout_s=0.3)
    assert (outcome.status, outcome.timed_out, outcome.failure) == ("error", True, "timeout")
    assert "timed out after 0.3 s" in outcome.error


def test_agent_that_ignores_its_end_changes_nothing_after_it(tmp_path, run):
    trace = tmp_path / "trace"
    script = f"trap '' TERM; while :; do echo x >> {trace}; sleep 0.05; done"
    outcome = run(script, timeout_s=0.3)
    size = trace.stat().st_size
    time.sleep(0.3)
    assert outcome.timed_out
    assert trace.stat().st_size == size


@pytest.mark.parametrize("kind", ["infrastructure", "permission", "budget"])
def test_failure_around_the_agent_is_no_grade_whatever_it_did(run, kind):
    outcome = run(f"echo x > a; echo '@fail {kind} 401'; echo said")
    assert (outcome.status, outcome.failure, outcome.error) == ("error", kind, "401")


def test_failure_that_a_program_tells_with_exit_code_0_counts(run):
    outcome = run("echo '@fail agent gave up'")
    assert (outcome.status, outcome.failure, outcome.error) == ("error", "agent", "gave up")


@pytest.mark.parametrize("size", [200_000, 5_000_000])
def test_prompt_too_long_for_an_argument_says_what_to_do(run, size):
    outcome = run("x" * size)
    assert (outcome.status, outcome.failure) == ("error", "infrastructure")
    assert f"prompt of {size} bytes" in outcome.error
    assert "put the long text in a file of the case" in outcome.error


@pytest.mark.parametrize("text", ["a\0b", "lone \ud83d"], ids=["NUL", "surrogate"])
def test_prompt_that_no_argument_can_hold_is_an_error(run, text):
    outcome = run(text)
    assert (outcome.status, outcome.failure) == ("error", "infrastructure")
    assert outcome.error.startswith("cannot start 'harness-agent'")


def test_longest_prompt_that_fits_is_sent(run):
    prefix = "printf %s $0 | head -c 7; exit; #"
    assert run(prefix + "x" * (131_071 - len(prefix))).output == "/bin/sh"


@pytest.mark.parametrize("text", ["--help me", "-x", 'a\nb; $HOME `id` "q" {{x}} %s'])
def test_prompt_is_handed_over_as_it_is(tmp_path, text):
    class Echo(Fake):
        def argv(self, ask):
            return ["printf", "%s", ask.prompt]

    assert harness.run(Echo(), case(text), arm(tmp_path), tools(tmp_path)).output == text


# What an agent may do to its workspace


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("rm -rf .git", "the workspace has no git repository any more"),
        ("rm -rf ../workspace", "the workspace is gone: No such file or directory"),
        ("rm -rf ../workspace; ln -s / ../workspace", "the workspace is gone: is a link now"),
        ('rm -rf "$(dirname "$PWD")"', "the workspace is gone: No such file or directory"),
        ("echo x > .git/HEAD", "the state of git is unknown: git for-each-ref: "),
        ("rm -rf .git; ln -s /etc .git", "the workspace has no git repository any more"),
    ],
)
def test_ruined_workspace_is_an_outcome_with_a_note(tmp_path, run, script, note):
    outcome = run(f"{script}; echo done", files={"files/a.txt": "A"})
    assert (outcome.status, outcome.output) == ("ok", "done")
    assert any(found.startswith(note) for found in outcome.notes)
    assert outcome.after.git == (None if "unknown" in note else {})
    assert outcome.delta.git == {}
    assert "A" in [file.change.content for file in outcome.before.files]
    assert not list((tmp_path / "temporary").glob("skilleval-*/trial-*"))


@pytest.mark.parametrize("taken", ["workspace", "folder", "all"])
def test_workspace_that_another_agent_took_away_before_the_start_is_made_again(
    tmp_path, run, taken
):
    @contextlib.contextmanager
    def seat():
        [folder] = (tmp_path / "temporary").glob("skilleval-*/trial-*")
        gone = {"workspace": folder / "workspace", "folder": folder, "all": folder.parent}
        shutil.rmtree(gone[taken])
        yield

    given = tools(tmp_path)._replace(seat=seat)
    outcome = run("cat a.txt; echo x > made", files={"files/a.txt": "A"}, given=given)
    assert (outcome.status, outcome.output) == ("ok", "A")
    assert paths(outcome.delta.added) == ["made"]
    assert outcome.skills == ("demo",)


def test_agent_that_locks_the_folder_of_all_trials_locks_nobody_out(tmp_path, run):
    outcome = run("echo x > made; chmod 000 ../..; echo done")
    assert (outcome.status, outcome.output) == ("ok", "done")
    [shared] = (tmp_path / "temporary").glob("skilleval-*")
    assert shared.stat().st_mode & 0o777 == 0o700
    assert list(shared.glob("trial-*")) == []


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf $HOME",
        "chmod -R 000 .",
        "chmod 000 .. . .git $HOME",
        "mkfifo p; ln -s p q; ln -s /etc e",
    ],
)
def test_locked_or_odd_workspace_is_an_outcome_and_is_removed(tmp_path, run, script):
    outcome = run(f"echo x > made.txt; {script}; echo done")
    assert (outcome.status, outcome.output) == ("ok", "done")
    assert "made.txt" in paths(outcome.delta.added)
    assert not list((tmp_path / "temporary").glob("skilleval-*/trial-*"))


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf ../workspace",
        "rm -rf ../workspace; ln -s / ../workspace",
        "mv ../workspace ../other; ln -s other ../workspace",
    ],
)
def test_files_of_a_workspace_that_is_gone_are_unknown_and_not_deleted(run, script):
    outcome = run(f"{script}; echo done", files={"files/a.txt": "A"})
    assert outcome.after.files is None
    assert outcome.delta == Delta()
    for claim in ("No file was created", "`b.md` was not created", "`a.txt` was deleted"):
        assert decided(claim, outcome) == "judge"
    assert decided("A commit was created", outcome) == "judge"


def test_repository_above_does_not_become_the_evidence(tmp_path, run):
    run("true")  # the temporary folder is chosen now, and lies in no repository yet
    git(tmp_path, "init", "-q", "-b", "main")
    outcome = run("rm -rf .git; git checkout -b stolen; git commit --allow-empty -m stolen")
    assert git(tmp_path, "for-each-ref") == ""
    assert outcome.delta.git.get("new_branches", []) == []


def test_grading_of_the_agents_own_is_just_a_file(run):
    outcome = run('echo \'{"summary": {"pass_rate": 1}}\' | tee grading.json ../grading.json')
    assert paths(outcome.delta.added) == ["grading.json"]


def test_source_that_cannot_be_cloned_is_infrastructure(run):
    outcome = run("echo started", source_repo="http://127.0.0.1:9/o/r")
    assert (outcome.status, outcome.failure, outcome.output) == ("error", "infrastructure", "")
    assert "source repository http://127.0.0.1:9/o/r: git clone: " in outcome.error


def test_workspace_that_cannot_be_made_is_infrastructure(tmp_path, run):
    skill(tmp_path)
    (tmp_path / "skills" / SKILL / "loop").symlink_to(".")
    outcome = run("echo started")
    assert (outcome.status, outcome.failure, outcome.output) == ("error", "infrastructure", "")
    assert "cannot furnish" in outcome.error


def test_attempt_whose_workspace_cannot_be_made_loses_no_earlier_one(tmp_path, run):
    spoilt = f"echo '@tokens 10 1'; ln -s . {tmp_path}/skills/{SKILL}/loop; echo said; exit 3"
    outcome = run(spoilt, retries=1)
    assert (outcome.status, outcome.failure, outcome.attempts) == ("error", "infrastructure", 1)
    assert "cannot furnish" in outcome.error
    assert (outcome.usage.input, outcome.exit_code) == (10, 3)
    assert "said" in outcome.stdout
    assert "attempt 1: agent: exit code 3" in " ".join(outcome.notes)


# More than one attempt


@pytest.fixture
def counter(tmp_path):
    """A script that says in which attempt it is, and ends well in the third."""
    place = tmp_path / "attempts"
    return f'echo x >> {place}; n=$(wc -l < {place}); echo "try $n"; [ $n -ge 3 ] || exit 1'


def test_failed_attempt_is_repeated_in_a_workspace_as_new(run, counter):
    outcome = run(f"echo $HOME/*; echo x > $HOME/left; echo x > .fake/left; {counter}", retries=5)
    assert (outcome.status, outcome.attempts, outcome.failure) == ("ok", 3, "")
    assert outcome.output.splitlines()[0].endswith("/home/*")


def test_attempts_end_at_the_limit(run, counter):
    outcome = run(counter, retries=1)
    assert (outcome.attempts, outcome.failure, outcome.output) == (2, "agent", "try 2")


def test_pauses_between_attempts_grow(tmp_path, run, counter):
    pauses = []
    run(counter, retries=5, given=tools(tmp_path, sleep=pauses.append))
    assert pauses == [2.0, 4.0]


def test_all_attempts_are_in_the_outcome(run, counter):
    outcome = run(f"echo '@tokens 10 1'; echo err >&2; sleep 0.05; {counter}", retries=5)
    assert outcome.usage == Usage(30, 3, None, 1.5, "cli")
    assert outcome.seconds > 0.15
    assert [event.output.splitlines()[-1] for event in outcome.events] == ["try 1", "try 2"]
    assert "attempt 1: agent: exit code 1: err" in outcome.notes
    assert re.findall("--- attempt . ---|try .", outcome.stdout) == [
        *("--- attempt 1 ---", "try 1"),
        *("--- attempt 2 ---", "try 2"),
        *("--- attempt 3 ---", "try 3"),
    ]


def test_unknown_tokens_of_an_attempt_are_not_counted_as_none(run, tmp_path):
    script = f"[ -e {tmp_path}/x ] || {{ touch {tmp_path}/x; exit 1; }}; echo '@tokens 10 1'"
    outcome = run(script, retries=1)
    assert outcome.usage.input == 10
    assert "tokens of attempt 1 unknown, and not in the sum" in outcome.notes


@pytest.mark.parametrize(
    "change",
    [
        "echo x > left.txt",
        "git commit -q --allow-empty -m x",
        "git push -q origin main:b",
        "git tag t",
        "rm -rf .git",
    ],
)
def test_attempt_that_changed_something_is_not_repeated(tmp_path, run, counter, change):
    outcome = run(f"{change}; {counter}", retries=5, source_repo=str(repository(tmp_path / "s")))
    assert outcome.attempts == 1
    assert "not repeated after agent: attempt 1 had changed the workspace" in outcome.notes


@pytest.mark.parametrize(
    "script", ["echo '@fail permission no'; exit 1", "echo '@fail budget spent'; exit 1"]
)
def test_failure_that_repeating_cannot_help_is_not_repeated(run, script):
    assert run(script, retries=3).attempts == 1


def test_missing_program_is_not_looked_for_again(tmp_path):
    missing = Fake(PROGRAM="no-such-agent")
    assert harness.run(missing, case("x"), arm(tmp_path, retries=3), tools(tmp_path)).attempts == 1


def test_failure_around_the_agent_is_repeated(run):
    assert run("echo '@fail infrastructure 529'", retries=2).attempts == 3


# The arm is what it claims


def test_skills_are_those_that_the_program_lists(run):
    assert run("echo '@skills demo builtin'").skills == ("builtin", "demo")


def test_skills_are_those_on_disk_where_the_program_lists_none(run):
    assert run("true").skills == (SKILL,)
    assert run("true", with_skill=False).skills == ()


@pytest.mark.parametrize("listed", ["", "other", "demo-two"])
def test_arm_whose_program_does_not_list_the_skill_is_broken(run, listed):
    outcome = run(f"echo '@skills {listed}'; echo x > a; echo said")
    assert (outcome.status, outcome.failure) == ("error", "control")
    assert outcome.error == "control broken: fake-agent did not list the skill 'demo'"


@pytest.mark.parametrize("listed", ["demo", "other plugin:demo"])
def test_arm_without_the_skill_whose_program_lists_it_is_broken(run, listed):
    outcome = run(f"echo '@skills {listed}'; echo said", with_skill=False)
    assert (outcome.status, outcome.failure) == ("error", "control")


def test_arm_without_the_skill_that_used_it_is_broken(run):
    outcome = run("echo '@used demo'", with_skill=False)
    assert outcome.error == "control broken: the skill 'demo' was used in the arm without it"


def test_arm_without_the_skill_that_lists_others_is_fine(run):
    assert run("echo '@skills other demo2'", with_skill=False).status == "ok"


def test_skill_that_appears_during_a_run_without_it_breaks_the_arm(run):
    script = "mkdir -p $HOME/.claude/skills/demo; echo x > $HOME/.claude/skills/demo/SKILL.md"
    outcome = run(script, with_skill=False)
    assert outcome.failure == "control"
    assert outcome.error.endswith("(after the run)")


def test_skill_that_the_agent_removes_was_there(run):
    assert run("rm -rf .fake; echo said").status == "ok"


def test_arm_that_is_broken_beforehand_starts_no_program(tmp_path, run):
    environ(tmp_path)
    skill(tmp_path, SKILL, "user/.claude/skills")
    outcome = run(f"touch {tmp_path}/started", with_skill=False, home="user")
    assert (outcome.status, outcome.failure) == ("error", "control")
    assert not (tmp_path / "started").exists()


def test_ten_at_once_see_one_skill_each(tmp_path, run):
    run("true")
    found = []
    work = [
        threading.Thread(target=lambda: found.append(run("ls .fake/skills"))) for _ in range(10)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert [outcome.output for outcome in found] == [SKILL] * 10


# The answers did not leak


@pytest.mark.parametrize(
    "script",
    [
        READS_THE_ANSWERS,
        f"{READS_THE_ANSWERS} >&2",
        f"{READS_THE_ANSWERS} > copy.txt",
        f'git commit -q --allow-empty -m "$({READS_THE_ANSWERS})"',
        "find .. -name evals.json -exec grep -h . {} +",
    ],
)
def test_canary_in_what_comes_from_the_agent_is_contaminated(run, script):
    outcome = run(f"{script}; echo said")
    assert (outcome.status, outcome.failure) == ("error", "contaminated")
    assert "holds the canary" in outcome.error


def test_canary_in_an_earlier_attempt_counts(run, tmp_path):
    script = f"[ -e {tmp_path}/x ] || {{ touch {tmp_path}/x; {READS_THE_ANSWERS}; exit 1; }}"
    assert run(script, retries=1).failure == "contaminated"


def test_look_at_names_outside_is_no_leak(run):
    assert run("ls -R ..; find / -maxdepth 2 -name '*.json' 2> /dev/null; true").status == "ok"


def test_canary_is_not_in_the_agents_environment(run):
    assert temporary.canary() not in run("env").stdout


# What a trial costs


def test_trial_of_an_agent_that_does_nothing_costs_no_git_process(tmp_path, run):
    path, log = counting_git(tmp_path)
    given = tools(tmp_path, PATH=path)
    same, chosen = case("true", tmp_path, {"files/a.txt": "A"}), arm(tmp_path)
    assert harness.run(Fake(), same, chosen, given).status == "ok"
    assert log.read_text() == ""


def test_trial_costs_at_most_four_git_processes_of_ours(tmp_path):
    path, log = counting_git(tmp_path)
    real = shutil.which("git")
    given = tools(tmp_path, PATH=path)
    script = f"echo x > a; {real} add a; {real} commit -q --amend -m c; {real} branch b"
    same, chosen = case(script), arm(tmp_path)
    harness.run(Fake(), same, chosen, given)
    log.write_text("")
    outcome = harness.run(Fake(), same, chosen, given)
    assert outcome.delta.git["new_branches"] == ["b"]
    assert len(log.read_text().splitlines()) == 4


def test_pull_requests_are_part_of_the_state_of_a_source_on_github(tmp_path):
    """The clone is made by a git that takes the address for a folder of this machine."""
    source = repository(tmp_path / "source")
    folder = tmp_path / "fakes"
    folder.mkdir()
    (folder / "git").write_text(
        f"#!/bin/sh\nexec {shutil.which('git')} -c"
        f' url.{source}.insteadOf=https://github.com/o/r.git "$@"\n'
    )
    (folder / "gh").write_text('#!/bin/sh\necho \'[{"number": 4, "state": "OPEN"}]\'\n')
    for name in ("git", "gh"):
        (folder / name).chmod(0o755)
    given = tools(tmp_path, PATH=f"{folder}:{environ(tmp_path)['PATH']}")
    chosen = arm(tmp_path, source_repo="https://github.com/o/r.git")
    outcome = harness.run(Fake(), case("true"), chosen, given)
    assert outcome.before.git["open_prs"] == [{"number": 4, "state": "OPEN"}]
    assert outcome.after.git["open_prs_of"] == "o/r"
    assert outcome.delta.git["new_open_prs"] == []


def test_interrupt_leaves_no_folder(tmp_path):
    def interrupted(command):
        raise KeyboardInterrupt

    given = tools(tmp_path)
    harness.run(Fake(), case("true"), arm(tmp_path), given)
    with pytest.raises(KeyboardInterrupt):
        harness.run(Fake(), case("true"), arm(tmp_path), given._replace(run=interrupted))
    assert not list((tmp_path / "temporary").glob("skilleval-*/trial-*"))


def test_stopped_program_is_infrastructure(tmp_path):
    stopping = tools(tmp_path).stopping(lambda: True)
    harness.run(Fake(), case("true"), arm(tmp_path), tools(tmp_path))  # the ground and the version
    outcome = harness.run(Fake(), case("sleep 60"), arm(tmp_path), stopping)
    assert (outcome.status, outcome.failure) == ("error", "infrastructure")
