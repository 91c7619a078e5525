"""One arm of a suite, by itself. Owns which trials count in it, and what they amount to.

A trial that failed, ran out of time or was not graded has no score: it is left out of every rate
and counted. What a trial scored is `aggregate`'s, how sure its numbers make us `estimators`'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Literal, NamedTuple, TypeVar

from skilleval.model import SIDES, Arm, Case, Outcome, Result, Score, SuiteReport
from skilleval.stats.estimators import Interval, Spread, pass_at_k, pass_hat_k, spread, wilson

T = TypeVar("T")
# failures after which nothing that was measured is about the agent and the skill
_VOID = {"infrastructure", "timeout", "control", "contaminated"}


class ArmStatistics(NamedTuple):
    """One arm over some of the cases. Rates are over the graded trials, None if there is none.

    `trials` = `graded` + `errored` + `skipped` (nothing decided); `timed_out` of them, whatever
    came of it, since what was there at the deadline may be graded. Intervals
    are Wilson's with n = `cases`, those with a graded trial. `pass_rate` is over the trials'
    scores, `lowest_pass_rate` counts errored trials as 0. `pass_at_k` and `pass_hat_k` hold
    k = 1, 2 … up to the fewest graded repeats of a case, means over the cases; `any_of_k` is the
    share of cases that passed at least once, with `k` the most graded repeats of a case (it is what
    seed 002 calls pass@k).
    `seconds`, `tokens` and `cost_usd` are over the trials that did not err, as far as known.
    `models` are those that answered, as far as the agent's program tells, with the most trials
    first.
    """

    arm: str
    label: str
    with_skill: bool
    trials: int
    graded: int
    errored: int
    timed_out: int
    skipped: int
    cases: int
    pass_rate: Spread
    pass_rate_interval: Interval | None
    lowest_pass_rate: float | None
    full_pass_rate: float | None
    full_pass_interval: Interval | None
    pass_at_k: tuple[float, ...]
    pass_hat_k: tuple[float, ...]
    any_of_k: float | None
    k: int
    seconds: Spread
    tokens: Spread
    cost_usd: Spread
    models: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What every report calls the arm: claude-code/with_skill, as its folder is called."""
        return named(self.label, with_skill=self.with_skill)

    @property
    def coverage(self) -> float | None:
        """The share of the trials that were graded."""
        return self.graded / self.trials if self.trials else None


class Row(NamedTuple):
    """A trial, with its case and what it came to."""

    case: Case
    result: Result
    score: Score
    state: Literal["graded", "errored", "skipped"]


class Side(NamedTuple):
    """An arm with its trials, and the label of the agent that it belongs to."""

    label: str
    arm: Arm
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """What every report calls the arm: claude-code/with_skill, as its folder is called."""
        return named(self.label, with_skill=self.arm.with_skill)

    def only(self, *, controls: bool) -> Side:
        """The same with its negative controls alone, or without them."""
        rows = tuple(row for row in self.rows if row.case.should_trigger is not controls)
        return self._replace(rows=rows)


def named(label: str, *, with_skill: bool) -> str:
    """What the agent of that label is called with the skill, or without it."""
    return f"{label}/{SIDES[with_skill]}"


def labels(arms: Sequence[Arm]) -> tuple[str, ...]:
    """A name for each arm's agent, with model and effort where that tells it from another.

    Two arms with the same label are one agent with and without the skill.
    """
    identities = [(arm.agent, arm.model, str(arm.options.get("effort") or "")) for arm in arms]
    found: list[str] = []
    for parts in (1, 2, 3):
        found = ["@".join(filter(None, identity[:parts])) for identity in identities]
        if len(set(found)) == len(set(zip(found, identities, strict=True))):
            break
    sides = {(label, arm.with_skill) for label, arm in zip(found, arms, strict=True)}
    if len(sides) == len(arms):
        return tuple(found)
    return tuple(arm.name.removesuffix(f"-{SIDES[arm.with_skill]}") for arm in arms)


