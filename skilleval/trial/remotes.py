"""The remotes of a repository as a state holds them: where their branches are, what was pushed.

Owns these fields. `remote_branches` and `remote_branch_heads` are those of `origin`, without its
name, as seed 002 has them; only where there is no `origin`, those of the others. What was pushed to
another remote is apart, in `other_pushes`, so that no branch hides behind one of `origin` with the
same name. No git process is needed. What of it is a trial's own, `ownership` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skilleval.trial import gitfiles

ORIGIN = "origin"
_REFS = "refs/remotes/"
Entries = Mapping[str, Sequence[Sequence[str]]]


def fields(folder: str, refs: Mapping[str, str], bare: str = "") -> dict[str, Any]:
    """The fields of a git folder whose `refs` have these ids.

    `bare` is the repository behind `origin` if it is on this machine and no other trial has it: its
    branches and tags are true whatever was fetched, and nobody else moves them. `pushes` (see
    `gitfiles.pushes`) is of `origin`, and only there where others may push to it, too.
    `other_pushes` has the same for each other remote.
    """
    names = gitfiles.remote_names(folder)
    found = _by_remote(_heads(refs), names)
    pushes = _by_remote(gitfiles.pushes(folder), names)
    if bare:
        heads = gitfiles.heads(bare)
    elif ORIGIN in found or ORIGIN in names:
        heads = found.get(ORIGIN, {})
    else:
        heads = {branch: sha for each in reversed(found.values()) for branch, sha in each.items()}
    state = {
        "remote_names": names,
        "remote_branches": sorted(heads),
        "remote_branch_heads": dict(sorted(heads.items())),
        "other_pushes": {name: each for name, each in pushes.items() if name != ORIGIN},
    }
    if bare:
        return {**state, "remote_tags": gitfiles.tags(bare)}
    return {**state, "pushes": pushes.get(ORIGIN, {})}


def fetched(refs: Mapping[str, str], pushes: Entries | None) -> frozenset[str]:
    """Where branches of a shared `origin` are by others' doing: what they reach is nothing new."""
    if pushes is None:
        return frozenset()
    own = {sha for entries in pushes.values() for _, sha in entries}
    heads = _heads(refs).items()
    return frozenset(sha for name, sha in heads if name.startswith(f"{ORIGIN}/")) - own


def _heads(refs: Mapping[str, str]) -> dict[str, str]:
    """The branches of all remotes with their ids, as `origin/main`."""
    return {name.removeprefix(_REFS): sha for name, sha in refs.items() if name.startswith(_REFS)}


def _by_remote(branches: Mapping[str, Any], remotes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The same by the remote that each is of; a remote's name may have a slash."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in branches.items():
        owners = (remote for remote in remotes if name.startswith(f"{remote}/"))
        owner = max(owners, key=len, default=name.partition("/")[0])
        if branch := name[len(owner) + 1 :]:
            found.setdefault(owner, {})[branch] = value
    return found
