"""Which skills an agent could find on disk. Owns the places where agent programs look for them.

It opens manifests only, and decides nothing: that an arm is not what it claims, `workspace` and
`harness` say. (spec/agents section 4: each program also lists the folders of some others.)
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Mapping

from skilleval import skill

# below a workspace, any folder above it, and a home folder
PLACES = (
    ".claude/skills",
    ".codex/skills",
    ".opencode/skills",
    ".opencode/skill",
    ".agents/skills",
    ".config/opencode/skills",
    ".config/opencode/skill",
)
# variables that move a program's own folder, and where in it skills are
MOVED = {
    "CLAUDE_CONFIG_DIR": "skills",
    "CODEX_HOME": "skills",
    "OPENCODE_CONFIG_DIR": "skills",
    "XDG_CONFIG_HOME": "opencode/skills",
}


def found(folders: Iterable[str], name: str, places: Iterable[str] = ()) -> dict[str, str]:
    """The names of the skills at `PLACES` (and `places`) below the folders, by their folder.

    A skill is called as its folder; one whose manifest gives it the name `name` is called so too.
    """
    below = dict.fromkeys([*places, *PLACES])
    return {
        place: called
        for folder in dict.fromkeys(os.path.join(each, "") for each in folders)
        for part in below
        for place, called in _skills(folder + part, name)
    }


def moved(environ: Mapping[str, str], name: str) -> dict[str, str]:
    """The same, in the folders that variables of the agent's environment name."""
    roots = [os.path.join(environ[key], part) for key, part in MOVED.items() if environ.get(key)]
    return {place: called for root in roots for place, called in _skills(root, name)}


def above(folder: str) -> Iterator[str]:
    """The folders above one, nearest first."""
    while (parent := os.path.dirname(folder)) != folder:
        yield parent
        folder = parent


def _skills(root: str, name: str, depth: int = 2) -> Iterator[tuple[str, str]]:
    """(folder, name) of every skill in a folder of skills, or in groups of skills there."""
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return
    for each in names:
        folder = os.path.join(root, each)
        if skill.exists(folder):
            yield folder, name if each != name and name_of(folder) == name else each
        elif depth > 1:
            yield from _skills(folder, name, depth - 1)


def name_of(folder: str) -> str:
    """The name that a skill's manifest gives it; empty if it gives none."""
    try:
        status = os.stat(os.path.join(folder, skill.MANIFEST))
    except OSError:
        return ""
    return _name_in(folder, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=64)
def _name_in(folder: str, _changed_ns: int, _size: int) -> str:
    fields = skill.front_matter(skill.text(folder)).fields or {}
    return str(fields.get("name", ""))
