"""From verdicts to scores: the differences of the formats are rules, and unknown is not zero."""

from fractions import Fraction

import pytest

from skilleval import aggregate
from skilleval.model import Arm, Case, Outcome, Result, Rules, Score, Suite, Trial, Verdict

PASS, FAIL = Verdict("a", "pass", 1), Verdict("b", "fail", 0)
SKIP, ERROR = Verdict("c", "skip", None), Verdict("d", "error", None)


def test_points_are_the_weights_of_the_passed_checks():
    score = aggregate.score([PASS._replace(weight=60), FAIL._replace(weight=40)], Rules())
    assert (score.earned, score.possible, score.value) == (60, 100, 0.6)


def test_a_case_passes_only_with_all_its_points():
    assert aggregate.score([PASS, PASS], Rules()).passed
    assert not aggregate.score([PASS, FAIL], Rules()).passed


def test_a_lower_share_of_points_is_a_rule():
    assert aggregate.score([PASS, FAIL], Rules(case_passes=0.5)).passed


@pytest.mark.parametrize(("verdict", "field"), [(SKIP, "unanswered"), (ERROR, "errored")])
def test_an_undecided_check_is_left_out_or_fails_as_the_rules_say(verdict, field):
    left_out = aggregate.score([PASS, verdict], Rules(**{field: "skip"}))
    failed = aggregate.score([PASS, verdict], Rules(**{field: "fail"}))
    assert (left_out.possible, left_out.passed) == (1, True)
    assert (failed.possible, failed.passed) == (2, False)


def test_a_case_with_nothing_to_score_has_no_score_and_does_not_pass():
    score = aggregate.score([SKIP], Rules())
    assert (score.value, score.passed, score.counted) == (None, False, False)


def test_without_an_outcome_a_case_counts_as_zero_if_the_rules_say_so():
    scores = [aggregate.score([], Rules(no_outcome="zero")), Score(1, 1, True, 1, 1)]
    assert aggregate.summarise(scores).score == Fraction(1, 2)


def test_the_summary_is_the_mean_of_the_scores_there_are():
    scores = [Score(1, 3, False, 1, 3), Score(1, 1, True, 1, 1), Score(0, 0, False, 0, 2, False)]
    summary = aggregate.summarise(scores)
    assert summary.score == Fraction(2, 3)
    assert summary[1:] == (1, 3, 2, 6)


def test_no_scores_have_no_mean():
    assert aggregate.summarise([]).score is None


def result(arm, status):
    return Result(Trial("a", arm, 1), Outcome("ok"), (Verdict("c", status, 1),))


def test_the_control_is_no_part_of_the_score():
    arms = (Arm("with", "x"), Arm("without", "x", with_skill=False))
    suite = Suite("s", "p", (Case("a", "p"),), arms=arms)
    found = aggregate.report(suite, [result("with", "pass"), result("without", "fail")])
    assert (found.summary.score, found.summary.cases_total) == (1, 1)
    assert len(found.scores) == 2


def test_arms_without_a_skill_alone_have_a_score():
    suite = Suite("s", "p", (Case("a", "p"),), arms=(Arm("without", "x", with_skill=False),))
    assert aggregate.report(suite, [result("without", "pass")]).summary.score == 1
