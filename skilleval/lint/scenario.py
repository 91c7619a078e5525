"""What is wrong with a scenario folder (seed 000; spec/scenarios sections 1 and 19). Reads no file.

An error is what makes the scenario unable to run or to pass; a warning is what runs, and is most
likely not what its author means. The weights are a convention of the seed, and only a warning here:
`check-eval-weights` is the command that insists on them.

| rule | error | warning |
|---|---|---|
| C01, C02 | criteria.json missing, no JSON, no checklist; a field of a wrong type | |
| C03 | | a key that is nearly a known one (every other unknown key is ignored) |
| C04 | | the weights do not sum to 100 |
| C05 | the checklist is empty: 0 of 0 points is never a pass | |
| C06 | | two criteria have one name |
| C07 | | a criterion without a name, or without a description |
| C08 | a negative weight | a weight of zero, or none |
| C09 | task.md missing, unreadable, binary or blank | |
| C10 | | task.md names the skill |
| C11 | | task.md or a description speaks of inputs/ |
| C12 | | scenario.json unusable, so that the defaults apply |
| C13 | | fewer than three scenarios (strict only) |
| C14 | | a file that no prompt can have |
| C15 | | a prompt too long for kiro |
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.formats import criteria
from skilleval.model import Check, Level, Problem
from skilleval.reading.jsonvalues import items

FEWEST_SCENARIOS = 3
_inputs = re.compile(r"(?<![\w/.-])(?:\./)?inputs/(?:[\w./-]*\w)?")


class ScenarioText(NamedTuple):
    """A scenario and what is around it. `skill` is the skill's name.

    `task` is the text of task.md; None if it has none that can be used, and `task_problem` says
    why. `prompt_bytes` is the size of the prompt (0: there is none), `longest_bytes` that of the
    largest that kiro can be given.
    """

    folder: str
    skill: str
    checklist: criteria.Checklist
    options: criteria.Options
    task: str | None
    task_problem: str = ""
    prompt_bytes: int = 0
    longest_bytes: int = 0


def problems(scenario: ScenarioText) -> Iterator[Problem]:
    """Everything wrong with one scenario, in no order. Never raises."""
    yield from scenario.checklist.problems
    yield from scenario.options.problems
    yield from _near_keys(scenario)
    yield from _checklist(scenario.checklist)
    yield from _task(scenario)
    yield from _prompt(scenario)


def too_few(folder: str, count: int) -> Iterator[Problem]:
    """C13, for the folder that holds the scenarios."""
    if count < FEWEST_SCENARIOS:
        message = f"only {count} of at least {FEWEST_SCENARIOS} scenarios: one is no measure"
        yield Problem(folder, 0, "", "C13", "warning", message)


def left_out(folder: str, names: Iterable[str]) -> Iterator[Problem]:
    """C14, for the names of files below a folder that no prompt can have."""
    for name in names:
        path = folder if name == "." else f"{folder}/{name}"
        message = "is left out of the prompt: not a regular file of this skill that can be read"
        yield Problem(path, 0, "", "C14", "warning", message)


def _near_keys(scenario: ScenarioText) -> Iterator[Problem]:
    raw = scenario.checklist.raw
    path = scenario.checklist.path
    if isinstance(raw, dict):
        yield from _near(raw, criteria.CHECKLIST_KEYS, path, "")
        for position, criterion in enumerate(_listed(raw.get("checklist")), 1):
            yield from _near(criterion, criteria.CRITERION_KEYS, path, f"criterion {position}")
    path = f"{scenario.folder}/{criteria.SCENARIO}"
    known = criteria.SCENARIO_KEYS | criteria.FOREIGN_KEYS
    yield from _near(scenario.options.raw, known, path, "")


def _listed(value: object) -> list[dict[str, Any]]:
    return [item for item in items(value) if isinstance(item, dict)]


def _near(
    raw: Mapping[str, Any], known: Collection[str], path: str, where: str
) -> Iterator[Problem]:
    unknown = [key for key in raw if key not in known]
    if not unknown:
        return
    from difflib import get_close_matches

    for key in unknown:
        for close in get_close_matches(key.lower(), known, 1, 0.7):
            message = f"unknown key {key!r} is ignored (did you mean {close!r}?)"
            yield Problem(path, 0, where, "C03", "warning", message)


def _checklist(checklist: criteria.Checklist) -> Iterator[Problem]:
    if checklist.broken:
        return
    path, checks = checklist.path, checklist.checks
    if not checks:
        message = "the checklist is empty; add a criterion, 0 of 0 points never passes"
        yield Problem(path, 0, "", "C05", "error", message)
        return
    total = sum(check.weight for check in checks)
    if total != criteria.FULL_MARKS:
        message = f"sum={total} (expected {criteria.FULL_MARKS})"
        yield Problem(path, 0, "", "C04", "warning", message)
    before: set[str] = set()
    for position, check in enumerate(checks, 1):
        line = _line_of(check.text, checklist.text)
        for rule, level, message in _criterion(check, before):
            yield Problem(path, line, f"criterion {position}", rule, level, message)
        before.add(check.text)


def _criterion(check: Check, before: Collection[str]) -> Iterator[tuple[str, Level, str]]:
    name, description, weight = check.text, check.params["description"], check.weight
    if not name.strip():
        yield "C07", "warning", "has no name; the report and the judge call it by that"
    elif name in before:
        yield "C06", "warning", f"the name {name!r} is used twice: both get the first's verdict"
    if not description.strip():
        yield "C07", "warning", "has no description; say what can be observed when it is met"
    if weight < 0:
        yield "C08", "error", f"max_score {weight} is negative"
    elif weight == 0:
        yield "C08", "warning", "max_score is 0 or missing: the criterion counts for nothing"
    if found := _inputs.search(description):
        yield "C11", "warning", _without_folder(found[0], "description")


def _task(scenario: ScenarioText) -> Iterator[Problem]:
    path = f"{scenario.folder}/task.md"
    task = scenario.task
    if task is None or not task.strip():
        message = scenario.task_problem if task is None else "is blank; say what the agent is asked"
        yield Problem(path, 0, "", "C09", "error", message)
        return
    if found := _naming(scenario.skill).search(task):
        message = f"names the skill ({found[0]!r}), so that the agent is told what to follow"
        yield Problem(path, _line_at(found.start(), task), "", "C10", "warning", message)
    if found := _inputs.search(task):
        message = _without_folder(found[0], "the task")
        yield Problem(path, _line_at(found.start(), task), "", "C11", "warning", message)


def _naming(skill: str) -> re.Pattern[str]:
    """Where a text names the skill. A name of one word is also a word: there it needs a sign."""
    name = re.escape(skill)
    if "-" not in skill:
        name = (
            rf"(?:`/?{name}`|(?<![\w/])/{name}\b|\bskill [\"'`]?{name}\b|\b{name}[\"'`]? skill\b)"
        )
    return re.compile(rf"(?<![\w-]){name}(?![\w-])", re.IGNORECASE)


def _without_folder(text: str, who: str) -> str:
    return (
        f"{who} speaks of {text!r}, but the contents of inputs/ lie beside task.md:"
        f" write {text.partition('inputs/')[2] or 'the names of the files'!r}"
    )


def _prompt(scenario: ScenarioText) -> Iterator[Problem]:
    if scenario.prompt_bytes <= scenario.longest_bytes:
        return
    other = "" if scenario.options.sandbox else ", or run it with --backend http"
    message = (
        f"the prompt has {scenario.prompt_bytes} bytes, and kiro takes at most"
        f" {scenario.longest_bytes}: make the skill or the inputs smaller{other}"
    )
    yield Problem(scenario.folder, 0, "", "C15", "warning", message)


def _line_of(name: str, text: str) -> int:
    """The line of the criterion of that name; 0 when it is not clear."""
    written = re.escape(json.dumps(name, ensure_ascii=False))
    found = re.search(rf'"name"\s*:\s*{written}', text) if name else None
    return _line_at(found.start(), text) if found else 0


def _line_at(position: int, text: str) -> int:
    return text.count("\n", 0, position) + 1
