"""Checks skills and their fixtures, whatever their format. Owns what is looked at for a path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from skilleval import formats, skill
from skilleval.errors import UsageError
from skilleval.lint import skill_md
from skilleval.lint.skill_text import SkillText
from skilleval.model import Level, Problem
from skilleval.reading import textfile

# files that may also lie outside of a skill (`run --skill DIR --evals FILE`)
SUITES = frozenset({formats.KNOWN_BY["suites"], formats.KNOWN_BY["triggers"]})
_OF_A_SKILL = frozenset({formats.KNOWN_BY["fixtures"], "criteria.json", "scenario.json"})


def targets(paths: Iterable[str]) -> list[str]:
    """The skill folders that the paths stand for, and suites outside of any, each once, sorted.

    A folder stands for every skill and suite below it, a file for the skill it belongs to:
    pre-commit names the files that changed. With the skills come folders that may be or hold some,
    and cannot be looked into. Raises `UsageError` for a path with nothing to check.
    """
    found: set[str] = set()
    for path in paths:
        if os.path.isdir(path):
            folders = _below(path)
            if not folders and not os.access(path, os.R_OK | os.X_OK):
                raise UsageError(f"{path}: cannot be read: permission denied")
            if not folders:
                raise UsageError(f"{path}: no skill and no suite below this folder")
        elif os.path.lexists(path):
            folders = _of_file(path)
            if not folders:
                raise UsageError(f"{path}: {_why_nothing(path)}")
        else:
            raise UsageError(f"{path or repr(path)}: no such file or folder")
        found.update(map(os.path.normpath, folders))
    return sorted(found)


def _below(path: str) -> list[str]:
    unread: list[str] = []
    found = skill.find(path, SUITES, lambda error: unread.append(str(error.filename)))
    return found + [each for each in unread if each != path and _is_told(each)]


def _of_file(path: str) -> list[str]:
    folder = skill.owner(path)
    if is_alone(path) and not (folder and skill.exists(folder)):
        return [path]
    return [_shortened(folder)] if folder else []


def _why_nothing(path: str) -> str:
    if not os.path.exists(path):
        return "is a link to what is not there"
    if not os.path.isfile(path):
        return "is no regular file but a pipe, a socket or a device; name a file or a folder"
    return "belongs to no skill: no folder above has a SKILL.md"


def is_alone(target: str) -> bool:
    """Is it a suite that needs no skill around it: an evals.json, under this name or another?"""
    if not target.endswith(".json"):
        return False
    return os.path.basename(target) not in _OF_A_SKILL and os.path.isfile(target)


def formats_of(target: str) -> list[str]:
    """The names of the formats of a target; a suite of an unknown name is taken for an evals.json,
    as `run` takes it."""
    return formats.owners(target) or (["suites"] if is_alone(target) else [])


def _shortened(folder: str) -> str:
    relative = os.path.relpath(folder)
    return folder if relative.startswith(os.pardir) else relative


def problems(
    folder: str, *, strict: bool = False, owners: Sequence[str] | None = None
) -> list[Problem]:
    """Everything wrong with a skill folder: its SKILL.md and the fixtures of every format in it.

    A suite outside of any skill stands for itself. Sorted by place; `strict` adds the rules that
    are too eager for every commit. `owners`: what `formats_of` says, if that is known.
    """
    owners = formats_of(folder) if owners is None else owners
    if not owners and (reason := unreadable(folder)):
        level: Level = "error" if _is_place_of_skills(folder) else "warning"
        return [Problem(folder, 0, "", "S01", level, f"cannot be read: {reason}")]
    found = [] if is_alone(folder) else _of_skill(folder, strict=strict)
    for name in owners:
        found += formats.get(name).problems(folder, strict=strict)
    if not owners:
        found.append(_without_evals(folder))
    return sorted(found)


def skill_errors(folder: str) -> list[Problem]:
    """What stands in the way of an agent that is to take in this skill; its fixtures do not."""
    found = _of_skill(_shortened(folder), strict=False)
    return [problem for problem in found if problem.level == "error"]


def _is_told(path: str) -> bool:
    """A link that leads nowhere may be anything; where skills are, it may have been one."""
    return not os.path.islink(path) or _is_place_of_skills(path)


def _is_place_of_skills(path: str) -> bool:
    """Does a folder of this name lie where skills do, or hold them by its name?"""
    above, name = os.path.split(os.path.abspath(path))
    if "skills" in (name, os.path.basename(above)):
        return True
    return any(skill.exists(os.path.join(above, each)) for each in os.listdir(above))


def unreadable(folder: str) -> str:
    """Why a folder cannot be looked into; "" if it can, or is none."""
    try:
        os.listdir(folder)
    except FileNotFoundError:
        return "is a link to what is not there" if os.path.islink(folder) else ""
    except NotADirectoryError:
        return ""
    except OSError as error:
        return textfile.reason(error)
    return ""


def _without_evals(folder: str) -> Problem:
    evals = os.path.join(folder, "evals")
    if os.path.lexists(evals) and not os.path.isdir(evals):
        message = "is no folder; make it one, with at least one task in its tasks.json"
        return Problem(evals, 0, "", "F01", "error", message)
    if os.path.isdir(evals) and not os.access(evals, os.R_OK | os.X_OK):
        return Problem(evals, 0, "", "F01", "error", "cannot be read: permission denied")
    message = "has no evals: add evals/tasks.json with at least one task"
    return Problem(folder, 0, "", "F01", "error", message)


def _of_skill(folder: str, *, strict: bool) -> list[Problem]:
    path = os.path.join(folder, skill.MANIFEST)
    try:
        raw = textfile.read_bytes(path)
    except FileNotFoundError:
        message = f"has no {skill.MANIFEST}; add one with a name and a description"
        if os.path.islink(path):
            message = f"its {skill.MANIFEST} is a link to what is not there"
        return [Problem(folder, 0, "", "S01", "error", message)]
    except OSError as error:
        message = f"cannot be read: {textfile.reason(error)}"
        return [Problem(path, 0, "", "S01", "error", message)]
    front = skill.front_matter(textfile.decode(raw))
    unread: list[OSError] = []
    text = SkillText(
        path,
        raw.decode("utf-8", "surrogateescape"),  # so that what is not UTF-8 can be told
        os.path.basename(os.path.abspath(folder)),
        front.fields,
        front.body_line,
        _files(folder, unread) if strict else (),
        front.problem,
        front.line,
    )
    return [*skill_md.problems(text, strict=strict), *map(_unread, unread)]


def _unread(error: OSError) -> Problem:
    message = f"cannot be read: {textfile.reason(error)}"
    return Problem(str(error.filename), 0, "", "S01", "error", message)


def _files(folder: str, unread: list[OSError]) -> tuple[str, ...]:
    """The files of the skill, relative to it; none if they are not all known, and why."""
    paths = list(skill.files_below(folder, unread.append))
    if unread:
        return ()
    return tuple(os.path.relpath(path, folder).replace(os.sep, "/") for path in paths)
