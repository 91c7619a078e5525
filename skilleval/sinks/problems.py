"""What `validate` found, as text, JSON or SARIF.

The annotations are values, not text where it can be: `model` says why.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from skilleval.model import Problem
from skilleval.plaintext import counted
from skilleval.sinks import quoted

if TYPE_CHECKING:
    from skilleval.formats.evals import Route
    from skilleval.strength import StrengthReport


class Routed(NamedTuple):
    """A suite with how each of its assertions will be graded.

    `triggering`: of a list of queries, how many should make an agent use the skill.
    """

    path: str
    cases: int
    routes: tuple["Route", ...]
    triggering: int | None = None


class Found(NamedTuple):
    """All that there is to say. `routes`: say of each assertion how it is graded, and why."""

    problems: Sequence[Problem]
    targets: Sequence[str]
    suites: Sequence[Routed]
    routes: bool


def as_text(found: Found, strength: "StrengthReport | None") -> str:
    """Each problem on a line, what decides the assertions of suites, the counts, the strength."""
    lines = [line(problem) for problem in found.problems]
    for suite in found.suites:
        lines += _graded(suite, routes=found.routes)
    suites = sum(t.endswith(".json") and os.path.isfile(t) for t in found.targets)
    skills = len(found.targets) - suites
    checked = [counted(skills, "skill")] if skills or not suites else []
    checked += [counted(suites, "suite")] if suites else []
    lines.append(f"{' and '.join(checked)} checked: {_counts(found.problems)}")
    if strength:
        lines += ["", strength_table(strength)]
    return "\n".join(lines)


def _graded(suite: Routed, *, routes: bool) -> Iterator[str]:
    """How many assertions a rule decides and how many a judge, and with `routes` which and why."""
    judged = sum(route.grader == "judge" for route in suite.routes)
    rules = len(suite.routes) - judged
    counts = f"{counted(suite.cases, 'case')}, {counted(len(suite.routes), 'assertion')}"
    if suite.triggering is not None:
        others = suite.cases - suite.triggering
        counts = f"{suite.cases} {'query' if suite.cases == 1 else 'queries'}"
        counts += f", {suite.triggering} should trigger the skill and {others} should not"
    yield f"{suite.path}: {counts}: {rules} by rule, {judged} by the judge"
    for route in suite.routes if routes else ():
        yield f"  {route.case_id}: {route.why}: {quoted(route.text)}"


def strength_table(strength: "StrengthReport") -> str:
    """What the checks notice of mutants, as a table."""
    from skilleval.sinks.strength import render

    return render(strength)


def line(problem: Problem) -> str:
    """One problem as `path:line: where: rule: message`, without the parts that are not known."""
    place = f"{problem.path}:{problem.line}" if problem.line else problem.path
    level = "warning: " if problem.level == "warning" else ""
    where = f"{problem.where}: " if problem.where else ""
    return f"{place}: {where}{problem.rule}: {level}{problem.message}"


def _counts(problems: Sequence[Problem]) -> str:
    errors = sum(problem.level == "error" for problem in problems)
    return f"{counted(errors, 'error')}, {counted(len(problems) - errors, 'warning')}"


def as_json(found: Found, strength: "StrengthReport | None") -> str:
    """All of it for machines."""
    import json

    errors = sum(problem.level == "error" for problem in found.problems)
    document: dict[str, object] = {
        "skills": len(found.targets),
        "errors": errors,
        "warnings": len(found.problems) - errors,
        "problems": [problem._asdict() for problem in found.problems],
    }
    if found.suites:
        document["assertions"] = [
            {"path": suite.path, **route._asdict()}
            for suite in found.suites
            for route in suite.routes
        ]
    if strength:
        from skilleval.sinks.strength import document as strength_values

        document["strength"] = strength_values(strength)
    return json.dumps(document, indent=2)


def as_sarif(found: Found, strength: "StrengthReport | None") -> str:
    """The problems for code scanning; SARIF has no place for the rest."""
    from skilleval.lint.rules import RULES
    from skilleval.sinks import sarif

    return sarif.render(found.problems, RULES)


FORMATS: dict[str, Callable[[Found, "StrengthReport | None"], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
}
