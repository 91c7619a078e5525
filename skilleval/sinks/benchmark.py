"""The statistics of a run as `benchmark.json`, in seed 002's layout (spec/suites sections 4, 8).

`run_summary`, `deltas` and `delta` have the seed's keys and mean what they mean there: means and
sample deviations (0 for one run) over the runs of all evals pooled, `pass_at_k` the share of evals
that passed in full at least once, `k` the most runs of an eval. Three things differ: a number that
nobody knows is null instead of 0; a run that failed or was not graded is left out instead of
counting as 0; and a delta is the paired difference that the report prints (`stats.deltas`), over
the evals that should trigger and were graded on both sides, not the difference of the two means,
which may be over different evals.

Further keys are ours: `statistics` holds the whole comparison, with what those numbers cannot say
(n, intervals, paired effects, unbiased pass@k). `metadata`, `runs` and `notes` are what viewers of
skill-creator's benchmark.json look for; `for_viewers` makes the rest of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilleval.model import EMPTY, SIDES, SuiteReport
from skilleval.runfolder import serial
from skilleval.stats.arms import ArmStatistics, Row, Side, sides, tokens
from skilleval.stats.comparison import Comparison
from skilleval.stats.deltas import Delta
from skilleval.stats.estimators import Spread, spread
from skilleval.writing import Rows

_METRICS = ("pass_rate", "time_seconds", "tokens")


def document(
    comparison: Comparison, report: SuiteReport, meta: Mapping[str, Any] = EMPTY
) -> dict[str, Any]:
    """The values of benchmark.json. `meta` is what run.json says besides the suite.

    `runs` are `Rows`, made while they are written: everything else is small however many there are.
    """
    labels = dict.fromkeys(arm.label for arm in comparison.arms)
    by_key = {_key(arm.label, arm.with_skill): arm for arm in comparison.arms}
    summary = {
        key: _configuration(by_key.get(key))
        for label in labels
        for key in (_key(label, True), _key(label, False))
    }
    by_name = {arm.arm: arm for arm in comparison.arms}
    deltas = {
        each.label: _delta(each)
        for each in comparison.deltas
        if _has_runs(by_name[each.with_arm]) and _has_runs(by_name[each.without_arm])
    }
    return {
        "run_summary": summary,
        "deltas": deltas,
        "delta": next(iter(deltas.values()), None) if len(labels) == 1 else None,
        "metadata": {**_metadata(report, comparison), "timestamp": meta.get("timestamp")},
        "runs": Rows(lambda: _runs(report)),
        "notes": list(comparison.alarms),
        "statistics": serial.to_json(comparison),
    }


def files(
    comparison: Comparison, report: SuiteReport, meta: Mapping[str, Any] = EMPTY
) -> dict[str, dict[str, Any]]:
    """The files of a run folder by name: benchmark.json, and for viewers one for each agent."""
    whole = document(comparison, report, meta)
    labels = dict.fromkeys(arm.label for arm in comparison.arms)
    apart = {
        f"benchmark-{label.replace('/', '__')}.json": for_viewers(whole, label) for label in labels
    }
    return {"benchmark.json": whole, **apart}


def _key(label: str, with_skill: bool) -> str:
    return f"{label}_{SIDES[with_skill]}"


def _configuration(arm: ArmStatistics | None) -> dict[str, Any]:
    nothing = Spread(0, None, None)
    return {
        "pass_rate": _spread(arm.pass_rate if arm else nothing),
        "time_seconds": _spread(arm.seconds if arm else nothing),
        "tokens": _spread(arm.tokens if arm else nothing),
        "full_pass_rate": arm.full_pass_rate if arm else None,
        "pass_at_k": arm.any_of_k if arm else None,
        "k": max(arm.k, 1) if arm else 1,
        "cost_usd": _spread(arm.cost_usd) if arm and arm.cost_usd.n else None,
        "cost_runs": arm.cost_usd.n if arm else 0,
    }


def _spread(values: Spread) -> dict[str, Any]:
    # the seed writes 0 for the deviation of one run
    return {"mean": values.mean, "stddev": 0.0 if values.n == 1 else values.stddev}


def _has_runs(arm: ArmStatistics) -> bool:
    return arm.trials > arm.errored


def _delta(delta: Delta) -> dict[str, float | None]:
    return {
        "pass_rate": delta.effect.effect,
        "time_seconds": delta.seconds,
        "tokens": delta.tokens,
        "cost_usd": delta.cost_usd,
    }


def _metadata(report: SuiteReport, comparison: Comparison) -> dict[str, Any]:
    suite = report.suite
    answered = (model for arm in comparison.arms for model in arm.models)
    asked = (arm.model for arm in suite.arms if arm.model)
    models = dict.fromkeys(answered) or dict.fromkeys(asked)
    folders = dict.fromkeys(str(arm.options.get("skill") or "") for arm in suite.arms)
    return {
        "skill_name": suite.skill,
        "skill_path": next(filter(None, folders), ""),
        "executor_model": ", ".join(models) or None,
        "analyzer_model": suite.judge.get("model"),
        "evals_run": [case.id for case in suite.cases],
        "runs_per_configuration": max((r.trial.repeat for r in report.results), default=0),
    }


def _runs(report: SuiteReport) -> Iterator[dict[str, Any]]:
    return (_run(side, row) for side in sides(report) for row in side.rows)


def _run(side: Side, row: Row) -> dict[str, Any]:
    result, outcome, score = row.result, row.result.outcome, row.score
    graded = row.state == "graded"
    rows = zip(row.case.checks, result.verdicts, strict=True)
    decided = sum(verdict.status in ("pass", "fail") for verdict in result.verdicts)
    calls = sum(event.kind == "call" for event in outcome.events)
    return {
        "eval_id": row.case.id,
        "eval_name": row.case.id,
        "agent": side.label,
        "configuration": SIDES[side.arm.with_skill],
        "run_number": result.trial.repeat,
        "result": {
            "pass_rate": score.value if graded else None,
            "passed": score.checks_passed,
            "failed": decided - score.checks_passed,
            "total": score.checks_total,
            "time_seconds": outcome.seconds,
            "tokens": tokens(outcome),
            "tool_calls": calls if outcome.events and outcome.events_whole else None,
            "errors": int(row.state == "errored"),
        },
        "expectations": [
            {
                "text": check.text,
                "passed": verdict.status == "pass",
                "evidence": verdict.reason,
                "skipped": verdict.status in ("skip", "error"),
            }
            for check, verdict in rows
        ],
        "notes": [*outcome.notes, *([outcome.error] if outcome.error else [])],
    }


def for_viewers(document: Mapping[str, Any], agent: str) -> dict[str, Any]:
    """One agent's part of the document in the layout of agentskills.io and skill-creator.

    There `run_summary` has the keys `with_skill`, `without_skill` and `delta` (numbers), and each
    metric has `min` and `max` too. Both can't be had in one file, as the seed's readers take every
    key of `run_summary` for a configuration. `agent` is a key of the document's `deltas`.
    """
    runs = Rows(lambda: (run for run in document["runs"] if run["agent"] == agent))
    known: dict[str, dict[str, list[float]]] = {
        side: {metric: [] for metric in _METRICS} for side in SIDES.values()
    }
    for run in runs:
        for metric, values in known[run["configuration"]].items():
            value = run["result"][metric]
            if value is not None and not run["result"]["errors"]:
                values.append(value)
    summary: dict[str, Any] = {
        side: {metric: _extent(values) for metric, values in metrics.items()}
        for side, metrics in known.items()
    }
    delta = document["deltas"].get(agent, {})
    summary["delta"] = {metric: delta.get(metric) for metric in _METRICS}
    return {
        "metadata": document["metadata"],
        "runs": runs,
        "run_summary": summary,
        "notes": document["notes"],
    }


def _extent(values: Sequence[float]) -> dict[str, Any]:
    lowest, highest = min(values, default=None), max(values, default=None)
    return {**_spread(spread(values)), "min": lowest, "max": highest}
