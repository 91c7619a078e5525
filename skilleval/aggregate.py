"""From verdicts to scores to a summary. Owns what passing means; decides no exit code.

Pass or fail of a case is decided here and nowhere else, by the suite's `Rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
    """The suite's results with their scores and summary (see `counting`)."""
    known: dict[object, Score] = {}  # thousands of trials have but a few different ones

    def shared(found: Score) -> Score:
        # a report tells 1 point from 1.0
        return known.setdefault((found, type(found.earned)), found)

    scores = tuple(shared(score(result.verdicts, suite.rules)) for result in results)
    found = SuiteReport(suite, tuple(results), scores, summarise(()))
    return found._replace(summary=summarise(counting(found)))


def counting(report: SuiteReport) -> Iterator[Score]:
    """The scores that a summary is over: of the arms with the skill, where there are such.

    What an agent does without the skill is what that is compared with, and no merit or fault of it.
    """
    arms = report.suite.arms
    both = any(arm.with_skill for arm in arms)
    control = {arm.name for arm in arms if both and not arm.with_skill}
    pairs = zip(report.results, report.scores, strict=True)
    yield from (score for result, score in pairs if result.trial.arm not in control)
