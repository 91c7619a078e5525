"""Reads assertions about branches, commits, pushes and pull requests (seed 002, the first four rows
of its table). Owns their words; what they mean for a state is the grader's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from skilleval.assertions.clause import (
    AGENT,
    COMMON,
    CREATED,
    EXISTS,
    OPENED,
    Prefix,
    prefix,
    unknown,
)
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, word_set

_PUSHED = word_set("push pushes pushed pushing")
_COMMITTED = word_set("committed committing")
_REMOTES = frozenset({"origin", "upstream"})
_REMOTE_WORDS = ("remote", "origin", "github")
_NEEDLESS = [["with", "the", "name"], ["with", "name"]]
_NEEDLESS += [["in", "the", place] for place in ("repository", "repo", "workspace", "project")]
_MESSAGE = word_set("message messages subject title")
_TESTS = {
    "is": ("is", "was", "reads", "read", "equals", "of"),
    "has": ("contains", "contain", "contained", "includes", "include", "included"),
    "starts": ("starts", "start", "begins", "begin", "starting", "beginning"),
    "ends": ("ends", "end", "ending"),
}
_TESTS["has"] += ("containing", "including", "mentions", "mention")
_EVENT_OF = {word: event for event, words in _TESTS.items() for word in words}
_OBJECTS = word_set("change changes work code fix edit edits them anything local")


class _Noun(NamedTuple):
    """The words of one kind: what it is called, what is done to it, and what may stand beside."""

    kind: str
    nouns: frozenset[str]
    verbs: frozenset[str]
    beside: frozenset[str]


_BRANCH = _Noun(
    "branch",
    frozenset({"branch", "branches"}),
    CREATED | EXISTS | word_set("started opened switched checked out"),
    word_set("local feature topic separate dedicated named called name"),
)
_COMMIT = _Noun(
    "commit",
    frozenset({"commit", "commits"}) | _COMMITTED,
    CREATED | EXISTS | _COMMITTED,
    _OBJECTS | {"additional"},
)
_PULL_REQUEST = _Noun(
    "pull_request",
    frozenset({"pr", "prs"}),
    CREATED | EXISTS | OPENED,
    frozenset({"github"}),
)
_PUSH_BESIDE = _OBJECTS | word_set(
    "remote origin upstream branch branches commit commits and feature named called github on"
)


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    tokens = _without_place(tokens)
    words = {token.word for token in tokens}
    if words & _PUSHED or _is_remote(tokens):
        return _push(tokens)
    if words & _PULL_REQUEST.nouns:
        return _noun(tokens, _PULL_REQUEST)
    if words & _COMMIT.nouns:
        quotes = any(token.is_name for token in tokens)
        return _message(tokens) if words & _MESSAGE and quotes else _commit(tokens)
    if words & _BRANCH.nouns:
        return _noun(_checked_out(tokens), _BRANCH)
    return ""


def _without_place(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without `in the repository`, where all commits are, and `with the name`, as `named` is."""
    words = [token.word for token in tokens]
    for phrase in _NEEDLESS:
        for start in range(len(words) - len(phrase), 0, -1):
            if words[start : start + len(phrase)] == phrase:
                return [*tokens[:start], *tokens[start + len(phrase) :]]
    return tokens


def _is_remote(tokens: Sequence[Token]) -> bool:
    """Is it a branch or a commit on the remote, however it came there?"""
    words = " ".join(token.word for token in tokens)
    on_remote = any(f"on {the}{name}" in words for the in ("", "the ") for name in _REMOTE_WORDS)
    return on_remote or _follows(tokens, "remote", _BRANCH.nouns)


def _follows(tokens: Sequence[Token], word: str, words: Collection[str]) -> bool:
    return any(a.word == word and b.word in words for a, b in pairwise(tokens))


