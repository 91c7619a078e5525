"""Fixtures: `evals/tasks.json` with a worked example for each task (seed 001, spec/fixtures).

Owns the reading of that file. A `must_include` text becomes a check by the text grader, one of
`must_not_include` a negated one; an arm of the `answers` agent reads the worked examples.
The annotations are values, not text: `model` says why.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from skilleval import skill as skills
from skilleval.errors import SuiteError, UsageError
from skilleval.formats.fields import Reader, kind, line_of_id, problem_of, refuse
from skilleval.model import EMPTY, Arm, Case, Check, Gate, Problem, Rules, Suite
from skilleval.reading import jsonread, textfile

if TYPE_CHECKING:
    from skilleval.lint.fixture import Fixture, FixtureTask

FILES = "evals/tasks.json (or the skill folder that holds it)"
TASKS = os.path.join("evals", "tasks.json")
EXAMPLES, COUNTEREXAMPLES = "examples", "counterexamples"
KEYS = frozenset(
    {"id", "prompt", "task", "must_include", "must_not_include", "description", "allow"}
)
# a missing answer scores 0 and a task passes only when every check does (seed 001, "Scoring")
RULES = Rules(case_passes=1.0, unanswered="fail", errored="fail", no_outcome="zero")
# where an agent is to give the answer, one that could not be started has missed none
RUN_RULES = RULES._replace(errored="error", no_outcome="skip")
LONGEST_ID = 200
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")


class Tasks(NamedTuple):
    """What a file holds: a case for each usable task, and everything wrong with the rest."""

    path: str
    skill: str
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...]
    ids: frozenset[str] = frozenset()
    text: str = ""


def owns(path: str) -> bool:
    """A tasks.json, or a folder with evals/tasks.json in it."""
    return os.path.exists(os.path.join(path, TASKS)) or os.path.basename(path) == "tasks.json"


def file_of(path: str) -> str:
    """The tasks.json that a path of this format stands for."""
    return path if os.path.basename(path) == "tasks.json" else os.path.join(path, TASKS)


def read(path: str) -> Tasks:
    """Reads and types the file once, for the runner and the validator. Never raises."""
    skill = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    reader = Reader(path, "F01")
    try:
        raw, text = jsonread.load(path)
    except SuiteError as error:
        return Tasks(path, skill, (), (problem_of(error, "F01"),))
    entries = _entries(raw, skill, reader)
    cases = tuple(_cases(entries, reader))
    ids = frozenset(raw["id"] for raw in entries if isinstance(raw, dict) and _is_id(raw.get("id")))
    return Tasks(path, skill, cases, tuple(_placed(reader.problems, text)), ids, text)


def _entries(raw: Any, skill: str, reader: Reader) -> list[Any]:
    if isinstance(raw, dict):
        reader.unknown_keys(raw, ("skill", "tasks"), "")
        named = reader.text(raw, "skill", "", skill)
        if named != skill:
            reader.complain("", f"skill is {named!r}, but the file belongs to skill {skill!r}")
        if "tasks" not in raw:
            reader.complain("", 'has no "tasks" list; add one with at least one task')
            return []
        raw = raw["tasks"]
    if not isinstance(raw, list):
        reader.complain("", f"tasks must be a list of tasks, not {kind(raw)}")
        return []
    if not raw:
        reader.complain("", "has no tasks; add at least one")
    return raw


def _cases(entries: list[Any], reader: Reader) -> Iterable[Case]:
    ids: dict[str, str] = {}
    for position, raw in enumerate(entries, 1):
        if not isinstance(raw, dict):
            reader.complain(f"task {position}", f"must be an object, not {kind(raw)}")
            continue
        before = len(reader.problems)
        case = _case(raw, position, reader)
        _check_unique(case.id, ids, reader)
        if len(reader.problems) == before:
            yield case


def _case(raw: Mapping[str, Any], position: int, reader: Reader) -> Case:
    identifier = raw.get("id")
    where = f"task {identifier if _is_shown(identifier) else position}"
    if not KEYS.issuperset(raw):
        reader.unknown_keys(raw, KEYS, where)
    if not _is_id(identifier):
        _bad_id(identifier, where, reader)
    include = reader.texts(raw, "must_include", where)
    exclude = reader.texts(raw, "must_not_include", where)
    if "" in include or "" in exclude:
        reader.complain(where, "an empty text is in every answer; remove it", "F08")
    if not include and not exclude:
        reader.complain(where, "has no checks; add a text to must_include", "F06")
    if "description" in raw:
        reader.text(raw, "description", where)
    prompt = _prompt(raw, where, reader)
    name = identifier if isinstance(identifier, str) else f"#{position}"
    annotations = {"allow": reader.texts(raw, "allow", where)} if "allow" in raw else EMPTY
    return Case(name, prompt, _checks(include, exclude), annotations=annotations)


def _checks(include: tuple[str, ...], exclude: tuple[str, ...]) -> tuple[Check, ...]:
    checks = [Check(f"must_include/{i}", needle, "text") for i, needle in enumerate(include, 1)]
    checks += [
        Check(f"must_not_include/{i}", needle, "text", EMPTY, 1, True)
        for i, needle in enumerate(exclude, 1)
    ]
    return tuple(checks)


def _prompt(raw: Mapping[str, Any], where: str, reader: Reader) -> str:
    if "prompt" in raw and "task" in raw:
        reader.complain(where, "prompt and task mean the same; keep prompt")
    key = "task" if "task" in raw and "prompt" not in raw else "prompt"
    if key not in raw:
        reader.complain(where, 'has no "prompt"; say what the agent is asked')
        return ""
    prompt = reader.text(raw, key, where, "?")
    if not prompt.strip():
        reader.complain(where, f"{key} is blank; say what the agent is asked")
    reader.check_sendable(prompt, key, where)
    return prompt


def _is_shown(identifier: Any) -> bool:
    """Can the id stand in a message as it is? One with a line break in it would break the line."""
    if not isinstance(identifier, str):
        return False
    return 0 < len(identifier) <= LONGEST_ID and identifier.isprintable()


def _is_id(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST_ID and _ID.fullmatch(value) is not None


def _bad_id(identifier: Any, where: str, reader: Reader) -> None:
    if identifier is None:
        reader.complain(where, "has no id; add one: it names the file of the answer", "F02")
    elif not isinstance(identifier, str):
        reader.complain(where, f"id must be text, not {kind(identifier)}", "F02")
    elif len(identifier) > LONGEST_ID:
        message = f"id has {len(identifier)} characters; as a file name at most {LONGEST_ID}"
        reader.complain(where, f"{message} ({identifier[:40]!r}…)", "F02")
    else:
        reader.complain(
            where,
            f"id {identifier!r} cannot be a file name everywhere: use a-z, 0-9, '.', '_' and '-',"
            " starting with a letter or digit",
            "F02",
        )


def _check_unique(identifier: str, ids: dict[str, str], reader: Reader) -> None:
    # file systems that ignore case would give two such tasks one example file
    key = identifier.casefold()
    if key in ids and _is_shown(identifier):
        message = f"id is used twice (first as {ids[key]!r}); rename one"
        reader.complain(f"task {identifier}", message, "F02")
    ids.setdefault(key, identifier)


def _placed(found: Iterable[Problem], text: str) -> Iterable[Problem]:
    """The problems with the line of the task they name, where it can be told."""
    for problem in found:
        line = line_of_id(problem.where.removeprefix("task "), text)
        yield problem._replace(line=line)


def load(path: str) -> Suite:
    """The suite of a tasks.json or of a skill folder, its one arm reading the worked examples.

    Raises `SuiteError` at the first error, so that no score is computed on a half-read file.
    """
    tasks = read(file_of(path))
    refuse(tasks.problems)
    return Suite(
        name=tasks.skill,
        path=tasks.path,
        cases=tasks.cases,
        rules=RULES,
        arms=(_arm("examples", os.path.join(os.path.dirname(tasks.path), EXAMPLES)),),
        gates=(Gate("score", ">=", 1),),
        skill=tasks.skill,
    )


def check_folder(folder: str, said_as: str = "") -> None:
    """Raises `UsageError` unless there is such a folder of answers: without it, all would miss."""
    if not os.path.isdir(folder):
        what = "is no folder" if os.path.lexists(folder) else "no such folder"
        raise UsageError(f"{said_as}{folder or repr(folder)}: {what}")


def with_answers(suite: Suite, folder: str) -> Suite:
    """The suite with the answers in a folder, `<task id>.md` each, in place of the examples.

    Its gate only reports: with answers the minimum score is 0 unless somebody sets one (seed 001).
    """
    return suite._replace(arms=(_arm("answers", folder),), gates=(Gate("score", ">=", 0),))


def _arm(name: str, folder: str) -> Arm:
    return Arm(name, "answers", options={"folder": folder})


def problems(path: str, *, strict: bool = False) -> list[Problem]:
    """Everything wrong with the tasks, their examples and the texts they look for (F01 to W23).

    `path` is a skill folder or its tasks.json. `strict` adds the rules that are too eager for
    every commit (spec/fixtures section 6).
    """
    from skilleval.lint import needles

    tasks = read(file_of(path))
    if not tasks.text:
        return list(tasks.problems)  # of a file that is no JSON there is nothing more to say
    unreadable: list[OSError] = []
    found = needles.problems(_fixture(tasks, unreadable), strict=strict)
    return [*tasks.problems, *_unreadable(unreadable), *_placed(found, tasks.text)]


def _unreadable(errors: Iterable[OSError]) -> Iterable[Problem]:
    for error in errors:
        path = str(error.filename)
        if os.path.basename(path) != "SKILL.md":  # of which S01 tells
            message = f"cannot be read: {textfile.reason(error)}; so F05 and W10 are not known"
            yield Problem(path, 0, "", "F05", "error", message)


def _fixture(tasks: Tasks, unreadable: list[OSError]) -> "Fixture":
    """What the rules judge; the guidance of the skill that cannot be read goes to `unreadable`."""
    from skilleval.lint.fixture import Fixture

    evals = os.path.dirname(tasks.path)
    folder = os.path.dirname(evals)
    examples, broken = _answers(os.path.join(evals, EXAMPLES), tasks.ids)
    texts = skills.corpus(folder, unreadable.append)
    return Fixture(
        tasks.path,
        _lintable(tasks.cases),
        corpus="\n".join(texts.values()),
        skill_text=texts.get(os.path.join(folder, skills.MANIFEST), ""),
        examples=examples,
        orphans=tuple(sorted({*examples, *broken} - tasks.ids)),
        unreadable=broken,
        counterexamples=_answers(os.path.join(evals, COUNTEREXAMPLES), tasks.ids)[0],
        corpus_known=not unreadable,  # SKILL.md is read in any case
    )


def _lintable(cases: Iterable[Case]) -> "tuple[FixtureTask, ...]":
    from skilleval.lint.fixture import FixtureTask

    return tuple(
        [
            FixtureTask(
                case.id,
                case.prompt,
                tuple([check.text for check in case.checks if not check.negate]),
                tuple([check.text for check in case.checks if check.negate]),
                frozenset(case.annotations.get("allow", ())),
            )
            for case in cases
        ]
    )


def _answers(folder: str, ids: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The `<id>.md` files of a folder by id: their texts, and why the others have none.

    Of a folder that is there and cannot be read, that is all `ids`.
    They are read as `agents.answers` reads them: a link that leaves the folder is not followed.
    """
    found: dict[str, str] = {}
    unreadable: dict[str, str] = {}
    try:
        with os.scandir(folder) as entries:
            paths = {entry.name: entry.path for entry in entries}
    except FileNotFoundError:
        return found, unreadable
    except OSError as error:
        return found, dict.fromkeys(ids, textfile.reason(error))
    for name, path in paths.items():
        if name.endswith(".md"):
            try:
                found[name[:-3]] = textfile.decode(textfile.read_bytes(path, within=folder))
            except OSError as error:
                unreadable[name[:-3]] = textfile.reason(error)
    return found, unreadable
