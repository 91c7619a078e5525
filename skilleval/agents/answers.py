"""The agent that has answered already: reads `<folder>/<case id>.md`. Runs nothing.

With it, scoring a folder of answers is the ordinary pipeline (seed 001). The arm's option `folder`
says where the answers are; a symbolic link that leaves that folder is not followed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from skilleval.model import Arm, Case, Outcome, Suite
from skilleval.reading import textfile
from skilleval.tools import Tools

OPTIONS = None


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """The file's text as the outcome's output; `missing` when there is no file to read.

    What is there but cannot be read (a directory, no permission, a link that leads out) is missing
    too, and the outcome's `error` says why.
    """
    folder = arm.options["folder"]
    path = f"{folder}/{case.id}.md"
    try:
        data = textfile.read_bytes(path, within=folder)
    except FileNotFoundError:
        return Outcome("missing", "", path)
    except OSError as error:
        return Outcome("missing", "", path, textfile.reason(error))
    return Outcome("ok", textfile.decode(data), path)


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """Nothing can be missing: an answer that is not there is an outcome."""
    return ()


def unused(root: str, suites: Iterable[Suite], skills: Collection[str]) -> tuple[str, ...]:
    """The files below `root` that no task of the suites reads, as sorted paths relative to it.

    A misspelt skill or task id would otherwise look like a missing answer. Folders of `skills`
    that no suite is about are left alone, and so are hidden files.
    """
    wanted = {suite.name: {f"{case.id}.md" for case in suite.cases} for suite in suites}
    found = []
    for entry in _visible(root):
        if not entry.is_dir():
            found.append(entry.name)
        elif entry.name in wanted:
            names = wanted[entry.name]
            found += [f"{entry.name}/{e.name}" for e in _visible(entry.path) if e.name not in names]
        elif entry.name not in skills:
            found += [f"{entry.name}/{file.name}" for file in _visible(entry.path)] or [entry.name]
    return tuple(sorted(found))


def _visible(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []
