"""Reads assertions about what the message of a commit says, and what a branch is called."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import COMMON, CREATED, EXISTS, Prefix, prefix, unknown
from skilleval.assertions.nouns import rule_of
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, word_set

_BRANCHES = frozenset({"branch", "branches"})
_COMMITS = word_set("commit commits committed")
_MESSAGE = word_set("message messages subject title")
_TESTS = {
    "is": ("is", "was", "reads", "read", "equals", "of"),
    "has": ("contains", "contain", "contained", "includes", "include", "included"),
    "starts": ("starts", "start", "begins", "begin", "starting", "beginning"),
    "ends": ("ends", "end", "ending"),
}
_TESTS["has"] += ("containing", "including")
_TESTS["mentions"] = ("mentions", "mention", "mentioned")
EVENT_OF = {word: event for event, words in _TESTS.items() for word in words}
_EACH = word_set("all every each")
_LAST = word_set("last latest")
_LAST_ONE = word_set("commit message new git")
_HAS = word_set("has have had having")
_FILLERS = word_set("last latest that none with text word words exactly and or prefix whose line")
_CONVENTION = frozenset({"conventional"})
_FOLLOWS = word_set("follow follows followed following use uses used using adhere adheres in with")
_FOLLOWS |= word_set("conform conforms format formats style specification spec standard")
_FOLLOWS |= word_set("convention conventions")


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = {token.word for token in tokens}
    if words & _COMMITS:
        if words & _CONVENTION and (words & _MESSAGE or not words & CREATED):
            return _conventional(tokens)
        quotes = any(token.is_name for token in tokens)
        return _message(tokens) if words & _MESSAGE and quotes else ""
    return _branch_name(tokens) if words & _BRANCHES else ""


def _message(tokens: Sequence[Token]) -> Rule | str:
    """`The commit message contains "x"`; `a commit with the message "x" was created`."""
    known = COMMON | _COMMITS | _MESSAGE | CREATED | EXISTS | _EACH | set(EVENT_OF)
    found = prefix(tokens, known | _FILLERS)
    if found.tail or not found.names:
        return unknown(found) if found.tail else "a message is judged by its meaning"
    if found.denials > 1 or found.quantities:
        return "it has a number, or denies twice"
    tests = _tests(found)
    if len(tests) > 1:
        return "it asks several things of the message"
    if {"and", "or"} <= found.words or (found.denials and len(found.names) > 1):
        return "it joins its texts in several ways"
    each = bool(found.words & _EACH)
    if each and found.denials:
        return "it denies all, or each"
    last = [b.word for a, b in pairwise(found.known) if a.word in _LAST]
    if found.words & _LAST and (each or not {*last} & _LAST_ONE):
        return "it does not say which is the last one"
    events = (*tests, *(["last"] if found.words & _LAST else []))
    events += ("word",) if found.words & {"word", "words"} else ()
    return rule_of("commit", found)._replace(events=events, any_name="or" in found.words, only=each)


def _tests(found: Prefix) -> set[str]:
    """How its texts should fit. Without a verb they are the whole: `the message "x"`."""
    events = {EVENT_OF[token.word] for token in found.known if token.word in EVENT_OF}
    if "prefix" in found.words:
        return events - {"is", "has"} or {"starts"}
    return events - {"is"} or {"has" if _has_after(found, _MESSAGE) else "is"}


def _has_after(found: Prefix, nouns: frozenset[str]) -> bool:
    """Does it say that one of these has something: `the message has "x"`, and not `has to be`?"""
    words = [token.word for token in found.known]
    start = next((n for n, word in enumerate(words) if word in nouns), len(words))
    return any(
        word in _HAS and following not in ("to", "been")
        for word, following in pairwise([*words[start:], ""])
    )


def _conventional(tokens: Sequence[Token]) -> Rule | str:
    """`[All] commit messages follow the Conventional Commits format`."""
    found = prefix(tokens, COMMON | _COMMITS | _MESSAGE | _EACH | _CONVENTION | _FOLLOWS)
    if found.tail or found.names or found.quantities or found.denials > 1:
        return "it says more of a message than that it is conventional"
    each = bool(found.words & _EACH)
    if each and found.denials:
        return "it denies all, or each"
    return Rule("commit", found.denials == 1, events=("conventional",), only=each)


def _branch_name(tokens: Sequence[Token]) -> Rule | str:
    """`The branch name starts with "feat/"`; `a branch whose name contains "x" was created`."""
    words = {token.word for token in tokens}
    events = [EVENT_OF[token.word] for token in tokens if token.word in EVENT_OF]
    events = [event for event in events if event not in ("is", "mentions")]
    if not events and words & {"prefix", "suffix"}:
        events = ["starts" if "prefix" in words else "ends"]
    elif not events and _has_after(Prefix(tuple(tokens), ()), frozenset({"name", "names"})):
        events = ["has"]
    if not events or not ("name" in words or {"starts", "ends"} & {*events}):
        return ""
    known = COMMON | _BRANCHES | CREATED | EXISTS | set(EVENT_OF)
    found = prefix(tokens, known | word_set("name names of with whose that prefix suffix local"))
    if found.tail or not found.names or found.denials > 1 or found.quantities or len(events) > 1:
        return "it says more of a branch's name than how it starts, ends or what it has"
    if len(found.names) > 1:
        return "it asks for several names"
    return Rule("branch", found.denials == 1, None, found.names, events=tuple(events))
