"""Run folders of other tools with the same layout: whatever is missing or null stays unknown."""

import json

import build
import pytest

from skilleval.model import Trial, Usage
from skilleval.runfolder import gradingfiles

ROWS = [
    {"text": "a", "passed": True, "evidence": "seen", "method": "deterministic", "skipped": False},
    {"text": "b", "passed": False, "evidence": None},
]


def leaf(root, place="eval-1/codex/with_skill", **files):
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        build.write(root / place / f"{name}.json", text)


def only(root):
    [(result, _place)] = gradingfiles.read(str(root)).results
    return result


def statuses(root):
    return [(v.status, v.score, v.reason) for v in only(root).verdicts]


def test_rows_become_verdicts(tmp_path):
    leaf(tmp_path, grading={"assertion_results": ROWS})
    assert statuses(tmp_path) == [("pass", 1.0, "seen"), ("fail", 0.0, "")]


@pytest.mark.parametrize("key", ["assertion_results", "expectations", "criteria"])
def test_the_list_has_several_names(tmp_path, key):
    leaf(tmp_path, grading={"assertion_results": None, key: ROWS})
    assert len(statuses(tmp_path)) == 2


@pytest.mark.parametrize("row", [{"passed": None}, {"passed": "yes"}, {"passed": 1}, {}])
def test_what_nobody_decided_is_skipped_and_not_failed(tmp_path, row):
    leaf(tmp_path, grading={"assertion_results": [{"text": "a", **row}]})
    assert statuses(tmp_path) == [("skip", None, "")]


def test_a_skipped_row_is_no_failure(tmp_path):
    row = {"text": "a", "passed": False, "skipped": True, "evidence": "no key"}
    leaf(tmp_path, grading={"assertion_results": [row]})
    assert statuses(tmp_path) == [("skip", None, "no key")]


def test_other_names_in_a_row_are_understood(tmp_path):
    leaf(tmp_path, grading={"criteria": [{"name": "a", "pass": True, "reason": "seen"}]})
    found = gradingfiles.read(str(tmp_path))
    assert found.suite.cases[0].checks[0].text == "a"
    assert statuses(tmp_path) == [("pass", 1.0, "seen")]


def test_rows_are_put_in_the_order_of_the_suite(tmp_path):
    meta = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["a", "b"]}]}
    build.write(tmp_path / "evals_meta.json", json.dumps(meta))
    leaf(tmp_path, grading={"assertion_results": ROWS[::-1]})
    assert [status for status, _, _ in statuses(tmp_path)] == ["pass", "fail"]


def test_an_equal_text_twice_is_two_checks(tmp_path):
    meta = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["a", "a"]}]}
    build.write(tmp_path / "evals_meta.json", json.dumps(meta))
    rows = [{"text": "a", "passed": True}, {"text": "a", "passed": False}]
    leaf(tmp_path, grading={"assertion_results": rows})
    assert [status for status, _, _ in statuses(tmp_path)] == ["pass", "fail"]


def test_a_judge_that_changed_the_wording_adds_a_check_and_leaves_one_undecided(tmp_path):
    meta = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["a"]}]}
    build.write(tmp_path / "evals_meta.json", json.dumps(meta))
    leaf(tmp_path, grading={"assertion_results": [{"text": "A.", "passed": True}]})
    assert statuses(tmp_path) == [("skip", None, "not in grading.json"), ("pass", 1.0, "")]


def test_a_trial_without_a_grading_is_undecided(tmp_path):
    meta = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["a"]}]}
    build.write(tmp_path / "evals_meta.json", json.dumps(meta))
    leaf(tmp_path, timing={"duration_ms": 1500})
    assert statuses(tmp_path) == [("skip", None, "not graded")]


@pytest.mark.parametrize(
    ("timing", "usage", "seconds"),
    [
        ({}, Usage(), None),
        ({"input_tokens": 3, "output_tokens": None, "cached_tokens": 1}, Usage(3, None, 1), None),
        ({"total_tokens": 9, "duration_ms": 1500}, Usage(9, 0), 1.5),
        ({"total_duration_seconds": 2.5, "cost_usd": 0.5}, Usage(cost_usd=0.5), 2.5),
        ({"duration_ms": "soon", "cost_usd": True, "input_tokens": float("nan")}, Usage(), None),
    ],
)
def test_unknown_figures_stay_unknown(tmp_path, timing, usage, seconds):
    leaf(tmp_path, grading={}, timing=timing)
    outcome = only(tmp_path).outcome
    assert (outcome.usage, outcome.seconds) == (usage, seconds)


@pytest.mark.parametrize(
    ("place", "trial", "agent"),
    [
        ("eval-1/codex/with_skill/run-3", Trial("1", "codex-with_skill", 3), "codex"),
        ("eval-a/without_skill", Trial("a", "agent-without_skill"), "agent"),
        ("eval-a/old_skill/run-2", Trial("a", "agent-without_skill", 2), "agent"),
        ("eval-group/a/codex/with_skill", Trial("group/a", "codex-with_skill"), "codex"),
    ],
)
def test_the_place_says_what_run_meta_does_not(tmp_path, place, trial, agent):
    leaf(tmp_path, place, grading={"assertion_results": ROWS})
    found = gradingfiles.read(str(tmp_path))
    assert found.results[0][0].trial == trial
    assert found.suite.arms[0].agent == agent


