"""Does an evals.json measure anything? The usual weaknesses of a suite's design (E10 to E13).

Owns these rules (spec/suites section 1, `validate`). Too eager for every commit, so they are
reported under `--strict` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from skilleval.model import Problem

_CONTROL_ID = re.compile(
    r"(?i)missing|negative|invalid|without|should-not|does-not|(?:^|-)no-|stop"
)
_CONTROL_TEXT = re.compile(
    r"(?i)\b(?:does not|do not|must not|should not|not execute|not write|missing)\b"
)


class CaseText(NamedTuple):
    """A case as far as the rules look at it; of each assertion its text and who grades it."""

    id: str
    assertions: tuple[tuple[str, str], ...]
    should_trigger: bool
    forced: bool

    @property
    def is_control(self) -> bool:
        """Does it show what must not happen?"""
        if not self.should_trigger or _CONTROL_ID.search(self.id):
            return True
        return any(_CONTROL_TEXT.search(text) for text, _ in self.assertions)


class SuiteText(NamedTuple):
    """A suite with at least one case."""

    path: str
    cases: tuple[CaseText, ...]


def problems(suite: SuiteText) -> list[Problem]:
    """The weaknesses of the suite, as warnings."""
    return [Problem(suite.path, 0, "", rule, "warning", text) for rule, text in _found(suite)]


def _found(suite: SuiteText) -> Iterator[tuple[str, str]]:
    graders = {grader for case in suite.cases for _, grader in case.assertions}
    if graders == {"judge"}:
        yield (
            "E10",
            "every assertion needs a judge; add one that a rule decides, or no key, no result",
        )
    if all(case.forced for case in suite.cases):
        yield "E11", "every case forces the skill; add one that leaves the choice to the agent"
    elif not any(case.should_trigger and not case.forced for case in suite.cases):
        yield "E12", "no case shows that the skill triggers by itself; add one without force"
    if not any(case.is_control for case in suite.cases):
        yield "E13", 'no negative control; add a case with "should_trigger": false'
