"""The example suites: an oracle passes every case, and who does nothing passes none.

A case that the oracle fails cannot be passed; one that passes although nothing was done proves
nothing about a skill. Both run in real workspaces through the whole pipeline, without a judge: what
only a judge decides is left out.
"""

import os
import runpy
from functools import cache
from pathlib import Path

import pytest
from checkout import ROOT

from skilleval import engine, evaluation
from skilleval.formats import evals
from skilleval.model import Arm
from skilleval.tools import Tools

FOLDER = ROOT / "evals"
SKILLS = sorted(path.parent.name for path in FOLDER.glob("*/evals.json"))
# the surfaces of seed 002's table "Example skills": how the checks of each suite are decided
KINDS = {
    "commit-push-pr": {"branch", "commit", "push", "pull_request"},
    "fix-failing-tests": {"command", "contains", "file"},
    "review-diff": {"contains", "file"},
    "validate-config": {"command", "contains", "file", "json"},
    "write-release-notes": {"contains", "file"},
}


@cache
def suite(skill):
    return evals.load(str(FOLDER / skill / "evals.json"), skill=str(ROOT / "skills" / skill))


CASES = [pytest.param(s, c.id, id=f"{s}-{c.id}") for s in SKILLS for c in suite(s).cases]
each_skill = pytest.mark.parametrize("skill", SKILLS)
each_case = pytest.mark.parametrize(("skill", "case"), CASES)


@pytest.fixture(scope="module")
def outcome_of(tmp_path_factory):
    """What a mode of the fake agent comes to in a case: each suite runs once in each mode."""

    @cache
    def run(skill, mode):
        return {result.trial.case_id: result for result in _results(skill, mode, tmp_path_factory)}

    return lambda skill, case, mode: run(skill, mode)[case]


def _results(skill, mode, folders):
    options = {"skill": str(ROOT / "skills" / skill), "skill_name": skill, "fake": mode}
    environ = dict(os.environ)
    if skill == "commit-push-pr":
        github = folders.mktemp("github")
        make = runpy.run_path(str(FOLDER / skill / "source-repo.py"))
        make["make"](github)
        environ["PATH"] = f"{github / 'bin'}{os.pathsep}{environ['PATH']}"
        options["source_repo"] = f"{make['ADDRESS']}.git"
    arm = Arm("fake-with_skill", "fake", options={**options, "retries": 0, "timeout_s": 60})
    # one by one: the trials of a suite share the pull requests of its repository
    session = engine.Session(Tools(environ=environ))
    report = evaluation.evaluate([suite(skill)._replace(arms=(arm,))], gates=(), session=session)
    return report.suites[0].results


def failures(result):
    """Everything that keeps a trial from passing, for the message of an assertion."""
    verdicts = [
        f"{v.check_id}: {v.reason}" for v in result.verdicts if v.status in ("fail", "error")
    ]
    return [*verdicts, result.outcome.error] if result.outcome.error else verdicts


def graded(result):
    return [verdict for verdict in result.verdicts if verdict.status in ("pass", "fail")]


@each_case
def test_oracle_passes_every_case(outcome_of, skill, case):
    result = outcome_of(skill, case, "oracle")
    assert failures(result) == []
    assert graded(result)


@each_case
def test_doing_nothing_passes_no_case(outcome_of, skill, case):
    result = outcome_of(skill, case, "nop")
    assert result.outcome.status == "ok"
    assert "fail" in {verdict.status for verdict in result.verdicts}


@each_case
def test_only_what_a_judge_must_decide_is_left_out(outcome_of, skill, case):
    checks = {check.id: check for check in _case(skill, case).checks}
    skipped = [v.check_id for v in outcome_of(skill, case, "oracle").verdicts if v.status == "skip"]
    assert {checks[identifier].grader for identifier in skipped} <= {"judge"}


def _case(skill, identifier):
    return next(case for case in suite(skill).cases if case.id == identifier)


def test_every_shipped_skill_has_a_suite():
    assert sorted(path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md")) == SKILLS


@each_skill
def test_suite_is_valid_also_by_the_strict_rules(skill):
    found = evals.problems(str(FOLDER / skill / "evals.json"), strict=True)
    assert [problem.message for problem in found] == []


@each_skill
def test_suite_has_each_sort_of_case(skill):
    cases = suite(skill).cases
    assert 4 <= len(cases) <= 6
    assert any(case.annotations["force"] for case in cases)
    assert any(case.should_trigger and not case.annotations["force"] for case in cases)
    assert [case.id for case in cases if not case.should_trigger] == ["negative-control"]


@each_skill
def test_suite_exercises_its_surface_by_rules_and_by_a_judge(skill):
    checks = [check for case in suite(skill).cases for check in case.checks]
    assert {check.params.get("kind") for check in checks} >= KINDS[skill]
    assert "judge" in {check.grader for check in checks}


@each_skill
def test_no_rule_leaves_a_part_of_its_sentence_to_a_judge(skill):
    checks = [check for case in suite(skill).cases for check in case.checks]
    assert [check.text for check in checks if check.params.get("partial")] == []


@each_skill
def test_every_case_has_an_oracle_and_every_oracle_a_case(skill):
    oracles = {path.name for path in (FOLDER / skill / "oracle").iterdir()}
    assert oracles == {case.id for case in suite(skill).cases}
    assert all((FOLDER / skill / "oracle" / name / "output.txt").is_file() for name in oracles)


@each_skill
def test_every_fixture_belongs_to_a_case(skill):
    listed = {path for case in suite(skill).cases for path in case.files}
    found = [
        path.relative_to(FOLDER / skill).as_posix()
        for path in files_below(FOLDER / skill / "files")
    ]
    assert [path for path in found if not any(below(path, given) for given in listed)] == []


def below(path, folder):
    return path == folder or path.startswith(f"{folder}/")


def files_below(folder):
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


@each_skill
def test_prompt_does_not_name_the_skill(skill):
    assert [case.id for case in suite(skill).cases if skill in case.prompt] == []
