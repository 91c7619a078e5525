"""The whole line for suites at hand: plan, run, grade, aggregate, gate. Owns their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilleval import aggregate, engine
from skilleval.gates import failed
from skilleval.model import EMPTY, Gate, Report, Suite


def evaluate(
    suites: Sequence[Suite],
    *,
    gates: Sequence[Gate],
    session: engine.Session = engine.SESSION,
    meta: Mapping[str, Any] = EMPTY,
) -> Report:
    """Runs every suite and judges all of them together by the gates.

    The overall score is the mean over all cases of all suites, each weighing the same (seed 001).
    Raises `UsageError` and `AgentUnavailable` before anything is started.
    """
    reports = tuple(aggregate.report(suite, engine.run(suite, session)) for suite in suites)
    summary = aggregate.summarise(score for report in reports for score in report.scores)
    return Report(reports, summary, tuple(gates), failed(gates, summary), meta)
