"""What the trials of a run left outside of its folder: the manifest cleanup.json (seed 002).

Owns its content. It goes by the proof of `trial.ownership` for what is a trial's own; `store` says
when it is written, and `cleaning` removes what it lists.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

from skilleval.errors import SuiteError
from skilleval.model import EMPTY, Outcome, Result, State, Suite
from skilleval.reading import jsonread
from skilleval.reading.jsonvalues import items
from skilleval.trial import grounds, ownership
from skilleval.trial.pullrequests import github_slug

NAME = "cleanup.json"
HEADS = "remote_branch_heads"


def source_repo(suite: Suite) -> str | None:
    """The repository that the trials' workspaces are clones of; None if they are new ones."""
    found = [arm.options.get("source_repo") for arm in suite.arms]
    return next((str(repo) for repo in found if repo), None)


def leaves(suite: Suite, result: Result) -> bool:
    """Did this trial leave anything outside of its run's folder, or move what another one left?"""
    return bool(result.outcome.source or _pushed(suite, result))


def traces(result: Result) -> Result:
    """No more of it than `manifest` looks at: a long run remembers that of many."""
    outcome = result.outcome
    before, after = (state and State(git=state.git) for state in (outcome.before, outcome.after))
    seen = Outcome(outcome.status, source=outcome.source, before=before, after=after)
    return Result(result.trial, seen, ())


def _pushed(suite: Suite, result: Result) -> dict[str, str]:
    """The branches of a remote repository that the trial pushed, and to what."""
    before, after = result.outcome.git_states
    if not (before and after and grounds.is_address(source_repo(suite) or "")):
        return {}
    moved = ownership.pushed(before, after)
    if after.get("pushes") is not None:
        return moved
    own = ownership.created(before, after)  # all else may be somebody else's
    return {name: sha for name, sha in moved.items() if name in own}


def manifest(
    suite: Suite, results: Iterable[Result] = (), listed: Mapping[str, Any] = EMPTY
) -> dict[str, Any]:
    """What the trials of a run left outside of it, in the fields of seed 002's cleanup.json.

    A remote branch is a trial's own if the trial proves to have made it, a pull request if it is
    open and for such a branch (`ownership`). What is on a copy of a local repository goes with the
    copy. `workspaces` are the folders of trials that were kept. Ours is `remote_branch_heads`: what
    a trial of the run pushed last to each branch. `listed` is the manifest of an earlier start of
    the run: what is in there stays.
    """
    source = source_repo(suite)
    branches, requests, workspaces = (
        dict.fromkeys(each for each in items(listed.get(key)) if isinstance(each, str | int))
        for key in ("remote_branches", "pr_numbers", "workspaces")
    )
    heads = dict(listed.get(HEADS) or {})
    for result in results:
        before, after = result.outcome.git_states
        if result.outcome.source:
            workspaces[os.path.abspath(result.outcome.source)] = None
        pushed = _pushed(suite, result)
        heads |= pushed
        if pushed:
            own = ownership.created(before, after)
            branches |= dict.fromkeys(sorted(own))
            requests |= {
                row["number"]: None
                for row in ownership.requests(before, after)
                if row.get("headRefName") in own and str(row.get("state", "")).upper() == "OPEN"
            }
    return {
        "source_repo": source,
        "source_repo_slug": github_slug(source or "") or None,
        "remote_branches": list(branches),
        HEADS: {name: heads[name] for name in branches if name in heads},
        "pr_numbers": list(requests),
        "workspaces": list(workspaces),
    }


def listed(folder: str) -> Mapping[str, Any]:
    """The manifest that a run folder has, empty without one. Raises `SuiteError` if damaged."""
    path = os.path.join(folder, NAME)
    if not os.path.lexists(path):
        return EMPTY
    found, _text = jsonread.load(path)
    heads = found.get(HEADS) if isinstance(found, dict) else 0
    if not isinstance(heads, dict | None):
        raise SuiteError(path, "", "is damaged: what the run left outside would be forgotten")
    return cast("Mapping[str, Any]", found)
