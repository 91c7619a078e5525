"""The whole line for suites at hand: plan, run, grade, aggregate, gate. Owns their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilleval import aggregate, engine, plan
from skilleval.gates import failed
from skilleval.model import EMPTY, Gate, Report, Result, Suite
from skilleval.tools import Tools


def evaluate(
    suites: Sequence[Suite],
    *,
    gates: Sequence[Gate],
    session: engine.Session = engine.SESSION,
    meta: Mapping[str, Any] = EMPTY,
    finished: Mapping[str, Result] = EMPTY,
    repeats: int = 1,
) -> Report:
    """Runs every suite and judges all of them together by the gates.

    The overall score is the mean over all cases of all suites, each weighing the same (seed 001).
    A trial whose content has a result in `finished` (see `store.key`) is not run again; what there
    is has been through the session's `keep`. Raises `UsageError` for an unknown agent before
    anything is started; what this machine lacks, only `preflight` says beforehand.
    """
    reports = tuple(
        aggregate.report(suite, _results(suite, session, finished, repeats)) for suite in suites
    )
    summary = aggregate.summarise(score for each in reports for score in aggregate.counting(each))
    return Report(reports, summary, tuple(gates), failed(gates, summary), meta)


def _results(
    suite: Suite, session: engine.Session, finished: Mapping[str, Result], repeats: int
) -> tuple[Result, ...]:
    trials = plan.trials(suite, repeats=repeats)
    if not finished:
        return engine.run(suite, session, trials)
    from skilleval.runfolder import store

    known = {trial: finished.get(store.key(suite, trial)) for trial in trials}
    missing = [trial for trial in trials if known[trial] is None]
    new = {result.trial: result for result in engine.run(suite, session, missing)}
    kept = {t: result._replace(trial=t) for t, result in known.items() if result is not None}
    return tuple((kept | new)[trial] for trial in trials)


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """Why the suite's agents cannot be started here, each reason once; empty if they can."""
    from skilleval import agents

    found = (agents.get(name).preflight(suite, tools) for name in plan.agents(suite))
    return tuple(dict.fromkeys(reason for reasons in found for reason in reasons))
