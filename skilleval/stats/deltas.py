"""An agent with the skill against the same without it. Owns what is compared with what.

Pairs are cases, on the checks that both arms decided. What the pairs prove is `paired`'s, which
trials count in an arm is `arms`'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from skilleval import aggregate
from skilleval.model import Case, Outcome, Rules, Score
from skilleval.stats import exact_mean
from skilleval.stats.arms import Side, by_case, ended, tokens
from skilleval.stats.estimators import spread
from skilleval.stats.paired import Paired, paired

if TYPE_CHECKING:
    from fractions import Fraction


class Delta(NamedTuple):
    """An agent with the skill against the same without it, over the cases graded in both arms.

    A case is compared on the checks that were decided in both arms. `effect` is over the cases that
    should trigger the skill, `controls` over the negative controls (None if there are none).
    `unpaired` are the cases graded in only one arm. `seconds`, `tokens` and `cost_usd` are mean
    differences over those cases that should trigger it with known values in both, None if there is
    none.
    """

    label: str
    with_arm: str
    without_arm: str
    effect: Paired
    controls: Paired | None
    unpaired: tuple[str, ...]
    seconds: float | None
    tokens: float | None
    cost_usd: float | None


class CheckStatistics(NamedTuple):
    """How often a check passed, of the graded trials that decided it, with the skill and without.

    `finding`: it cannot tell the arms apart if it always passes in both or fails in both; a
    negative control is meant to pass in both. `flaky`: it varies between repeats within an arm.
    """

    label: str
    case_id: str
    check_id: str
    text: str
    with_passed: int
    with_n: int
    without_passed: int
    without_n: int
    finding: Literal["", "passes in both", "fails in both"]
    flaky: bool


class _Tally(NamedTuple):
    """One check of one case in one arm: a score for each trial that decided it."""

    scores: list[Score]

    @property
    def rate(self) -> Fraction | int:
        return exact_mean((score.earned, score.possible) for score in self.scores) or 0

    @property
    def passed(self) -> int:
        return sum(score.checks_passed for score in self.scores)


def _tallies(side: Side, rules: Rules) -> dict[str, dict[str, _Tally]]:
    """By case and check; only what was decided."""
    found: dict[str, dict[str, _Tally]] = {}
    known: dict[object, Score] = {}  # thousands of verdicts have but a few different ones
    for row in side.rows:
        if row.state != "graded":
            continue
        for verdict in row.result.verdicts:
            worth = (verdict.status, verdict.score, verdict.weight)
            score = known.get(worth) or known.setdefault(worth, aggregate.score([verdict], rules))
            if score.possible:
                checks = found.setdefault(row.case.id, {})
                checks.setdefault(verdict.check_id, _Tally([])).scores.append(score)
    return found


def delta(with_: Side, without: Side, rules: Rules) -> Delta:
    """What the skill changes for the agent."""
    pairs: dict[bool, list[tuple[Fraction | int, Fraction | int]]] = {True: [], False: []}
    unpaired = []
    left, right = _tallies(with_, rules), _tallies(without, rules)
    cases = {row.case.id: row.case for row in (*with_.rows, *without.rows)}
    for identifier, case in cases.items():
        pair = _case_rates(left.get(identifier, {}), right.get(identifier, {}))
        if pair:
            pairs[case.should_trigger].append(pair)
        elif identifier in left or identifier in right:
            unpaired.append(identifier)
    wanted = with_.only(controls=False), without.only(controls=False)
    return Delta(
        with_.label,
        with_.arm.name,
        without.arm.name,
        paired(pairs[True]),
        paired(pairs[False]) if not all(case.should_trigger for case in cases.values()) else None,
        tuple(unpaired),
        _difference(*wanted, lambda outcome: outcome.seconds),
        _difference(*wanted, tokens),
        _difference(*wanted, lambda outcome: outcome.usage.cost_usd),
    )


def _case_rates(
    left: Mapping[str, _Tally], right: Mapping[str, _Tally]
) -> tuple[Fraction | int, Fraction | int] | None:
    """The case's rate in both arms, on the checks that both decided; None if there is none."""
    from fractions import Fraction

    common = [(left[key], right[key]) for key in left if key in right]
    weight = sum(tally.scores[0].possible for tally, _ in common)
    if not weight:
        return None
    return (
        Fraction(sum(mine.rate * mine.scores[0].possible for mine, _ in common)) / weight,
        Fraction(sum(other.rate * mine.scores[0].possible for mine, other in common)) / weight,
    )


def _difference(
    with_: Side, without: Side, measure: Callable[[Outcome], float | None]
) -> float | None:
    """The mean over the cases of the difference of their means, where both are known."""
    means = []
    for side in (with_, without):
        outcomes = ((row.case.id, row.result.outcome) for row in side.rows)
        values = ((case, measure(outcome)) for case, outcome in outcomes if ended(outcome))
        known = by_case((case, value) for case, value in values if value is not None)
        means.append({case: spread(each).mean or 0 for case, each in known.items()})
    left, right = means
    return spread(left[case] - right[case] for case in left if case in right).mean


def checks(with_: Side, without: Side, rules: Rules) -> Iterator[CheckStatistics]:
    """Every check of the cases that were run, in their order."""
    left, right = _tallies(with_, rules), _tallies(without, rules)
    cases = {row.case.id: row.case for row in (*with_.rows, *without.rows)}
    for case in cases.values():
        for check in case.checks:
            mine = left.get(case.id, {}).get(check.id, _Tally([]))
            other = right.get(case.id, {}).get(check.id, _Tally([]))
            counts = (mine.passed, len(mine.scores), other.passed, len(other.scores))
            finding = _finding(case, *counts)
            flaky = any(0 < tally.passed < len(tally.scores) for tally in (mine, other))
            yield CheckStatistics(
                with_.label, case.id, check.id, check.text, *counts, finding, flaky
            )


def _finding(
    case: Case, with_passed: int, with_n: int, without_passed: int, without_n: int
) -> Literal["", "passes in both", "fails in both"]:
    if not with_n or not without_n:
        return ""
    if with_passed == with_n and without_passed == without_n and case.should_trigger:
        return "passes in both"
    return "" if with_passed or without_passed else "fails in both"
