"""A run as every report shows it. Owns the words and numbers that reports share, not their markup.

Text of agents, judges and users is data: `plain` and `line` make it harmless for whatever shows it,
and each sink escapes it for its own markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.gates import failed
from skilleval.model import (
    EMPTY,
    Check,
    Outcome,
    Result,
    Rules,
    Status,
    SuiteReport,
    Trial,
    Verdict,
)
from skilleval.plaintext import counted, without_sequences
from skilleval.sinks import decimals
from skilleval.stats import comparison
from skilleval.stats.arms import ArmStatistics, Row, Side, ending, sides
from skilleval.stats.deltas import Delta
from skilleval.stats.estimators import Interval, Spread

UNKNOWN = "n/a"
MARKS: Mapping[Status, str] = {"pass": "PASS", "fail": "FAIL", "skip": "SKIPPED", "error": "ERROR"}
# control characters, surrogates, non-characters, and marks that turn the direction of a text around
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
    "|[\ufffe\uffff]"
)


def _as_it_is(result: Result) -> Result:
    return result


def _nowhere(trial: Trial) -> str:
    return ""


class View(NamedTuple):
    """A run to be shown: its results (they may be light), what they say, and what it is called.

    `whole` brings back the evidence of a light result, one at a time, and `place` is the folder
    with its files, relative to `folder`. `problems` are results that could not be read, a line
    each; `planned` counts those there were to be (None: unknown).
    """

    title: str
    report: SuiteReport
    comparison: comparison.Comparison
    folder: str = ""
    problems: tuple[str, ...] = ()
    planned: int | None = None
    whole: Callable[[Result], Result] = _as_it_is
    place: Callable[[Trial], str] = _nowhere
    meta: Mapping[str, Any] = EMPTY


class CaseRows(NamedTuple):
    """A case's trials, arm by arm, each arm with its sides' label."""

    case_id: str
    rows: tuple[tuple[Side, Row], ...]


def of(report: SuiteReport, title: str = "") -> View:
    """The view of results at hand."""
    return View(title or report.suite.name, report, comparison.compare(report))


def by_case(view: View) -> tuple[CaseRows, ...]:
    """The trials of each case that has some, in the order of the suite."""
    found: dict[str, list[tuple[Side, Row]]] = {case.id: [] for case in view.report.suite.cases}
    for side in sides(view.report):
        for row in side.rows:
            found[row.case.id].append((side, row))
    return tuple(CaseRows(case_id, tuple(rows)) for case_id, rows in found.items() if rows)


def checked(row: Row) -> Iterator[tuple[Check, Verdict]]:
    """The checks of a trial with their verdicts, in the order of the suite."""
    return zip(row.case.checks, row.result.verdicts, strict=True)


def open_points(row: Row) -> Iterator[tuple[Check, Verdict]]:
    """The checks that did not pass; none where `tally` says why the whole trial has no answer."""
    if row.result.outcome.status != "error" and not row.result.outcome.refused:
        yield from (pair for pair in checked(row) if pair[1].status != "pass")


def plain(text: str) -> str:
    """Text without what a terminal obeys; other control characters are shown as `\\x00`."""
    if text.isascii() and text.isprintable():
        return text
    text = without_sequences(text.replace("\r\n", "\n").replace("\r", "\n"))
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def line(text: str, limit: int = 0) -> str:
    """The same on one line, cut at `limit` characters."""
    short = " ".join(plain(text[: limit * 4] if limit else text).split())
    return f"{short[: limit - 1]}…" if limit and len(short) > limit else short


def percent(value: float | None) -> str:
    """A share as 91.7%. Only a perfect one reads 100.0%, only nothing at all 0.0%."""
    if value is None:
        return UNKNOWN
    places, text = 1, f"{value:.1%}"
    while text in ("100.0%", "0.0%", "100.00%", "0.00%") and value not in (0, 1) and places < 3:
        places += 1
        text = f"{value:.{places}%}"
    return text


def signed_percent(value: float | None) -> str:
    """A difference of shares as +12.5%."""
    # + 0.0: a difference that rounds to nothing is no minus
    return UNKNOWN if value is None else f"{round(value, 3) + 0.0:+.1%}"


def _signed(value: float | None, places: int, unit: str = "") -> str:
    # + 0.0: a difference that rounds to nothing is no minus
    return UNKNOWN if value is None else f"{round(value, places) + 0.0:+.{places}f}{unit}"


def interval(found: Interval | None) -> str:
    """62% to 98%."""
    return UNKNOWN if found is None else f"{found.low:.0%} to {found.high:.0%}"


def spread(values: Spread, places: int = 1) -> str:
    """mean +/- sample deviation; the mean alone of one number."""
    if values.mean is None:
        return UNKNOWN
    mean = f"{values.mean:.{places}f}"
    return mean if values.stddev is None else f"{mean} +/- {values.stddev:.{places}f}"


def share_spread(values: Spread) -> str:
    """The same of shares, as percentages."""
    deviation = "" if values.stddev is None else f" +/- {values.stddev:.1%}"
    return percent(values.mean) + deviation


def arm_table(arms: tuple[ArmStatistics, ...]) -> list[tuple[str, ...]]:
    """A heading and a row for each arm. What needs repeats is left out where there are none."""
    repeated = any(arm.k > 1 for arm in arms)
    headings = ["Configuration", "Graded", "Pass Rate", "95% Interval", "Full Pass"]
    headings += ["pass@k", "pass^k", "any of k"] if repeated else []
    headings += ["Time (s)", "Tokens", "Cost (USD)"]
    return [tuple(headings), *(tuple(_arm_cells(arm, repeated=repeated)) for arm in arms)]


def _arm_cells(arm: ArmStatistics, *, repeated: bool) -> Iterator[str]:
    yield arm.name
    yield f"{arm.graded}/{arm.trials}"
    yield share_spread(arm.pass_rate)
    yield interval(arm.pass_rate_interval)
    yield percent(arm.full_pass_rate)
    if repeated:
        yield _at_k(arm.pass_at_k)
        yield _at_k(arm.pass_hat_k)
        yield UNKNOWN if arm.any_of_k is None else f"{percent(arm.any_of_k)} (k={arm.k})"
    yield spread(arm.seconds)
    yield spread(arm.tokens, 0)
    yield spread(arm.cost_usd, 4)


def _at_k(values: tuple[float, ...]) -> str:
    return f"{percent(values[-1])} (k={len(values)})" if values else UNKNOWN


def delta_line(delta: Delta) -> str:
    """The differences that the skill makes for an agent, in the seed's words."""
    tokens = _signed(delta.tokens, 0)
    seconds = _signed(delta.seconds, 1, "s")
    cost = _signed(delta.cost_usd, 4, " USD")
    rate = signed_percent(delta.effect.effect)
    return f"{delta.label}: pass rate {rate}, time {seconds}, tokens {tokens}, cost {cost}"


