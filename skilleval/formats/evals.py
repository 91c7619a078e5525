"""Suites: `evals.json`, with cases for real agents and assertions on what they did (seed 002).

Owns the reading of that file, in the seed's spelling and in that of agentskills.io. What an
assertion means is `assertions`', the checks on the design of a whole suite are `lint.suite`'s. Arms
and judge come from the command, not from the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from skilleval import assertions
from skilleval import skill as skills
from skilleval.errors import SuiteError
from skilleval.formats import fixturefiles
from skilleval.formats.fields import Reader, kind, line_of_id, problem_of, refuse
from skilleval.model import Case, Check, Problem, Rules, Suite
from skilleval.reading import jsonread

if TYPE_CHECKING:
    from skilleval.lint.suite import SuiteText

FILES = "evals/evals.json (or the skill folder that holds it)"
EVALS = os.path.join("evals", "evals.json")
KEYS = frozenset(
    {"id", "name", "prompt", "expected_output", "files", "stage_files", "assertions"}
    | {"expectations", "should_trigger", "force_skill_invocation"}
)
# what nobody decided, and what broke, is left out of the rate and counted (seed 002)
RULES = Rules(case_passes=1.0, unanswered="skip", errored="skip", no_outcome="skip")
LONGEST_ID = 100
_ID = re.compile(r"[^\W_](?:[\w .+=@#-]*[\w+#-])?")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


class Evals(NamedTuple):
    """What a file holds: a case for each usable entry, and everything wrong with the rest."""

    path: str
    skill: str
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...]
    text: str = ""


class Route(NamedTuple):
    """How one assertion will be graded: by `state`, `trace` or `judge`, and why so."""

    case_id: str
    text: str
    grader: str
    why: str


def owns(path: str) -> bool:
    """An evals.json, or a folder with evals/evals.json in it."""
    return os.path.basename(path) == "evals.json" or os.path.exists(os.path.join(path, EVALS))


def file_of(path: str) -> str:
    """The file that a path of this format stands for; any file is taken at its word."""
    return os.path.join(path, EVALS) if os.path.isdir(path) else path


def read(path: str) -> Evals:
    """Reads and types the file once, for the runner and the validator. Never raises."""
    reader = Reader(path, "E01")
    try:
        raw, text = jsonread.load(path)
    except SuiteError as error:
        return Evals(path, "", (), (problem_of(error, "E01"),))
    if not isinstance(raw, dict):
        reader.complain("", f'must be an object with "skill_name" and "evals", not {kind(raw)}')
        return Evals(path, "", (), tuple(reader.problems), text)
    reader.unknown_keys(raw, ("$schema", "skill_name", "evals"), "")
    name = _skill_name(raw, reader)
    cases = tuple(_cases(raw, name, reader))
    return Evals(path, name, cases, tuple(_placed(reader.problems, text)), text)


def _skill_name(raw: Mapping[str, Any], reader: Reader) -> str:
    if "skill_name" not in raw:
        reader.complain("", 'has no "skill_name"', "E03")
        return ""
    name = reader.text(raw, "skill_name", "")
    if why := unsafe(name):
        reader.complain("", f"skill_name {name!r} cannot be a folder's name: {why}", "E03")
    return name


def unsafe(name: str) -> str:
    """Why a name cannot be that of a folder everywhere; "" if it can."""
    if not name:
        return "it is empty"
    if len(name) > LONGEST_ID:
        return f"it has {len(name)} characters; at most {LONGEST_ID}"
    if _RESERVED.fullmatch(name):
        return "Windows keeps it for a device"
    if not _ID.fullmatch(name):
        return "use letters, digits, '.', '_' and '-', with a letter or digit first"
    return ""


def _cases(raw: Mapping[str, Any], skill: str, reader: Reader) -> Iterator[Case]:
    entries = raw.get("evals")
    if not isinstance(entries, list):
        given = f"must be a list, not {kind(entries)}" if "evals" in raw else "is missing"
        reader.complain("", f'"evals" {given}')
        return
    if not entries:
        reader.complain("", "has no evals; add at least one", "E06")
    ids: dict[str, str] = {}
    for position, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            reader.complain(f"eval {position}", f"must be an object, not {kind(entry)}")
            continue
        before = sum(problem.level == "error" for problem in reader.problems)
        case = _case(entry, position, skill, reader)
        _check_unique(case.id, ids, reader)
        if sum(problem.level == "error" for problem in reader.problems) == before:
            yield case


def _case(raw: Mapping[str, Any], position: int, skill: str, reader: Reader) -> Case:
    identifier = _identifier(raw, position, reader)
    where = f"eval {identifier}"
    reader.unknown_keys(raw, KEYS, where)
    if "name" in raw:  # some tools of agentskills.io write one beside the id
        reader.text(raw, "name", where)
    should_trigger = _flag(raw, "should_trigger", where, reader, default=True)
    force = _flag(raw, "force_skill_invocation", where, reader, default=False)
    if force and not should_trigger:
        message = "force_skill_invocation makes the skill trigger, and should_trigger is false"
        reader.complain(where, f"{message}; remove one of them", "E07")
    folder = os.path.dirname(os.path.abspath(reader.path))
    return Case(
        id=identifier,
        prompt=_required(raw, "prompt", where, reader),
        checks=_checks(raw, where, should_trigger, skill, reader),
        files=fixturefiles.read(raw, where, reader),
        expected=_expected(raw, where, reader),
        annotations={
            "force": force,
            "stage": _flag(raw, "stage_files", where, reader, default=False),
            "fixtures": folder,
            "expected": raw.get("expected_output", ""),
            "skill": skill,
        },
        should_trigger=should_trigger,
        source=reader.path,
    )


def _identifier(raw: Mapping[str, Any], position: int, reader: Reader) -> str:
    """The id as text; a number is one, true is none (seed 002: `int | str`)."""
    identifier, where = raw.get("id"), f"eval {position}"
    if isinstance(identifier, int) and not isinstance(identifier, bool):
        if not 0 <= identifier < 10**15:
            limits = "a number from 0 on with at most 15 digits, or text"
            reader.complain(where, f"id must be {limits}, not {identifier}", "E02")
        return str(identifier)
    if "id" not in raw:
        reader.complain(where, "has no id", "E02")
    elif not isinstance(identifier, str):
        reader.complain(where, f"id must be text or a whole number, not {kind(identifier)}", "E02")
    else:
        if why := unsafe(identifier):
            reader.complain(where, f"id {identifier!r} cannot be a folder's name: {why}", "E02")
        return identifier
    return str(position)


def _check_unique(identifier: str, ids: dict[str, str], reader: Reader) -> None:
    # file systems that ignore case would give two such cases one folder
    key = identifier.casefold()
    if key in ids:
        reader.complain(
            f"eval {identifier}", f"id is used twice (first as {ids[key]!r}); ids are texts", "E02"
        )
    ids.setdefault(key, identifier)


def _flag(raw: Mapping[str, Any], key: str, where: str, reader: Reader, *, default: bool) -> bool:
    value = raw.get(key, default)
    if isinstance(value, bool):
        return value
    reader.complain(where, f"{key} must be true or false, not {kind(value)}")
    return default


def _required(raw: Mapping[str, Any], key: str, where: str, reader: Reader) -> str:
    if key not in raw:
        reader.complain(where, f'has no "{key}"')
        return ""
    value = reader.text(raw, key, where, "?")
    if not value.strip():
        reader.complain(where, f"{key} is blank; say what the agent is asked")
    reader.check_sendable(value, key, where)
    return value


def _expected(raw: Mapping[str, Any], where: str, reader: Reader) -> str:
    if "expected_output" not in raw:
        reader.complain(where, 'has no "expected_output"; say what a good result is')
        return ""
    return reader.text(raw, "expected_output", where)


def _checks(
    raw: Mapping[str, Any], where: str, should_trigger: bool, skill: str, reader: Reader
) -> tuple[Check, ...]:
    """A check for each assertion; skill-creator calls the same list `expectations`."""
    if "assertions" in raw and "expectations" in raw:
        reader.complain(where, "assertions and expectations mean the same; keep assertions")
    key = "expectations" if "expectations" in raw and "assertions" not in raw else "assertions"
    texts = reader.texts(raw, key, where)
    if not texts and isinstance(raw.get(key, []), list) and not raw.get(key):
        reader.complain(where, "has no assertions; add one, or nothing is measured", "E06")
    for number, text in enumerate(texts, 1):
        if not text.strip():
            reader.complain(where, f"{key} entry {number} is empty; write what should hold", "E06")
        elif text in texts[: number - 1]:
            reader.complain(where, f"{key} entry {number} is there twice", "E14", "warning")
    return tuple(
        assertions.check(number, text, should_trigger, (skill,))
        for number, text in enumerate(texts, 1)
    )


def _placed(found: list[Problem], text: str) -> Iterator[Problem]:
    for problem in found:
        line = line_of_id(problem.where.removeprefix("eval "), text)
        yield problem._replace(line=line)


def load(path: str, *, skill: str = "") -> Suite:
    """The suite of an evals.json or of a skill folder that has one; its arms are the command's.

    `skill` is the folder of the skill under test; by default the one that the file lies in, if
    that has a SKILL.md. `meta["skill"]` holds it, `meta["warnings"]` what one should know.
    Raises `SuiteError` at the first error.
    """
    evals = read(file_of(path))
    refuse(evals.problems)
    folder = skill or _skill_folder(evals.path)
    return Suite(
        name=evals.skill,
        path=evals.path,
        cases=evals.cases,
        rules=RULES,
        skill=evals.skill,
        meta={"skill": folder, "warnings": tuple(_misnamed(evals, folder))},
    )


def _skill_folder(path: str) -> str:
    """The skill that a suite lies in, "" if it lies elsewhere (`--skill DIR --evals FILE`)."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    return folder if skills.exists(folder) else ""


