"""What a run may cost: who starts, who waits, who is refused; and what is unknown."""

import threading
import time

import pytest
import trials

from skilleval.budget import Budget
from skilleval.model import Call, Trial, Usage

TRIAL = Trial("a", trials.WITH.name)


def silent(trial, result):
    """Hears of a trial, and does nothing."""


def ending(usd, word="p", calls=()):
    usage = Usage(cost_usd=usd)
    return trials.result("a", trials.WITH, 1, word, usage=usage)._replace(calls=tuple(calls))


def spend(budget, usd, **fields):
    """One trial that costs so much, started if it may be; why it was not."""
    reason = budget.refuse()
    if not reason:
        budget.watching(silent)(TRIAL, ending(usd, **fields))
    return reason


@pytest.mark.parametrize(
    ("limit", "costs", "started"),
    [
        (None, [9, 9, 9], 3),
        (0, [1], 0),
        (1, [0.4, 0.4, 0.4], 2),
        (0.3, [0.1, 0.1, 0.1], 3),
        (1, [0.1, 0.6, 0.1], 2),
        (1, [5, 1], 1),
        (1, [None, None, None], 3),
        (1, [None, 0.7, 0.1], 2),
    ],
)
def test_a_trial_starts_if_the_dearest_so_far_would_fit(limit, costs, started):
    budget = Budget(limit)
    assert sum(not spend(budget, usd) for usd in costs) == started
    assert budget.refused == len(costs) - started


def test_a_refusal_says_what_is_spent_and_what_a_trial_may_cost():
    budget = Budget(1)
    spend(budget, None)
    spend(budget, 0.75)
    assert budget.refuse() == (
        "budget: 0.75 of 1.00 USD are spent, a trial has cost up to 0.75, and 1 costs are unknown"
    )


def test_a_refused_trial_costs_nothing_and_is_not_unknown():
    budget = Budget(0)
    refused = trials.result("a", trials.WITH, 1, "budget", usage=Usage())
    budget.refuse()
    budget.watching(silent)(TRIAL, refused)
    assert (budget.spent_usd, budget.running, budget.doubt()) == (0, 0, "")


def test_a_trial_that_its_program_ended_at_its_limit_has_cost_as_much():
    budget = Budget(2)
    cut = ending(1.5)
    cut = cut._replace(outcome=cut.outcome._replace(status="error", failure="budget"))
    budget.refuse()
    budget.watching(silent)(TRIAL, cut)
    assert (budget.spent_usd, budget.running) == (1.5, 0)


def test_the_judges_calls_are_part_of_a_trials_cost():
    budget = Budget(1)
    calls = [Call("judge", "m", 1, 0.1, Usage(cost_usd=usd)) for usd in (0.25, None)]
    spend(budget, 0.5, calls=calls)
    assert (budget.spent_usd, budget.dearest_usd, budget.unknown) == (0.75, 0.75, 1)


def test_what_a_resumed_run_has_spent_already_counts():
    budget, larger = Budget(1), Budget(2)
    budget.add(ending(0.6))
    larger.add(ending(0.6))
    assert "0.60 of 1.00 USD" in budget.refuse()
    assert larger.refuse() == ""


def test_unknown_costs_are_a_doubt_only_where_there_is_a_limit():
    limited, free = Budget(1), Budget(None)
    for budget in (limited, free):
        spend(budget, None)
    assert "1 cost of trials and judge calls stayed unknown" in limited.doubt()
    assert free.doubt() == ""


class Crowd:
    """Trials that ask all at once to be started, each in a thread of its own."""

    def __init__(self, budget, count, stop=lambda: False):
        self.answers = []

        def ask():
            self.answers.append(budget.refuse(stop))

        self.threads = [threading.Thread(target=ask, daemon=True) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def settle(self, count):
        """Waits until so many have an answer, and gives the others time to get one wrongly."""
        deadline = time.monotonic() + 5
        while len(self.answers) < count and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.05)
        return list(self.answers)


def test_the_first_trial_runs_alone_as_nobody_knows_what_one_costs():
    budget = Budget(1)
    crowd = Crowd(budget, 4)
    assert crowd.settle(1) == [""]
    budget.watching(silent)(TRIAL, ending(0.01))
    assert crowd.settle(4) == [""] * 4


def test_trials_that_run_count_with_the_dearest_so_far():
    budget = Budget(1)
    spend(budget, 0.25)
    crowd = Crowd(budget, 5)
    assert crowd.settle(3) == [""] * 3  # with the first, a dollar is spoken for
    budget.watching(silent)(TRIAL, ending(0.1))
    assert crowd.settle(3) == [""] * 3  # 0.35 + 2 x 0.25 leave too little
    budget.watching(silent)(TRIAL, ending(0.1))
    assert crowd.settle(4) == [""] * 4
    budget.watching(silent)(TRIAL, ending(0.25))
    budget.watching(silent)(TRIAL, ending(0.25))
    answers = crowd.settle(5)
    assert len(answers) == 5
    assert "0.95 of 1.00 USD" in answers[-1]


def test_who_waits_gives_up_when_the_run_is_stopped():
    stopped = threading.Event()
    budget = Budget(1)
    crowd = Crowd(budget, 3, stopped.is_set)
    assert crowd.settle(1) == [""]
    stopped.set()
    for thread in crowd.threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in crowd.threads)


@pytest.mark.parametrize(
    ("limit", "costs", "refused", "enough"),
    [
        (0.006, [0.004], 3, 0.016),
        (1, [0.3, 0.4, 0.3], 2, 1.8),
        (10, [5.123], 1, 11),
        (0, [], 4, 1),
        (3, [], 4, 6),
    ],
)
def test_enough_is_what_the_refused_may_cost_at_the_dearest_so_far(limit, costs, refused, enough):
    budget = Budget(limit)
    for usd in costs:
        budget.add(ending(usd))
    budget.refused = refused
    assert budget.enough_usd() == pytest.approx(enough)
    assert budget.enough_usd() >= budget.spent_usd + budget.dearest_usd * refused
