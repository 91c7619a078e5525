"""Decides claims about a checkout from two stored git states: its branch, its HEAD, its status.

What is new in the repository is `repository`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skilleval.assertions.rule import Rule
from skilleval.graders import worktree
from skilleval.graders.finding import Finding, compare, listed, wanted
from skilleval.model import Outcome

Git = Mapping[str, Any]
_SWITCHING = re.compile(r"\b(?:checkout|switch)\b")


def decide(rule: Rule, outcome: Outcome) -> Finding:
    """The finding on a rule of one of the three kinds."""
    before, after = outcome.git_states
    if not before or not after:
        return Finding(None, "no git state was stored with this trial, or none is left")
    if rule.kind == "status":
        return _status(rule, outcome, before, after)
    if rule.events == ("switched",) and _went_there(rule, outcome, after):
        return Finding(None, f"a command may have switched to {listed(rule.names)} in between")
    return (_head if rule.kind == "head" else _deleted)(rule, before, after)


def _went_there(rule: Rule, outcome: Outcome, after: Git) -> bool:
    """May the agent have been on the branch, and have left it again?"""
    called = [str(event.input) for event in outcome.events if event.kind == "call"]
    switching = [text for text in called if _SWITCHING.search(text)]
    here = after.get("current_branch", "") in rule.names
    return not here and any(name in text for name in rule.names for text in switching)


def _head(rule: Rule, before: Git, after: Git) -> Finding:
    current = after.get("current_branch", "")
    event = rule.events[0]
    if event == "detached":
        return Finding((current == "HEAD") is not rule.negated, f"HEAD is on {current!r}")
    if event == "switched" and current in rule.names and current == before.get("current_branch"):
        return Finding(None, f"{current!r} was checked out before the agent, and is")
    if event in ("current", "switched"):
        return Finding((current in rule.names) is not rule.negated, f"current branch: {current!r}")
    old, new = (_at(state, rule) for state in (before, after))
    name = listed(rule.names) if rule.names else "HEAD"
    if not old or not new:
        return Finding(None, f"where {name} was and is was not stored")
    return Finding((old != new) is not rule.negated, f"{name} was at {old[:12]}, is at {new[:12]}")


def _at(state: Git, rule: Rule) -> str:
    """The commit of the branch that is named, or of HEAD."""
    if not rule.names or state.get("current_branch") == rule.names[0]:
        return str(state.get("head_sha", ""))
    return str(state.get("branch_heads", {}).get(rule.names[0], ""))


def _deleted(rule: Rule, before: Git, after: Git) -> Finding:
    there = set(after.get("local_branches", ()))
    gone = sorted(set(before.get("local_branches", ())) - there)
    if rule.names:
        name = rule.names[0]
        if name not in gone and name not in there:
            return Finding(None, f"there never was a branch {name!r}")
        return Finding((name in gone) is not rule.negated, f"deleted branches: {listed(gone)}")
    asked = f"; asked for {wanted(rule.quantity)}" if rule.quantity else ""
    fits = compare(len(gone), rule.quantity)
    return Finding(fits is not rule.negated, f"deleted branches: {listed(gone)}{asked}")


def _status(rule: Rule, outcome: Outcome, before: Git, after: Git) -> Finding:
    lines = after.get("status_porcelain")
    if lines is None:
        return Finding(None, "the status of the working tree was not stored with this trial")
    codes = {line[3:].rpartition(" -> ")[2]: line[:2] for line in lines}
    seen = f"git status: {listed(lines)}" if lines else "git status: clean"
    if rule.events == ("clean",):
        if codes and lines == before.get("status_porcelain"):
            return Finding(None, f"{seen}, as it was before the agent")
        return Finding((not codes) is not rule.negated, seen)
    if rule.events == ("staged",):
        return _staged(rule, outcome, codes, seen)
    return _committed(rule, outcome, before, after, codes)


def _staged(rule: Rule, outcome: Outcome, codes: Mapping[str, str], seen: str) -> Finding:
    if not rule.names:  # nothing, or all that has changed
        staged = [path for path in codes if _is_staged(codes[path])]
        if rule.negated:
            return Finding(not staged, seen)
        whole = all(code[1] == " " for code in codes.values())
        return Finding((whole and bool(staged)) if codes else None, seen)
    held = [name for name in rule.names if any(map(_is_staged, _codes(name, codes)))]
    tree = worktree.read(outcome)
    for name in held:
        path = worktree.inside(name)
        if tree and path in tree.after and not _is_staged(codes.get(path, "  ")):
            return Finding(None, f"{seen}; of {name} only another one, in a folder, is staged")
    return Finding((len(held) == len(rule.names)) is not rule.negated, seen)


def _is_staged(code: str) -> bool:
    return code[0] not in " ?!"


def _codes(name: str, codes: Mapping[str, str]) -> list[str]:
    return [codes[path] for path in worktree.matching(name, codes)]


def _committed(
    rule: Rule, outcome: Outcome, before: Git, after: Git, codes: Mapping[str, str]
) -> Finding:
    """The files of a commit are not stored: what has changed and is in no status is in one."""
    old = set(before.get("commit_shas", ()))
    new = [sha for sha in after.get("commit_shas", ()) if sha not in old]
    if not new:
        return Finding(rule.negated, "no new commit appeared")
    if after.get("head_sha") not in new:
        return Finding(None, "there are new commits, but HEAD is at none of them")
    if not rule.names:
        if codes and list(codes.values()) != ["??"] * len(codes):
            return Finding(False, f"not committed: {listed(codes)}")
        return Finding(None if codes else True, f"not committed: {listed(codes)}")
    tree = worktree.read(outcome)
    if tree is None or tree.before is None:
        return Finding(None, worktree.missing(outcome))
    waited = [line[3:] for line in before.get("status_porcelain") or ()]
    held = {name: _is_committed(name, tree, codes, waited) for name in rule.names}
    seen = ", ".join(f"{name!r}: {_ANSWERS[value]}" for name, value in held.items())
    if None in held.values():
        return Finding(None, f"committed? {seen}")
    return Finding(all(held.values()) is not rule.negated, f"committed? {seen}")


_ANSWERS: Mapping[bool | None, str] = {True: "yes", False: "no", None: "not known"}


def _is_committed(
    name: str, tree: worktree.Tree, codes: Mapping[str, str], waited: Sequence[str]
) -> bool | None:
    """Is a file with this name in a new commit? What git ignores is in no status either."""
    changed = worktree.matching(name, (*tree.created, *tree.modified, *tree.deleted))
    if not changed:  # it may have waited to be committed before the agent came
        return bool(set(worktree.matching(name, waited)) - set(codes))
    if len(changed) > 1 or changed[0] in codes:
        untouched = len(changed) == 1 and codes[changed[0]] == "??"
        return False if untouched else None
    ignores = any(path.rpartition("/")[2] == ".gitignore" for path in tree.after)
    return None if ignores and changed[0] in tree.created else True
