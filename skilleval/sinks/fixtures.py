"""The report of fixtures (seed 001, spec/fixtures section 4): as text for people, as JSON in the
field names of the seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skilleval.model import Case, Report, Result, Score, SuiteReport
from skilleval.sinks import decimals, quoted


def render(report: Report) -> str:
    """Skills with their scores, the failing tasks with the reasons, and the overall line."""
    lines = [line for suite in report.suites for line in _lines(suite)]
    summary, limit = report.summary, report.gates[0].limit
    places = 3 if summary.score is None else decimals(summary.score, limit, 3)
    lines.append(
        f"Overall: {number(summary.score, places)} "
        f"({summary.cases_passed}/{summary.cases_total} tasks, "
        f"{summary.checks_passed}/{summary.checks_total} checks), "
        f"min score {float(limit):.12g}"
    )
    return "\n".join(lines) + "\n"


def _lines(report: SuiteReport) -> Iterator[str]:
    summary = report.summary
    counts = f"({summary.cases_passed}/{summary.cases_total} tasks)"
    yield f"{report.suite.name}  {number(summary.score)}  {counts}"
    for result, score, case in zip(report.results, report.scores, report.suite.cases, strict=True):
        if not score.passed:
            yield f"  FAIL {result.trial.case_id} {number(score.value, 2)}{_remark(result)}"
            if result.outcome.status == "ok":
                for check, verdict in zip(case.checks, result.verdicts, strict=True):
                    if verdict.status != "pass":
                        yield f"    {verdict.reason}: {quoted(check.text)}"


def _remark(result: Result) -> str:
    if result.outcome.status != "ok":
        return " (no answer file)"
    return "" if result.outcome.output.strip() else " (empty answer)"


def number(value: float | None, places: int = 3) -> str:
    """A score in [0, 1] for people. Only a perfect one reads 1, only nothing at all reads 0."""
    if value is None:
        return "unknown"
    text = f"{float(value):.{places}f}"
    while float(text) != value and float(text) in (0, 1) and places < 9:
        places += 1
        text = f"{float(value):.{places}f}"
    return text


def as_json(report: Report) -> str:
    """One JSON object, ASCII only, so that any terminal and any pipe carries it unharmed."""
    import json

    summary = report.summary
    document = {
        "mode": report.meta["mode"],
        "answers_dir": report.meta["answers_dir"],
        "min_score": float(report.gates[0].limit),
        "score": _float(summary.score),
        "passed": report.passed,
        "tasks_passed": summary.cases_passed,
        "tasks_total": summary.cases_total,
        "checks_passed": summary.checks_passed,
        "checks_total": summary.checks_total,
        "unused_answers": list(report.meta["unused_answers"]),
        "skills": [_suite(suite) for suite in report.suites],
    }
    return json.dumps(document, indent=2) + "\n"


def _suite(report: SuiteReport) -> dict[str, Any]:
    rows = zip(report.suite.cases, report.results, report.scores, strict=True)
    return {
        "skill": report.suite.name,
        "score": _float(report.summary.score),
        "tasks_passed": report.summary.cases_passed,
        "tasks_total": report.summary.cases_total,
        "tasks": [_task(case, result, score) for case, result, score in rows],
    }


def _task(case: Case, result: Result, score: Score) -> dict[str, Any]:
    outcome = result.outcome
    return {
        "id": case.id,
        "score": score.value,
        "passed": score.passed,
        "missing": outcome.status != "ok",
        "empty": outcome.status == "ok" and not outcome.output.strip(),
        "answer": outcome.source,
        "checks_passed": score.checks_passed,
        "checks_total": score.checks_total,
        "checks": [
            {
                "type": "must_not_include" if check.negate else "must_include",
                "value": check.text,
                "passed": verdict.status == "pass",
            }
            for check, verdict in zip(case.checks, result.verdicts, strict=True)
        ],
    }


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
