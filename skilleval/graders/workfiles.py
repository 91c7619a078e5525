"""Decides claims about which files there are from the stored states of the workspace.

Owns what each claim means (seed 002). What is in them is `contents`' business.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.assertions.rule import Rule
from skilleval.graders import worktree
from skilleval.graders.finding import Finding, compare, listed, wanted
from skilleval.graders.worktree import Tree, matching
from skilleval.model import Outcome


def decide_file(rule: Rule, outcome: Outcome) -> Finding:
    """On files that exist, are empty, or were created, modified or deleted."""
    tree = worktree.read(outcome)
    if tree is None:
        return Finding(None, worktree.missing(outcome))
    if tree.before is None and rule.events not in (("exists",), ("empty",), ("created",)):
        return Finding(None, "what the workspace held before the agent was not stored")
    if rule.kind == "folder":
        return _folder(rule, tree)
    finding = _of_files(rule, tree)
    top = worktree.without_namesakes(tree, rule.names) if not rule.where else None
    if top and _of_files(rule, top).holds is not finding.holds:
        seen = f"{finding.evidence}, but that depends on whether the one at the top is meant"
        return Finding(None, seen)
    return finding


def _of_files(rule: Rule, tree: Tree) -> Finding:
    if rule.only:
        return _only(rule, tree)
    if "empty" in rule.events:
        return _empty(rule, tree)
    if rule.names and not rule.quantity:
        return _named(rule, tree)
    return _counted(rule, tree)


def _named(rule: Rule, tree: Tree) -> Finding:
    outside = [name for name in rule.names if worktree.inside(name) is None]
    if outside:
        seen = f"{listed(outside)} is outside of the workspace"
        return Finding(None if rule.negated else False, seen)
    if rule.negated:
        return _none(rule, tree)
    found = {name: _having(rule, name, tree) for name in rule.names}
    hits = [path for paths in found.values() for path in paths]
    missing = [name for name, paths in found.items() if not paths]
    if not missing or (rule.any_name and hits):
        return Finding(True, f"{_events(rule)}: {listed(hits)}")
    if tree.unreadable:
        return Finding(None, f"{listed(missing)} may be in {listed(tree.unreadable)}, unreadable")
    return Finding(False, "; ".join(_why_not(rule, name, tree) for name in missing))


def _having(rule: Rule, name: str, tree: Tree) -> Sequence[str]:
    """The files of a name to which one of the events happened."""
    paths: list[str] = []
    for event in rule.events:
        pool = tree.having(event)
        if event == "created":  # written anew is created, too; without a look before, there is
            anew = () if "*" in name else tree.modified
            pool = tuple(tree.after) if tree.before is None else (*pool, *anew)
        paths += matching(name, pool, rule.where)
    return paths


def _why_not(rule: Rule, name: str, tree: Tree) -> str:
    there = matching(name, tree.after, rule.where)
    place = f" in {rule.where!r}" if rule.where else ""
    if not there and "deleted" in rule.events and tree.before:
        return f"there was no file {name!r}{place}"
    if not there:
        return f"no file {name!r}{place}; new files: {listed(tree.created)}"
    if rule.events == ("created",):
        return f"{listed(there)} was there before the agent, and has not changed"
    return f"{listed(there)} was not {_events(rule)}"


def _none(rule: Rule, tree: Tree) -> Finding:
    """No file of these names may have had one of the events."""
    hits: list[str] = []
    unknown: list[str] = []
    for name in rule.names:
        for event in rule.events:
            pool = tree.having(event)
            if event == "created" and tree.before is None:
                pool = tuple(tree.after)
            hits += matching(name, pool, rule.where)
        known = (*tree.after, *(tree.before or ()))
        if not {"created", "exists"} & {*rule.events} and not matching(name, known, rule.where):
            unknown.append(name)
    if hits:
        return Finding(False, f"{_events(rule)}: {listed(hits)}")
    if beside := _beside(rule, tree):
        return Finding(None, f"not {_events(rule)}, but there is {listed(beside)}")
    if unknown:  # a misspelt name must not pass for an unchanged file
        return Finding(None, f"there never was a file {listed(unknown)}")
    if tree.unreadable:
        return Finding(None, f"nobody can look into {listed(tree.unreadable)}")
    return Finding(True, f"not {_events(rule)}: {listed(rule.names)}")


def _events(rule: Rule) -> str:
    words = {"exists": "there"}
    return " or ".join(words.get(event, event) for event in rule.events)


def _counted(rule: Rule, tree: Tree) -> Finding:
    """How many files of no name, or of a pattern, had one of the events."""
    if tree.before is None and rule.events != ("exists",):
        return Finding(None, "what the workspace held before the agent was not stored")
    if rule.where and worktree.inside(rule.where) is None:
        return Finding(None, f"{rule.where!r} is outside of the workspace")
    paths = _meant(rule, tree, rule.events)
    seen = f"{_events(rule)}: {listed(paths)}"
    beside = _beside(rule, tree)
    if beside and not paths:
        return Finding(None, f"{seen}, but there is {listed(beside)}")
    if rule.negated:
        if tree.unreadable and not paths:
            return Finding(None, f"nobody can look into {listed(tree.unreadable)}")
        return Finding(not paths, seen)
    asked = f"; asked for {wanted(rule.quantity)}" if rule.quantity else ""
    return Finding(compare(len(paths), rule.quantity), f"{seen}{asked}")


def _meant(rule: Rule, tree: Tree, events: Sequence[str]) -> list[str]:
    """The files to which one of the events happened, of those that the sentence is about."""
    pool = dict.fromkeys(path for event in events for path in tree.having(event))
    paths = [path for path in pool if not rule.where or worktree.is_below(path, rule.where)]
    if not rule.names:
        return paths
    return [path for path in paths if any(matching(name, [path]) for name in rule.names)]


def _beside(rule: Rule, tree: Tree) -> list[str]:
    """Of the files that it is about, those of which it may be said, or not, that they changed.

    A sentence that names creation beside modification has said what is meant.
    """
    return [] if "created" in rule.events else _meant(rule, tree, _others(rule))


def _others(rule: Rule) -> list[str]:
    """Whether a new file, or a deleted one, counts as modified or changed, no sentence says."""
    return sorted({"created", "deleted"} - {*rule.events}) if "modified" in rule.events else []


def _only(rule: Rule, tree: Tree) -> Finding:
    """These files and no others had one of the events; denied: no others, these may or not."""
    pool = dict.fromkeys(path for event in rule.events for path in tree.having(event))
    own = [path for name in rule.names for path in matching(name, pool, rule.where)]
    strays = [path for path in pool if path not in own]
    if strays:
        return Finding(False, f"{_events(rule)} beside {listed(rule.names)}: {listed(strays)}")
    idle = [name for name in rule.names if not matching(name, pool, rule.where)]
    if idle and not rule.negated:
        return Finding(False, f"not {_events(rule)}: {listed(idle)}")
    beside = [path for event in _others(rule) for path in tree.having(event) if path not in own]
    if beside:
        return Finding(None, f"only {listed(own)} {_events(rule)}, but there is {listed(beside)}")
    return Finding(True, f"{_events(rule)}: {listed(own)}, and no other file")


def _empty(rule: Rule, tree: Tree) -> Finding:
    files = {name: matching(name, tree.after, rule.where) for name in rule.names}
    missing = [name for name, paths in files.items() if not paths]
    if missing:
        return Finding(False, f"no file {listed(missing)}")
    sizes = {path: tree.after[path].change.size for paths in files.values() for path in paths}
    seen = ", ".join(f"{path!r} has {size} bytes" for path, size in sizes.items())
    return Finding(all((size == 0) is not rule.negated for size in sizes.values()), seen)


def _folder(rule: Rule, tree: Tree) -> Finding:
    """A folder is there if a file is in it, and new if none was; an empty one is stored nowhere."""
    there = {name: worktree.folders(name, tree.after) for name in rule.names}
    old = {name: worktree.folders(name, tree.before or ()) for name in rule.names}
    if "exists" not in rule.events:
        there = {name: there[name] - old[name] for name in rule.names}
    if not {"exists", "created"} & {*rule.events} or tree.before is None:
        return Finding(None, f"of {listed(rule.names)} the stored files do not tell")
    hits = [name for name in rule.names if there[name]]
    seen = f"{_events(rule)}: {listed(sorted(f for name in hits for f in there[name]))}"
    if hits and (rule.negated or rule.any_name or len(hits) == len(rule.names)):
        return Finding(not rule.negated, seen)
    if "exists" not in rule.events:
        known = [name for name in rule.names if old[name] and not there[name]]
        seen = f"{listed(known)} was there before the agent"
        if len(known) == len(rule.names) or (known and not rule.negated and not rule.any_name):
            return Finding(rule.negated, seen)
    return Finding(None, f"no such file in {listed(rule.names)}; empty folders are not stored")


def decide_rename(rule: Rule, outcome: Outcome) -> Finding:
    """On a file that has another name now: the old one is gone, the new one has its content."""
    tree = worktree.read(outcome)
    if tree is None or tree.before is None:
        return Finding(None, worktree.missing(outcome))
    old = matching(rule.names[0], tree.before)
    there = [path for path in old if path in tree.after]
    if len(old) != 1 or tree.unreadable:
        return Finding(None if rule.negated or tree.unreadable else False, f"before: {listed(old)}")
    if there:
        return Finding(rule.negated, f"{listed(there)} is still there")
    digest = tree.before[old[0]].digest
    moved = [path for path in tree.created if tree.after[path].digest == digest]
    wanted_names = rule.names[1:]
    if wanted_names and not matching(wanted_names[0], tree.created):
        seen = f"no new file {listed(wanted_names)}; new files: {listed(tree.created)}"
        return Finding(rule.negated, seen)
    named = matching(wanted_names[0], moved) if wanted_names else moved
    if named:
        return Finding(not rule.negated, f"{listed(old)} is {listed(named)} now")
    return Finding(None, f"{listed(old)} is gone, and no new file has its content")
