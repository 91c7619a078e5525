"""Grades by substring: does the output contain the check's text? Owns that test, for everybody.

The runner and the validator both call `holds`; nothing else decides what "contains" means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skilleval.model import Check, Evidence, Graded, Verdict

if TYPE_CHECKING:
    from skilleval.tools import Tools

LOST = "a part of the output was lost, and the text is not in the rest"
NO_UTF8 = "the output is not all UTF-8, and the text may be in what could not be read"
REPLACED = "\ufffd"  # what stands for bytes that are no UTF-8


def holds(needle: str, negate: bool, text: str) -> bool:
    """Is `needle` in `text`, or negated, is it not? Plain substring, matching case (seed 001)."""
    return (needle in text) is not negate


def is_hidden(needle: str, text: str) -> bool:
    """May `needle` be in those bytes of a text without it that were no UTF-8, and were replaced?

    ASCII may only where it is there without what was put between its letters, as in UTF-16.
    """
    if REPLACED not in text:
        return False
    return not needle.isascii() or needle in text.replace(REPLACED, "")


def grade(checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    """One `pass` or `fail` for each check, by its `text` and `negate`.

    What is not in the rest of an output of which a part was lost is a `skip`, and so is what may be
    in the part that is no UTF-8.
    """
    outcome = evidence.outcome
    if outcome.output_whole:
        return Graded(tuple(_verdict(check, outcome.output) for check in checks))
    from skilleval.process.capture import pieces

    kept = pieces(outcome.output)
    return Graded(tuple(_verdict_on_rest(check, kept) for check in checks))


def _verdict(check: Check, output: str) -> Verdict:
    if REPLACED in output and check.text not in output and is_hidden(check.text, output):
        return Verdict(check.id, "skip", None, NO_UTF8, "text", check.weight)
    if holds(check.text, check.negate, output):
        return Verdict(check.id, "pass", 1, "", "text", check.weight)
    reason = "present" if check.negate else "missing"
    return Verdict(check.id, "fail", 0, reason, "text", check.weight)


def _verdict_on_rest(check: Check, kept: Sequence[str]) -> Verdict:
    for piece in kept:
        if holds(check.text, False, piece):
            return _verdict(check, piece)
    return Verdict(check.id, "skip", None, LOST, "text", check.weight)
