"""The `files` of a case: which paths there may be. Owns their checks; copies nothing.

A fixture lies below the folder of its evals.json and leads nowhere else, and it is not that file
itself: an agent must not see the assertions (seed 002).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skilleval.errors import SkillevalError
from skilleval.formats.fields import Reader
from skilleval.reading.textfile import contains_path, links_below


def read(raw: Mapping[str, Any], where: str, reader: Reader) -> tuple[str, ...]:
    """The paths, `/` between their parts, relative to the folder of the evals.json.

    agentskills.io writes them relative to the skill (`evals/files/x.csv`): that is read, too.
    """
    folder = os.path.dirname(os.path.abspath(reader.path))
    root, evals = os.path.realpath(folder), os.path.realpath(reader.path)
    found: list[str] = []
    for name in reader.texts(raw, "files", where):
        path = _path(name, folder)
        if path is None:
            reader.complain(
                where,
                f"file {name!r} must be a path inside of {folder}: no '..', no '/' first",
                "E04",
            )
        elif why := _problem(path, folder, root, evals):
            reader.complain(where, f"file {name!r} {why}", "E04")
        elif path in found:
            reader.complain(where, f"file {name!r} is named twice", "E05")
        else:
            found.append(path)
    _check_targets(found, where, reader)
    return tuple(found)


def _path(name: str, folder: str) -> str | None:
    """The path within the folder; None for one that is empty, absolute, or leads up."""
    plain = name.replace("\\", "/")
    if not plain.strip() or "\0" in plain or plain.startswith(("/", "~")) or plain[1:2] == ":":
        return None
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if ".." in parts or not parts:
        return None
    own = os.path.basename(folder)
    if (
        len(parts) > 1
        and parts[0] == own == "evals"
        and not os.path.exists(os.path.join(folder, *parts))
    ):
        parts = parts[1:]
    return "/".join(parts)


def _problem(path: str, folder: str, root: str, evals: str) -> str:
    """What is wrong with a fixture; "" if nothing is. `root` and `evals` are real paths."""
    place = os.path.join(folder, path)
    if ".git" in path.split("/"):
        return "is in a .git folder, which no workspace gets"
    if not os.path.exists(place):
        broken = os.path.islink(place)
        return "is a link that leads nowhere" if broken else f"is not there; put it into {folder}"
    for each in (place, *links_below(place)):
        target = os.path.realpath(each)
        if not contains_path(root, target):
            return f"is or holds a link that leaves {folder}"
        if contains_path(target, evals):
            return "is or holds the suite itself, which the agent must not see"
    return ""


def _check_targets(files: list[str], where: str, reader: Reader) -> None:
    """Two fixtures must not have one place in the workspace."""
    if len(files) < 2:
        return
    from skilleval.trial.grounds import targets

    try:
        targets(files)
    except SkillevalError as error:
        reader.complain(where, str(error), "E05")
