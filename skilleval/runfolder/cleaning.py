"""Removes what a run left outside of its folder. Owns the proof that a thing is the run's.

Branches and pull requests are the run's if its manifest (cleanup.json) lists them, and are looked
for nowhere but in its source repository: no run pushes to one on this machine, and a branch that
has moved since is left alone. A folder is removed only if it carries our marker, lies directly in a
folder for temporary files or in the workspace, and is no link: a manifest alone proves nothing
about a path. Asks nobody; the command does.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from skilleval import writing
from skilleval.errors import SuiteError
from skilleval.model import EMPTY
from skilleval.plaintext import one_line
from skilleval.process import Command, Completed, complaint
from skilleval.reading import jsonread
from skilleval.reading.jsonvalues import items
from skilleval.redaction import REDACTED, redact, secrets_in
from skilleval.runfolder import artefacts, store
from skilleval.tools import Tools
from skilleval.trial import grounds, removal, temporary
from skilleval.trial.pullrequests import github_slug

TIMEOUT_S = 60.0
PREFIX = "skilleval-"
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Leftovers(NamedTuple):
    """What a run's manifest lists. `refused` says what is left alone, and why, a line each.

    `branches` are with what the run pushed to them last, "" where the manifest does not say.
    """

    folder: str
    source: str = ""
    branches: Mapping[str, str] = EMPTY
    pull_requests: tuple[int, ...] = ()
    workspaces: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What there is to be removed, a line each."""
        source = _shown(self.source)
        return (
            *(f"close pull request {number} of {source}" for number in self.pull_requests),
            *(f"delete branch {one_line(name)} of {source}" for name in self.branches),
            *(f"remove {one_line(path)}" for path in self.workspaces),
        )


def _shown(address: str) -> str:
    """An address of a repository without the token that may be in it."""
    return one_line(redact(address, ()))


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
    # a token in it was not written down: git then asks whom it asks for any other repository
    source = str(manifest.get("source_repo") or "").replace(f"{REDACTED}@", "")
    slug = github_slug(source)
    branches, problems = _branches(manifest, source)
    rows = _list(manifest, "pr_numbers")
    numbers = [each for each in rows if _is_number(each)]
    paths = [str(each) for each in _list(manifest, "workspaces") if each]
    refused = [
        f"{path}: pr_numbers: {each!r} is no number of a pull request; left alone"
        for each in rows
        if not _is_number(each)
    ]
    if numbers and not slug:
        where = _shown(source) or "no source_repo"
        refused.append(f"pull requests {numbers}: {where} is not on GitHub")
    refused += problems
    allowed = _roots(folder, tools.environ)
    reasons = {path: _not_ours(path, allowed) for path in paths if os.path.lexists(path)}
    refused += [f"{path}: {reason}" for path, reason in reasons.items() if reason]
    return Leftovers(
        folder,
        source,
        branches,
        tuple(numbers) if slug else (),
        tuple(path for path, reason in reasons.items() if not reason),
        tuple(refused),
    )


def _branches(manifest: Mapping[str, Any], source: str) -> tuple[dict[str, str], list[str]]:
    """The branches with what they should point to, and why others are left alone, a line each.

    A run pushes to a copy of a repository on this machine, never to that itself.
    """
    names = [str(each) for each in _list(manifest, "remote_branches") if each]
    if names and not grounds.is_address(source):
        why = "the manifest names no source_repo"
        if source:
            why = f"{_shown(source)} is a folder, and runs push to a copy of one"
        return {}, [f"branches {names}: {why}; left alone"]
    heads = manifest.get(artefacts.HEADS)
    heads = heads if isinstance(heads, dict) else {}
    found = {name: str(heads.get(name) or "") for name in names}
    wrong = [name for name, head in found.items() if head and not _OBJECT_ID.fullmatch(head)]
    problems = [f"branch {n}: {artefacts.HEADS} has no commit for it; left alone" for n in wrong]
    return {name: head for name, head in found.items() if name not in wrong}, problems


def _is_number(value: object) -> bool:
    return type(value) is int and value > 0


def _list(manifest: Mapping[str, Any], key: str) -> list[Any]:
    return list(items(manifest.get(key)))


