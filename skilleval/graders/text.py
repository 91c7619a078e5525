"""Grades by substring: does the output contain the check's text? Owns that test, for everybody.

The runner and the validator both call `holds`; nothing else decides what "contains" means.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.model import Check, Evidence, Graded, Verdict
from skilleval.tools import Tools


def holds(needle: str, negate: bool, text: str) -> bool:
    """Is `needle` in `text`, or negated, is it not? Plain substring, matching case (seed 001)."""
    return (needle in text) is not negate


def grade(checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    """One `pass` or `fail` for each check, by its `text` and `negate`."""
    output = evidence.outcome.output
    verdicts = [
        Verdict(check.id, "pass", 1, "", "text", check.weight)
        if holds(check.text, check.negate, output)
        else Verdict(
            check.id, "fail", 0, "present" if check.negate else "missing", "text", check.weight
        )
        for check in checks
    ]
    return Graded(tuple(verdicts))
