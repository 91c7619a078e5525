"""Views of the recorded run for the tests of several sinks."""

import recorded

from skilleval import aggregate
from skilleval.sinks import view as views


def view(repeats=3, suite=recorded.SUITE, results=None):
    """The view of the recorded results, or of others."""
    found = recorded.results(repeats, suite) if results is None else results
    return views.of(aggregate.report(suite, found))
