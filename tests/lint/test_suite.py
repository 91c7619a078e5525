"""The usual weaknesses of a suite's design."""

import pytest

from skilleval.lint.suite import CaseText, SuiteText, problems

RULED, JUDGED = ("A commit was created", "state"), ("The tone is polite", "judge")
NATURAL = CaseText("a", (RULED,), should_trigger=True, forced=False)
FORCED = CaseText("b", (RULED,), should_trigger=True, forced=True)
CONTROL = CaseText("c", (JUDGED,), should_trigger=False, forced=False)


def rules(*cases):
    return [problem.rule for problem in problems(SuiteText("evals.json", cases))]


def test_a_suite_of_both_kinds_has_no_weakness():
    assert rules(NATURAL, FORCED, CONTROL) == []


def test_judges_alone_are_a_weakness():
    assert rules(NATURAL._replace(assertions=(JUDGED,)), CONTROL) == ["E10"]


def test_force_in_every_case_is_a_weakness():
    assert rules(FORCED._replace(id="no-x"), FORCED) == ["E11"]


def test_a_case_that_triggers_by_itself_is_wanted():
    assert rules(FORCED, CONTROL) == ["E12"]


def test_a_negative_control_is_wanted():
    assert rules(NATURAL) == ["E13"]


@pytest.mark.parametrize("name", ["missing-key", "negative-control", "should-not-push", "no-op"])
def test_an_id_can_say_that_a_case_is_a_control(name):
    assert rules(NATURAL._replace(id=name)) == []


def test_an_assertion_can_say_that_a_case_is_a_control():
    assert rules(NATURAL._replace(assertions=(("The agent must not push", "state"),))) == []


def test_weaknesses_are_warnings():
    assert {p.level for p in problems(SuiteText("e", (FORCED,)))} == {"warning"}
