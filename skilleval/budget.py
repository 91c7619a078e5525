"""What a run may cost. Owns the sum of the known costs, and who has to wait or is refused for it.

A trial starts if what it may cost is left beside what is spent and what those that run may cost:
each as much as the dearest so far. So a run exceeds its limit only by what a trial costs more than
all before it. The first trial runs alone, as nobody knows what one costs.

An unknown cost is not 0, but it cannot be added either: it is counted, and `doubt` says so. What a
single trial may cost is its program's to limit, where it can (`Ask.max_budget_usd`).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition

from skilleval.engine import Watch
from skilleval.model import Result, Trial
from skilleval.plaintext import counted

# between two looks at whether to stop waiting
TICK_S = 0.5
# of a sum of costs that are no binary fractions: three times 0.1 is 0.3
ROUNDING_USD = 1e-9


class Budget:
    """`limit_usd` None: there is none."""

    def __init__(self, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self.dearest_usd = 0.0
        self.unknown = 0
        self.refused = 0
        self.running = 0
        self.ended = 0
        self.change = Condition()

    def watching(self, watch: Watch) -> Watch:
        """`watch`, with the cost of every result added up."""

        def added(trial: Trial, result: Result | None) -> None:
            # one that its program ended at its limit has cost as much
            if result is not None and not result.outcome.refused:
                with self.change:
                    self.running -= 1
                    self.add(result)
                    self.change.notify_all()
            watch(trial, result)

        return added

    def add(self, result: Result) -> None:
        """Counts what a result has cost: by itself, of one that a resumed run has already.

        Costs of attempts of an earlier start that ended in an error are in no result.
        """
        costs = [result.outcome.usage.cost_usd, *(call.usage.cost_usd for call in result.calls)]
        cost_usd = sum(cost for cost in costs if cost is not None)
        self.spent_usd += cost_usd
        self.dearest_usd = max(self.dearest_usd, cost_usd)
        self.unknown += costs.count(None)
        self.ended += 1

    def doubt(self) -> str:
        """What to say at the end of a run whose limit could not be kept; "" if it could."""
        if self.limit_usd is None or not self.unknown:
            return ""
        return (
            f"--max-budget-usd {self.limit_usd:g} was no limit for everything:"
            f" {counted(self.unknown, 'cost')} of trials and judge calls stayed unknown"
        )

    def enough_usd(self) -> float:
        """A limit with which those that were refused could run, if they cost what others did.

        Rounded up to two digits; 1 where nobody knows yet what a trial costs.
        """
        from math import ceil, floor, log10

        usd = self.spent_usd + self.dearest_usd * self.refused
        if not self.dearest_usd:
            return max(1.0, 2 * (self.limit_usd or 0))
        digit = 10.0 ** (floor(log10(usd)) - 1)
        return ceil(usd / digit) * digit

    def refuse(self, stop: Callable[[], bool] = lambda: False) -> str:
        """Why a trial is not started; "" if it may start, and it counts as running from then on.

        Waits while that depends on what the running ones will have cost, or until `stop` says so.
        """
        with self.change:
            while self.running and self._fits(0) and not self._fits(self.running) and not stop():
                self.change.wait(TICK_S)
            if self._fits(0):
                self.running += 1
                return ""
            self.refused += 1
            return self._reason()

    def _fits(self, running: int) -> bool:
        """Is there room for a trial beside so many that run?"""
        if self.limit_usd is None:
            return True
        if running and not self.ended:
            return False
        needed_usd = self.spent_usd + self.dearest_usd * (running + 1)
        return self.spent_usd < self.limit_usd and needed_usd <= self.limit_usd + ROUNDING_USD

    def _reason(self) -> str:
        dearest = f", a trial has cost up to {_dollars(self.dearest_usd)}"
        unknown = f", and {self.unknown} costs are unknown" if self.unknown else ""
        spent = f"{_dollars(self.spent_usd)} of {_dollars(self.limit_usd or 0)} USD are spent"
        return f"budget: {spent}{dearest if self.dearest_usd else ''}{unknown}"


def _dollars(usd: float) -> str:
    return f"{usd:.4f}" if 0 < usd < 0.1 else f"{usd:.2f}"
