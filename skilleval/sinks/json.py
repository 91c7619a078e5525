"""The report as JSON for machines, in the field names of seed 001 (spec/fixtures section 4)."""

from __future__ import annotations

import json
from typing import Any

from skilleval.model import Case, Report, Result, Score, SuiteReport


def render(report: Report) -> str:
    """One JSON object, ASCII only, so that any terminal and any pipe carries it unharmed."""
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
