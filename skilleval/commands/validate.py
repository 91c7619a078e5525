"""Checks skills and their fixtures, and reports every problem it finds.

PATH is a folder (every skill below it) or a file of a skill, as pre-commit passes them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skilleval import console, validation
from skilleval.errors import UsageError
from skilleval.model import Problem

if TYPE_CHECKING:
    from skilleval.strength import StrengthReport

EXAMPLES = """examples:
  skilleval validate skills                       every skill below skills/
  skilleval validate skills/x/evals/tasks.json    the skill that the file belongs to
  skilleval validate --strict --json skills       with the eager rules, for machines
  skilleval validate --format sarif skills        for code scanning
  skilleval validate --strength skills            which mistakes do the checks notice?

A warning that its author accepts is silenced in the task: "allow": ["W13"].
exit codes: 0 no errors; 1 errors (with --strict: or warnings); 2 usage error
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Paths, strictness and output format."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="skill, folder of skills, or file")
    parser.add_argument(
        "--strict", action="store_true", help="apply the eager rules too; warnings exit with 1"
    )
    parser.add_argument(
        "--format", choices=("text", "json", "sarif"), default="text", help="default: text"
    )
    parser.add_argument("--json", action="store_const", dest="format", const="json")
    parser.add_argument(
        "--strength",
        action="store_true",
        help="also mutate the worked examples and report what no check notices",
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, help="chooses among too many mutants of --strength (0)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the problems and returns the exit code."""
    if arguments.seed is not None and not arguments.strength:
        raise UsageError("--seed chooses among the mutants of --strength; add that, or leave it")
    folders = validation.targets(arguments.paths)
    problems = [
        p for folder in folders for p in validation.problems(folder, strict=arguments.strict)
    ]
    strength = _strength(folders, arguments)
    console.write(_rendered(problems, len(folders), arguments.format, strength))
    wrong = problems if arguments.strict else [p for p in problems if p.level == "error"]
    return 1 if wrong else 0


def _strength(folders: Sequence[str], arguments: argparse.Namespace) -> StrengthReport | None:
    """What the checks notice, None unless asked for. It has no say in the exit code."""
    if not arguments.strength:
        return None
    from skilleval import strength

    return strength.of_skills(folders, arguments.seed or 0)


def _rendered(
    problems: Sequence[Problem], skills: int, form: str, strength: StrengthReport | None
) -> str:
    if form == "sarif":
        from skilleval.lint.rules import RULES
        from skilleval.sinks import sarif

        if strength:  # which has no place in SARIF, and is no result here
            console.note(_table(strength))
        return sarif.render(problems, RULES)
    if form == "json":
        return _json(problems, skills, strength)
    lines = [line(problem) for problem in problems]
    lines.append(f"{_counted(skills, 'skill')} checked: {_counts(problems)}")
    if strength:
        lines += ["", _table(strength)]
    return "\n".join(lines)


def _table(strength: StrengthReport) -> str:
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
    return f"{_counted(errors, 'error')}, {_counted(len(problems) - errors, 'warning')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _json(problems: Sequence[Problem], skills: int, strength: StrengthReport | None) -> str:
    import json

    errors = sum(problem.level == "error" for problem in problems)
    document: dict[str, object] = {
        "skills": skills,
        "errors": errors,
        "warnings": len(problems) - errors,
        "problems": [problem._asdict() for problem in problems],
    }
    if strength:
        from skilleval.sinks.strength import document as strength_values

        document["strength"] = strength_values(strength)
    return json.dumps(document, indent=2)
