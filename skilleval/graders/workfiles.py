"""Decides claims about files and texts from the stored states of the workspace and the output.

Owns what each claim means (seed 002). A text is looked for as
it is, without regard to case; a claim about a file that is not there fails, denied or not.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from typing import NoReturn

from skilleval.assertions.rule import Rule
from skilleval.graders import worktree
from skilleval.graders.finding import Finding, compare, listed, wanted
from skilleval.graders.worktree import Tree, matching
from skilleval.model import Outcome

NO_STATE = "no state of the workspace was stored with this trial"
_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "boolean": bool,
}


def decide_file(rule: Rule, outcome: Outcome) -> Finding:
    """On files that exist, are empty, or were created, modified or deleted."""
    tree = worktree.read(outcome)
    if tree is None:
        return Finding(None, NO_STATE)
    if tree.before is None and rule.events not in (("exists",), ("empty",), ("created",)):
        return Finding(None, "what the workspace held before the agent was not stored")
    if rule.kind == "folder":
        return _folder(rule, tree)
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
            pool = tuple(tree.after) if tree.before is None else (*pool, *tree.modified)
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
    pool = dict.fromkeys(path for event in rule.events for path in tree.having(event))
    paths = [path for path in pool if not rule.where or worktree.is_below(path, rule.where)]
    if rule.names:
        paths = [path for path in paths if any(matching(name, [path]) for name in rule.names)]
    seen = f"{_events(rule)}: {listed(paths)}"
    if rule.negated:
        if tree.unreadable and not paths:
            return Finding(None, f"nobody can look into {listed(tree.unreadable)}")
        return Finding(not paths, seen)
    asked = f"; asked for {wanted(rule.quantity)}" if rule.quantity else ""
    return Finding(compare(len(paths), rule.quantity), f"{seen}{asked}")


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
    others = {"created", "deleted"} - {*rule.events} if "modified" in rule.events else set()
    beside = [path for event in sorted(others) for path in tree.having(event) if path not in own]
    if beside:  # whether a new file counts as a modified one, the sentence does not say
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
    """A folder is there if a file is in it; an empty one is stored nowhere."""
    for event in rule.events:
        hits = [p for p in tree.having(event) if any(worktree.is_below(p, n) for n in rule.names)]
        if hits and event in ("exists", "created"):
            covered = all(any(worktree.is_below(p, n) for p in hits) for n in rule.names)
            if covered or rule.any_name or rule.negated:
                return Finding(not rule.negated, f"{_events(rule)}: {listed(hits)}")
    if rule.negated and rule.events == ("exists",):
        return Finding(None, f"no file in {listed(rule.names)}; empty folders are not stored")
    return Finding(None, f"of {listed(rule.names)} the stored files do not tell")


def decide_contains(rule: Rule, outcome: Outcome) -> Finding:
    """On texts in the output or in a file: all of them, one of them, or none."""
    if not rule.where:
        return _contains(rule, outcome.output, "the output", whole=True)
    return _in_file(rule, outcome, lambda text, path, whole: _contains(rule, text, path, whole))


def _in_file(rule: Rule, outcome: Outcome, decide: Callable[[str, str, bool], Finding]) -> Finding:
    """The finding on the file at `rule.where`; of several with this name, on the best."""
    tree = worktree.read(outcome)
    if tree is None:
        return Finding(None, NO_STATE)
    paths = matching(rule.where, tree.after)
    if not paths:
        if tree.unreadable:
            return Finding(None, f"nobody can look into {listed(tree.unreadable)}")
        return Finding(False, f"no file {rule.where!r}; new files: {listed(tree.created)}")
    findings = []
    for path in paths:
        kept = tree.content(path)
        if kept is None:
            note = tree.after[path].change.note
            findings.append(Finding(None, f"the content of {path!r} was not stored ({note})"))
        else:
            findings.append(decide(kept[0], repr(path), kept[1]))
    order = [False, None, True] if rule.negated else [True, None, False]
    return min(findings, key=lambda finding: order.index(finding.holds))


def _contains(rule: Rule, text: str, place: str, whole: bool) -> Finding:
    folded = _folded(text)
    found = [name for name in rule.names if _folded(name) in folded]
    missing = [name for name in rule.names if name not in found]
    if rule.negated:
        if found:
            return Finding(False, f"{listed(found)} is in {place}")
        return Finding(
            True if whole else None, f"{listed(missing)} is not in {_part(place, whole)}"
        )
    if not missing or (rule.any_name and found):
        return Finding(True, f"{listed(found)} is in {place}")
    seen = f"{listed(missing)} is not in {_part(place, whole)}"
    return Finding(False if whole else None, seen + (f"; {listed(found)} is" if found else ""))


def _part(place: str, whole: bool) -> str:
    return place if whole else f"the stored beginning of {place}"


def _folded(text: str) -> str:
    """Without regard to case, to the form of accents, and to line ends."""
    text = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n")


def decide_json(rule: Rule, outcome: Outcome) -> Finding:
    """On whether the output or a file is JSON, by RFC 8259: no NaN, nothing before or after."""
    if not rule.where:
        return _json(rule, outcome.output, "the output")
    return _in_file(
        rule,
        outcome,
        lambda text, path, whole: (
            _json(rule, text, path) if whole else Finding(None, f"{path} was not stored whole")
        ),
    )


def _json(rule: Rule, text: str, place: str) -> Finding:
    try:
        # digits stay text: a number of ten thousand digits is valid
        value = json.loads(text, parse_constant=_refused, parse_int=float, parse_float=float)
    except RecursionError:
        return Finding(None, f"{place} is nested too deeply to be read")
    except ValueError as error:
        return Finding(rule.negated, f"{place} is no valid JSON: {error}")
    kind = next(iter(rule.events), "")
    fits = not kind or (
        isinstance(value, _TYPES[kind]) and isinstance(value, bool) is (kind == "boolean")
    )
    seen = f"{place} is valid JSON" + ("" if fits else f", but no {kind}")
    return Finding(fits is not rule.negated, seen)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
