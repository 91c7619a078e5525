"""Removes what a run left outside of its folder. Owns the proof that a thing is the run's.

Branches and pull requests are the run's if its manifest (cleanup.json) lists them, and are looked
for nowhere but in its source repository. A folder is removed only if it carries our marker, lies
directly in a folder for temporary files or in the workspace, and is no link: a manifest alone
proves nothing about a path. Asks nobody; the command does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.errors import SuiteError
from skilleval.plaintext import one_line
from skilleval.process import Command, complaint
from skilleval.reading import jsonread
from skilleval.reading.jsonvalues import items
from skilleval.runfolder import store
from skilleval.tools import Tools
from skilleval.trial import grounds, workspace
from skilleval.trial.pullrequests import github_slug

TIMEOUT_S = 60.0
PREFIX = "skilleval-"


class Leftovers(NamedTuple):
    """What a run's manifest lists. `refused` says what is left alone, and why, a line each."""

    folder: str
    source: str = ""
    branches: tuple[str, ...] = ()
    pull_requests: tuple[int, ...] = ()
    workspaces: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What there is to be removed, a line each."""
        return (
            *(f"close pull request {n} of {one_line(self.source)}" for n in self.pull_requests),
            *(f"delete branch {one_line(b)} of {one_line(self.source)}" for b in self.branches),
            *(f"remove {one_line(path)}" for path in self.workspaces),
        )


def leftovers(folder: str, tools: Tools) -> Leftovers:
    """What the manifest of a run folder lists that is provably the run's.

    Without a manifest there is nothing. Raises `SuiteError` if it is damaged.
    """
    path = os.path.join(folder, store.CLEANUP)
    if not os.path.lexists(path):
        return Leftovers(folder)
    manifest, _text = jsonread.load(path)
    if not isinstance(manifest, dict):
        raise SuiteError(path, "", "expected an object; nothing is removed")
    source = str(manifest.get("source_repo") or "")
    slug = github_slug(source)
    branches = [str(each) for each in _list(manifest, "remote_branches") if each]
    numbers = [each for each in _list(manifest, "pr_numbers") if type(each) is int]
    paths = [str(each) for each in _list(manifest, "workspaces") if each]
    refused = []
    if numbers and not slug:
        refused.append(f"pull requests {numbers}: {source or 'no source_repo'} is not on GitHub")
    if branches and not source:
        refused.append(f"branches {branches}: the manifest names no source_repo")
    allowed = _roots(folder, tools.environ)
    reasons = {path: _not_ours(path, allowed) for path in paths if os.path.lexists(path)}
    refused += [f"{path}: {reason}" for path, reason in reasons.items() if reason]
    return Leftovers(
        folder,
        source,
        tuple(branches) if source else (),
        tuple(numbers) if slug else (),
        tuple(path for path, reason in reasons.items() if not reason),
        tuple(refused),
    )


def _list(manifest: Mapping[str, Any], key: str) -> list[Any]:
    return list(items(manifest.get(key)))


def _roots(folder: str, environ: Mapping[str, str]) -> set[str]:
    """The folders that trials' folders are made in, and the workspace of the run."""
    named = [environ[name] for name in ("TMPDIR", "TEMP", "TMP") if environ.get(name)]
    workspace_base = os.path.dirname(os.path.abspath(folder))
    return set(map(os.path.realpath, (*named, *grounds.COMMON, workspace_base)))


def _not_ours(path: str, roots: set[str]) -> str:
    """Why a folder is left alone; empty if it is one of ours."""
    if not os.path.isabs(path) or os.path.realpath(path) != os.path.normpath(path):
        return "is a link, or behind one; left alone"
    parent, name = os.path.split(os.path.normpath(path))
    if not name.startswith(PREFIX) or parent not in roots:
        return "is not where trials are run; left alone"
    marker = os.path.join(path, workspace.MARKER)
    if os.path.islink(marker) or not os.path.isfile(marker):
        return f"has no {workspace.MARKER}, so it is not ours; left alone"
    return ""


def remove(found: Leftovers, tools: Tools) -> tuple[str, ...]:
    """Removes all of it, and says what could not be, a line each.

    The manifest then lists only what is left, so that nothing is asked for twice. Raises `OSError`
    if it cannot be written.
    """
    problems = dict(_removals(found, tools))
    path = os.path.join(found.folder, store.CLEANUP)
    if os.path.lexists(path):
        manifest, _text = jsonread.load(path)
        lists = (
            ("remote_branches", "branch", found.branches),
            ("pr_numbers", "pull request", found.pull_requests),
            ("workspaces", "folder", found.workspaces),
        )
        for key, kind, names in lists:
            gone = {name for name in names if (kind, name) not in problems}
            manifest[key] = [each for each in _list(manifest, key) if each not in gone]
        store.write_text(path, store.as_json(manifest))
    return tuple(f"{kind} {name}: {reason}" for (kind, name), reason in problems.items())


def _removals(found: Leftovers, tools: Tools) -> Iterator[tuple[tuple[str, object], str]]:
    """What could not be removed, and why."""
    slug = github_slug(found.source)
    for number in found.pull_requests:
        if said := _run(["gh", "pr", "close", str(number), "--repo", slug], tools):
            yield ("pull request", number), said
    for branch in found.branches:
        # a full name after `--` is never taken for an option
        argv = ["git", "push", "--delete", "--", found.source, f"refs/heads/{branch}"]
        if said := _run(argv, tools):
            yield ("branch", branch), said
    for path in found.workspaces:
        if not workspace.remove(path):
            yield ("folder", path), "cannot be removed"


def _run(argv: list[str], tools: Tools) -> str:
    """What a program said that failed; empty if it did not.

    It runs in an empty bare repository: git pushes from none, and in the user's own its hooks and
    remotes would have a say.
    """
    env = {**tools.environ, "GIT_TERMINAL_PROMPT": "0"}
    with tempfile.TemporaryDirectory(prefix="skilleval-") as folder:
        made = tools.run(Command(["git", "init", "--quiet", "--bare", folder], TIMEOUT_S, env=env))
        if made.exit_code != 0:
            return complaint(made)
        done = tools.run(Command(argv, TIMEOUT_S, cwd=folder, env=env))
    return "" if done.exit_code == 0 else complaint(done)