def sides(report: SuiteReport) -> tuple[Side, ...]:
    """Every arm of the suite with its trials, also one that has none."""
    cases = {case.id: case for case in report.suite.cases}
    rows: dict[str, list[Row]] = {arm.name: [] for arm in report.suite.arms}
    for result, score in zip(report.results, report.scores, strict=True):
        row = Row(cases[result.trial.case_id], result, score, _state(result.outcome, score))
        rows[result.trial.arm].append(row)
    arms = report.suite.arms
    found = zip(labels(arms), arms, strict=True)
    return tuple(Side(label, arm, tuple(rows[arm.name])) for label, arm in found)


def ended(outcome: Outcome) -> bool:
    """Did the agent end by itself, so that what it did and did not do is its own?"""
    return outcome.status != "error" and not outcome.timed_out and outcome.failure not in _VOID


def names(arms: Sequence[Arm]) -> tuple[str, ...]:
    """What every report calls each of the arms."""
    found = zip(labels(arms), arms, strict=True)
    return tuple(named(label, with_skill=arm.with_skill) for label, arm in found)


def ending(outcome: Outcome) -> str:
    """How an agent ended that was graded by what it did until then; "" if that was a good end.

    `exit 7`, `timed out`, `killed by signal 9`; `ended with an error` where only its words tell.
    """
    if _timed_out(outcome):
        return "timed out"
    code = outcome.exit_code or 0
    if code:
        return f"exit {code}" if code > 0 else f"killed by signal {-code}"
    return "ended with an error" if outcome.failure == "agent" else ""


def _state(outcome: Outcome, score: Score) -> Literal["graded", "errored", "skipped"]:
    if outcome.refused:
        return "skipped"
    # what was there at the deadline is graded, by the harness's own word, and marked timed_out
    if outcome.status == "error" or outcome.failure in _VOID - {"timeout"}:
        return "errored"
    return "graded" if score.possible else "skipped"


def statistics(side: Side) -> ArmStatistics:
    """What the side's trials amount to."""
    rows = side.rows
    graded = [row for row in rows if row.state == "graded"]
    errored = [row for row in rows if row.state == "errored"]
    usable = [row.result.outcome for row in rows if ended(row.result.outcome)]
    passes = [row.score.passed for row in graded]
    tries = list(by_case((row.case.id, row.score.passed) for row in graded).values())
    rate = spread(row.score.value for row in graded)
    full = sum(passes) / len(passes) if passes else None
    tried = len(graded) + len(errored)
    ks = range(1, min(map(len, tries), default=0) + 1)
    return ArmStatistics(
        arm=side.arm.name,
        label=side.label,
        with_skill=side.arm.with_skill,
        trials=len(rows),
        graded=len(graded),
        errored=len(errored),
        timed_out=sum(_timed_out(row.result.outcome) for row in rows),
        skipped=len(rows) - tried,
        cases=len(tries),
        pass_rate=rate,
        pass_rate_interval=wilson(rate.mean, len(tries)),
        lowest_pass_rate=(rate.mean or 0) * len(graded) / tried if tried else None,
        full_pass_rate=full,
        full_pass_interval=wilson(full, len(tries)),
        pass_at_k=tuple(_mean(pass_at_k(len(c), sum(c), k) for c in tries) for k in ks),
        pass_hat_k=tuple(_mean(pass_hat_k(len(c), sum(c), k) for c in tries) for k in ks),
        any_of_k=sum(map(any, tries)) / len(tries) if tries else None,
        k=max(map(len, tries), default=0),
        seconds=spread(outcome.seconds for outcome in usable),
        tokens=spread(map(tokens, usable)),
        cost_usd=spread(outcome.usage.cost_usd for outcome in usable),
        models=_models(row.result.outcome for row in rows),
    )


def _models(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    found: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.model:
            found[outcome.model] = found.get(outcome.model, 0) + 1
    return tuple(sorted(found, key=lambda model: (-found[model], model)))


def _timed_out(outcome: Outcome) -> bool:
    return outcome.timed_out or outcome.failure == "timeout"


def tokens(outcome: Outcome) -> int | None:
    """Input and output together; the sum of an unknown number is unknown."""
    usage = outcome.usage
    if usage.input is None or usage.output is None:
        return None
    return usage.input + usage.output


def by_case(values: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """The values of each case's trials, cases in the order of their first."""
    found: dict[str, list[T]] = {}
    for identifier, value in values:
        found.setdefault(identifier, []).append(value)
    return found


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known)
