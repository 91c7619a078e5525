"""Trigger lists: `eval_queries.json`, queries that should make an agent use a skill, or should not.

Owns the reading of that file (agentskills.io, "Optimizing descriptions"; spec/agentskills 2.3).
Each query becomes a case with one check on the trace: was the skill used? Rates over repeats are
`activation`'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from skilleval import assertions
from skilleval import skill as skills
from skilleval.errors import SuiteError
from skilleval.formats.fields import Reader, kind, problem_of, refuse
from skilleval.model import Case, Problem, Rules, Suite
from skilleval.reading import jsonread

NAME = "eval_queries.json"
FILES = f"{NAME} (or the skill folder that holds it, itself or in evals/)"
RULES = Rules(case_passes=1.0, unanswered="skip", errored="skip", no_outcome="skip")
# one query is tried so often, and a list has so many of each kind (agentskills.io)
RUNS, ENOUGH = 3, 8


def owns(path: str) -> bool:
    """An eval_queries.json, or a skill folder with one."""
    return os.path.basename(path) == NAME or bool(_below(path))


def file_of(path: str) -> str:
    """The file that a path of this format stands for; any file is taken at its word."""
    return _below(path) or path


def _below(folder: str) -> str:
    places = (os.path.join(folder, "evals", NAME), os.path.join(folder, NAME))
    return next((place for place in places if os.path.exists(place)), "")


def load(path: str, *, skill: str = "") -> Suite:
    """The suite of a list of queries; its arms are the command's.

    `skill` is the folder of the skill under test, by default the one that the file lies in.
    `meta["runs"]` is how often each query should be tried, and `meta["baseline"]` says that without
    the skill nothing can be seen. Raises `SuiteError` at the first error, also if it is not clear
    which skill is meant.
    """
    file = file_of(path)
    cases, found = _read(file)
    refuse(found)
    folder = skill or skills.owner(file)
    if not folder:
        message = "lies in no skill: put it into the skill's evals folder, or name the skill"
        raise SuiteError(file, "", message)
    fields = skills.front_matter(skills.text(folder)).fields or {}
    names = (os.path.basename(os.path.abspath(folder)), str(fields.get("name") or ""))
    return Suite(
        name=names[0],
        path=file,
        cases=tuple(_checked(case, names) for case in cases),
        rules=RULES,
        skill=names[0],
        meta={"skill": folder, "warnings": (), "runs": RUNS, "baseline": False},
    )


def load_anywhere(path: str) -> Suite:
    """The suite also of a list that lies in no skill, to be looked at; it cannot be run like that.

    Raises `SuiteError` at the first error.
    """
    file = file_of(path)
    return load(file, skill=skills.owner(file) or os.path.dirname(os.path.abspath(file)))


def _checked(case: Case, names: tuple[str, ...]) -> Case:
    text = "The skill was used" if case.should_trigger else "The skill was not used"
    known = tuple(dict.fromkeys(filter(None, names)))
    check = assertions.check(1, text, case.should_trigger, known)
    return case._replace(checks=(check._replace(id="trigger"),))


def _read(path: str) -> tuple[list[Case], list[Problem]]:
    reader = Reader(path, "E20")
    try:
        raw, _ = jsonread.load(path)
    except SuiteError as error:
        return [], [problem_of(error, "E20")]
    if not isinstance(raw, list):
        reader.complain("", f"must be a list of queries, not {kind(raw)}")
        raw = []
    elif not raw:
        reader.complain("", "has no queries; add some that should trigger and some that should not")
    return list(_cases(raw, reader)), reader.problems


def _cases(raw: list[Any], reader: Reader) -> Iterator[Case]:
    seen: dict[str, int] = {}
    for position, entry in enumerate(raw, 1):
        where = f"query {position}"
        if not isinstance(entry, dict):
            reader.complain(where, f"must be an object, not {kind(entry)}")
            continue
        reader.unknown_keys(entry, ("query", "should_trigger"), where)
        query = reader.text(entry, "query", where)
        if not query.strip() and isinstance(entry.get("query", ""), str):
            reader.complain(where, "has no query; say what a user would ask")
        reader.check_sendable(query, "query", where)
        should_trigger = entry.get("should_trigger")
        if not isinstance(should_trigger, bool):
            reader.complain(
                where, f"should_trigger must be true or false, not {kind(should_trigger)}"
            )
        if query and query in seen:
            message = f"is the same as query {seen[query]}"
            reader.complain(where, message, "E21", "warning")
        seen.setdefault(query, position)
        yield Case(
            f"query-{position}",
            query,
            annotations={"force": False},
            should_trigger=should_trigger is True,
            source=reader.path,
        )


def problems(path: str, *, strict: bool = False) -> list[Problem]:
    """Everything wrong with a list of queries (E20, E21); with `strict`, too few of a kind."""
    file = file_of(path)
    cases, found = _read(file)
    for kind_of, wanted in (("should trigger", True), ("should not trigger", False)):
        count = sum(case.should_trigger is wanted for case in cases)
        if strict and cases and count < ENOUGH:
            message = f"{count} queries {kind_of}; {ENOUGH} or more make a rate that says something"
            found.append(Problem(file, 0, "", "E22", "warning", message))
    return found