def _misnamed(evals: Evals, folder: str) -> Iterator[str]:
    """A forced prompt would name a skill that is installed under another name."""
    if not folder or not evals.skill:
        return
    name = os.path.basename(os.path.abspath(folder))
    fields = skills.front_matter(skills.text(folder)).fields or {}
    if evals.skill not in (name, fields.get("name")):
        yield f"skill_name is {evals.skill!r}, but the skill in {folder} is {name!r}"


def problems(path: str, *, strict: bool = False) -> list[Problem]:
    """Everything wrong with the file (E01 to E08), its fixtures, and a suite's usual weaknesses.

    `strict` adds what makes a suite say little (spec/suites section 1, `validate`).
    """
    from skilleval.lint import suite as lint

    evals = read(file_of(path))
    misnamed = _misnamed(evals, _skill_folder(evals.path))
    warnings = [Problem(evals.path, 0, "", "E08", "warning", message) for message in misnamed]
    found = [*evals.problems, *warnings]
    if strict and evals.cases:
        found += lint.problems(_lintable(evals))
    return found


def _lintable(evals: Evals) -> SuiteText:
    from skilleval.lint.suite import CaseText, SuiteText

    return SuiteText(
        evals.path,
        tuple(
            CaseText(
                case.id,
                tuple((check.text, check.grader) for check in case.checks),
                case.should_trigger,
                bool(case.annotations["force"]),
            )
            for case in evals.cases
        ),
    )


def routes(suite: Suite) -> tuple[Route, ...]:
    """How each assertion of a suite will be graded, and why: what `validate` shows."""
    return tuple(
        Route(case.id, check.text, check.grader, assertions.explain(check))
        for case in suite.cases
        for check in case.checks
    )


def schema_text() -> str:
    """The JSON Schema of an evals.json, for editors; `read` sees more than a schema can say."""
    from importlib.resources import files

    return files("skilleval").joinpath("evals.schema.json").read_text(encoding="utf-8")
