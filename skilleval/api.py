"""The library's public functions. Owns their signatures; the pipeline does the work."""

from __future__ import annotations

import os

from skilleval import engine, evaluation, formats, validation
from skilleval.formats import tasks
from skilleval.model import Case, Outcome, Problem, Report, Rules, Suite, Verdict


def load(path: str | os.PathLike[str]) -> Suite:
    """The suite of a fixture file, or of the skill folder that holds one.

    Raises `SuiteError` (path, where, message) if it cannot be used, `UsageError` if the path is
    none that skilleval reads.
    """
    name = os.fspath(path)
    return formats.of(name).load(name)


def validate(path: str | os.PathLike[str], *, strict: bool = False) -> tuple[Problem, ...]:
    """Everything wrong with the skills below a path and with their fixtures, sorted by place.

    `strict` adds the rules that are too eager for every commit. Raises `UsageError` if there is
    nothing to check.
    """
    folders = validation.targets([os.fspath(path)])
    return tuple(p for folder in folders for p in validation.problems(folder, strict=strict))


def run(
    suite: Suite,
    *,
    answers: str | os.PathLike[str] | None = None,
    session: engine.Session = engine.SESSION,
) -> Report:
    """Runs a suite through its arms, or scores a folder of answers (`<case id>.md` each).

    The report has the results, their scores, the summary, and the gates it fails. What goes wrong
    in a trial, a program that is missing too, is an error in its result. Raises `UsageError` for
    an unknown agent before anything is started.
    """
    if answers is not None:
        tasks.check_folder(os.fspath(answers))
        suite = tasks.with_answers(suite, os.fspath(answers))
    return evaluation.evaluate([suite], gates=suite.gates, session=session)


def grade(case: Case, outcome: Outcome | str, *, rules: Rules = tasks.RULES) -> tuple[Verdict, ...]:
    """A verdict on each check of a case, for an outcome or for the text of an answer."""
    if isinstance(outcome, str):
        outcome = Outcome("ok", outcome)
    return engine.grade(case, outcome, rules, engine.SESSION.tools).verdicts
