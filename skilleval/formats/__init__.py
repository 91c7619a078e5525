"""Formats: each reads one kind of fixture file into a `Suite`. Owns the contract and the table.

To add a format: write a module with the functions of `Format`, and name it in `FORMATS`, with the
name in a skill's evals/ by which such a skill is known.
Everything behind it (plan, engine, graders, aggregate, gates, sinks) takes the `Suite` as it is;
what differs between formats is said in its `Rules`, `Gate`s, `Arm`s and the checks' `grader`.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from skilleval.errors import UsageError
from skilleval.model import Problem, Suite

FORMATS = {
    "fixtures": "skilleval.formats.tasks",
    "scenarios": "skilleval.formats.scenario",
    "suites": "skilleval.formats.evals",
    "triggers": "skilleval.formats.triggers",
}
# what lies in the evals/ of a skill of that format (a final * stands for any rest), or is the path
KNOWN_BY = {
    "fixtures": "tasks.json",
    "scenarios": "scenario-*",
    "suites": "evals.json",
    "triggers": "eval_queries.json",
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


@cache
def get(name: str) -> Format:
    """The format of that name."""
    return cast(Format, import_module(FORMATS[name]))


def owners(path: str) -> list[str]:
    """The names of the formats that a file, or a skill folder, is of; only those are loaded."""
    names = {os.path.basename(os.path.normpath(path))}
    names.update(_names_in(path), _names_in(os.path.join(path, "evals")))
    return [
        format_name
        for format_name, mark in KNOWN_BY.items()
        if _is_among(names, mark) and get(format_name).owns(path)
    ]


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # absent, a file, or forbidden: nothing is known to be there
        return []


def _is_among(names: set[str], mark: str) -> bool:
    if not mark.endswith("*"):
        return mark in names
    return any(name.startswith(mark[:-1]) for name in names)


def of(path: str) -> Format:
    """The format that owns the file or folder. Raises `UsageError` naming what would be read."""
    if not os.path.lexists(path):
        raise UsageError(f"{path}: no such file or folder")
    for name in owners(path):
        return get(name)
    known = "; ".join(get(name).FILES for name in FORMATS)
    raise UsageError(f"{path}: not a fixture file that skilleval knows; it reads {known}")