def _roots(folder: str, environ: Mapping[str, str]) -> set[str]:
    """The folders that trials' folders are made in, and the workspace of the run."""
    named = [environ[name] for name in ("TMPDIR", "TEMP", "TMP") if environ.get(name)]
    workspace_base = os.path.dirname(os.path.abspath(folder))
    return set(map(os.path.realpath, (*named, *temporary.COMMON, workspace_base)))


def _not_ours(path: str, roots: set[str]) -> str:
    """Why a folder is left alone; empty if it is one of ours."""
    if not os.path.isabs(path) or os.path.realpath(path) != os.path.normpath(path):
        return "is a link, or behind one; left alone"
    parent, name = os.path.split(os.path.normpath(path))
    if not name.startswith(PREFIX) or parent not in roots:
        return "is not where trials are run; left alone"
    marker = os.path.join(path, temporary.MARKER)
    if os.path.islink(marker) or not os.path.isfile(marker):
        return f"has no {temporary.MARKER}, so it is not ours; left alone"
    return ""


def remove(found: Leftovers, tools: Tools) -> tuple[str, ...]:
    """Removes all of it, and says what could not be, a line each.

    The manifest then lists only what is left, so that nothing is asked for twice. Raises `OSError`
    if it cannot be written.
    """
    secrets = secrets_in(tools.environ)
    problems = {key: redact(said, secrets) for key, said in _removals(found, tools)}
    path = os.path.join(found.folder, store.CLEANUP)
    if os.path.lexists(path):
        manifest, _text = jsonread.load(path)
        lists = (
            ("remote_branches", "branch", tuple(found.branches)),
            ("pr_numbers", "pull request", found.pull_requests),
            ("workspaces", "folder", found.workspaces),
        )
        for key, kind, names in lists:
            gone = [name for name in names if (kind, name) not in problems]
            manifest[key] = [each for each in _list(manifest, key) if each not in gone]
        if isinstance(heads := manifest.get(artefacts.HEADS), dict):
            left = manifest["remote_branches"]
            manifest[artefacts.HEADS] = {n: head for n, head in heads.items() if n in left}
        writing.write_text(path, writing.as_json(manifest))
    return tuple(f"{kind} {name}: {reason}" for (kind, name), reason in problems.items())


def _removals(found: Leftovers, tools: Tools) -> Iterator[tuple[tuple[str, object], str]]:
    """What could not be removed, and why."""
    slug = github_slug(found.source)
    for number in found.pull_requests:
        if said := _said(_run(["gh", "pr", "close", str(number), "--repo", slug], tools)):
            yield ("pull request", number), said
    for branch, head in found.branches.items():
        if said := _delete(found.source, branch, head, tools):
            yield ("branch", branch), said
    for path in found.workspaces:
        if not removal.remove(path, temporary.MARKER):
            yield ("folder", path), "cannot be removed"


def _delete(source: str, branch: str, head: str, tools: Tools) -> str:
    """Deletes a branch if it still is what the run pushed; says why it is left, "" if it is gone.

    Without a `head` the manifest is of a tool that notes none, and its word is all there is.
    """
    ref = f"refs/heads/{branch}"  # a full name after `--` is never taken for an option
    lease = []
    if head:
        done = _run(["git", "ls-remote", "--", source, ref], tools)
        if done.exit_code != 0:
            return complaint(done)
        rows = (line.split("\t") for line in done.stdout.splitlines())
        now = next((row[0] for row in rows if row[1:] == [ref]), "")
        if not now:
            return ""  # somebody was here before us
        if now != head:
            return f"has moved since the run pushed it (is at {now[:12]} now); left alone"
        lease = [f"--force-with-lease={ref}:{head}"]  # it may move at this very moment
    return _said(_run(["git", "push", *lease, "--delete", "--", source, ref], tools))


def _said(done: Completed) -> str:
    return "" if done.exit_code == 0 else complaint(done)


def _run(argv: list[str], tools: Tools) -> Completed:
    """What came of a program.

    It runs in an empty bare repository: git pushes from none, and in the user's own its hooks and
    remotes would have a say.
    """
    env = {**tools.environ, "GIT_TERMINAL_PROMPT": "0"}
    with tempfile.TemporaryDirectory(prefix="skilleval-") as folder:
        made = tools.run(Command(["git", "init", "--quiet", "--bare", folder], TIMEOUT_S, env=env))
        if made.exit_code != 0:
            return made
        return tools.run(Command(argv, TIMEOUT_S, cwd=folder, env=env))
