"""Decides claims about branches, commits, pushes and pull requests from two stored git states.

Owns what each claim means (seed 002, the first rows of its table; spec/suites sections 5 and 6).
`absent` turns a claim around: nothing of the kind may have appeared, however many it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from skilleval.assertions.rule import Rule
from skilleval.graders.finding import Finding, compare, is_apart, listed, wanted
from skilleval.model import Outcome
from skilleval.trial import gitstate, ownership

# a state lists no more than so many commits and subjects; older ones may slide into the list
_WINDOWS = {"commit_shas": gitstate.IDS, "commits": gitstate.LINES}
# the subjects that git gives to what `git stash` stores
_STASH = re.compile(r"\w+ (?:WIP|index|untracked files) on [^:]+: [0-9a-f]{7,}\b")
Git = Mapping[str, Any]


def decide(rule: Rule, absent: bool, outcome: Outcome) -> Finding:
    """The finding on a rule of one of the four kinds."""
    before, after = outcome.git_states
    if not before:
        return Finding(None, "no git state was stored with this trial")
    if not after and outcome.after and outcome.after.files is None:
        return Finding(None, "the workspace was not seen after the run, nor was its repository")
    if outcome.after and outcome.after.git is None:
        return Finding(None, "git could not read the repository after the run")
    if not after:
        gone = "after the run there is no git repository to look at"
        return Finding(None if absent else False, gone)
    return _DECIDERS[rule.kind](rule, absent, after, changes(before, after))


def changes(before: Git, after: Git) -> Git:
    """What changed (`gitstate.change`), without what only moved up in a list that was cut.

    Beside it, where branches were before, `new_tags` (or moved ones), and what was pushed:
    `pushed_elsewhere` to other remotes than `origin`, and `pushed_tags`. `remote_is_own`: nobody
    else changes anything there; else who deleted a branch is not known.
    """
    heads = {before.get("current_branch", ""): before.get("head_sha", "")}
    return {
        **gitstate.change(before, after),
        "new_commit_shas": _new(before, after, "commit_shas"),
        "new_commits": _new(before, after, "commits"),
        "heads_before": {**before.get("branch_heads", {}), **heads},
        "new_tags": [
            name
            for name, sha in after.get("tags", {}).items()
            if before.get("tags", {}).get(name) != sha
        ],
        "pushed_elsewhere": ownership.elsewhere(before, after),
        "pushed_tags": sorted(ownership.tags(before, after)),
        "remote_is_own": ownership.is_alone(after),
        "pull_requests_known": None not in (before.get("open_prs", ()), after.get("open_prs")),
    }


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
    test = _TESTS[next(iter(rule.events), "is")]
    fits = {name: [each for each in new if test(each, name)] for name in rule.names}
    if rule.only:  # none but these
        found = [each for each in new if not any(each in named for named in fits.values())]
    else:
        found = [each for each in new if not fits or any(each in named for named in fits.values())]
    if absent:
        named = f" {_how(rule)}" if rule.names else ""
        return Finding(
            not found,
            f"new branches: {listed(found)}" if found else f"no new branch{named} appeared",
        )
    missing = [name for name in rule.names if not fits[name]]
    if (missing and not rule.any_name) or (rule.names and not found):
        return Finding(False, f"no new branch {_how(rule)}; new branches: {listed(new)}")
    if not compare(len(found), rule.quantity):
        count = wanted(rule.quantity)
        seen = f"new branches: {listed(found)}; current branch: {current!r}"
        return Finding(False, f"{seen}; asked for {count}" if rule.quantity else seen)
    if found and current not in found and not _is_limit(rule):
        # of several, no more than one can be checked out: whether one has to be, nobody says
        seen = f"new branch {listed(found)}, but {current!r} is checked out"
        return Finding(None if rule.quantity and rule.quantity[1] > 1 else False, seen)
    return Finding(True, f"new branch {listed(found)}, checked out: {current!r}")


def _how(rule: Rule) -> str:
    words = {"has": "with ", "starts": "that starts with ", "ends": "that ends with "}
    other = "other than " if rule.only else ""
    return other + "".join(words.get(event, "") for event in rule.events) + listed(rule.names)


def _is_limit(rule: Rule) -> bool:
    return bool(rule.quantity and rule.quantity[0] == "<=")


def _commit(rule: Rule, absent: bool, after: Git, change: Git) -> Finding:
    new, subjects = change["new_commit_shas"], change["new_commits"]
    head, seen = after.get("head_sha", ""), f"new commits: {listed(subjects or new)}"
    if "last" in rule.events:
        if new and head not in new:
            return Finding(None, f"{seen}, but the current branch is at {head[:12]}, none of them")
        new = new and [head]
        subjects = [line for line in subjects if head.startswith(line.partition(" ")[0])]
    if rule.names or "conventional" in rule.events:
        return _message(rule, absent, [line.partition(" ")[2] for line in subjects], new)
    if absent and rule.where and (new or subjects):
        return _not_on_branch(rule.where, after, change, seen)
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
        if after.get("branch_heads", {}).get(rule.where) in change["new_commit_shas"]:
            return Finding(None, f"{seen}, at {rule.where!r}, too, but {current!r} is checked out")
        return Finding(False, f"{seen}, on {current!r} and not on {rule.where!r}")
    if "on_new_branch" in rule.events and current not in change["new_branches"]:
        return Finding(False, f"{seen}, on {current!r}, which is no new branch")
    return Finding(True, seen)


def _not_on_branch(branch: str, after: Git, change: Git, seen: str) -> Finding:
    """Is no new commit on a branch? Only where it points to is stored, not what is behind that."""
    head = after.get("branch_heads", {}).get(branch, "")
    if branch == after.get("current_branch"):
        head = after.get("head_sha", "")
    if head in change["new_commit_shas"]:
        return Finding(False, f"{seen}; {branch!r} is at {head[:12]}")
    if head and head == change["heads_before"].get(branch, ""):
        return Finding(True, f"{seen}; {branch!r} has not moved")
    return Finding(None, f"{seen}; whether one is on {branch!r} is not stored")


def _yes(value: object) -> str:
    return "yes" if value else "no"


_TESTS: dict[str, Callable[[str, str], bool]] = {
    "is": lambda subject, text: subject.strip() == text.strip(),
    "has": lambda subject, text: text in subject,
    "mentions": lambda subject, text: text in subject,
    "starts": lambda subject, text: subject.startswith(text),
    "ends": lambda subject, text: subject.endswith(text),
}
_TYPES = "build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test"
_CONVENTIONAL = re.compile(rf"(?i:({_TYPES})|\w[\w-]*)(?:\([^()\s][^()]*\))?!?: \S.*")


def _message(rule: Rule, absent: bool, subjects: Sequence[str], new: Sequence[str]) -> Finding:
    """Of messages only the first lines are stored: what they lack, the rest may have."""
    if not new:  # a message that is not there is not said to lack anything
        return Finding(None if rule.negated else absent, "no new commit appeared")
    event = rule.events[0] if rule.events else "is"
    seen = f"first lines of new commit messages: {listed(subjects)}"
    if event == "conventional":
        return _conventional(rule, absent, subjects, seen)
    enough = any if rule.any_name else all
    names = [name.lower() for name in rule.names]
    test = _TESTS[event]
    matched = [s for s in subjects if enough(test(s.lower(), name) for name in names)]
    if "word" in rule.events:
        sure = [s for s in matched if enough(is_apart(name, s.lower()) for name in names)]
        if len(sure) < len(matched) and (rule.only or not sure):
            return Finding(None, f"{seen}; {listed(rule.names)} is there within longer words")
        matched = sure
    if len(matched) == len(new) or (matched and not rule.only):
        return Finding(not absent, f"{seen}; {listed(rule.names)} fits {listed(matched)}")
    if len(subjects) < len(new):
        return Finding(None, f"{seen}; of {len(new)} new commits, the others are not stored")
    if event in ("has", "mentions", "ends") or any("\n" in name for name in names):
        return Finding(
            None, f"{seen}; {listed(rule.names)} may be in the rest, which is not stored"
        )
    return Finding(
        absent, f"{seen}; {'not all fit' if matched else 'none fits'} {listed(rule.names)}"
    )


def _conventional(rule: Rule, absent: bool, subjects: Sequence[str], seen: str) -> Finding:
    """By conventionalcommits.org, where the types beside `feat` and `fix` are open."""
    found = [_CONVENTIONAL.fullmatch(subject) for subject in subjects]
    good = sum(1 for match in found if match and match[1])
    bad = sum(match is None for match in found)
    if subjects and good == len(subjects):
        return Finding(not absent, f"{seen}; all are `type(scope): description`")
    if bad and (rule.only or bad == len(subjects)):
        return Finding(absent, f"{seen}; not `type(scope): description`")
    return Finding(None, f"{seen}; some are `type(scope): description`, or of an unusual type")


class _Push(NamedTuple):
    """What a trial pushed: a branch as it is shown, with its remote unless that is `origin`."""

    shown: str
    branch: str
    sha: str


def _pushes(after: Git, change: Git) -> list[_Push]:
    heads = after.get("remote_branch_heads", {})
    found = [
        _Push(f"{remote}/{branch}", branch, sha)
        for remote, branches in change["pushed_elsewhere"].items()
        for branch, sha in branches.items()
    ]
    named = {*change["pushed_branches"], *change["new_remote_branches"]}
    named -= {push.shown for push in found}
    return sorted([*found, *(_Push(name, name, heads.get(name, "")) for name in named)])


def _push(rule: Rule, absent: bool, after: Git, change: Git) -> Finding:
    pushes = _pushes(after, change)
    if absent:
        return _not_pushed(rule, pushes, change)
    pushed = [p.shown for p in pushes if not rule.names or {p.shown, p.branch} & {*rule.names}]
    if rule.only and after.get("status_porcelain"):  # all changes
        return Finding(None, f"pushed: {listed(pushed)}, but not all changes are committed")
    if rule.names:
        local = {after.get("current_branch", ""): after.get("head_sha", "")}
        local |= after.get("branch_heads", {})
        whole = {n for p in pushes if p.sha == local.get(p.branch) for n in (p.shown, p.branch)}
        stale = [name for name in rule.names if name not in whole]
        if stale:
            return Finding(False, f"not pushed up to its local head: {listed(stale)}")
        return Finding(True, f"pushed: {listed(rule.names)}")
    return _pushed(rule, change, pushes, after)


def _not_pushed(rule: Rule, pushes: Sequence[_Push], change: Git) -> Finding:
    """To delete a branch of a remote, or to give it a tag, is to push, too."""
    named = {*rule.names}
    is_new = "new_branch" in rule.events
    if is_new:  # of other remotes nobody knows which branches they had
        new = change["new_remote_branches"]
        pushes = [p for p in pushes if p.shown != p.branch or p.branch in new]
    pushed = [p.shown for p in pushes if not named or {p.shown, p.branch} & named]
    tags, gone = (
        [] if is_new else [n for n in change[key] if not named or n in named]
        for key in ("pushed_tags", "deleted_remote_branches")
    )
    ways = (("pushed", pushed), ("pushed tags", tags), ("deleted on the remote", gone))
    seen = "; ".join(f"{way}: {listed(names)}" for way, names in ways if names)
    if gone and not (pushed or tags or change["remote_is_own"]):
        return Finding(None, f"{seen}; whether the agent did it is not stored")
    return Finding(not seen, seen or "no remote branch is new or has moved")


def _pushed(rule: Rule, change: Git, pushes: Sequence[_Push], after: Git) -> Finding:
    branch, moved, head = change["eval_branch"], change["pushed_branches"], after.get("head_sha")
    if branch:
        if not change["eval_branch_pushed"]:
            return Finding(False, f"new branch {branch!r} was not pushed; pushed: {listed(moved)}")
        if not change["eval_branch_pushed_matches_head"]:
            heads = after.get("remote_branch_heads", {})
            remote = next((p.sha for p in pushes if p.branch == branch), heads.get(branch, ""))
            where = f"{remote[:12]}, local {str(head)[:12]}"
            return Finding(False, f"{branch!r} was pushed, but its remote head is {where}")
        return Finding(True, f"{branch!r} was pushed up to its local head")
    if "new_branch" in rule.events:
        return Finding(False, f"there is no new branch; pushed: {listed(moved)}")
    current = [push.shown for push in pushes if head and push.sha == head]
    if current:
        return Finding(True, f"pushed up to the local head: {listed(current)}")
    return Finding(False, f"no remote branch has moved to the local head; pushed: {listed(moved)}")


def _pull_request(rule: Rule, absent: bool, after: Git, change: Git) -> Finding:
    if not change["pull_requests_known"]:
        return Finding(None, "nobody could list the pull requests")
    meant = [(each, _is_meant(rule, each)) for each in change["new_open_prs"]]
    sure, possible = (
        _of_requests(rule, absent, [each for each, holds in meant if holds in allowed], change)
        for allowed in ((True,), (True, None))
    )
    if sure.holds is not possible.holds:
        return Finding(None, f"{possible.evidence}; what it is called, or a draft, is not stored")
    return sure


def _of_requests(
    rule: Rule, absent: bool, meant: Sequence[Mapping[str, Any]], change: Git
) -> Finding:
    """The finding if these are the new pull requests that the rule means."""
    new, branch = change["new_open_prs"], change["eval_branch"]
    shown = ", ".join(_shown(rule, each) for each in new)
    # of a shared remote, only what the trial proves to have made is its own
    none = f"no new pull request appeared{'' if change['remote_is_own'] else ' for what it pushed'}"
    if absent:
        return Finding(not meant, f"new pull requests: {shown}" if new else none)
    if not new and not _is_limit(rule):
        return Finding(False, none)
    fit = [p for p in meant if branch and p.get("headRefName") == branch and _is_open(p)]
    if rule.quantity:
        # of several, one can be from the branch that is checked out
        count = sum(map(_is_open, meant))
        asked = f"{count} new and open: {shown or 'none'}; asked for {wanted(rule.quantity)}"
        return Finding(compare(count, rule.quantity) and (bool(fit) or not count), asked)
    if fit:
        return Finding(True, f"open pull request from {branch!r}: {shown}")
    into = f" into {rule.where!r}" if rule.where else ""
    into += " as asked for" if rule.title or rule.events else ""
    return Finding(False, f"none is open and from the new branch {branch!r}{into}: {shown}")


def _shown(rule: Rule, request: Mapping[str, Any]) -> str:
    way = f"{request.get('headRefName')!r} into {request.get('baseRefName')!r}"
    title = f" {request.get('title', 'of an unknown title')!r}" if rule.title else ""
    draft = " (draft)" if request.get("isDraft") else ""
    return f"#{request.get('number')} {way} {request.get('state')}{draft}{title}"


def _is_meant(rule: Rule, request: Mapping[str, Any]) -> bool | None:
    """Is it from and into the branches, of the title and the kind that the rule names?

    None if that was not stored with it.
    """
    base = rule.where.removeprefix("origin/")
    if rule.names and request.get("headRefName") not in rule.names:
        return False
    if base and request.get("baseRefName") != base:
        return False
    known: list[bool | None] = []
    if rule.title:
        event, text = rule.title
        title = request.get("title")
        known.append(None if title is None else _TESTS[event](str(title).lower(), text.lower()))
    if rule.events:
        draft = request.get("isDraft")
        known.append(None if draft is None else bool(draft) is (rule.events[0] == "draft"))
    return False if False in known else None if None in known else True


def _is_open(request: Mapping[str, Any]) -> bool:
    return str(request.get("state", "")).upper() == "OPEN"


_DECIDERS = {
    "branch": _branch,
    "commit": _commit,
    "push": _push,
    "pull_request": _pull_request,
}
