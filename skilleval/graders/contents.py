"""Decides claims about texts: the output, and what is in the files of the workspace.

Owns what each claim means (seed 002). A text is looked for as it is, without regard to case; a
claim about a file that is not there fails, denied or not.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from skilleval.assertions.rule import Rule
from skilleval.graders import worktree
from skilleval.graders.finding import Finding, compare, compare_part, is_apart, listed, wanted
from skilleval.graders.text import REPLACED, is_hidden
from skilleval.graders.worktree import matching
from skilleval.model import Outcome
from skilleval.process import capture

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "boolean": bool,
}
_STRAIGHT = str.maketrans("‘’“”", "''\"\"")  # a model may write either
_LOST_MARKS = str.maketrans(dict.fromkeys("'\"", REPLACED))
_GAP = "\0"  # no text that is looked for goes across it
Text = Callable[[Rule, str, str, bool], Finding]


def decide(rule: Rule, outcome: Outcome) -> Finding:
    """The finding on a rule about the output, or about the file that it names."""
    test = _DECIDERS[rule.kind]
    if rule.where:
        return _in_file(rule, outcome, test)
    if outcome.output_whole:
        return test(rule, outcome.output, "the output", True)
    return _in_rest(rule, capture.pieces(outcome.output), test)


def _in_rest(rule: Rule, kept: Sequence[str], decide: Text) -> Finding:
    """The finding on an output of which a part was lost: in its middle, or nobody knows where.

    What the rest does not decide is nobody's to decide: a judge would take what was lost for what
    was never said.
    """
    known = len(kept) > 1 or rule.kind == "contains"  # else the rest need not be a part of it
    if not known or (len(kept) == 1 and "starts" in rule.events):
        return Finding(None, "a part of the output was lost", judged=False)
    text = ("" if rule.kind == "length" else _GAP).join(kept)
    found = decide(rule, text, "the output", False)
    return found if found.holds is not None else found._replace(judged=False)


def _in_file(rule: Rule, outcome: Outcome, decide: Text) -> Finding:
    """The finding on the file at `rule.where`; of several with this name, on the best.

    Where the others decide and the one at the top says otherwise, nobody knows which is meant; of
    `*.md`, neither is it known whether any is meant, or each.
    """
    tree = worktree.read(outcome)
    if tree is None:
        return Finding(None, worktree.missing(outcome))
    paths = matching(rule.where, tree.after)
    if not paths:
        if tree.unreadable:
            return Finding(None, f"nobody can look into {listed(tree.unreadable)}")
        holds = None if "*" in rule.where else False
        return Finding(holds, f"no file {rule.where!r}; new files: {listed(tree.created)}")
    findings: dict[str, Finding] = {}
    for path in paths:
        kept = tree.content(path)
        if kept is None:
            note = tree.after[path].change.note
            findings[path] = Finding(None, f"the content of {path!r} was not stored ({note})")
        else:
            findings[path] = decide(rule, kept[0], repr(path), kept[1])
    order = [False, None, True] if rule.negated else [True, None, False]
    best = min(findings.values(), key=lambda finding: order.index(finding.holds))
    weighty = paths if "*" in rule.where else [worktree.inside(rule.where)]
    for other in (findings[path] for path in weighty if path in findings):
        if other.holds is not best.holds:
            return Finding(None, f"{best.evidence}; {other.evidence}")
    return best


def _contains(rule: Rule, text: str, place: str, whole: bool) -> Finding:
    event = next((event for event in rule.events if event not in ("word", "exact")), "has")
    if event in ("is", "starts", "ends"):
        return _edge(rule, event, text, place, whole)
    whole = whole and event == "has"  # what is not mentioned in these words may be in others
    folded = _folded(text)
    found = [name for name in rule.names if _folded(name) in folded]
    finding = _by_names(rule, found, place, whole)
    hidden = [name for name in rule.names if name not in found and _is_hidden(name, folded)]
    if hidden and _by_names(rule, [*found, *hidden], place, whole).holds is not finding.holds:
        return Finding(None, f"{listed(hidden)} may be in {place}, which is not all UTF-8")
    sure = [name for name in found if _is_as_asked(name, text, folded, rule)]
    if len(sure) < len(found) and _by_names(rule, sure, place, whole).holds is not finding.holds:
        return Finding(None, f"{finding.evidence}, within longer words or in other letters")
    return finding


def _is_hidden(name: str, folded: str) -> bool:
    """May it be in what was no UTF-8 of a text without it? So may its quotation marks alone."""
    if REPLACED not in folded:
        return False
    plain = _folded(name) if name.isascii() else name
    return is_hidden(plain, folded) or plain.translate(_LOST_MARKS) in folded


def _is_as_asked(name: str, text: str, folded: str, rule: Rule) -> bool:
    """Is it there in these letters, or as words of its own, where the sentence asks for that?"""
    same = "exact" not in rule.events or name in text
    return same and ("word" not in rule.events or is_apart(_folded(name), folded))


def _by_names(rule: Rule, found: Sequence[str], place: str, whole: bool) -> Finding:
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
    return place if whole else f"what is known of {place}"


def _edge(rule: Rule, event: str, text: str, place: str, whole: bool) -> Finding:
    """Is it this text, or does it start or end with it? Space around it does not count.

    Where nothing but the case of letters differs, nobody can say what was meant.
    """
    if not whole and event != "starts":
        return Finding(None, f"{place} was not stored whole")
    exact, folded = [_fits(event, text, name) for name in rule.names], []
    folded = [_fits(event, _folded(text), _folded(name)) for name in rule.names]
    words = {"is": "is", "starts": "starts with", "ends": "ends with"}
    if any(exact) and not ("word" in rule.events and _goes_on(event, text, rule.names)):
        return Finding(not rule.negated, f"{place} {words[event]} {listed(rule.names)}")
    if any(folded):
        how = "in other letters, or as a part of a longer word"
        return Finding(None, f"{place} {words[event]} {listed(rule.names)} {how}")
    if REPLACED in text and any(_may_fit(event, text, name) for name in rule.names):
        return Finding(None, f"{place} is not all UTF-8")
    shown = text.strip()
    shown = shown[-60:] if event == "ends" else shown[:60]
    return Finding(rule.negated, f"not {listed(rule.names)}; {place} {words[event]} {shown!r}")


def _goes_on(event: str, text: str, names: Sequence[str]) -> bool:
    """Does the word at this end of a text go on where each of the names is over?"""
    pattern = r"{}\w" if event == "starts" else r"\w{}\Z"
    find = re.match if event == "starts" else re.search
    fitting = [name.strip() for name in names if _fits(event, text, name)]
    return all(find(pattern.format(re.escape(name)), text.strip()) for name in fitting)


def _may_fit(event: str, text: str, name: str) -> bool:
    """May it fit, if one knew what the bytes are that were no UTF-8? (See `text.is_hidden`.)"""
    readable = _folded(text).replace(REPLACED, "")
    return not name.isascii() or _fits(event, readable, _folded(name))


def _fits(event: str, text: str, name: str) -> bool:
    text, name = text.strip().replace("\r\n", "\n"), name.strip()
    if event == "is":
        return text == name
    return text.startswith(name) if event == "starts" else text.endswith(name)


_COUNTS: Mapping[str, Callable[[str], set[int]]] = {
    "words": lambda text: {len(text.split()), len(re.findall(r"[^\W_]+(?:['’.][^\W_]+)*", text))},
    "lines": lambda text: {
        len(text.strip().splitlines()),
        sum(1 for line in text.splitlines() if line.strip()),
        text.count("\n") + (not text.endswith("\n") and bool(text)),
    },
    "characters": lambda text: {
        len(text),
        len(text.strip()),
        len(unicodedata.normalize("NFC", text)),
    },
    "bytes": lambda text: {len(text.encode("utf-8", "surrogatepass"))},
}


def _length(rule: Rule, text: str, place: str, whole: bool) -> Finding:
    """How long a text is. There are several ways to count it: all have to agree."""
    unit = rule.events[0]
    if REPLACED in text and unit in ("characters", "bytes"):
        return Finding(None, f"{place} is not all UTF-8")
    counts = sorted(_COUNTS[unit](text))
    seen = f"{place} has {' or '.join(map(str, counts))} {unit}; asked for {wanted(rule.quantity)}"
    if not whole:
        holds = compare_part(counts[0], rule.quantity)
        seen += ", and was not stored whole"
        return Finding(None if holds is None else holds is not rule.negated, seen)
    found = {compare(count, rule.quantity) for count in counts}
    return Finding(found.pop() is not rule.negated if len(found) == 1 else None, seen)


def _key(rule: Rule, text: str, place: str, whole: bool) -> Finding:
    """On keys at the top of a JSON object, or below by a dotted path, and the value of one."""
    if not whole:
        return Finding(None, f"{place} was not stored whole")
    asked = (*rule.names, *(str(json.loads(event)) for event in rule.events))
    if REPLACED in text and not "".join(asked).isascii():
        return Finding(None, f"{place} is not all UTF-8")
    try:
        value = json.loads(text, parse_constant=_refused, object_pairs_hook=_unique)
    except RecursionError:
        return Finding(None, f"{place} is nested too deeply to be read")
    except _Twice as error:
        return Finding(None, f"{place} has the key {error} twice")
    except ValueError as error:
        # a part of it may be JSON, as in a fenced block
        told = any(name.rpartition(".")[2] in text for name in rule.names)
        return Finding(None if told else False, f"{place} is no valid JSON: {error}")
    found = {name: _at(value, name) for name in rule.names}
    missing = [name for name in rule.names if not found[name]]
    if missing and any(_is_below(value, name.rpartition(".")[2]) for name in missing):
        return Finding(None, f"{place} has {listed(missing)} further below only")
    if missing:
        missed = None if rule.negated and rule.events else rule.negated
        return Finding(missed, f"{place} has no key {listed(missing)}")
    seen = f"{place} has the key {listed(rule.names)}"
    if not rule.events:
        return Finding(not rule.negated, seen)
    [[actual]] = found.values()
    return _value(rule, actual, seen)


def _value(rule: Rule, actual: Any, seen: str) -> Finding:
    asked = json.loads(rule.events[0])
    shown = f"{seen}, which is {json.dumps(actual)[:80]}"
    if type(actual) is type(asked) or {type(actual), type(asked)} == {int, float}:
        return Finding((actual == asked) is not rule.negated, shown)
    if isinstance(asked, str) is isinstance(actual, str):
        return Finding(rule.negated, shown)
    if str(json.dumps(actual)) == asked or actual == json.dumps(asked):
        return Finding(None, f"{shown}; asked for {rule.events[0]}")  # 3, or "3"
    return Finding(rule.negated, shown)


class _Twice(ValueError):
    """A key that an object has twice: what it means is nobody's to say."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(repr(name) for name in names if names.count(name) > 1))
    return found


