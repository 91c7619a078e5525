"""Which trials there are, and in which order."""

import pytest

from skilleval import plan
from skilleval.errors import UsageError
from skilleval.model import Arm, Case, Suite


def test_trials_are_case_by_agent_by_repeat_by_arm():
    arms = (Arm("x", "fake"), Arm("y", "codex"), Arm("x-without", "fake", with_skill=False))
    suite = Suite("s", "", (Case("a", "p"), Case("b", "p")), arms=arms)
    keys = [trial.key for trial in plan.trials(suite, repeats=2)]
    in_turn = ("x/r1", "x-without/r1", "x/r2", "x-without/r2", "y/r1", "y/r2")
    assert keys == [f"{case}/{rest}" for case in "ab" for rest in in_turn]


def test_without_arms_or_cases_there_are_no_trials():
    assert plan.trials(Suite("s", "", (Case("a", "p"),))) == ()
    assert plan.trials(Suite("s", "", (), arms=(Arm("x", "fake"),))) == ()


def test_more_trials_than_anybody_waits_for_are_an_error_at_once():
    suite = Suite("s", "", (Case("a", "p"), Case("b", "p")), arms=(Arm("x", "fake"),))
    assert plan.count(suite, repeats=50_000) == 100_000
    with pytest.raises(UsageError, match="2 cases x 1 arms x 50001 runs of each are 100002 trials"):
        plan.trials(suite, repeats=50_001)


THREE = Suite("s", "", (Case("a", "p"), Case("b", "p", agent="kiro"), Case("c", "p")))


def ids(suite):
    return [case.id for case in suite.cases]


def test_selected_cases_come_in_the_order_of_the_suite():
    assert ids(plan.selected(THREE, ["c", "a"])) == ["a", "c"]


def test_nothing_selected_is_all():
    assert plan.selected(THREE, []) == THREE


def test_unknown_case_is_an_error_that_names_those_there_are():
    with pytest.raises(UsageError, match="unknown case x, y; there are: a, b, c"):
        plan.selected(THREE, ["x", "a", "y"])


def test_shards_share_the_cases_among_them():
    parts = [ids(plan.shard(THREE, f"{number}/2")) for number in (1, 2)]
    assert parts == [["a", "c"], ["b"]]


@pytest.mark.parametrize("part", ["", "1", "0/2", "3/2", "a/b", "1/", "-1/2", "1/2/3"])
def test_shard_that_is_none_is_an_error_with_an_example(part):
    with pytest.raises(UsageError, match="write I/N, such as 1/4"):
        plan.shard(THREE, part)


def test_agents_are_those_of_arms_and_of_cases_each_once():
    arms = (Arm("x", "fake"), Arm("y", "fake", with_skill=False), Arm("z", "codex"))
    assert plan.agents(THREE._replace(arms=arms)) == ["codex", "fake", "kiro"]
