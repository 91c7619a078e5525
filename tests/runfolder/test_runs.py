"""Reading run folders: which there are, what is in one, and what is damaged."""

import json
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import build
import foreign
import pytest
import recorded

from skilleval import aggregate, engine
from skilleval.errors import SuiteError, UsageError
from skilleval.model import (
    Arm,
    Call,
    Case,
    Check,
    Event,
    Gate,
    Outcome,
    Result,
    State,
    Suite,
    Trial,
    Usage,
    Verdict,
)
from skilleval.runfolder import runs, store

RUNS = Path(__file__).parent.parent / "data" / "runs"
SMALL = recorded.SUITE._replace(cases=recorded.CASES[:3], arms=recorded.ARMS[:2])


def names(folders):
    return [os.path.basename(folder) for folder in folders]


def test_a_recorded_run_gives_back_its_suite_and_results_in_the_order_of_the_plan():
    stored = runs.load(str(RUNS / "write-release-notes-workspace" / "iteration-1"))
    found = runs.results(stored)
    assert found.problems == ()
    assert [case.id for case in stored.suite.cases] == ["explicit-invoke", "negative-control"]
    assert [result.trial for result in found.results] == [
        Trial(case.id, arm.name, repeat)
        for case in stored.suite.cases
        for arm in stored.suite.arms
        for repeat in (1, 2)
    ]
    assert (stored.planned, stored.name) == (8, "iteration-1")
    assert stored.meta["timestamp"] == "2031-02-03T04:05:06Z"


def test_what_is_stored_comes_back_whole(tmp_path):
    stored = runs.load(recorded.make(tmp_path, 2, SMALL))
    for result in recorded.results(2, SMALL):
        assert runs.whole(stored, result.trial) == result


def test_results_are_light_until_somebody_looks_closely(tmp_path):
    stored = runs.load(recorded.make(tmp_path, 1, SMALL))
    for result in runs.results(stored).results:
        outcome = result.outcome
        assert (outcome.output, outcome.delta, outcome.stdout) == ("", None, "")
        assert not any(event.output or event.input for event in outcome.events)


def test_a_light_result_is_worth_what_the_whole_one_is(tmp_path):
    stored = runs.load(recorded.make(tmp_path, 2, SMALL))
    whole = aggregate.report(SMALL, recorded.results(2, SMALL))
    light = aggregate.report(stored.suite, runs.results(stored).results)
    assert (light.scores, light.summary) == (whole.scores, whole.summary)


def test_a_gate_is_exact_again(tmp_path):
    gate = Gate("score", ">=", Fraction(19, 20))
    stored = runs.load(recorded.make(tmp_path, 1, SMALL._replace(gates=(gate,))))
    assert stored.suite.gates == (gate,)


def test_an_unfinished_run_is_read_as_far_as_it_is(tmp_path):
    stored = runs.load(recorded.make(tmp_path, 2, SMALL, only=5))
    assert (len(stored.trials), stored.planned) == (5, 12)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"result": 1}', '{"result": {"trial": {"case_id": "x"}}}', "[" * 9999]
)
def test_a_damaged_result_is_left_out_and_said(tmp_path, text):
    folder = recorded.make(tmp_path, 1, SMALL)
    path = Path(folder) / "eval-natural" / "claude-code" / "with_skill" / "trial.json"
    path.write_text(text)
    found = runs.results(runs.load(folder))
    assert len(found.results) == 5
    assert len(found.problems) == 1
    assert found.problems[0].startswith(str(path))
    assert found.problems[0].endswith("left out")


def test_a_result_of_another_trial_is_not_taken_for_this_one(tmp_path):
    folder = Path(recorded.make(tmp_path, 1, SMALL))
    source = folder / "eval-natural" / "claude-code"
    shutil.copy(source / "with_skill" / "trial.json", source / "without_skill" / "trial.json")
    [problem] = runs.results(runs.load(str(folder))).problems
    assert "it is of natural/claude-code-with_skill/r1" in problem


