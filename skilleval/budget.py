"""What a run may cost. Owns the sum of the known costs, and the refusal once it is reached.

An unknown cost is not 0, but it cannot be added either: it is counted, and the refusal says so.
"""

from __future__ import annotations

from threading import Lock

from skilleval.engine import Watch
from skilleval.model import Result, Trial


class Budget:
    """`limit_usd` None: there is none."""

    def __init__(self, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self.unknown = 0
        self.refused = 0
        self.lock = Lock()

    def watching(self, watch: Watch) -> Watch:
        """`watch`, with the cost of every result added up."""

        def counted(trial: Trial, result: Result | None) -> None:
            if result is not None:
                self._add(result)
            watch(trial, result)

        return counted

    def _add(self, result: Result) -> None:
        if result.outcome.failure == "budget":
            return
        costs = [result.outcome.usage.cost_usd, *(call.usage.cost_usd for call in result.calls)]
        with self.lock:
            self.spent_usd += sum(cost for cost in costs if cost is not None)
            self.unknown += costs.count(None)

    def doubt(self) -> str:
        """What to say at the end of a run whose limit could not be kept; "" if it could."""
        if self.limit_usd is None or not self.unknown:
            return ""
        return (
            f"--max-budget-usd {self.limit_usd:g} was no limit for {self.unknown} trials or judge"
            " calls: their cost is unknown"
        )

    def refuse(self) -> str:
        """Why no further trial is started; "" while there is something left."""
        if self.limit_usd is None or self.spent_usd < self.limit_usd:
            return ""
        with self.lock:
            self.refused += 1
        unknown = f", and {self.unknown} costs are unknown" if self.unknown else ""
        return f"budget: {self.spent_usd:.2f} of {self.limit_usd:.2f} USD are spent{unknown}"
