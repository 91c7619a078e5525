"""Does the skill trigger when it should, and only then? Owns the confusion matrix over cases.

Only cases whose prompt does not name the skill count, and only trials that tell: where the skill
was not seen, an agent that died, ran out of time or recorded nothing did not decide against it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from skilleval.model import Case, Outcome
from skilleval.stats.estimators import Interval, wilson

# agentskills.io: a case counts as triggered if at least half of its trials were
THRESHOLD = 0.5
NO_EVENTS = "no tool events"
LOST = "a part of what the agent did was lost"


class Triggering(NamedTuple):
    """How often one case made the agent use the skill: `triggers` of `n` trials."""

    case_id: str
    should_trigger: bool
    triggers: int
    n: int

    @property
    def triggered(self) -> bool:
        return self.triggers >= self.n * THRESHOLD


class Activation(NamedTuple):
    """The confusion matrix of one arm over its cases. A ratio of nothing is None.

    `forced` and `forced_seen`: trials whose prompt names the skill, and those of them where its
    use was seen; they are in no other number. `silent`: no trial recorded any event, so whether the
    skill was used is unknown, and `cases` is empty. `unknown`: trials that should trigger it and do
    not tell; they are in no ratio either. Intervals are Wilson's, over cases.
    """

    arm: str
    cases: tuple[Triggering, ...]
    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int
    precision: float | None
    recall: float | None
    f1: float | None
    precision_interval: Interval | None
    recall_interval: Interval | None
    forced: int
    forced_seen: int
    silent: bool
    unknown: int = 0


def activation(
    arm: str, skills: Collection[str], trials: Sequence[tuple[Case, Outcome]]
) -> Activation:
    """What the events of the trials say about the skill, by whichever of its names."""
    silent = bool(trials) and not any(has_record(outcome) for _, outcome in trials)
    natural: dict[str, list[bool]] = {}
    cases: dict[str, Case] = {}
    forced = []
    unknown = 0
    for case, outcome in () if silent else trials:
        used = uses(outcome, skills)
        is_forced = bool(case.annotations.get("force"))
        if not used and unseen(outcome):
            unknown += case.should_trigger and not is_forced
        elif is_forced:
            forced.append(used)
        else:
            cases[case.id] = case
            natural.setdefault(case.id, []).append(used)
    rows = tuple(
        Triggering(identifier, cases[identifier].should_trigger, sum(used), len(used))
        for identifier, used in natural.items()
    )
    return _matrix(arm, rows, (len(forced), sum(forced), silent, unknown))


def uses(outcome: Outcome, skills: Collection[str]) -> bool:
    """Did the agent use the skill? A plugin's name may stand before its own (`plugin:skill`)."""
    return any(
        event.kind == "skill" and (event.name in skills or event.name.rpartition(":")[2] in skills)
        for event in outcome.events
    )


def has_record(outcome: Outcome) -> bool:
    """Is anything recorded of what the agent did? That it was tried again is no deed of it."""
    return any(event.kind != "retry" for event in outcome.events)


def unseen(outcome: Outcome) -> str:
    """Why an outcome that shows no use of a skill does not prove that there was none; "" if so."""
    if not has_record(outcome):
        return NO_EVENTS
    if not outcome.events_whole:
        return LOST
    ended = outcome.status == "ok" and not outcome.failure and not outcome.timed_out
    return "" if ended else "the agent did not come to its end"


def _matrix(arm: str, rows: tuple[Triggering, ...], rest: tuple[int, int, bool, int]) -> Activation:
    counts = {(wanted, got): 0 for wanted in (True, False) for got in (True, False)}
    for row in rows:
        counts[row.should_trigger, row.triggered] += 1
    hits, missed = counts[True, True], counts[True, False]
    wrong, quiet = counts[False, True], counts[False, False]
    precision = _ratio(hits, hits + wrong)
    recall = _ratio(hits, hits + missed)
    return Activation(
        arm,
        rows,
        hits,
        missed,
        wrong,
        quiet,
        precision,
        recall,
        _ratio(2 * hits, 2 * hits + wrong + missed),
        wilson(precision, hits + wrong),
        wilson(recall, hits + missed),
        *rest,
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