def verdict_lines(delta: Delta) -> Iterator[str]:
    """How sure that is: the verdict with its counts, the interval, the negative controls."""
    effect = delta.effect
    yield f"{effect.text}: {effect.reason}"
    if effect.interval:
        low, high = map(signed_percent, effect.interval)
        yield f"95% interval {low} to {high}, over {counted(effect.pairs, 'paired case')}"
    if effect.normalised_gain is not None:
        yield f"normalised gain {effect.normalised_gain:.2f} (share of what was left to gain)"
    if delta.controls:
        controls = delta.controls
        yield (
            f"negative controls: {percent(controls.with_mean)} with the skill, "
            f"{percent(controls.without_mean)} without ({controls.pairs} paired)"
        )


def rules_line(rules: Rules) -> str:
    """The rule by which a trial passes, so that nobody confuses its score with its status."""
    share = "all" if rules.case_passes == 1 else f"{rules.case_passes:.0%}"
    counted = {"fail": "count as failed", "skip": "are left out", "error": "are left out"}
    unanswered, errored = counted[rules.unanswered], counted[rules.errored]
    rest = f"skipped checks {unanswered}, errors {errored}"
    if unanswered == errored:
        rest = f"skipped checks and errors {unanswered}"
    return f"a trial passes with {share} of its graded points; {rest}"


def gate_lines(view: View) -> Iterator[str]:
    """Each limit that the score of the suite must keep, and whether it does."""
    score = view.report.summary.score
    for gate in view.report.suite.gates if score is not None else ():
        if gate.metric == "score":
            points, limit = score * 100, gate.limit * 100
            kept = "keeps" if not failed([gate], view.report.summary) else "is below"
            shown = f"{float(points):.{decimals(points, limit, 1)}f}%"
            yield f"the score {shown} {kept} the threshold of {float(limit):.12g}%"


def counts_line(view: View) -> str:
    """How many trials the numbers stand on."""
    arms = view.comparison.arms
    outcomes = [result.outcome for result in view.report.results]
    refused = Counter(outcome.failure for outcome in outcomes if outcome.refused)
    errored = sum(arm.errored for arm in arms)
    skipped = sum(arm.skipped for arm in arms) - refused.total()
    trials, graded = sum(arm.trials for arm in arms), sum(arm.graded for arm in arms)
    parts = [f"{graded} graded"]
    parts += [f"{errored} failed to run"] if errored else []
    parts += [f"{skipped} without a decided check"] if skipped else []
    parts += [f"{count} not started: {failure}" for failure, count in refused.items()]
    planned = ""
    if view.planned is not None and view.planned != trials:
        planned = f" of {view.planned} planned (the run is not finished)"
    return f"{counted(len(by_case(view)), 'case')}, {counted(trials, 'trial')}{planned}: " + (
        ", ".join(parts)
    )


