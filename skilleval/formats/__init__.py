"""Formats: each reads one kind of fixture file into a `Suite`. Owns the contract and the table.

To add a format: write a module with the three functions of `Format`, and name it in `FORMATS`.
Everything behind it (plan, engine, graders, aggregate, gates, sinks) takes the `Suite` as it is;
what differs between formats is said in its `Rules`, `Gate`s, `Arm`s and the checks' `grader`.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Protocol, cast

from skilleval.errors import UsageError
from skilleval.model import Problem, Suite

FORMATS = {
    "fixtures": "skilleval.formats.tasks",
    "scenarios": "skilleval.formats.scenario",
}


class Format(Protocol):
    """One fixture format. `FILES` names its files in words, for messages."""

    FILES: str

    def owns(self, path: str) -> bool:
        """Is this file or folder of this format? Looks at names first, and opens no large file."""

    def load(self, path: str) -> Suite:
        """The suite. Raises `SuiteError` at the first thing that makes it unusable."""

    def problems(self, path: str, *, strict: bool = False) -> list[Problem]:
        """Everything wrong with the file and what belongs to it. Raises only `OSError`s of ours."""


def get(name: str) -> Format:
    """The format of that name."""
    return cast(Format, import_module(FORMATS[name]))


def of(path: str) -> Format:
    """The format that owns the file or folder. Raises `UsageError` naming what would be read."""
    if not os.path.lexists(path):
        raise UsageError(f"{path}: no such file or folder")
    for name in FORMATS:
        if get(name).owns(path):
            return get(name)
    known = "; ".join(get(name).FILES for name in FORMATS)
    raise UsageError(f"{path}: not a fixture file that skilleval knows; it reads {known}")
