"""The cases of a run as evals_meta.json keeps them, where no run.json does (seed 002).

Lenient where the file of a suite is read strictly (`formats.evals`): another tool has written it,
and has run what it says. An entry that does not say clearly what was to be graded gives a case that
is `broken`: what was found about it can be read, and it cannot be graded again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from skilleval import assertions
from skilleval.errors import SuiteError
from skilleval.model import Case, Check
from skilleval.runfolder import foreignfiles

NAME = "evals_meta.json"
# for the judge, beside the evidence: it would fail what it cannot see
CONTEXT = (
    "the files of the workspace are not stored any more, only what the evidence shows. Leave out of"
    " your answer every criterion that nothing but those files could decide."
)


class Meta(NamedTuple):
    """What the file says. `lacking` is why a case that is not among `cases` cannot be graded."""

    skill: str
    cases: Mapping[str, Case]
    problems: tuple[str, ...]
    lacking: str

    def case(self, identifier: str) -> Case:
        """The case of that id: a broken one if the file has none."""
        found = self.cases.get(identifier)
        return found or Case(identifier, "", broken=f"{self.lacking} {identifier!r}")


class _Broken(Exception):
    """An entry does not say what was to be graded; the message goes on from its name."""


def read(folder: str) -> Meta:
    """The cases of the run in a folder. Raises nothing: what is wrong is in `problems`."""
    path = os.path.join(folder, NAME)
    try:
        document = foreignfiles.document(path, folder)
    except SuiteError as error:
        return Meta("", {}, (str(error),), f"{error}; without it nobody knows the assertions of")
    if document is None:
        return Meta("", {}, (), f"{path}: is not there; without it nobody knows the assertions of")
    skill = document.get("skill_name")
    skill = skill if isinstance(skill, str) else ""
    entries = document.get("evals")
    problems = [] if isinstance(entries, list) else [f"{path}: evals must be a list"]
    cases: dict[str, Case] = {}
    for number, raw in enumerate(entries if isinstance(entries, list) else (), 1):
        identifier = identity(raw.get("id")) if isinstance(raw, dict) else ""
        if not identifier:
            problems.append(f"{path}: eval {number}: is no object with an id")
            continue
        case = _case(raw, identifier, skill, path)
        if identifier in cases:
            case = case._replace(broken=f"{path}: eval {identifier!r}: the id is used twice")
        if case.broken:
            problems.append(case.broken)
        cases[identifier] = case
    return Meta(skill, cases, tuple(problems), f"{path}: has no eval")


def identity(value: Any) -> str:
    """An id as text, "" for what is none; a number is one, true is none (seed 002: `int | str`)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**15 else ""
    return value if isinstance(value, str) else ""


def _case(raw: Mapping[str, Any], identifier: str, skill: str, path: str) -> Case:
    case = Case(identifier, "", source=path)
    try:
        trigger = raw.get("should_trigger", True)
        if not isinstance(trigger, bool):
            raise _Broken("should_trigger must be true or false")
        return case._replace(
            prompt=_word(raw, "prompt"),
            checks=_checks(raw, skill, should_trigger=trigger),
            expected=_word(raw, "expected_output"),
            annotations={
                "force": raw.get("force_skill_invocation") is True,
                "context": CONTEXT,
            },
            should_trigger=trigger,
        )
    except _Broken as error:
        return case._replace(broken=f"{path}: eval {identifier!r}: {error}")


def _word(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise _Broken(f"{key} must be a text")


def _checks(raw: Mapping[str, Any], skill: str, *, should_trigger: bool) -> tuple[Check, ...]:
    """The checks of the assertions, in their order.

    A structured one (an object, in later versions of the original) stays as it was graded: it has
    no grader. One without a text of its own is left to the rows of grading.json.
    """
    entries = raw.get("assertions")
    if entries is None:
        entries = raw.get("expectations", [])
    if not isinstance(entries, list):
        raise _Broken("assertions must be a list")
    checks = []
    for number, entry in enumerate(entries, 1):
        if isinstance(entry, str):
            checks.append(assertions.check(number, entry, should_trigger, (skill,)))
        elif not isinstance(entry, dict):
            raise _Broken(f"assertion {number} must be a text")
        elif isinstance(entry.get("text"), str):
            checks.append(Check(f"assertion/{number}", entry["text"], ""))
    return tuple(checks)
