"""What the checks notice, as a table for people and as the values of a JSON document.

Pure. Every text of a user is data here: quoted on one line, escaped and cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from skilleval.sinks import quoted
from skilleval.strength import (
    COUNTEREXAMPLE,
    OPERATORS,
    CheckStrength,
    OperatorStrength,
    SkillStrength,
    StrengthReport,
    TaskStrength,
)
from skilleval.strength.mutation import LIMIT_PER_OPERATOR, Mutant

# the longest excerpt of a user's text, and the longest id, in characters
EXCERPT, LONGEST_ID = 60, 40
# a task whose checks notice less than this share of its mutants is shown with a few of the others
WEAK, SHOWN = 0.25, 3
# what should be noticed first of all comes first: a part of an answer that passes for the whole
BLUNTNESS = (
    COUNTEREXAMPLE,
    "truncate",
    "drop-section",
    "negate-sentence",
    "swap-identifier",
    "drop-line",
)
_HEADS = {
    "drop-line": "line",
    "drop-section": "section",
    "swap-identifier": "identifier",
    "negate-sentence": "sentence",
    "truncate": "truncate",
    COUNTEREXAMPLE: "counterexample",
}


def render(report: StrengthReport) -> str:
    """The table: a row for each task, what to do below it, and the total."""
    skills = report.skills
    name_width = max([len(task_name(task)) for skill in skills for task in skill.tasks] or [0]) + 2
    lines = [
        f"check strength: mutants of the worked examples that a check notices (seed {report.seed})",
        _row("", name_width, "mutants", "noticed", _HEADS.__getitem__),
    ]
    for skill in skills:
        lines.append(quoted(skill.skill, LONGEST_ID)[1:-1] + _reason(skill.left_out))
        for task in skill.tasks:
            lines += _task(task, name_width)
    lines.append(_total(skills))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def task_name(task: TaskStrength) -> str:
    """The id of a task, cut: a valid one may have 200 characters."""
    return quoted(task.id, LONGEST_ID)[1:-1]


def percent(part: int, whole: int) -> str:
    """A share in whole percent, rounded down. Only nothing reads 0 %; of nothing it is unknown."""
    if not whole:
        return "unknown"
    return f"{max(100 * part // whole, 1 if part else 0)} %"


def _row(name: str, width: int, mutants: str, noticed: str, cell: Callable[[str], str]) -> str:
    cells = "  ".join(f"{cell(operator):>{len(_HEADS[operator])}}" for operator in OPERATORS)
    return f"{name:<{width}}  {mutants:>7}  {noticed:>10}  {cells}"


def _reason(left_out: str) -> str:
    return f"  left out: {quoted(left_out, 2 * EXCERPT)[1:-1]}" if left_out else ""


def _task(task: TaskStrength, width: int) -> Iterator[str]:
    name = f"  {task_name(task)}"
    if task.left_out:
        yield f"{name:<{width}}{_reason(task.left_out)}"
        return
    counts = {o.operator: f"{o.noticed}/{o.mutants}" for o in task.operators if o.mutants}
    noticed = f"{task.noticed} {percent(task.noticed, task.mutants):>5}"
    yield _row(name, width, str(task.mutants), noticed, lambda operator: counts.get(operator, "-"))
    if task.noticed < WEAK * task.mutants:
        yield from _unnoticed(task.unnoticed)
    for check in task.checks:
        if check.never_catches:
            yield f"    {_idle(check, task)}"


def _unnoticed(mutants: Sequence[Mutant]) -> Iterator[str]:
    """The first of each operator, the bluntest operator first."""
    firsts: dict[str, Mutant] = {}
    for mutant in mutants:
        firsts.setdefault(mutant.operator, mutant)
    shown = [firsts[operator] for operator in BLUNTNESS if operator in firsts][:SHOWN]
    for mutant in shown:
        place = f" line {mutant.line}" if mutant.line else ""
        yield f"    unnoticed: {mutant.operator}{place}: {quoted(mutant.description, EXCERPT)}"
    if len(mutants) > len(shown):
        yield f"    unnoticed: {len(mutants) - len(shown)} more (--json lists all)"


def _idle(check: CheckStrength, task: TaskStrength) -> str:
    shown = quoted(check.text, EXCERPT)
    if not check.negate:
        return f"never catches anything: must_include {shown}"
    has_one = any(o.mutants for o in task.operators if o.operator == COUNTEREXAMPLE)
    verb = "extend" if has_one else "write"
    advice = f"{verb} counterexamples/{task_name(task)}.md"
    return f"not tested by any mutant: must_not_include {shown}: {advice}"


def _total(skills: Sequence[SkillStrength]) -> str:
    tasks = [task for skill in skills for task in skill.tasks]
    mutants, noticed = sum(t.mutants for t in tasks), sum(t.noticed for t in tasks)
    idle = [check for task in tasks for check in task.checks if check.never_catches]
    untested = sum(check.negate for check in idle)
    left_out = sum(bool(task.left_out) for task in tasks)
    return (
        f"total: skills {len(skills)}, tasks {len(tasks)} ({left_out} left out),"
        f" mutants noticed {noticed}/{mutants} ({percent(noticed, mutants)}),"
        f" checks that never catch anything {len(idle) - untested}, not tested {untested}"
    )


def document(report: StrengthReport) -> dict[str, Any]:
    """All of it as JSON values, in a fixed order of keys; a share of nothing is None.

    Of an unnoticed mutant the text is left out: the same seed makes it again.
    """
    tasks = [task for skill in report.skills for task in skill.tasks]
    return {
        "seed": report.seed,
        "limit_per_operator": LIMIT_PER_OPERATOR,
        **_counts(tasks),
        "skills": [
            {
                "skill": skill.skill,
                "folder": skill.folder,
                "left_out": skill.left_out or None,
                **_counts(skill.tasks),
                "tasks": [_task_values(task) for task in skill.tasks],
            }
            for skill in report.skills
        ],
    }


def _counts(parts: Iterable[TaskStrength | OperatorStrength]) -> dict[str, Any]:
    parts = tuple(parts)
    mutants, noticed = sum(p.mutants for p in parts), sum(p.noticed for p in parts)
    return {
        "mutants": mutants,
        "noticed": noticed,
        "share": noticed / mutants if mutants else None,
    }


def _task_values(task: TaskStrength) -> dict[str, Any]:
    return {
        "id": task.id,
        "left_out": task.left_out or None,
        **_counts([task]),
        "operators": {operator.operator: _counts([operator]) for operator in task.operators},
        "unnoticed": [
            {"operator": m.operator, "line": m.line, "description": m.description}
            for m in task.unnoticed
        ],
        "checks": [
            {
                "id": check.id,
                "type": "must_not_include" if check.negate else "must_include",
                "value": check.text,
                "caught": check.caught,
                "tried": check.tried,
            }
            for check in task.checks
        ],
    }