def trial_label(side: Side, row: Row, *, repeated: bool) -> str:
    """agent/with_skill/run-2, as its folder is called."""
    run = f"/run-{row.result.trial.repeat}" if repeated else ""
    return side.name + run


def models(view: View) -> Iterator[str]:
    """Which model answered in each arm, as far as the agents' programs tell."""
    asked = {arm.name: arm.model for arm in view.report.suite.arms}
    for arm in view.comparison.arms:
        if arm.models:
            wish = asked[arm.arm]
            given = f" (asked for: {wish})" if wish not in ("", *arm.models) else ""
            yield f"{arm.name}: {'; '.join(arm.models)}{given}"


def is_repeated(view: View) -> bool:
    """Is any case run more than once in an arm?"""
    return any(result.trial.repeat > 1 for result in view.report.results)


def is_shown(row: Row, *, failures_only: bool) -> bool:
    """Is there more to say of a trial than that all was well, or is all to be shown?"""
    return not (failures_only and row.score.passed and not mark(row))


def tally(row: Row) -> str:
    """3/4 passed (100.0%, 1 skipped), exit 7; or why there is nothing to count."""
    if row.state == "errored":
        return f"error: {failure(row.result)}"
    if row.result.outcome.refused:
        return f"not started: {failure(row.result)}"
    statuses = [verdict.status for verdict in row.result.verdicts]
    skipped, errors = statuses.count("skip"), statuses.count("error")
    parts = [percent(row.score.value) if row.score.possible else "not graded"]
    parts += [f"{skipped} skipped"] if skipped else []
    parts += [counted(errors, "error")] if errors else []
    counts = f"{statuses.count('pass')}/{len(statuses)} passed ({', '.join(parts)})"
    return ", ".join(filter(None, (counts, mark(row))))


def mark(row: Row) -> str:
    """How an agent ended whose work is graded although that was no good end; else ""."""
    return "" if row.state == "errored" else ending(row.result.outcome)


def remarks(row: Row) -> tuple[str, ...]:
    """What is known of a trial with such a mark besides its verdicts, a line each."""
    return tuple(line(note, 500) for note in row.result.outcome.notes[:20]) if mark(row) else ()


def failure(result: Result) -> str:
    """Why a trial is no measurement: the kind of failure, and its words."""
    kind, words = cause(result.outcome)
    return f"{kind}: {line(words, 200)}" if words else kind


def cause(outcome: Outcome) -> tuple[str, str]:
    """The kind of a failure, and the words for it without the kind that they may begin with."""
    kind = outcome.failure or ("timeout" if outcome.timed_out else "agent")
    head, colon, rest = outcome.error.partition(": ")
    named = bool(colon) and head.startswith(kind)  # `control broken` is the kind `control`
    return (head, rest) if named else (kind, outcome.error)


def kept(view: View) -> Iterator[str]:
    """Where the workspace of each trial is that was to be kept, and how all of them go again."""
    from skilleval.trial import temporary

    repeated, count = is_repeated(view), 0
    for case in by_case(view):
        for side, row in case.rows:
            if folder := row.result.outcome.source:
                count += 1
                label = f"eval-{case.case_id} {trial_label(side, row, repeated=repeated)}"
                yield f"kept: {line(label)}: {line(temporary.inside(folder))}"
    if count:
        listed = "listed in cleanup.json: `skilleval cleanup` removes them"
        yield f"{counted(count, 'workspace')} kept, {listed}"


def findings(view: View) -> Iterator[str]:
    """Checks that cannot tell the arms apart, or that vary from repeat to repeat."""
    for check in view.comparison.checks:
        counts = (
            f"{check.with_passed}/{check.with_n} with, {check.without_passed}/{check.without_n} "
            "without the skill"
        )
        names = [name for name in (check.finding, "flaky" if check.flaky else "") if name]
        if names:
            place = f"{check.label}: {line(check.case_id)}: {line(check.text, 120)}"
            yield f"{', '.join(names)} ({counts}): {place}"


def triggering(view: View) -> Iterator[str]:
    """Precision and recall of the skill's use, a line for each arm that recorded events."""
    names = {arm.arm: arm.name for arm in view.comparison.arms}
    for each in view.comparison.activations:
        if each.silent or not (each.cases or each.forced):
            continue
        parts = []
        if each.cases:
            parts.append(
                f"precision {percent(each.precision)}, recall {percent(each.recall)}, "
                f"F1 {percent(each.f1)} over {counted(len(each.cases), 'case')}"
            )
        if each.forced:
            parts.append(f"used in {each.forced_seen} of {each.forced} trials that were told to")
        yield f"{names[each.arm]}: {'; '.join(parts)}"
