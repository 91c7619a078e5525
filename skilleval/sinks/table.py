"""The report as text for people (spec/fixtures section 4)."""

from __future__ import annotations

from collections.abc import Iterator

from skilleval.model import Report, Result, SuiteReport
from skilleval.sinks import quoted


def render(report: Report) -> str:
    """Skills with their scores, the failing tasks with the reasons, and the overall line."""
    lines = [line for suite in report.suites for line in _suite(suite)]
    summary = report.summary
    lines.append(
        f"Overall: {number(summary.score)} ({summary.cases_passed}/{summary.cases_total} tasks, "
        f"{summary.checks_passed}/{summary.checks_total} checks), "
        f"min score {float(report.gates[0].limit):g}"
    )
    return "\n".join(lines) + "\n"


def _suite(report: SuiteReport) -> Iterator[str]:
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
