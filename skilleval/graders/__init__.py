"""Graders: each decides checks from stored evidence. Owns the contract and the table of names.

A grader is a module. It gets all checks of one trial that are its own, at once, so that one that
asks a model can do so in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from skilleval.errors import UsageError

if TYPE_CHECKING:
    from skilleval.model import Check, Evidence, Graded
    from skilleval.tools import Tools

GRADERS = {
    "judge": "skilleval.graders.judge",
    "state": "skilleval.graders.state",
    "text": "skilleval.graders.text",
    "trace": "skilleval.graders.trace",
}


# the method of a verdict by a grader that found nothing to decide on
UNDECIDED = "undecided"


class Grader(Protocol):
    """Gives one verdict for each check, in order. Raises `GraderError` if it cannot decide any.

    It reads the evidence and nothing else of the world, save what `tools` offers.
    """

    def grade(self, checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded: ...


@cache
def get(name: str) -> Grader:
    """The grader of that name. Raises `UsageError` listing the names there are."""
    if name not in GRADERS:
        raise UsageError(f"unknown grader {name!r}; choose one of: {', '.join(sorted(GRADERS))}")
    return cast(Grader, import_module(GRADERS[name]))
