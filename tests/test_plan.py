"""Which trials there are, and in which order."""

from skilleval import plan
from skilleval.model import Arm, Case, Suite


def test_trials_are_case_by_arm_by_repeat():
    suite = Suite(
        "s", "", (Case("a", "p"), Case("b", "p")), arms=(Arm("x", "fake"), Arm("y", "fake"))
    )
    keys = [trial.key for trial in plan.trials(suite, repeats=2)]
    assert keys == [f"{c}/{a}/r{n}" for c in "ab" for a in "xy" for n in (1, 2)]


def test_without_arms_or_cases_there_are_no_trials():
    assert plan.trials(Suite("s", "", (Case("a", "p"),))) == ()
    assert plan.trials(Suite("s", "", (), arms=(Arm("x", "fake"),))) == ()
