"""Views of the recorded run for the tests of several sinks."""

import recorded

from skilleval import aggregate
from skilleval.model import Outcome, Result, Trial, Verdict
from skilleval.sinks import view as views

CRASHED = Outcome("ok", exit_code=7, failure="agent", notes=("agent: exit status 7: <b>boom</b>",))
REFUSED = Outcome("missing", error="budget: 0.05 of 0.04 USD are spent", failure="budget")


def view(repeats=3, suite=recorded.SUITE, results=None):
    """The view of the recorded results, or of others."""
    found = recorded.results(repeats, suite) if results is None else results
    return views.of(aggregate.report(suite, found))


def one(outcome, status="pass"):
    """The view of a single trial, with both checks of its case decided alike."""
    suite = recorded.SUITE._replace(cases=recorded.CASES[1:2], arms=recorded.ARMS[:1])
    [case], [arm] = suite.cases, suite.arms
    score = {"pass": 1.0, "fail": 0.0}.get(status)
    verdicts = tuple(Verdict(check.id, status, score, outcome.error) for check in case.checks)
    return view(suite=suite, results=[Result(Trial(case.id, arm.name), outcome, verdicts)])
