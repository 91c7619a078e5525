"""Checks skills and their fixtures, whatever their format. Owns what is looked at for a path."""

from __future__ import annotations

import os
from collections.abc import Iterable

from skilleval import formats, skill, textfile
from skilleval.errors import UsageError
from skilleval.model import Problem

# files that may also lie outside of a skill (`run --skill DIR --evals FILE`)
SUITES = frozenset({formats.KNOWN_BY["suites"], formats.KNOWN_BY["triggers"]})


def targets(paths: Iterable[str]) -> list[str]:
    """The skill folders that the paths stand for, and suites outside of any, each once, sorted.

    A folder stands for every skill and suite below it, a file for the skill it belongs to:
    pre-commit names the files that changed. Raises `UsageError` for a path with nothing to check.
    """
    found: set[str] = set()
    for path in paths:
        if os.path.isdir(path):
            folders = skill.find(path, SUITES)
            if not folders:
                raise UsageError(f"{path}: no skill and no evals/tasks.json below this folder")
        elif os.path.lexists(path):
            folders = _of_file(path)
            if not folders:
                raise UsageError(f"{path}: belongs to no skill: no folder above has a SKILL.md")
        else:
            raise UsageError(f"{path}: no such file or folder")
        found.update(map(os.path.normpath, folders))
    return sorted(found)


def _of_file(path: str) -> list[str]:
    folder = skill.owner(path)
    inside = folder and (skill.exists(folder) or os.path.basename(os.path.dirname(path)) == "evals")
    if not inside and os.path.basename(path) in SUITES:
        return [path]
    return [_shortened(folder)] if folder else []


def _shortened(folder: str) -> str:
    relative = os.path.relpath(folder)
    return folder if relative.startswith(os.pardir) else relative


def problems(folder: str, *, strict: bool = False) -> list[Problem]:
    """Everything wrong with a skill folder: its SKILL.md and the fixtures of every format in it.

    A suite outside of any skill stands for itself. Sorted by place; `strict` adds the rules that
    are too eager for every commit.
    """
    alone = os.path.basename(folder) in SUITES and not os.path.isdir(folder)
    found = [] if alone else _of_skill(folder, strict=strict)
    owners = formats.owners(folder)
    for name in owners:
        found += formats.get(name).problems(folder, strict=strict)
    if not owners:
        message = "has no evals: add evals/tasks.json with at least one task"
        found.append(Problem(folder, 0, "", "F01", "error", message))
    return sorted(found)


def _of_skill(folder: str, *, strict: bool) -> list[Problem]:
    from skilleval.lint import skill_md
    from skilleval.lint.skill_text import SkillText

    path = os.path.join(folder, skill.MANIFEST)
    try:
        raw = textfile.read_bytes(path)
    except FileNotFoundError:
        message = f"has no {skill.MANIFEST}; add one with a name and a description"
        return [Problem(folder, 0, "", "S01", "error", message)]
    except OSError as error:
        message = f"cannot be read: {textfile.reason(error)}"
        return [Problem(path, 0, "", "S01", "error", message)]
    front = skill.front_matter(textfile.decode(raw))
    text = SkillText(
        path,
        raw.decode("utf-8", "replace"),
        os.path.basename(os.path.abspath(folder)),
        front.fields,
        front.body_line,
        _files(folder) if strict else (),
        front.problem,
        front.line,
    )
    return list(skill_md.problems(text, strict=strict))


def _files(folder: str) -> tuple[str, ...]:
    return tuple(
        os.path.relpath(path, folder).replace(os.sep, "/") for path in skill.files_below(folder)
    )