def _at(value: Any, name: str) -> list[Any]:
    """The value of a key in a list, by its whole name or as a path; [] if there is none."""
    if isinstance(value, dict) and name in value:
        return [value[name]]
    for part in name.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return []
    return [value]


def _is_below(value: Any, name: str) -> bool:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if name in each:
                return True
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return False


def _folded(text: str) -> str:
    """Without regard to case, to the form of accents and quotation marks, and to line ends."""
    text = unicodedata.normalize("NFC", text).casefold().translate(_STRAIGHT)
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n")


def _json(rule: Rule, text: str, place: str, whole: bool) -> Finding:
    """Is it JSON by RFC 8259: no NaN, nothing before or after?"""
    if not whole:
        return Finding(None, f"{place} was not stored whole")
    try:
        # digits stay text: a number of ten thousand digits is valid
        value = json.loads(text, parse_constant=_refused, parse_int=float, parse_float=float)
    except RecursionError:
        return Finding(None, f"{place} is nested too deeply to be read")
    except ValueError as error:
        return Finding(rule.negated, f"{place} is no valid JSON: {error}")
    if REPLACED in text:  # JSON is UTF-8, and some readers take it all the same
        return Finding(None, f"{place} would be valid JSON, but is not all UTF-8")
    kind = next(iter(rule.events), "")
    fits = not kind or (
        isinstance(value, _TYPES[kind]) and isinstance(value, bool) is (kind == "boolean")
    )
    seen = f"{place} is valid JSON" + ("" if fits else f", but no {kind}")
    return Finding(fits is not rule.negated, seen)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


_DECIDERS: Mapping[str, Text] = {
    "contains": _contains,
    "json": _json,
    "key": _key,
    "length": _length,
}
