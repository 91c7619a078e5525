"""One arm: what counts, and what it amounts to. Unknown is not zero."""

import json
from pathlib import Path

import pytest
import trials
from trials import WITH, WITHOUT

from skilleval import aggregate
from skilleval.model import Arm, Rules, Usage
from skilleval.stats.arms import labels, sides, statistics
from skilleval.stats.estimators import wilson

DATA = Path(__file__).parent.parent / "data" / "statistics"
RUNS = json.loads((DATA / "pass_at_k.json").read_text("utf-8"))
SUMMARIES = json.loads((DATA / "summary.json").read_text("utf-8"))


def arm(words, **changes):
    """The statistics of one arm with these trials: {case: words}."""
    report = trials.report({c: (w,) for c, w in words.items()}, arms=(WITH,), **changes)
    return statistics(sides(report)[0])


@pytest.mark.parametrize("row", RUNS, ids=[row["id"] for row in RUNS])
def test_documented_runs_give_the_documented_numbers(row):
    runs = row["runs_full_pass"]
    found = arm({c: " ".join("p" if full else "f" for full in run) for c, run in runs.items()})
    assert (found.any_of_k, found.k) == (row["pass_at_k_any"], row["k"])
    assert found.full_pass_rate == pytest.approx(row["full_pass_rate"])
    assert found.pass_rate.mean == pytest.approx(row["pass_rate_mean"])
    assert found.pass_rate.stddev == pytest.approx(row["pass_rate_stddev_sample"])
    for name, wanted in row["unbiased"].items():
        assert found.pass_at_k[int(name[5:]) - 1] == pytest.approx(wanted)
    for name, wanted in row["pass_hat_k_all"].items():
        assert found.pass_hat_k[int(name[5:]) - 1] == pytest.approx(wanted)


@pytest.mark.parametrize("row", SUMMARIES, ids=[row["id"] for row in SUMMARIES])
def test_documented_gradings_give_the_documented_rates(row):
    letters = "".join(result[0] for result in row["results"])
    verdicts = trials.result("a", WITH, 1, letters or "-").verdicts
    score, wanted = aggregate.score(verdicts, trials.RULES), row["summary"]
    # of a run where nothing was decided the rate is unknown, and not 0
    assert score.value == (wanted["pass_rate"] if row["results"] else None)
    assert (score.checks_passed, score.checks_total) == (wanted["passed"], wanted["total"])
    assert score.passed is row["full_pass"]


def test_a_trial_whose_checks_were_all_skipped_does_not_pull_the_rate_down():
    found = arm({"a": "pp ss", "b": "pp -"})
    assert (found.pass_rate.mean, found.pass_rate.n, found.skipped) == (1.0, 2, 2)


def test_a_case_without_checks_is_not_a_case_that_fails():
    found = arm({"a": "p p", "b": "- -"})
    assert (found.cases, found.full_pass_rate, found.any_of_k) == (1, 1.0, 1.0)


def test_a_trial_passes_in_full_if_all_that_was_decided_passes():
    found = arm({"a": "ps pf"})
    assert found.full_pass_rate == 0.5


def test_errored_trials_are_counted_and_have_no_score():
    found = arm({"a": "p timeout infrastructure agent", "b": "p p p p"})
    assert (found.trials, found.graded, found.errored, found.timed_out) == (8, 5, 3, 1)
    assert (found.pass_rate.mean, found.coverage) == (1.0, 5 / 8)


def test_lowest_pass_rate_takes_errored_trials_for_failed_ones():
    found = arm({"a": "p timeout", "b": "p f"})
    assert found.lowest_pass_rate == pytest.approx(2 / 4)


def test_a_trial_with_something_to_show_at_its_deadline_is_graded():
    late = trials.result("a", WITH, 1, "p", timed_out=True)
    found = arm({}, cases=[trials.case("a")], results=[late])
    assert (found.graded, found.errored, found.timed_out) == (1, 0, 1)