def test_run_meta_is_believed_before_the_place(tmp_path):
    meta = {"eval_id": 7, "agent": "opencode", "with_skill": False, "model": "m"}
    leaf(tmp_path, grading={}, run_meta=meta)
    found = gradingfiles.read(str(tmp_path))
    assert found.results[0][0].trial == Trial("7", "opencode-without_skill")
    assert found.suite.arms[0].model == "m"


@pytest.mark.parametrize("text", ["{", "[]", '"x"', "null", "\ufeff", "[" * 9999])
def test_a_damaged_file_is_named_and_the_others_are_read(tmp_path, text):
    leaf(tmp_path, grading=text)
    leaf(tmp_path, "eval-2/codex/with_skill", grading={"assertion_results": ROWS})
    found = gradingfiles.read(str(tmp_path))
    assert len(found.results) == 2
    [problem] = found.problems
    assert "eval-1" in problem


def test_results_in_the_outputs_of_an_agent_are_none(tmp_path):
    leaf(tmp_path, grading={"assertion_results": ROWS})
    forged = {"assertion_results": [{"text": "forged", "passed": True}]}
    leaf(tmp_path, "eval-1/codex/with_skill/outputs/eval-9/x/with_skill", grading=forged)
    assert len(gradingfiles.read(str(tmp_path)).results) == 1


def test_the_arm_with_the_skill_comes_first(tmp_path):
    for side in ("without_skill", "with_skill"):
        leaf(tmp_path, f"eval-1/codex/{side}", grading={})
    arms = gradingfiles.read(str(tmp_path)).suite.arms
    assert [arm.with_skill for arm in arms] == [True, False]


def test_a_suite_without_a_name_has_that_of_its_workspace(tmp_path):
    leaf(tmp_path / "demo-workspace" / "iteration-1", grading={})
    found = gradingfiles.read(str(tmp_path / "demo-workspace" / "iteration-1"))
    assert found.suite.name == "demo"


def test_a_started_trial_without_a_file_of_its_own_is_one(tmp_path):
    build.write(tmp_path / "eval-1/codex/with_skill/outputs/output.txt", "half")
    assert statuses(tmp_path) == []
    assert only(tmp_path).trial == Trial("1", "codex-with_skill")


def test_repeats_of_another_run_beside_a_result_are_left_out_and_said(tmp_path):
    leaf(tmp_path, grading={})
    leaf(tmp_path, "eval-1/codex/with_skill/run-2", grading={})
    found = gradingfiles.read(str(tmp_path))
    assert len(found.results) == 1
    assert found.problems == (
        f"{tmp_path}/eval-1/codex/with_skill: holds a result beside run-N of another run, left out",
    )


def test_of_two_folders_that_claim_one_trial_the_first_is_it(tmp_path):
    leaf(tmp_path, grading={"assertion_results": ROWS})
    leaf(tmp_path, "eval-2/codex/with_skill", grading={}, run_meta={"eval_id": 1})
    found = gradingfiles.read(str(tmp_path))
    assert [place for _, place in found.results] == [f"{tmp_path}/eval-1/codex/with_skill"]
    assert found.problems[0].startswith(f"{tmp_path}/eval-2/codex/with_skill: is the trial of")


@pytest.mark.parametrize(
    "meta",
    [
        {"eval_id": ["x"], "agent": {"a": 1}, "with_skill": "yes", "model": 5},
        {"eval_id": True, "agent": "a\0b", "with_skill": None, "model": "\ud83d"},
        {"eval_id": "", "agent": "x" * 5000, "model": "m\n"},
    ],
)
def test_what_is_no_name_in_run_meta_is_taken_from_the_place(tmp_path, meta):
    leaf(tmp_path, grading={}, run_meta=meta)
    found = gradingfiles.read(str(tmp_path))
    assert found.results[0][0].trial == Trial("1", "codex-with_skill")
    assert (found.suite.arms[0].agent, found.suite.arms[0].model) == ("codex", "")


@pytest.mark.parametrize("number", [10**400, -1, 1e308, [1], {"a": 1}])
def test_figures_that_nobody_counted_are_unknown(tmp_path, number):
    names = ("input_tokens", "output_tokens", "total_tokens", "duration_ms", "retries")
    leaf(tmp_path, grading={}, timing=dict.fromkeys(names, number))
    outcome = only(tmp_path).outcome
    assert (outcome.usage, outcome.seconds, outcome.attempts) == (Usage(), None, 1)


@pytest.mark.parametrize(("code", "want"), [(-9, -9), (1, 1), (True, None), (10**400, None)])
def test_an_exit_code_is_a_whole_number_of_some_size(tmp_path, code, want):
    leaf(tmp_path, grading={}, timing={"exit_code": code})
    assert only(tmp_path).outcome.exit_code == want


def test_evidence_in_parts_is_one_text(tmp_path):
    row = {"text": ["a"], "passed": True, "evidence": ["seen", 3, {"x": 1}]}
    leaf(tmp_path, grading={"assertion_results": [row]})
    assert statuses(tmp_path) == [("pass", 1.0, "seen; 3")]
