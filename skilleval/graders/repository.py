"""Decides claims about branches, commits, pushes and pull requests from two stored git states.

Owns what each claim means (seed 002, the first rows of its table; spec/suites sections 5 and 6).
`absent` turns a claim around: nothing of the kind may have appeared, however many it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skilleval.assertions.rule import Rule
from skilleval.graders.finding import Finding, compare, listed, wanted
from skilleval.model import Outcome
from skilleval.trial import gitstate

# a state lists no more than so many commits and subjects; older ones may slide into the list
_WINDOWS = {"commit_shas": gitstate.IDS, "commits": gitstate.LINES}
# the subjects that git gives to what `git stash` stores
_STASH = re.compile(r"\w+ (?:WIP|index|untracked files) on [^:]+: [0-9a-f]{7,}\b")
Git = Mapping[str, Any]


def decide(rule: Rule, absent: bool, outcome: Outcome) -> Finding:
    """The finding on a rule of one of the four kinds."""
    before = outcome.before.git if outcome.before else {}
    after = outcome.after.git if outcome.after else {}
    if not before:
        return Finding(None, "no git state was stored with this trial")
    if not after:
        gone = "after the run there is no git repository to look at"
        return Finding(None if absent else False, gone)
    listed_before, listed_after = (
        {**git, "open_prs": git.get("open_prs") or ()} for git in (before, after)
    )
    change = dict(gitstate.change(listed_before, listed_after))
    change["new_commit_shas"] = _new(before, after, "commit_shas")
    change["new_commits"] = _new(before, after, "commits")
    return _DECIDERS[rule.kind](rule, absent, after, change)


def _new(before: Git, after: Git, field: str) -> list[str]:
    """What is new in a list that is newest first, and cut after so many.

    Behind the last known entry of a full list, an unknown one is old: it has moved up. What git
    makes for a stash is no commit of anybody.
    """
    old, entries = before.get(field, ()), after.get(field, ())
    known = [position for position, entry in enumerate(entries) if entry in set(old)]
    if known and len(old) >= _WINDOWS[field]:
        entries = entries[: known[-1]]
    stashed = tuple(
        line.partition(" ")[0] for line in after.get("commits", ()) if _STASH.match(line)
    )
    return [each for each in entries if each not in set(old) and not each.startswith(stashed)]


def _branch(rule: Rule, absent: bool, after: Git, change: Git) -> Finding:
    new = list(change["new_branches"])
    if not new and change["eval_branch"]:  # HEAD is on a branch that has no commit yet
        new = [change["eval_branch"]]
    current = after.get("current_branch", "")
    found = [name for name in new if not rule.names or name in rule.names]
    if absent:
        named = f" named {listed(rule.names)}" if rule.names else ""
        return Finding(
            not found,
            f"new branches: {listed(found)}" if found else f"no new branch{named} appeared",
        )
    missing = [name for name in rule.names if name not in new]
    if (missing and not rule.any_name) or (rule.names and not found):
        return Finding(False, f"no new branch {listed(missing)}; new branches: {listed(new)}")
    if not compare(len(found), rule.quantity):
        count = wanted(rule.quantity)
        seen = f"new branches: {listed(found)}; current branch: {current!r}"
        return Finding(False, f"{seen}; asked for {count}" if rule.quantity else seen)
    if found and current not in found and not _is_limit(rule):
        return Finding(False, f"new branch {listed(found)}, but {current!r} is checked out")
    return Finding(True, f"new branch {listed(found)}, checked out: {current!r}")


def _is_limit(rule: Rule) -> bool:
    return bool(rule.quantity and rule.quantity[0] == "<=")


def _commit(rule: Rule, absent: bool, after: Git, change: Git) -> Finding:
    new, subjects = change["new_commit_shas"], change["new_commits"]
    if rule.names:
        return _message(rule, absent, [line.partition(" ")[2] for line in subjects], bool(new))
    head, seen = after.get("head_sha", ""), f"new commits: {listed(subjects or new)}"
    if absent:
        appeared = bool(new or subjects)
        return Finding(not appeared, seen if appeared else "no new commit appeared")
    if not compare(len(new), rule.quantity):
        asked = f"; asked for {wanted(rule.quantity)}" if rule.quantity else ""
        return Finding(False, f"{seen}; HEAD moved: {_yes(change['head_advanced'])}{asked}")
    if new and head not in new and not _is_limit(rule):
        return Finding(False, f"{seen}, but the current branch is at {head[:12]}, none of them")
    return _on_branch(rule, after, change, seen)


def _on_branch(rule: Rule, after: Git, change: Git, seen: str) -> Finding:
    current = after.get("current_branch", "")
    if rule.where and current != rule.where:
        return Finding(False, f"{seen}, on {current!r} and not on {rule.where!r}")
    if "on_new_branch" in rule.events and current not in change["new_branches"]:
        return Finding(False, f"{seen}, on {current!r}, which is no new branch")
    return Finding(True, seen)


def _yes(value: object) -> str:
    return "yes" if value else "no"


_TESTS: dict[str, Callable[[str, str], bool]] = {
    "is": lambda subject, text: subject.strip() == text.strip(),
    "has": lambda subject, text: text in subject,
    "starts": lambda subject, text: subject.startswith(text),
    "ends": lambda subject, text: subject.endswith(text),
}


def _message(rule: Rule, absent: bool, subjects: Sequence[str], appeared: bool) -> Finding:
    """Of messages only the first lines are stored: what they lack, the rest may have."""
    event = rule.events[0] if rule.events else "is"
    enough = any if rule.any_name else all
    names = [name.lower() for name in rule.names]
    test = _TESTS[event]
    matched = [s for s in subjects if enough(test(s.lower(), name) for name in names)]
    seen = f"first lines of new commit messages: {listed(subjects)}"
    if not appeared:
        return Finding(absent, "no new commit appeared")
    if matched:
        return Finding(not absent, f"{seen}; {listed(rule.names)} fits {listed(matched)}")
    if event in ("has", "ends") or any("\n" in name for name in names):
        return Finding(
            None, f"{seen}; {listed(rule.names)} may be in the rest, which is not stored"
        )
    return Finding(absent, f"{seen}; none fits {listed(rule.names)}")


def _push(rule: Rule, absent: bool, after: Git, change: Git) -> Finding:
    heads, head = after.get("remote_branch_heads", {}), after.get("head_sha", "")
    moved = sorted({*change["pushed_branches"], *change["new_remote_branches"]})
    pushed = [name for name in moved if not rule.names or name in rule.names]
    if absent:
        seen = f"pushed: {listed(pushed)}" if pushed else "no remote branch is new or has moved"
        return Finding(not pushed, seen)
    if rule.names:
        current, local = after.get("current_branch", ""), after.get("branch_heads", {})
        own = {name: local.get(name, head if name == current else "") for name in rule.names}
        stale = [name for name in rule.names if name not in moved or heads.get(name) != own[name]]
        if stale:
            return Finding(False, f"not pushed up to its local head: {listed(stale)}")
        return Finding(True, f"pushed: {listed(rule.names)}")
    return _pushed(rule, change, heads, head)


def _pushed(rule: Rule, change: Git, heads: Mapping[str, str], head: str) -> Finding:
    branch, moved = change["eval_branch"], change["pushed_branches"]
    if branch:
        if not change["eval_branch_pushed"]:
            return Finding(False, f"new branch {branch!r} was not pushed; pushed: {listed(moved)}")
        if heads.get(branch) != head:
            where = f"{heads.get(branch, '')[:12]}, local {head[:12]}"
            return Finding(False, f"{branch!r} was pushed, but its remote head is {where}")
        return Finding(True, f"{branch!r} was pushed up to its local head")
    if "new_branch" in rule.events:
        return Finding(False, f"there is no new branch; pushed: {listed(moved)}")
    current = [name for name in moved if heads.get(name) == head]
    if current:
        return Finding(True, f"pushed up to the local head: {listed(current)}")
    return Finding(False, f"no remote branch has moved to the local head; pushed: {listed(moved)}")


def _pull_request(rule: Rule, absent: bool, after: Git, change: Git) -> Finding:
    if after.get("open_prs") is None:
        return Finding(None, "nobody could list the pull requests")
    new, branch = change["new_open_prs"], change["eval_branch"]
    numbers = ", ".join(f"#{each.get('number')}" for each in new)
    if absent:
        return Finding(
            not new,
            f"new pull requests: {numbers}" if new else "no new pull request appeared",
        )
    if not new and not _is_limit(rule):
        return Finding(False, "no new pull request appeared")
    fit = [p for p in new if branch and p.get("headRefName") == branch and _is_open(p)]
    if rule.quantity:
        # of several, one can be from the branch that is checked out
        count = sum(map(_is_open, new))
        asked = f"{count} new and open: {numbers or 'none'}; asked for {wanted(rule.quantity)}"
        return Finding(compare(count, rule.quantity) and (bool(fit) or not count), asked)
    states = ", ".join(f"#{p.get('number')} {p.get('headRefName')!r} {p.get('state')}" for p in new)
    if fit:
        return Finding(True, f"open pull request from {branch!r}: {states}")
    return Finding(False, f"none is open and from the new branch {branch!r}: {states}")


def _is_open(request: Mapping[str, Any]) -> bool:
    return str(request.get("state", "")).upper() == "OPEN"


_DECIDERS = {
    "branch": _branch,
    "commit": _commit,
    "push": _push,
    "pull_request": _pull_request,
}