def test_a_result_of_no_case_of_the_suite_is_not_mixed_in(tmp_path):
    folder = Path(recorded.make(tmp_path, 1, SMALL))
    shutil.copytree(folder / "eval-natural", folder / "eval-removed-since")
    assert len(runs.results(runs.load(str(folder))).results) == 6


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"suite": {"name": 1}}', "null"])
def test_a_damaged_manifest_is_an_error_that_names_it(tmp_path, text):
    build.write(tmp_path / "iteration-1" / "run.json", text)
    with pytest.raises(SuiteError, match=r"run\.json"):
        runs.load(str(tmp_path / "iteration-1"))


def test_iterations_are_in_natural_order(tmp_path):
    for number in (10, 1, 2):
        (tmp_path / "x-workspace" / f"iteration-{number}").mkdir(parents=True)
    (tmp_path / "x-workspace" / "iteration-final").mkdir()
    (tmp_path / "other").mkdir()
    want = ["iteration-1", "iteration-2", "iteration-10"]
    assert names(runs.iterations(str(tmp_path / "x-workspace"))) == want
    assert names(runs.iterations(str(tmp_path))) == want


def test_a_run_stands_for_itself(tmp_path):
    folder = recorded.make(tmp_path, 1, SMALL)
    assert runs.iterations(folder) == (folder,)


@pytest.mark.parametrize("made", [None, "x-workspace", "iteration-2-old", "skills/x"])
def test_a_path_without_runs_is_a_usage_error(tmp_path, made):
    if made:
        (tmp_path / "w" / made).mkdir(parents=True)
    with pytest.raises(UsageError, match=r"w: (no such folder|holds no run)"):
        runs.iterations(str(tmp_path / "w"))


def test_an_iteration_is_found_by_its_number(tmp_path):
    for number in (2, 12):
        (tmp_path / "x-workspace" / f"iteration-{number}").mkdir(parents=True)
    assert runs.iteration(str(tmp_path), 2).endswith("iteration-2")
    with pytest.raises(UsageError, match="no iteration 3; there are: iteration-2, iteration-12"):
        runs.iteration(str(tmp_path), 3)


def test_an_iteration_of_two_skills_has_to_be_told_apart(tmp_path):
    for skill in ("x", "y"):
        (tmp_path / f"{skill}-workspace" / "iteration-1").mkdir(parents=True)
    with pytest.raises(UsageError, match="of which skill"):
        runs.iteration(str(tmp_path), 1)


def test_a_folder_without_a_result_says_so(tmp_path):
    (tmp_path / "iteration-1").mkdir()
    with pytest.raises(UsageError, match="holds no result yet"):
        runs.load(str(tmp_path / "iteration-1"))


def test_a_run_of_the_original_is_read():
    stored = runs.load(str(RUNS / "original-workspace" / "iteration-10"))
    found = runs.results(stored)
    assert stored.suite.name == "original"
    assert len(found.results) == 4
    first = runs.whole(stored, found.results[0].trial)
    assert (first.outcome.output, first.outcome.stdout) == ("ok\n", "{}\n")


def foreign_run(root, **content):
    foreign.meta(root, {"id": "notes", "assertions": foreign.NOTES})
    rows = foreign.grading(*map(foreign.row, foreign.NOTES))
    foreign.trial(root, **{"grading": rows, **content})
    return runs.load(str(root))


def test_a_result_of_the_original_has_its_evidence(tmp_path):
    stored = foreign_run(tmp_path)
    [result] = runs.results(stored).results
    assert stored.is_foreign
    assert [event.kind for event in result.outcome.events] == ["text"]
    assert result.outcome.usage.uncached == 6
    whole = runs.whole(stored, result.trial)
    assert whole.outcome.delta.git["new_branches"] == ["notes"]
    assert whole.verdicts == result.verdicts


def test_a_result_of_the_original_with_damaged_evidence_is_shown_without_it(tmp_path):
    stored = foreign_run(tmp_path, post_state="{")
    found = runs.results(stored)
    assert [verdict.status for verdict in found.results[0].verdicts] == ["pass", "pass"]
    assert found.problems[0].endswith("shown without its evidence")
    with pytest.raises(SuiteError, match=r"post_state\.json"):
        runs.whole(stored, found.results[0].trial)


def test_a_run_that_failed_around_the_agent_is_an_error_whatever_its_grading_says(tmp_path):
    meta = {"eval_id": "notes", "agent": "claude-code", "with_skill": True}
    stdout = foreign.transcript("claude/e401-r0.json")
    stored = foreign_run(tmp_path, run_meta=meta, stdout=stdout)
    assert runs.results(stored).results[0].outcome.failure == "infrastructure"


