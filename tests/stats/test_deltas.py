"""With the skill against without it: only what both arms decided, case by case."""

import pytest
import trials
from trials import RULES, WITH, WITHOUT

from skilleval.model import Usage
from skilleval.stats import deltas
from skilleval.stats.arms import sides

CONTROL = {"should_trigger": False}


def delta(words, **changes):
    return deltas.delta(*sides(trials.report(words, **changes)), RULES)


def checks(words, **changes):
    return list(deltas.checks(*sides(trials.report(words, **changes)), RULES))


def test_repeats_of_a_case_are_one_pair():
    found = delta({"a": ("p p p p p p", "f f f f f f")}).effect
    assert (found.pairs, found.wins, found.verdict) == (1, 1, "underpowered")


def test_difference_of_a_case_is_that_of_its_mean_rates():
    found = delta({"a": ("p f", "f f f p"), "b": ("p", "p")}).effect
    assert found.effect == pytest.approx((0.5 - 0.25 + 0) / 2)


def test_a_case_graded_in_one_arm_is_in_no_difference():
    found = delta({"a": ("p", "p"), "b": ("p", "timeout"), "c": ("s", "f")})
    assert (found.effect.pairs, found.effect.effect) == (1, 0.0)
    assert found.unpaired == ("b", "c")


@pytest.mark.parametrize("failure", ["timeout", "infrastructure", "agent"])
def test_errored_trials_are_treated_alike_in_both_arms(failure):
    there = delta({"a": (f"p {failure}", "f f")}).effect
    here = delta({"a": ("p p", f"f {failure}")}).effect
    assert there == here


def test_a_check_decided_in_one_arm_only_is_not_compared():
    # over all that was decided it would be 1 against 1/2
    assert delta({"a": ("ps", "pf")}).effect.effect == 0.0


def test_a_check_skipped_in_one_repeat_weighs_no_less():
    assert delta({"a": ("pf ps", "pf pf")}).effect.effect == 0.0


def test_checks_weigh_what_they_weigh():
    base = trials.report({"a": ("pf", "fp")})
    heavy = []
    for result in base.results:
        first, second = result.verdicts
        weighed = (first._replace(weight=3), second._replace(weight=2))
        heavy.append(result._replace(verdicts=weighed))
    both = sides(trials.aggregate.report(base.suite, heavy))
    assert deltas.delta(*both, RULES).effect.effect == pytest.approx(3 / 5 - 2 / 5)


def test_negative_controls_do_not_dilute_the_difference():
    cases = [trials.case(f"n{i}", **CONTROL) for i in range(6)]
    words = {f"c{i}": ("p", "f") for i in range(6)} | {case.id: ("p", "p") for case in cases}
    found = delta(words, cases=cases)
    assert (found.effect.pairs, found.effect.effect, found.effect.verdict) == (6, 1.0, "improves")
    assert (found.controls.pairs, found.controls.effect) == (6, 0.0)


def test_a_skill_that_breaks_negative_controls_is_seen_to():
    cases = [trials.case(f"n{i}", **CONTROL) for i in range(6)]
    found = delta({case.id: ("f", "p") for case in cases}, cases=cases)
    assert found.controls.verdict == "hurts"


def test_a_suite_without_controls_has_no_difference_of_them():
    assert delta({"a": ("p", "p")}).controls is None


def test_time_tokens_and_cost_are_compared_where_both_are_known():
    rows = [
        trials.result("a", WITH, 1, "p", seconds=5.0),
        trials.result("a", WITHOUT, 1, "p", seconds=2.0, usage=Usage(1, 2)),
        trials.result("b", WITH, 1, "p", seconds=100.0),
        trials.result("b", WITHOUT, 1, "timeout", seconds=600.0),
    ]
    found = delta({}, cases=[trials.case("a"), trials.case("b")], results=rows)
    assert (found.seconds, found.tokens, found.cost_usd) == (3.0, 7.0, None)


def test_what_negative_controls_take_is_no_price_of_the_skill():
    rows = [
        trials.result("a", WITH, 1, "p", seconds=5.0),
        trials.result("a", WITHOUT, 1, "p", seconds=2.0),
        trials.result("n", WITH, 1, "p", seconds=100.0),
        trials.result("n", WITHOUT, 1, "p", seconds=1.0),
    ]
    found = delta({}, cases=[trials.case("a"), trials.case("n", **CONTROL)], results=rows)
    assert found.seconds == 3.0


def test_a_check_that_passes_in_both_arms_tells_nothing():
    first, second = checks({"a": ("pp pp", "pf pf")})
    assert (first.finding, second.finding) == ("passes in both", "")


def test_a_check_that_fails_in_both_arms_tells_nothing():
    [found] = checks({"a": ("f f", "f")})
    assert (found.finding, found.flaky) == ("fails in both", False)


def test_a_check_undecided_in_an_arm_has_no_finding():
    [found] = checks({"a": ("p", "s")})
    assert (found.finding, found.with_n, found.without_n) == ("", 1, 0)


def test_a_negative_control_is_meant_to_pass_in_both():
    case = trials.case("a", **CONTROL)
    assert checks({"a": ("p", "p")}, cases=[case])[0].finding == ""


def test_a_check_that_varies_between_repeats_is_flaky():
    [found] = checks({"a": ("p f f", "f f f")})
    assert (found.flaky, found.with_passed, found.with_n) == (True, 1, 3)


def test_a_check_that_differs_between_the_arms_is_not_flaky():
    [found] = checks({"a": ("p p", "f f")})
    assert (found.flaky, found.finding) == (False, "")


def test_checks_come_with_their_text_in_the_order_of_the_suite():
    found = checks({"b": ("pp", "pp"), "a": ("p", "p")})
    wanted = [("b", "c1", "says 1"), ("b", "c2", "says 2"), ("a", "c1", "says 1")]
    assert [(row.case_id, row.check_id, row.text) for row in found] == wanted
