"""Grades by what changed: files, git, and what the agent said at the end (seed 002).

Decides from the outcome alone, so that stored trials can be graded again without their workspace.
What that cannot tell is left undecided: a skip by the method `undecided`, and never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.graders import claims
from skilleval.model import Check, Evidence, Graded
from skilleval.tools import Tools


def grade(checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    """A verdict on each check by the rule in its params (see `assertions.check`)."""
    return claims.grade(checks, evidence)
