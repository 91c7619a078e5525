"""How much the checks of a skill notice: mutants of its worked examples, graded as a run would.

Owns the counting. `mutation` makes the mutants; `engine.grade` and `aggregate.score` judge them, so
that there is one meaning of a check. What is found here is a hint to whoever writes checks: it
changes no score and no exit code.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from skilleval import aggregate, engine
from skilleval.errors import SuiteError
from skilleval.formats import tasks
from skilleval.model import Case, Outcome, Result, Score, Suite, Verdict
from skilleval.strength import mutation
from skilleval.strength.mutation import Mutant

COUNTEREXAMPLE = "counterexample"
OPERATORS = (*mutation.OPERATORS, COUNTEREXAMPLE)

Judge = Callable[[Case, Outcome], tuple[Verdict, ...]]
Judged = tuple[Mutant, tuple[Verdict, ...]]


class OperatorStrength(NamedTuple):
    """How many mutants of one operator there were, and how many of them some check noticed."""

    operator: str
    mutants: int
    noticed: int


class CheckStrength(NamedTuple):
    """How many mutants a check failed (`caught`) of those that it decided (`tried`)."""

    id: str
    text: str
    negate: bool
    caught: int
    tried: int

    @property
    def never_catches(self) -> bool:
        """Was it tried in vain? Unknown, and so false, for one that was not tried at all."""
        return self.tried > 0 and self.caught == 0


class TaskStrength(NamedTuple):
    """What the checks of one task notice. `left_out` says why nothing was measured.

    A mutant is noticed when the task does not pass with it.
    """

    id: str
    left_out: str = ""
    operators: tuple[OperatorStrength, ...] = ()
    unnoticed: tuple[Mutant, ...] = ()
    checks: tuple[CheckStrength, ...] = ()

    @property
    def mutants(self) -> int:
        return sum(operator.mutants for operator in self.operators)

    @property
    def noticed(self) -> int:
        return sum(operator.noticed for operator in self.operators)


class SkillStrength(NamedTuple):
    """The tasks of the skill in a folder, or why there are none to measure (`left_out`)."""

    skill: str
    folder: str
    tasks: tuple[TaskStrength, ...] = ()
    left_out: str = ""


class StrengthReport(NamedTuple):
    """Several skills, and the seed that chose among their mutants."""

    seed: int
    skills: tuple[SkillStrength, ...]


def of_skills(
    folders: Iterable[str], seed: int = 0, session: engine.Session = engine.SESSION
) -> StrengthReport:
    """Measures each of the skill folders, in their order."""
    return StrengthReport(seed, tuple(of_skill(folder, seed, session) for folder in folders))


def of_skill(folder: str, seed: int = 0, session: engine.Session = engine.SESSION) -> SkillStrength:
    """Measures the fixtures of a skill folder with their counterexamples. Never raises for a file.

    A folder without fixtures, or with ones that cannot be read, is left out and says why.
    """
    name = os.path.basename(os.path.abspath(folder))
    if not tasks.owns(folder):
        return SkillStrength(name, folder, left_out=f"has no {tasks.TASKS}")
    try:
        suite = tasks.load(folder)
    except SuiteError as error:
        return SkillStrength(name, folder, left_out=str(error))
    wrong = os.path.join(os.path.dirname(suite.path), tasks.COUNTEREXAMPLES)
    counterexamples = engine.run(tasks.with_answers(suite, wrong), session)
    measured = measure(suite, session, seed=seed, counterexamples=counterexamples)
    return SkillStrength(suite.name, folder, measured)


def measure(
    suite: Suite,
    session: engine.Session = engine.SESSION,
    *,
    seed: int = 0,
    counterexamples: Sequence[Result] = (),
) -> tuple[TaskStrength, ...]:
    """The strength of each task, in order, from the answer that the suite's one arm gives to it.

    `counterexamples` are the results for texts that somebody wrote to be noticed (missing ones are
    passed over): each counts as one more mutant of its task.
    """
    score = partial(aggregate.score, rules=suite.rules)
    wrong = {result.trial.case_id: result for result in counterexamples}

    def judge(case: Case, outcome: Outcome) -> tuple[Verdict, ...]:
        return engine.grade(case, outcome, suite.rules, session.tools, judge=suite.judge).verdicts

    measured = []
    for case, result in zip(suite.cases, engine.run(suite, session), strict=True):
        left_out = _left_out(result, score(result.verdicts))
        if left_out:
            measured.append(TaskStrength(case.id, left_out))
            continue
        judged = _judged(case, result.outcome.output, judge, seed)
        judged += _counterexample(wrong.get(case.id))
        measured.append(_counted(case, judged, score))
    return tuple(measured)


def _left_out(result: Result, score: Score) -> str:
    if result.outcome.status != "ok":
        return "no worked example"
    return "" if score.passed else "its example does not pass its own checks"


def _judged(case: Case, example: str, judge: Judge, seed: int) -> list[Judged]:
    return [
        (mutant, judge(case, Outcome("ok", mutant.text)))
        for mutant in mutation.mutants(example, seed)
    ]


def _counterexample(result: Result | None) -> list[Judged]:
    if result is None or result.outcome.status != "ok":
        return []
    outcome = result.outcome
    mutant = Mutant(COUNTEREXAMPLE, 0, os.path.basename(outcome.source), outcome.output)
    return [(mutant, result.verdicts)]


def _counted(
    case: Case, judged: Iterable[Judged], score: Callable[[Iterable[Verdict]], Score]
) -> TaskStrength:
    made: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    unnoticed = []
    for mutant, verdicts in judged:
        made[mutant.operator] += 1
        if score(verdicts).passed:
            unnoticed.append(mutant)
        else:
            noticed[mutant.operator] += 1
        caught.update(verdict.check_id for verdict in verdicts if verdict.status == "fail")
        tried.update(v.check_id for v in verdicts if v.status in ("pass", "fail"))
    return TaskStrength(
        case.id,
        "",
        tuple(OperatorStrength(name, made[name], noticed[name]) for name in OPERATORS),
        tuple(unnoticed),
        tuple(
            CheckStrength(check.id, check.text, check.negate, caught[check.id], tried[check.id])
            for check in case.checks
        ),
    )
