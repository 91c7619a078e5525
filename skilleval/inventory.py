"""Which suites and skills there are below a folder, and which belong together.

Goes by the names of files and opens only the small ones; what is wrong with them, `validate` says.
Hidden folders, and those that hold no files of the repository, are not looked into.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from skilleval import skill as skills
from skilleval.errors import SuiteError
from skilleval.ordering import natural
from skilleval.reading import jsonread

# the file that makes a suite, its format, and the key of its cases ("": the whole file is the list)
_FILES = {
    "evals.json": ("suites", "evals"),
    "tasks.json": ("fixtures", "tasks"),
    "eval_queries.json": ("triggers", ""),
    "eval.yaml": ("harness", None),
    "eval.yml": ("harness", None),
    "eval.json": ("harness", None),
}
_CRITERIA = "criteria.json"
Pairing = Literal["paired", "external-suite", "missing-skill", "missing-evals"]


class FoundSuite(NamedTuple):
    """A suite: its file or folder, relative to the root. `cases` is None if they are not known.

    `skill` is the name of its skill, "" if it does not say. `pairing` is `paired` if it lies in the
    skill, `external-suite` if elsewhere below the root, `missing-skill` if the skill is not there.
    """

    path: str
    format: str
    skill: str
    cases: int | None
    problem: str = ""
    pairing: Pairing = "paired"


class FoundSkill(NamedTuple):
    """A skill: its folder, relative to the root, and whether any suite is for it."""

    name: str
    path: str
    pairing: Pairing


class Inventory(NamedTuple):
    """All of them, sorted by path."""

    suites: tuple[FoundSuite, ...]
    skills: tuple[FoundSkill, ...]


def take(root: str) -> Inventory:
    """What is below the folder, itself included. Raises nothing for what cannot be read."""
    folders: list[str] = []
    suites: list[FoundSuite] = []
    for folder, names in _walk(root):
        if skills.MANIFEST in names:
            folders.append(folder)
        suites += _suites(root, folder, names)
    named = {os.path.basename(os.path.abspath(folder)): folder for folder in folders}
    paired = [_paired(suite, root, folders, named) for suite in suites]
    used = {suite.skill for suite in paired if suite.pairing != "missing-skill"}
    found = [
        FoundSkill(name, _relative(folder, root), "paired" if name in used else "missing-evals")
        for folder in folders
        for name in [os.path.basename(os.path.abspath(folder))]
    ]
    return Inventory(
        tuple(sorted(paired, key=lambda suite: natural(suite.path))),
        tuple(sorted(found, key=lambda each: natural(each.path))),
    )


def _walk(root: str) -> Iterator[tuple[str, set[str]]]:
    links: list[str] = []
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        links += skills.links_to_skills(folder, folders)
        folders[:] = [name for name in folders if name[0] != "." and name not in skills.SKIPPED]
        folders[:] = [name for name in folders if not _is_of_runs(folder, name)]
        found.append(folder)
        yield folder, set(files)
    for link in skills.not_among(links, found):
        yield from _walk(link)


def _is_of_runs(folder: str, name: str) -> bool:
    """Is it the folder of a skill's runs, and not a skill that is called so?"""
    return name.endswith("-workspace") and not skills.exists(os.path.join(folder, name))


def _relative(path: str, root: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _suites(root: str, folder: str, names: set[str]) -> Iterator[FoundSuite]:
    for name, (form, key) in _FILES.items():
        if name in names and (key is None or _is_of_suite(folder, name)):
            path = os.path.join(folder, name)
            yield _read(path, _relative(path, root), form, key)
    if _CRITERIA in names and os.path.basename(os.path.dirname(folder)) == "evals":
        skill = os.path.basename(os.path.dirname(os.path.dirname(os.path.abspath(folder))))
        yield FoundSuite(_relative(folder, root), "scenarios", skill, 1)


def _is_of_suite(folder: str, name: str) -> bool:
    """A tasks.json is a common name: it counts in a folder `evals` only."""
    return name == "evals.json" or os.path.basename(os.path.abspath(folder)) == "evals"


def _read(path: str, shown: str, form: str, key: str | None) -> FoundSuite:
    if key is None:
        return FoundSuite(shown, form, "", None)
    try:
        raw, _text = jsonread.load(path)
    except SuiteError as error:
        return FoundSuite(shown, form, "", None, error.message)
    cases: Any = raw
    if key:
        cases = raw.get(key) if isinstance(raw, dict) else None
    if not isinstance(cases, list):
        return FoundSuite(shown, form, "", None, f"has no list of {key or 'queries'}")
    name = raw.get("skill_name") if isinstance(raw, dict) else ""
    return FoundSuite(shown, form, name if isinstance(name, str) else "", len(cases))


def _paired(suite: FoundSuite, root: str, folders: list[str], named: dict[str, str]) -> FoundSuite:
    owner = skills.owner(os.path.join(root, suite.path))
    inside = [folder for folder in folders if os.path.realpath(folder) == os.path.realpath(owner)]
    if inside and owner:
        name = os.path.basename(os.path.abspath(inside[0]))
        return suite._replace(skill=name, pairing="paired")
    if suite.skill in named:
        return suite._replace(pairing="external-suite")
    return suite._replace(pairing="missing-skill")
