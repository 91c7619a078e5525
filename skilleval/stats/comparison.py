"""Is the agent better with the skill? Owns what a suite's results say, and what makes it doubtful.

Works on the results of one run, pure, and starts nothing. One arm is `arms`', two against each
other are `deltas`', the use of the skill is `activation`'s.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from skilleval.model import Arm, Suite, SuiteReport
from skilleval.plaintext import counted, every
from skilleval.stats.activation import Activation, activation, uses
from skilleval.stats.arms import ArmStatistics, Side, ending, sides, statistics
from skilleval.stats.deltas import CheckStatistics, Delta, checks, delta


class Comparison(NamedTuple):
    """All that a suite's results say. `controls` are the arms again, on negative controls alone.

    `arms` are over all cases. `alarms` are sentences about what makes a number doubtful.
    """

    arms: tuple[ArmStatistics, ...]
    controls: tuple[ArmStatistics, ...]
    deltas: tuple[Delta, ...]
    checks: tuple[CheckStatistics, ...]
    activations: tuple[Activation, ...]
    alarms: tuple[str, ...]


def compare(report: SuiteReport) -> Comparison:
    """What the results say about each arm, and about each agent with and without the skill.

    Raises `KeyError` for a result of a case or an arm that the suite does not have.
    """
    suite = report.suite
    found = sides(report)
    couples = _couples(found)
    arms = tuple(map(statistics, found))
    controls = tuple(statistics(side.only(controls=True)) for side in found)
    deltas = tuple(delta(*couple, suite.rules) for couple in couples)
    activations = tuple(_activation(side, suite) for side in found if side.arm.with_skill)
    alarms = (
        *(text for side, arm in zip(found, arms, strict=True) for text in _arm_alarms(side, arm)),
        *_judge_alarms(found),
        *_delta_alarms(arms, deltas),
        *_model_alarms(arms, deltas, suite),
        *_activation_alarms(activations, arms),
        *_baseline_alarms(found, suite),
    )
    return Comparison(
        arms,
        controls if any(each.trials for each in controls) else (),
        deltas,
        tuple(row for couple in couples for row in checks(*couple, suite.rules)),
        activations,
        alarms,
    )


def _couples(sides: Sequence[Side]) -> list[tuple[Side, Side]]:
    baselines = {side.label: side for side in sides if not side.arm.with_skill}
    return [
        (side, baselines[side.label])
        for side in sides
        if side.arm.with_skill and side.label in baselines
    ]


def _activation(side: Side, suite: Suite) -> Activation:
    trials = [
        (row.case, row.result.outcome)
        for row in side.rows
        if row.state != "errored" and not row.result.outcome.refused
    ]
    return activation(side.arm.name, _skill_names(suite, side.arm), trials)


def _skill_names(suite: Suite, arm: Arm) -> set[str]:
    """What the agent may call the skill: its name, or the folder that it was installed from."""
    folder = os.path.basename(str(arm.options.get("skill") or "").rstrip(os.sep))
    names = (suite.skill, str(arm.options.get("skill_name") or ""), folder)
    return {name for name in names if name}


def _arm_alarms(side: Side, arm: ArmStatistics) -> Iterator[str]:
    trials = every(arm.trials, "trial")
    outcomes = [row.result.outcome for row in side.rows]
    if not arm.trials:
        return
    if all(outcome.refused for outcome in outcomes):
        yield f"{arm.name}: no trial was started: {outcomes[0].error}"
    elif arm.timed_out == arm.trials:
        graded = f"; {arm.graded} graded by what was there" if arm.graded else ""
        yield f"instrument suspect: {arm.name}: {trials} timed out{graded}"
    elif arm.graded:
        yield from _ending_alarm(side)
    elif arm.errored == arm.trials:
        yield f"instrument suspect: {arm.name}: {trials} failed"
    else:
        yield f"{arm.name}: no check was decided in {trials}"


def _ending_alarm(side: Side) -> Iterator[str]:
    """Of agents that failed and were graded all the same: a negative check passes for nothing."""
    graded = [ending(row.result.outcome) for row in side.rows if row.state == "graded"]
    endings = Counter(filter(None, graded))
    if endings:
        suspect = "instrument suspect: " if all(graded) else ""
        how = ", ".join(f"{count} x {name}" for name, count in endings.items())
        yield (
            f"{suspect}{side.name}: {endings.total()} of {counted(len(graded), 'graded trial')}"
            f" did not end well ({how}): graded by what was done until then"
        )


def _judge_alarms(found: Sequence[Side]) -> Iterator[str]:
    """What a judge was asked and could not decide: rates over the rest are of other checks."""
    for side in found:
        verdicts = [v for row in side.rows for v in row.result.verdicts if v.method == "judge"]
        asked = sum(verdict.status != "skip" for verdict in verdicts)
        failed = [verdict.reason for verdict in verdicts if verdict.status == "error"]
        if not failed:
            continue
        suspect = "instrument suspect: " if len(failed) == asked else ""
        count = every(asked, "check")
        count = count if suspect else f"{len(failed)} of {counted(asked, 'check')}"
        why = "".join(f": {line}" for line in failed[0].splitlines()[:1])[:300]
        yield f"{suspect}{side.name}: the judge failed on {count} put to it{why}"


def _delta_alarms(arms: Sequence[ArmStatistics], deltas: Sequence[Delta]) -> Iterator[str]:
    by_name = {arm.arm: arm for arm in arms}
    for each in deltas:
        with_, without = by_name[each.with_arm], by_name[each.without_arm]
        if with_.coverage != without.coverage:
            yield (
                f"{each.label}: graded {with_.graded} of {with_.trials} trials with the skill and "
                f"{without.graded} of {without.trials} without: their rates are over different "
                "trials, the paired difference is not"
            )
        if each.unpaired:
            names = ", ".join(each.unpaired)
            yield f"{each.label}: graded in one arm only, and in no difference: {names}"


def _model_alarms(
    arms: Sequence[ArmStatistics], deltas: Sequence[Delta], suite: Suite
) -> Iterator[str]:
    """Of models that answered in place of the one asked for, and of arms with different ones."""
    asked = {arm.name: arm.model for arm in suite.arms}
    by_name = {arm.arm: arm for arm in arms}
    for arm in arms:
        others = [each for each in arm.models if not _is_called(asked[arm.arm], each)]
        if others:
            yield (
                f"{arm.name}: asked for the model {asked[arm.arm]}, answered by {'; '.join(others)}"
            )
    for each in deltas:
        with_, without = by_name[each.with_arm].models, by_name[each.without_arm].models
        if with_ and without and set(with_) != set(without):
            yield (
                f"{each.label}: answered by {'; '.join(with_)} with the skill and by"
                f" {'; '.join(without)} without: the difference may be the models'"
            )


def _is_called(asked: str, answered: str) -> bool:
    """May the model that answered be the one asked for? `haiku` is `claude-haiku-4-5-20251001`."""
    names = [name.lower().rpartition("/")[2].partition("[")[0] for name in (asked, answered)]
    return names[0] in names[1] or names[1] in names[0]


def _activation_alarms(
    activations: Sequence[Activation], arms: Sequence[ArmStatistics]
) -> Iterator[str]:
    names = {arm.arm: arm.name for arm in arms}
    for each in activations:
        name = names[each.arm]
        positives = each.true_positives + each.false_negatives
        if each.silent:
            yield f"{name}: no trial recorded an event: whether it used the skill is unknown"
        if each.recall == 0:
            yield (
                f"instrument suspect: {name}: recall is 0: the skill was used in 0 of "
                f"{counted(positives, 'case')} that should trigger it"
            )
        if each.unknown and not positives:
            yield (
                f"instrument suspect: {name}: recall is unknown: of "
                f"{counted(each.unknown, 'trial')} that should use the skill none was seen to, or "
                "came to its end and told what it did"
            )
        if each.forced and not each.forced_seen:
            yield (
                f"instrument suspect: {name}: the skill was asked for in "
                f"{counted(each.forced, 'trial')}, and its use seen in none"
            )


def _baseline_alarms(found: Sequence[Side], suite: Suite) -> Iterator[str]:
    for side in found:
        if side.arm.with_skill:
            continue
        names = _skill_names(suite, side.arm)
        count = sum(uses(row.result.outcome, names) for row in side.rows)
        if count:
            yield f"control suspect: {side.name}: {counted(count, 'trial')} used the skill"