@pytest.mark.parametrize("failure", ["infrastructure", "control", "contaminated"])
def test_a_graded_trial_that_measured_something_else_is_errored(failure):
    void = trials.result("a", WITH, 1, "p", failure=failure)
    assert arm({}, cases=[trials.case("a")], results=[void]).errored == 1


def test_a_trial_that_the_budget_left_out_is_skipped():
    found = arm({"a": "p budget"})
    assert (found.errored, found.skipped) == (0, 1)


def test_an_arm_without_trials_has_counts_and_no_rates():
    found = arm({}, cases=[trials.case("a")])
    assert (found.trials, found.k, found.cases) == (0, 0, 0)
    unknown = (found.pass_rate.mean, found.full_pass_rate, found.any_of_k, found.coverage)
    assert {*unknown, found.pass_rate_interval, found.lowest_pass_rate} == {None}
    assert found.pass_at_k == found.pass_hat_k == ()


def test_intervals_stand_on_cases_and_not_on_repeats():
    found = arm({"a": "p p p p p", "b": "f f f f f"})
    assert found.full_pass_interval == wilson(0.5, 2)


def test_pass_at_k_ends_where_a_case_has_no_more_repeats():
    found = arm({"a": "p f f", "b": "p timeout f"})
    assert found.pass_at_k == pytest.approx((mean(1 / 3, 1 / 2), mean(2 / 3, 1)))
    assert found.k == 3


def mean(*values):
    return sum(values) / len(values)


def test_a_case_that_only_erred_shortens_no_pass_at_k():
    assert len(arm({"a": "p f", "b": "timeout timeout"}).pass_at_k) == 2


def test_unknown_costs_are_left_out_and_counted():
    known = trials.result("a", WITH, 1, "p")
    unknown = trials.result("a", WITH, 2, "p", usage=Usage(input=5), seconds=None)
    found = arm({}, cases=[trials.case("a")], results=[known, unknown])
    assert found.cost_usd == (1, 0.5, None)
    assert found.tokens == (1, 10.0, None)
    assert found.seconds == (1, 2.0, None)


def test_time_of_an_errored_trial_is_not_the_agents():
    assert arm({"a": "p timeout"}).seconds.n == 1


def test_time_of_an_ungraded_trial_is_the_agents():
    assert arm({"a": "p s"}).seconds.n == 2


def test_rules_decide_what_an_undecided_check_is_worth():
    report = trials.report({"a": ("ps",)}, arms=(WITH,))
    strict = report.suite._replace(rules=Rules(unanswered="fail"))
    assert statistics(sides(aggregate.report(strict, report.results))[0]).full_pass_rate == 0.0


def test_label_is_the_agent():
    assert labels([WITH, WITHOUT]) == ("codex", "codex")


def test_label_leaves_out_what_all_have():
    arms = [arm._replace(model="m", options={"effort": "low"}) for arm in (WITH, WITHOUT)]
    assert labels(arms) == ("codex", "codex")
    several = [arm._replace(model=model) for model in ("m", "n") for arm in arms]
    assert labels(several) == ("codex@m", "codex@m", "codex@n", "codex@n")


def test_label_names_the_model_where_an_agent_has_several():
    arms = [arm._replace(model=model) for model in ("", "m2") for arm in (WITH, WITHOUT)]
    assert labels(arms) == ("codex", "codex", "codex@m2", "codex@m2")


def test_label_names_the_effort_where_a_model_has_several():
    arms = [arm._replace(model="m", options={"effort": e}) for e in "ab" for arm in (WITH, WITHOUT)]
    assert labels(arms) == ("codex@m@a", "codex@m@a", "codex@m@b", "codex@m@b")


def test_label_is_the_arms_name_where_nothing_else_differs():
    arms = [Arm("x-with_skill", "codex"), Arm("y-with_skill", "codex")]
    arms += [Arm("x-without_skill", "codex", with_skill=False)]
    assert labels(arms) == ("x", "y", "x")
