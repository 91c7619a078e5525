"""Scores worked examples, or a folder of answers, against the fixtures of every skill.

Without --answers: every worked example, exit 1 unless all checks pass. With --answers DIR: one
answer for each task, read from DIR/<skill>/<task-id>.md (seed 001, spec/fixtures section 4).
"""

from __future__ import annotations

import argparse
import os
import re
from typing import TYPE_CHECKING, Any

from skilleval import console, evaluation, gates, skill
from skilleval.agents import answers as answer_files
from skilleval.errors import SuiteError, UsageError
from skilleval.formats import tasks
from skilleval.formats.fields import nearest
from skilleval.model import Gate, Report, Suite
from skilleval.sinks import fixtures as sink

if TYPE_CHECKING:
    from fractions import Fraction

EXAMPLES = """examples:
  run-evals.py                                   check every worked example
  run-evals.py --answers ./answers               score your own answers, one file for each task
  run-evals.py --answers ./answers --skill stripe-payments --min-score 0.8 --json

exit codes: 0 at or above the minimum score; 1 below it; 2 usage error, unknown skill or
unusable fixture. The minimum is 1 without --answers, and 0 with it (the run only reports).
"""
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


class _Once(argparse.Action):
    """Stores a value; a second one is a mistake that must not win in silence."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"argument {option}: given twice")
        setattr(namespace, self.dest, values)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the seed, and `--root`."""
    parser.add_argument(
        "--answers", metavar="DIR", action=_Once, help="score DIR/<skill>/<task-id>.md instead"
    )
    parser.add_argument(
        "--skill", metavar="NAME", action="append", default=[], help="only this skill; repeatable"
    )
    parser.add_argument(
        "--min-score",
        metavar="X",
        action=_Once,
        type=min_score,
        help="0 to 1; below it the exit code is 1 (default 1, or 0 with --answers)",
    )
    parser.add_argument("--json", action="store_true", help="the full report instead of the table")
    parser.add_argument(
        "--root", metavar="DIR", default=".", help="the folder that holds skills/ (default: .)"
    )


def min_score(text: str) -> Fraction:
    """The exact value of a decimal in [0, 1]. Raises `argparse.ArgumentTypeError`."""
    from fractions import Fraction

    if not _DECIMAL.fullmatch(text) or not 0 <= (value := Fraction(text)) <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1, such as 0.8")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Scores, prints, and returns the exit code."""
    answers = arguments.answers
    if answers is not None:
        tasks.check_folder(answers, "--answers ")
    known = skill.names(arguments.root)
    if not known:
        place = os.path.join(arguments.root, "skills")
        raise UsageError(f"no skills found: there is no {place}/<name>/SKILL.md; see --root")
    suites = _suites(arguments.root, _selected(known, arguments.skill), answers)
    limit = arguments.min_score
    if limit is None:
        limit = 1 if answers is None else 0
    unused = () if answers is None else answer_files.unused(answers, suites, known)
    report = evaluation.evaluate(
        suites,
        gates=(Gate("score", ">=", limit),),
        meta={
            "mode": "examples" if answers is None else "answers",
            "answers_dir": answers,
            "unused_answers": unused,
        },
    )
    _warn(report)
    console.write(sink.as_json(report) if arguments.json else sink.render(report))
    return gates.exit_code(report.gates, report.summary)


def _selected(known: list[str], wanted: list[str]) -> list[str]:
    unknown = sorted(set(wanted).difference(known))
    if unknown:
        named = "; ".join(f"{name!r}{nearest(name, known)}" for name in unknown)
        raise UsageError(f"unknown skill {named}")
    return sorted(set(wanted)) or known


def _suites(root: str, names: list[str], answers: str | None) -> list[Suite]:
    suites = []
    for name in names:
        try:
            suite = tasks.load(os.path.join(root, "skills", name))
        except SuiteError:
            console.note("no score is computed on a fixture with errors; `validate` lists them all")
            raise
        if answers is not None:
            suite = tasks.with_answers(suite, os.path.join(answers, name))
        suites.append(suite)
    return suites


def _warn(report: Report) -> None:
    for suite in report.suites:
        for result in suite.results:
            if result.outcome.error:
                why = f"{result.outcome.error}; counts as missing"
                console.note(f"warning: {result.outcome.source}: {why}")
    for path in report.meta["unused_answers"]:
        console.note(
            f"warning: {os.path.join(report.meta['answers_dir'], path)}: belongs to no task;"
            " answers are read from <skill>/<task-id>.md"
        )
