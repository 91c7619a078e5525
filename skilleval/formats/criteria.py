"""A scenario's criteria.json and scenario.json, typed (seed 000). Owns the reading of the two.

The runner and the validator read through here, so that they agree on what a file means. A broken
criteria.json makes its scenario an error; a broken scenario.json means the defaults, and a warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.errors import SuiteError
from skilleval.formats.fields import Reader, kind, problem_of
from skilleval.model import EMPTY, Check, Problem
from skilleval.reading import jsonread, textfile
from skilleval.reading.reply import writable

CRITERIA, SCENARIO = "criteria.json", "scenario.json"
CHECKLIST_KEYS = frozenset({"context", "type", "checklist"})
CRITERION_KEYS = frozenset({"name", "description", "max_score"})
SCENARIO_KEYS = frozenset({"description", "sandbox", "network"})
# keys of other tools that real files carry (spec/scenarios section 19)
FOREIGN_KEYS = frozenset({"include"})
LARGEST_SCORE = 2**63 - 1
# by convention the max_score values of a scenario add up to this (seed 000, "The checklist")
FULL_MARKS = 100


class Checklist(NamedTuple):
    """What a criteria.json holds, and everything that makes it unusable.

    `broken` says why, as the report shows it. `raw` and `text` are what was read, for the
    validator; None and empty for a file that is no JSON object.
    """

    path: str
    context: str = ""
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()
    broken: str = ""
    raw: Any = None
    text: str = ""


class Options(NamedTuple):
    """What a scenario.json holds, or the defaults. `network` is empty for the runner's setting.

    `raw` is the object that was read; empty when there is none that can be used.
    """

    description: str = ""
    sandbox: bool = True
    network: str = ""
    problems: tuple[Problem, ...] = ()
    raw: Mapping[str, Any] = EMPTY


def read_checklist(folder: str) -> Checklist:
    """The criteria.json of a scenario folder, each criterion a check by the judge. Never raises.

    Unknown keys are ignored, null counts as absent; an absent text is empty, an absent max_score 0
    (spec/scenarios section 1). Rules C01 and C02.
    """
    path = os.path.join(folder, CRITERIA)
    try:
        text = textfile.read_bytes(path).decode("utf-8-sig")
        raw = jsonread.loads(text, path)
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else textfile.reason(error)
        problem = Problem(path, 0, "", "C01", "error", reason)
        return Checklist(path, problems=(problem,), broken=f"reading {CRITERIA}: {reason}")
    except UnicodeDecodeError:
        message = "is not UTF-8; save the file as UTF-8"
        return _broken(path, [Problem(path, 0, "", "C01", "error", message)])
    except SuiteError as error:
        return _broken(path, [problem_of(error, "C01")])
    reader = Reader(path, "C02")
    if not isinstance(raw, dict):
        reader.complain("", f"must be an object with a checklist, not {kind(raw)}", "C01")
        return _broken(path, reader.problems)
    context = _text(raw, "context", "", reader)
    checks = tuple(_criteria(raw, reader))
    if reader.problems:
        return _broken(path, reader.problems)._replace(raw=raw, text=text)
    return Checklist(path, context, checks, raw=raw, text=text)


def _broken(path: str, problems: list[Problem]) -> Checklist:
    first = problems[0]
    where = f"{first.where}: " if first.where else ""
    line = f" (line {first.line})" if first.line else ""
    text = f"parsing {CRITERIA}: {where}{first.message}{line}"
    return Checklist(path, problems=tuple(problems), broken=text)


def _criteria(raw: Mapping[str, Any], reader: Reader) -> Iterator[Check]:
    checklist = raw.get("checklist")
    if checklist is None:
        return
    if not isinstance(checklist, list):
        reader.complain("", f"checklist must be a list of criteria, not {kind(checklist)}", "C01")
        return
    for position, criterion in enumerate(checklist, 1):
        where = f"criterion {position}"
        if not isinstance(criterion, dict):
            reader.complain(where, f"must be an object, not {kind(criterion)}")
            continue
        name = _text(criterion, "name", where, reader)
        description = _text(criterion, "description", where, reader)
        yield Check(
            f"criterion/{position}",
            name,
            "judge",
            {"description": description},
            _max_score(criterion, where, reader),
        )


def _text(raw: Mapping[str, Any], key: str, where: str, reader: Reader) -> str:
    return "" if raw.get(key) is None else writable(reader.text(raw, key, where))


def _max_score(raw: Mapping[str, Any], where: str, reader: Reader) -> int:
    value = raw.get("max_score")
    if value is None:
        return 0
    if type(value) is not int:
        reader.complain(where, f"max_score must be a whole number, not {kind(value)}")
        return 0
    if abs(value) > LARGEST_SCORE:
        reader.complain(where, "max_score is out of range; by convention all of them sum to 100")
        return 0
    return value


def read_options(folder: str) -> Options:
    """The scenario.json of a scenario folder; all defaults if it is absent or broken (rule C12).

    Never raises. What is wrong is a warning that says what applies instead: a typo would turn a
    scenario without Docker into one with it, in silence (spec/scenarios section 1).
    """
    path = os.path.join(folder, SCENARIO)
    if not os.path.lexists(path):
        return Options()
    try:
        raw, _ = jsonread.load(path)
    except SuiteError as error:
        return _default_options(path, error.message, int(error.where or 0))
    if not isinstance(raw, dict):
        return _default_options(path, f"must be an object, not {kind(raw)}")
    reader = Reader(path, "C12")
    description, network = (_text(raw, key, "", reader) for key in ("description", "network"))
    sandbox = raw.get("sandbox")
    if not isinstance(sandbox, bool | None):
        reader.complain("", f"sandbox must be true or false, not {kind(sandbox)}")
    for problem in reader.problems:
        return _default_options(path, problem.message)
    return Options(description, sandbox is not False, network, raw=raw)


def _default_options(path: str, message: str, line: int = 0) -> Options:
    used = "; the defaults apply: sandboxed, no description, the runner's network"
    return Options(problems=(Problem(path, line, "", "C12", "warning", f"{message}{used}"),))