def _checked_out(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without `and checked out` or `and switched to` at the end, which the check asks anyway."""
    words = [token.word for token in tokens]
    for ending in ("checked out", "is checked out", "was checked out", "switched to"):
        phrase = ["and", *ending.split()]
        if words[-len(phrase) :] == phrase:
            return tokens[: -len(phrase)]
    return tokens


def _noun(tokens: Sequence[Token], noun: _Noun) -> Rule | str:
    found = prefix(tokens, COMMON | noun.nouns | noun.verbs | noun.beside)
    if problem := _problem(found, noun.nouns, noun.verbs):
        return problem
    if noun is _BRANCH and found.words & {"switched", "checked"} and "new" not in found.words:
        return "to switch to a branch is not to create one"
    if noun is _PULL_REQUEST and found.names:
        return "the title of a pull request is not stored"
    if any(" " in name for name in found.names):
        return "a branch has no name with a space"
    return _rule(noun.kind, found)


def _rule(kind: str, found: Prefix) -> Rule:
    return Rule(
        kind,
        negated=found.denials == 1,
        quantity=next(iter(found.quantities), None),
        names=found.names,
        partial=bool(found.tail),
    )


def _problem(found: Prefix, nouns: Collection[str], verbs: Collection[str]) -> str:
    """Why the known part is no claim of this kind that stands by itself; "" if it is one."""
    words = found.words
    if not words & set(nouns):
        return unknown(found)
    if found.tail and (not found.is_open or not _says(found, verbs) or found.denials):
        return unknown(found)
    if sum(token.word in set(nouns) - set(verbs) for token in found.known) > 1:
        return "it speaks of two of a kind"
    if found.denials > 1:
        return "it denies twice"
    if len(found.quantities) > 1:
        return "it has two numbers"
    if found.denials and found.quantities:
        return "it denies a number"
    if words & {"should"} and not _says(found, verbs):
        return unknown(found)
    return ""


def _says(found: Prefix, verbs: Collection[str]) -> bool:
    return bool(found.words & set(verbs)) or {"there"} <= found.words


def _commit(tokens: Sequence[Token]) -> Rule | str:
    tokens, branch = _on_branch(tokens)
    verbs = _COMMIT.verbs | ({"commit"} if _commits(tokens) else frozenset())
    found = prefix(tokens, COMMON | _COMMIT.nouns | verbs | _COMMIT.beside)
    if problem := _problem(found, _COMMIT.nouns, verbs):
        return problem
    if found.names:
        return "it names something that a commit does not have"
    if branch and found.denials:
        return "it denies a commit on one branch only"
    events = ("on_new_branch",) if branch == "new" else ()
    return _rule("commit", found)._replace(where="" if events else branch, events=events)


def _commits(tokens: Sequence[Token]) -> bool:
    """Is `commit` a verb here: `did not commit`, `the agent should commit`?"""
    before = AGENT | {"not", "never", "did", "does", "should", "must", "to"}
    return tokens[0].word == "commit" or any(
        b.word == "commit" and a.word in before for a, b in pairwise(tokens)
    )


def _on_branch(tokens: Sequence[Token]) -> tuple[Sequence[Token], str]:
    """Without `on the new branch` or `to branch X` at the end; and that branch, `new` or its name.

    The current branch is what the check asks anyway.
    """
    for start in range(len(tokens) - 1, 0, -1):
        if tokens[start].word in ("on", "to", "onto"):
            rest = tokens[start + 1 :]
            words = [token.word for token in rest if token.word not in ("the", "a", "named", "")]
            names = [token.name for token in rest if token.is_name]
            if names and len(names) == 1 and words in (["branch"], []):
                return tokens[:start], names[0]
            if not names and words in (["new", "branch"], ["feature", "branch"]):
                return tokens[:start], "new"
            if not names and words in (["current", "branch"], ["head"]):
                return tokens[:start], ""
            return tokens, ""
    return tokens, ""


def _message(tokens: Sequence[Token]) -> Rule | str:
    """`The commit message contains "x"`; `a commit with the message "x" was created`."""
    known = (
        COMMON
        | _COMMIT.nouns
        | _MESSAGE
        | CREATED
        | EXISTS
        | set(_EVENT_OF)
        | {"last", "latest", "that"}
    )
    known |= {"with", "text", "word", "words", "exactly", "and", "or", "prefix", "whose", "line"}
    found = prefix(tokens, known)
    if found.tail or not found.names:
        return unknown(found) if found.tail else "a message is judged by its meaning"
    if found.denials > 1 or found.quantities:
        return "it has a number, or denies twice"
    events = [_EVENT_OF[token.word] for token in found.known if token.word in _EVENT_OF]
    if "starts" in events or "ends" in events or "has" in events:
        events = [event for event in events if event != "is"]
    if len(set(events)) > 1:
        return "it asks several things of the message"
    if {"and", "or"} <= found.words or (found.denials and len(found.names) > 1):
        return "it joins its texts in several ways"
    rule = _rule("commit", found)
    return rule._replace(events=tuple(events[:1]) or ("is",), any_name="or" in found.words)


def _push(tokens: Sequence[Token]) -> Rule | str:
    on_remote = _is_remote(tokens)
    verbs = _PUSHED | (EXISTS | CREATED if on_remote else frozenset())
    found = prefix(tokens, COMMON | verbs | _PUSH_BESIDE)
    if problem := _problem(found, verbs | ({"remote"} if on_remote else set()), verbs):
        return problem
    rule = _rule("push", found)
    if rule.quantity:
        return "pushes are not counted"
    if (on_remote and found.words & _BRANCH.nouns) or _follows(tokens, "new", _BRANCH.nouns):
        rule = rule._replace(events=("new_branch",))
    names = tuple(name.removeprefix("origin/") for name in rule.names if name not in _REMOTES)
    if any(" " in name or name.endswith("/") for name in names):
        return "it names no branch"
    return rule._replace(names=names)
