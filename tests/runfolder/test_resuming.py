"""A run is gone on with as what it is: nothing is lost from view, and nothing is mixed."""

import json
import os
import shutil

import build
import fake_suite
import harness_fake
import pytest
from fake_suite import PASSING, folder, read, report, resume, run, script, trials

from skilleval.errors import UsageError
from skilleval.model import Arm, Case, Suite
from skilleval.runfolder import resuming, runs, store

NEVER = [{"fail": "run again"}]
FAKE = ("--agent", "fake")


def interrupted(root, *arguments, left=(), **more):
    """A run that is left with only some of its trials (all but `left`), and no summary."""
    fake_suite.make(root, **more)
    done = run(root, *arguments)
    assert done.returncode == 0, done.stderr
    (folder(root) / "summary.json").unlink()
    for name in left:
        shutil.rmtree(folder(root) / "eval-one" / "fake" / name)


def test_repeats_arms_and_cases_are_those_of_the_run(tmp_path):
    cases = ("one", "two", "three")
    more = ("--runs", "3", "--no-baseline", "--case", "one", "two", "--agent-model", "haiku")
    interrupted(tmp_path, *more, left=["with_skill/run-2"], cases=cases)
    kept, before = trials(tmp_path), read(folder(tmp_path) / "run.json")
    done = resume(tmp_path)
    assert done.returncode == 0, done.stderr
    found = trials(tmp_path)
    assert (len(kept), len(found)) == (5, 6)
    assert {name: found[name] for name in kept} == kept
    after = read(folder(tmp_path) / "run.json")
    assert [after[name] for name in ("suite", "repeats", "settings")] == [
        before[name] for name in ("suite", "repeats", "settings")
    ]
    assert "2 cases, 6 trials: 6 graded" in report(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        (("--runs", "1"), "is of runs 3; this would be of runs 1: leave out what differs"),
        (("--agent", "codex"), "is of agents fake; this would be of agents codex: leave"),
        (("--agent-model", "x"), "is of models fake=its own; this would be of models fake=x:"),
        (("--no-baseline",), "is of arms with_skill, without_skill; this would be of arms with_s"),
        (("--case", "two"), "is of cases one; this would be of cases fewer: leave"),
        (("--timeout", "5"), "is of timeout_s 600.0; this would be of timeout_s 5.0: leave"),
        (("--effort", "high"), "is of effort none; this would be of effort high: leave"),
        (("--judge-base-url", "http://x"), "is of judge none; this would be of judge deepseek/d"),
        (
            (*FAKE, "--agent", "command", "--agent-command", "true", "--runs", "2"),
            "is of agents fake; runs 3; command none; this would be of agents fake, command; run",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_command_line_that_asks_for_another_run_is_refused(tmp_path, arguments, difference):
    interrupted(tmp_path, "--runs", "3", cases=("one", "two"))
    before = {path: path.read_bytes() for path in folder(tmp_path).rglob("*.json")}
    done = resume(tmp_path, "--iteration", "1", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the run in {folder(tmp_path).relative_to(tmp_path)} {difference}" in done.stderr
    assert {path: path.read_bytes() for path in folder(tmp_path).rglob("*.json")} == before


def test_a_command_line_that_asks_for_the_same_again_goes_on(tmp_path):
    more = ("--runs", "2", "--timeout", "60", "--agent-model", "haiku", "--threshold", "100")
    interrupted(tmp_path, *more, left=["without_skill/run-1"])
    script(tmp_path, PASSING)
    assert run(tmp_path, *more, "--resume").returncode == 0
    assert len(trials(tmp_path)) == 4


@pytest.mark.skipif(os.name != "posix", reason="needs a first line that names the interpreter")
@pytest.mark.parametrize("again", [True, False], ids=["told again", "told nothing"])
@pytest.mark.parametrize(
    ("agent", "own"),
    [
        ("command", ("--agent-command", "{}/agent.sh {{prompt}}")),
        ("fake", ("--fake", "scripted:{}/script.json")),
    ],
)
def test_a_run_is_gone_on_with_from_another_folder_by_other_spellings(tmp_path, agent, own, again):
    fake_suite.make(tmp_path)
    build.write(tmp_path / "agent.sh", "#!/bin/sh\necho alpha\n").chmod(0o755)
    harness_fake.repository(tmp_path / "source")

    def told(root, skill):
        return ("--source-repo", f"{root}/source", "--skill", skill, own[0], own[1].format(root))

    first = run(tmp_path, *told(".", "./skills/demo/"), agent=())
    assert first.returncode == 0, first.stderr
    (folder(tmp_path) / "summary.json").unlink()
    shutil.rmtree(folder(tmp_path) / "eval-one" / agent / "with_skill")
    kept = trials(tmp_path)

    (tmp_path / "elsewhere").mkdir()
    done = build.skilleval(
        *("run", tmp_path / fake_suite.EVALS, "--workspace", tmp_path / "eval-workspace"),
        *("--resume", *(told(tmp_path, tmp_path / "skills" / "demo") if again else ())),
        cwd=tmp_path / "elsewhere",
        env=fake_suite.NO_JUDGE,
    )
    assert (done.returncode, "of another prompt" in done.stderr) == (0, False), done.stderr
    found = trials(tmp_path)
    assert (len(kept), len(found)) == (1, 2)
    assert {name: found[name] for name in kept} == kept


def test_a_gate_of_the_run_is_kept_and_another_may_be_set(tmp_path):
    interrupted(tmp_path, "--threshold", "100", left=["with_skill"])
    script(tmp_path, [{"say": "alpha"}])
    assert resume(tmp_path).returncode == 1
    assert read(folder(tmp_path) / "summary.json")["gates"][0]["limit"] == 1
    (folder(tmp_path) / "summary.json").unlink()
    assert resume(tmp_path, "--threshold", "50").returncode == 0


def test_a_budget_of_the_run_is_kept_and_a_larger_one_goes_on(tmp_path):
    fake_suite.make(tmp_path)
    assert run(tmp_path, "--max-budget-usd", "0").returncode == 3
    assert resume(tmp_path).returncode == 3
    assert resume(tmp_path, "--max-budget-usd", "1").returncode == 0
    assert "2 trials: 2 graded" in report(tmp_path)


@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "an edited suite"])
def test_a_complete_run_is_not_gone_on_with_and_stays_as_it_is(tmp_path, edited):
    fake_suite.make(tmp_path)
    run(tmp_path, "--runs", "2")
    before, shown = trials(tmp_path), report(tmp_path)
    if edited:
        fake_suite.make(tmp_path, prompt="Write something else")
    done = resume(tmp_path, "--iteration", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "iteration-1 is complete: see `skilleval report " in done.stderr
    assert (trials(tmp_path), report(tmp_path)) == (before, shown)


def test_trials_of_a_complete_run_that_ended_in_an_error_are_tried_again(tmp_path):
    fake_suite.make(tmp_path, steps=[{"fail": "down"}])
    failed = run(tmp_path, "--retries", "0", "--runs", "2")
    assert failed.returncode == 3
    assert failed.stderr.startswith("4 of 4 trials ended in an error; to try again what did, and")
    assert failed.stderr.endswith(" --resume --iteration 1\n")
    script(tmp_path, PASSING)
    done = resume(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 trials: 4 graded" in report(tmp_path)
    assert "iteration-1 is complete: see `skilleval report " in resume(tmp_path).stderr


def test_a_complete_run_hides_no_older_one_that_never_ended(tmp_path):
    interrupted(tmp_path, left=["with_skill"])
    script(tmp_path, PASSING)
    assert run(tmp_path).returncode == 0
    assert resume(tmp_path).returncode == 0
    assert (folder(tmp_path) / "summary.json").exists()
    assert "iteration-2 is complete: see `skilleval report " in resume(tmp_path).stderr


def test_errors_of_a_run_are_forgotten_when_a_newer_one_is_complete(tmp_path):
    fake_suite.make(tmp_path, steps=[{"fail": "down"}])
    run(tmp_path, "--retries", "0")
    script(tmp_path, PASSING)
    run(tmp_path)
    assert "iteration-2 is complete" in resume(tmp_path).stderr


def test_a_run_that_is_not_there_is_not_gone_on_with(tmp_path):
    interrupted(tmp_path)
    done = resume(tmp_path, "--iteration", "99")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no iteration 99 to resume; there are: 1" in done.stderr


def test_a_run_that_is_gone_on_with_is_not_complete_until_it_ends_again(tmp_path):
    fake_suite.make(tmp_path, steps=[{"fail": "down"}])
    run(tmp_path, "--retries", "0")
    script(tmp_path, PASSING)
    assert resume(tmp_path, "--iteration", "1", "--max-budget-usd", "0").returncode == 3
    assert not (folder(tmp_path) / "summary.json").exists()
    assert resume(tmp_path, "--max-budget-usd", "1").returncode == 0


def test_changed_trials_are_run_again_and_old_ones_are_in_no_report(tmp_path):
    interrupted(tmp_path)
    fake_suite.make(tmp_path, prompt="Write out.txt, please")
    script(tmp_path, [{"say": "no more"}])
    done = resume(tmp_path)
    assert "warning: 2 results of another prompt, skill, checks or files" in done.stderr
    outputs = {trial["result"]["outcome"]["output"] for trial in trials(tmp_path).values()}
    assert outputs == {"no more"}
    assert len(list(folder(tmp_path).rglob("superseded.json"))) == 2


def test_what_has_changed_is_out_of_the_report_before_it_is_run_again(tmp_path):
    interrupted(tmp_path, cases=("one", "two"))
    document = read(tmp_path / fake_suite.EVALS)
    document["evals"][0]["prompt"] = "Write out.txt, please"
    build.write(tmp_path / fake_suite.EVALS, json.dumps(document))
    assert resume(tmp_path, "--max-budget-usd", "0").returncode == 3
    assert len(trials(tmp_path)) == 4
    shown = report(tmp_path)
    assert "fake/with_skill: not started: budget: " in shown
    assert shown.count("2/2 passed (100.0%)") == 2


def test_a_suite_that_has_lost_a_case_of_the_run_is_refused(tmp_path):
    interrupted(tmp_path, cases=("one", "two"))
    fake_suite.make(tmp_path, cases=("one", "three"))
    done = resume(tmp_path)
    assert done.returncode == 2
    assert "is of cases two; this would be of cases fewer" in done.stderr


def test_another_suite_of_the_skill_is_refused(tmp_path):
    interrupted(tmp_path)
    rows = [{"query": "Make it", "should_trigger": True}]
    build.write(tmp_path / "skills/demo/evals/eval_queries.json", json.dumps(rows))
    words = ("run", "skills/demo/evals/eval_queries.json", "--resume")
    done = build.skilleval(*words, cwd=tmp_path, env=fake_suite.NO_JUDGE)
    assert done.returncode == 2
    assert "is of suite evals.json; " in done.stderr
    assert "; this would be of suite eval_queries.json; " in done.stderr


def test_a_run_that_has_written_nothing_yet_is_begun(tmp_path):
    fake_suite.make(tmp_path)
    folder(tmp_path).mkdir(parents=True)
    assert run(tmp_path, "--resume").returncode == 0
    assert len(trials(tmp_path)) == 2


def test_a_damaged_manifest_is_told_and_left(tmp_path):
    interrupted(tmp_path)
    build.write(folder(tmp_path) / "run.json", "{")
    done = resume(tmp_path)
    assert done.returncode == 2
    assert "run.json: is damaged" in done.stderr
    assert (folder(tmp_path) / "run.json").read_text() == "{"


def program(root, name, monkeypatch, says="alpha"):
    """A program of that name on PATH that answers at once, as Claude Code does."""
    answer = {"type": "result", "subtype": "success", "is_error": False, "result": says}
    build.write(root / "bin" / name, f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    (root / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(root / "bin"), prepend=os.pathsep)


@pytest.mark.skipif(os.name != "posix", reason="needs a first line that names the interpreter")
def test_an_address_with_a_login_has_to_be_given_again(tmp_path, monkeypatch):
    base = ("--harness-base-url", "http://me:hunter22@127.0.0.1:9/v1")
    fake_suite.make(tmp_path)
    program(tmp_path, "claude", monkeypatch)
    first = run(tmp_path, *base, agent=("--agent", "claude-code"))
    assert first.returncode == 0, first.stderr
    (folder(tmp_path) / "summary.json").unlink()
    done = resume(tmp_path)
    assert done.returncode == 2
    assert "is of base_url http://[redacted]@127.0.0.1:9/v1; this would be of base_url none" in (
        done.stderr
    )
    again = resume(tmp_path, *base)
    assert (again.returncode, "hunter22" in again.stderr) == (0, False), again.stderr


SUITE = Suite("demo", "evals.json", (Case("a", "do a"),), arms=(Arm("m", "fake"),))
JUDGE = {"model": "j", "base_url": "http://j", "key_name": "OPENAI_API_KEY"}


def stored(tmp_path, suite=SUITE, repeats=1):
    run = store.create(str(tmp_path), suite)
    store.begin(run, {"suite": suite, "repeats": repeats})
    return runs.load(run.folder)


def test_every_difference_is_named_and_long_lists_are_cut(tmp_path):
    many = tuple(Case(f"c{number}", "p") for number in range(1, 16))
    found = stored(tmp_path, SUITE._replace(cases=many), repeats=2)
    with pytest.raises(UsageError) as caught:
        resuming.check(found, SUITE, 1, ())
    told = "c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 and 5 more"
    assert f"is of runs 2; cases {told}; this would be of runs 1; cases a:" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "more", "fix"),
    [
        ("", {}, "key of the judge none: set OPENAI_API_KEY, or leave out --resume"),
        ("OTHER_KEY", {}, "OTHER_KEY: set OPENAI_API_KEY and unset OTHER_KEY, or leave out"),
        (
            "",
            {"name": "x"},
            "leave out what differs, as --resume takes it from the run and set OPEN",
        ),
    ],
)
def test_a_key_that_the_run_had_is_asked_for(tmp_path, key, more, fix):
    found = stored(tmp_path, SUITE._replace(judge=JUDGE))
    now = SUITE._replace(judge={**JUDGE, "key_name": key})
    with pytest.raises(UsageError) as caught:
        resuming.check(found, now, 2 if more else 1, ())
    assert fix in str(caught.value)


def test_secrets_are_no_difference_and_in_no_message(tmp_path):
    secret = "sk-very-secret"
    arms = (Arm("m", "fake", options={"effort": secret}),)
    run = store.create(str(tmp_path), SUITE)._replace(secrets=(secret,))
    suite = SUITE._replace(arms=arms)
    store.begin(run, {"suite": suite, "repeats": 1})
    resuming.check(runs.load(run.folder), suite, 1, (secret,))
    with pytest.raises(UsageError) as caught:
        resuming.check(runs.load(run.folder), suite, 2, (secret,))
    assert secret not in str(caught.value)