def peak_of_reading(base, repeats):
    """The most memory, in bytes, that a process needs to read a run of so many large trials."""
    suite = SMALL._replace(cases=recorded.CASES[1:2], arms=recorded.ARMS[:1])
    run = store.create(str(base), suite)._replace(repeats=True)
    store.begin(run, {"suite": suite, "repeats": repeats})
    for result in recorded.results(repeats, suite):
        store.save(run, result._replace(outcome=result.outcome._replace(output="x" * 2_000_000)))
    code = (
        "import sys, tracemalloc; from skilleval.runfolder import runs; tracemalloc.start();"
        "found = runs.results(runs.load(sys.argv[1])).results;"
        "print(len(found), tracemalloc.get_traced_memory()[1])"
    )
    env = {**os.environ, "PYTHONPATH": str(build.ROOT)}
    argv = [sys.executable, "-c", code, run.folder]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
    count, peak = map(int, done.stdout.split())
    assert count == repeats
    return peak


def test_a_large_run_is_read_one_trial_at_a_time(tmp_path):
    few, many = (peak_of_reading(tmp_path / str(n), n) for n in (2, 16))
    assert many - few < 1_000_000  # of 28 MB more to read


def test_a_foreign_number_of_repeats_is_an_error(tmp_path):
    folder = recorded.make(tmp_path, 1, SMALL)
    path = Path(folder) / "run.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "repeats": "many"}))
    with pytest.raises(SuiteError, match="is not the manifest of a run"):
        runs.load(folder)


def with_verdict(repeat, **fields):
    outcome = Outcome("ok", seconds=repeat / 7, usage=Usage(10, 5), events=(Event("call", "Bash"),))
    verdict = Verdict("c", "pass", 1, "as it should be")._replace(**fields)
    return Result(Trial("a", "m", repeat), outcome, (verdict,))


def test_what_is_the_same_in_many_results_is_kept_once():
    share = runs.sharing()
    first, second, third = (share(with_verdict(n, reason=why)) for n, why in enumerate("xyy"))
    assert [r.verdicts[0].reason for r in (first, second, third)] == ["x", "y", "y"]
    assert third.verdicts is second.verdicts
    assert third.outcome.usage is first.outcome.usage
    assert third.outcome.events is first.outcome.events


@pytest.mark.parametrize(
    ("before", "after"),
    [(1, 1.0), (1, True), (0.0, -0.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1], [1.0])],
    ids=str,
)
def test_what_is_merely_equal_is_kept_apart(before, after):
    share = runs.sharing()
    share(with_verdict(1, value=(before,)))
    found = share(with_verdict(2, value=(after,)))
    assert repr(found) == repr(with_verdict(2, value=(after,)))


def test_sharing_changes_no_result():
    share = runs.sharing()
    for result in recorded.results(2, SMALL):
        assert repr(share(result)) == repr(result)


def test_a_light_result_has_neither_the_calls_of_a_judge_nor_its_session():
    result = with_verdict(1)._replace(calls=(Call("judge", "m", 1, 0.1),))
    result = result._replace(outcome=result.outcome._replace(session="1f9a"))
    assert runs.light(result) == with_verdict(1)


def test_what_stays_of_a_trial_in_memory_is_less_than_half_a_kilobyte(tmp_path):
    """Real trials, of which only the time that they took is different."""
    import gc
    import tracemalloc

    case = Case("a", "do it", (Check("c", "never", "none"),))
    arm = Arm("m", "command", options={"command": "true", "timeout_s": 20.0, "skill": ""})
    suite = Suite("demo", "evals.json", (case,), arms=(arm._replace(with_skill=False),))
    share, held = runs.sharing(), []

    def watch(trial, result):
        if result is not None and trial.repeat in (20, 100):
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])

    session = engine.Session(watch=watch, keep=lambda result: share(runs.light(result)))
    tracemalloc.start()
    try:
        found = engine.run(suite, session, [Trial("a", "m", n) for n in range(1, 101)])
    finally:
        tracemalloc.stop()
    assert {result.outcome.status for result in found} == {"ok"}
    assert found[1].outcome.before == State()
    assert (held[1] - held[0]) / 80 < 500
