"""A run of a suite against an earlier one. Owns which arms, cases and checks are compared.

Arms are the same if agent and side are, cases if they have the same id, checks if they have the
same text: ids of checks may be mere numbers. How two arms are paired is `deltas`', and how sure
the difference is `paired`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from skilleval.model import SIDES, Case, Rules, SuiteReport
from skilleval.stats.arms import ArmStatistics, Side, sides, statistics
from skilleval.stats.deltas import Delta, delta


class ArmChange(NamedTuple):
    """One configuration in both runs, None where it is missing. `delta` is the later against the
    earlier over the cases graded in both that were asked the same, None unless both have it."""

    name: str
    before: ArmStatistics | None
    after: ArmStatistics | None
    delta: Delta | None


class CheckChange(NamedTuple):
    """A check that does not fail as often as it did: failures of the trials that decided it."""

    name: str
    case_id: str
    text: str
    before_failed: int
    before_n: int
    after_failed: int
    after_n: int


class Changes(NamedTuple):
    """What is different between two runs. Cases are `edited` if their prompt or checks are."""

    arms: tuple[ArmChange, ...]
    checks: tuple[CheckChange, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]


def changes(before: SuiteReport, after: SuiteReport) -> Changes:
    """What is different in the run `after`, by configuration, in sorted order."""
    old = {_name(side): _by_text(side) for side in sides(before)}
    new = {_name(side): _by_text(side) for side in sides(after)}
    names = sorted(old.keys() | new.keys())
    rules = after.suite.rules
    old_cases = {case.id: case for case in before.suite.cases}
    new_cases = {case.id: case for case in after.suite.cases}
    both = [(case, old_cases[name]) for name, case in new_cases.items() if name in old_cases]
    edited = tuple(case.id for case, old in both if _content(case) != _content(old))
    # on other checks, those of the same text are compared
    asked_otherwise = {case.id for case, old in both if _task(case) != _task(old)}
    arms = []
    for name in names:
        was, now = old.get(name), new.get(name)
        arms.append(
            ArmChange(
                name,
                was and statistics(was),
                now and statistics(now),
                _delta(now, was, rules, asked_otherwise) if now and was else None,
            )
        )
    return Changes(
        tuple(arms),
        tuple(
            row
            for name in names
            if name in old and name in new
            for row in _checks(name, old[name], new[name])
        ),
        tuple(name for name in new_cases if name not in old_cases),
        tuple(name for name in old_cases if name not in new_cases),
        edited,
    )


def _name(side: Side) -> str:
    return f"{side.label}_{SIDES[side.arm.with_skill]}"


def _delta(now: Side, was: Side, rules: Rules, left_out: Collection[str]) -> Delta:
    return delta(_without(now, left_out), _without(was, left_out), rules)


def _without(side: Side, cases: Collection[str]) -> Side:
    return side._replace(rows=tuple(row for row in side.rows if row.case.id not in cases))


def _task(case: Case) -> tuple[object, ...]:
    return case.prompt, case.should_trigger


def _content(case: Case) -> tuple[object, ...]:
    return *_task(case), [check.text for check in case.checks]


def _by_text(side: Side) -> Side:
    """The same with the checks called by their text, and the second of the same text by number."""
    rows = []
    for row in side.rows:
        seen: Counter[str] = Counter()
        verdicts = []
        for check, verdict in zip(row.case.checks, row.result.verdicts, strict=True):
            seen[check.text] += 1
            number = f" ({seen[check.text]})" if seen[check.text] > 1 else ""
            verdicts.append(verdict._replace(check_id=check.text + number))
        rows.append(row._replace(result=row.result._replace(verdicts=tuple(verdicts))))
    return side._replace(rows=tuple(rows))


def _checks(name: str, before: Side, after: Side) -> Iterator[CheckChange]:
    """The checks whose share of failures is another now; what one run did not decide is none."""
    old, new = _failures(before), _failures(after)
    for key, (failed, n) in new.items():
        was_failed, was_n = old.get(key, (0, 0))
        if was_n and n and failed * was_n != was_failed * n:
            yield CheckChange(name, *key, was_failed, was_n, failed, n)


def _failures(side: Side) -> dict[tuple[str, str], tuple[int, int]]:
    """By case and check: how often it failed, of the trials that decided it."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for row in side.rows:
        if row.state != "graded":
            continue
        for verdict in row.result.verdicts:
            if verdict.status in ("pass", "fail"):
                key = (row.case.id, verdict.check_id)
                failed, n = found.get(key, (0, 0))
                found[key] = (failed + (verdict.status == "fail"), n + 1)
    return found
