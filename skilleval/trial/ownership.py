"""Which branches and pull requests of a remote a trial made itself. Owns that proof, and no git.

A remote may be shared: other trials and people push to it meanwhile, and a fetch brings in what
they did. A trial's own is what its repository says that it pushed, by the log of the remote
(`gitfiles.pushes`), and the pull requests for that. Grading and cleaning up go by the same proof;
what was pushed to another remote than `origin` is graded only.

It works on two states (`gitstate`). One without `pushes` is of a remote that no other trial has, or
was stored before there was such a proof: there everything that is new is the trial's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Git = Mapping[str, Any]


def pushed(before: Git, after: Git) -> dict[str, str]:
    """The remote branches that the trial has made or moved, with what they point to now."""
    old, log = _remote_heads(before), after.get("pushes")
    moved = {name: sha for name, sha in _remote_heads(after).items() if sha != old.get(name)}
    if log is None:
        return moved
    ends = {name: {to for _, to in entries} for name, entries in log.items()}
    return {name: sha for name, sha in moved.items() if sha in ends.get(name, ())}


def created(before: Git, after: Git) -> set[str]:
    """Those of them that were not there before the trial: it may take them away again."""
    old, log = _remote_heads(before), after.get("pushes")
    new = {name: sha for name, sha in pushed(before, after).items() if name not in old}
    if log is None:
        local = set(after.get("branch_heads", {}).values())
        return {name for name, sha in new.items() if sha in local}
    # a push that makes a branch has no id before
    return {name for name in new if any(not came.strip("0") for came, _ in log[name])}


def elsewhere(before: Git, after: Git) -> dict[str, dict[str, str]]:
    """The branches that the trial pushed to other remotes, by remote, with what it pushed last."""
    found: dict[str, dict[str, str]] = {}
    for remote, branches in after.get("other_pushes", {}).items():
        known = before.get("other_pushes", {}).get(remote, {})
        for branch, entries in branches.items():
            if len(entries) > len(known.get(branch, ())):
                found.setdefault(remote, {})[branch] = entries[-1][1]
    return found


def is_alone(after: Git) -> bool:
    """Is the remote one that no other trial has, so that all that changed there is the trial's?"""
    return after.get("pushes") is None


def deleted(before: Git, after: Git) -> set[str]:
    """The branches of `origin` that are gone.

    The log of a branch goes with it: unless the trial is alone, somebody else may have deleted it.
    """
    return set(_remote_heads(before)) - set(_remote_heads(after))


def tags(before: Git, after: Git) -> dict[str, str]:
    """The tags that the trial pushed to a remote of its own; of a shared one, nobody knows."""
    old = before.get("remote_tags", {})
    found: Mapping[str, str] = after.get("remote_tags", {})
    return {name: sha for name, sha in found.items() if sha != old.get(name)}


def requests(before: Git, after: Git) -> list[Mapping[str, Any]]:
    """The pull requests that are new, and from what the trial pushed; [] also if nobody knows."""
    known = {row.get("number") for row in before.get("open_prs") or ()}
    new = [row for row in after.get("open_prs") or () if row.get("number") not in known]
    log = after.get("pushes")
    if log is None:
        return new
    own, ids = pushed(before, after), {to for entries in log.values() for _, to in entries}
    # of a fork
    others = {item for each in elsewhere(before, after).values() for item in each.items()}
    return [
        row
        for row in new
        if (row.get("headRefName"), row.get("headRefOid")) in others
        or (
            row.get("headRefName") in own
            and (not row.get("headRefOid") or row["headRefOid"] in ids)
        )
    ]


def _remote_heads(state: Git) -> Mapping[str, str]:
    found: Mapping[str, str] = state.get("remote_branch_heads", {})
    return found
