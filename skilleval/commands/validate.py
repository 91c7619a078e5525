"""Checks skills and their fixtures, and reports every problem it finds.

PATH is a folder (every skill below it) or a file of a skill, as pre-commit passes them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skilleval import console, validation
from skilleval.errors import SuiteError, UsageError
from skilleval.sinks import problems as sink
from skilleval.sinks.problems import Found, Routed

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
    parser.add_argument(
        "--json",
        action="store_const",
        dest="format",
        const="json",
        help="the same as --format json",
    )
    parser.add_argument(
        "--routes",
        action="store_true",
        help="how each assertion will be graded, and why",
    )
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
    owners = {path: validation.formats_of(path) for path in validation.targets(arguments.paths)}
    folders = [f for f, names in owners.items() if names or not validation.unreadable(f)]
    problems = [
        problem
        for folder, names in owners.items()
        for problem in validation.problems(folder, strict=arguments.strict, owners=names)
    ]
    named = _is_suite(arguments.paths)
    if named:  # what else lies in its skill is checked, but not what was asked about
        owners = {path: validation.formats_of(path) for path in arguments.paths}
    routed = [_routed(path, name) for path, names in owners.items() for name in names]
    found = Found(
        problems, folders, [suite for suite in routed if suite], arguments.routes or named
    )
    strength = _strength(folders, arguments)
    if arguments.format == "sarif" and strength:
        console.note(sink.strength_table(strength))  # which has no place in SARIF
    console.write(sink.FORMATS[arguments.format](found, strength))
    wrong = problems if arguments.strict else [p for p in problems if p.level == "error"]
    return 1 if wrong else 0


def _strength(folders: Sequence[str], arguments: argparse.Namespace) -> StrengthReport | None:
    """What the checks notice, None unless asked for. It has no say in the exit code."""
    if not arguments.strength:
        return None
    from skilleval import strength

    return strength.of_skills(folders, arguments.seed or 0)


def _is_suite(paths: Sequence[str]) -> bool:
    """Was just one suite's file named? Then how it is graded is what one wants to see."""
    return len(paths) == 1 and validation.is_alone(paths[0])


def _routed(target: str, name: str) -> Routed | None:
    """How the checks of a target's suite will be graded; None if none are, or it cannot be read."""
    if name not in ("suites", "triggers"):
        return None
    from skilleval.formats import evals, triggers  # heavy, and most skills have neither

    try:
        suite = evals.load(target) if name == "suites" else triggers.load_anywhere(target)
    except SuiteError:  # which is among the problems
        return None
    routes = evals.routes(suite)
    if name == "suites":
        return Routed(suite.path, len(suite.cases), routes)
    asked = [case.prompt for case in suite.cases]
    return Routed(
        suite.path,
        len(suite.cases),
        tuple(route._replace(text=text) for route, text in zip(routes, asked, strict=True)),
        sum(case.should_trigger for case in suite.cases),
    )
