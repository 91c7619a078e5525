"""Grades by what the agent did: the commands of its tool calls, and the skills that it used.

What there is no record of is left undecided (see `activity`).
"""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.graders import claims
from skilleval.model import Check, Evidence, Graded
from skilleval.tools import Tools


def grade(checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    """A verdict on each check by the rule in its params (see `assertions.check`)."""
    return claims.grade(checks, evidence)
