"""From verdicts to scores to a summary. Owns what passing means; decides no exit code.

Pass or fail of a case is decided here and nowhere else, by the suite's `Rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skilleval.model import Result, Rules, Score, Suite, SuiteReport, Summary, Verdict
from skilleval.stats import exact_mean


def score(verdicts: Iterable[Verdict], rules: Rules) -> Score:
    """The points that the verdicts earn of those possible.

    A skipped or errored check counts as `rules.unanswered` or `rules.errored` say: as a fail, or
    not at all. A case passes with the share of its points that `rules.case_passes` asks for;
    one with nothing to score does not pass.
    """
    earned: float = 0
    possible = passed = total = 0
    for verdict in verdicts:
        total += 1
        status = verdict.status
        if status == "skip":
            status = rules.unanswered
        elif status == "error":
            status = rules.errored
        if status in ("skip", "error"):
            continue
        possible += verdict.weight
        earned += verdict.weight * (verdict.score or 0)
        passed += status == "pass"
    case_passes = possible > 0 and earned >= possible * rules.case_passes
    counted = possible > 0 or rules.no_outcome == "zero"
    return Score(earned, possible, case_passes, passed, total, counted)


def summarise(scores: Iterable[Score]) -> Summary:
    """The mean of the scores there are, each weighing the same; the counts are over all."""
    scores = tuple(scores)
    return Summary(
        exact_mean((s.earned, s.possible or 1) for s in scores if s.counted),
        sum(s.passed for s in scores),
        len(scores),
        sum(s.checks_passed for s in scores),
        sum(s.checks_total for s in scores),
    )


def report(suite: Suite, results: Sequence[Result]) -> SuiteReport:
    """The suite's results with their scores and summary."""
    scores = tuple(score(result.verdicts, suite.rules) for result in results)
    return SuiteReport(suite, tuple(results), scores, summarise(scores))
