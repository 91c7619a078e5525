"""Reads assertions about branches, commits and pushes (seed 002, the first rows of its table).

Owns their words; what they mean for a state is the grader's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from skilleval.assertions.checkout import with_main
from skilleval.assertions.clause import AGENT, COMMON, CREATED, EXISTS, Prefix, prefix
from skilleval.assertions.nouns import Noun, claim, problem, rule_of
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, word_set

_PUSHED = word_set("push pushes pushed pushing")
_COMMITTED = word_set("committed committing")
_REMOTE_WORDS = ("remote", "origin", "github")
_NEEDLESS = [["with", "the", "name"], ["with", "name"]]
_NEEDLESS += [["in", "the", place] for place in ("repository", "repo", "workspace", "project")]
_OBJECTS = word_set("change changes work code fix edit edits them anything local")
# some of what a commit may hold: that there is none of it does not say that there is no commit
_PARTS = word_set("code fix edit edits")
_PLACES = word_set("branch repository repo remote origin main git history")
_BRANCH = Noun(
    "branch",
    frozenset({"branch", "branches"}),
    CREATED | EXISTS | word_set("started opened switched checked out"),
    word_set("local feature topic separate dedicated named called name"),
)
_COMMIT = Noun(
    "commit",
    frozenset({"commit", "commits"}) | _COMMITTED,
    CREATED | EXISTS | _COMMITTED,
    _OBJECTS | {"additional"},
)
_PUSH_BESIDE = _OBJECTS | word_set(
    "remote origin upstream branch branches commit commits and feature named called github on all"
    " directly"
)


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    tokens = with_main(_without_place(tokens))
    words = {token.word for token in tokens}
    if words & _PUSHED or _is_remote(tokens):
        return _push(tokens)
    if words & _COMMIT.nouns:
        return _commit(tokens)
    return _branch(tokens) if words & _BRANCH.nouns else ""


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


def _branch(tokens: Sequence[Token]) -> Rule | str:
    tokens = _checked_out(tokens)
    words = {token.word for token in tokens}
    if words & {"switched", "checked"} and "new" not in words:
        return "to switch to a branch is not to create one"
    return claim(tokens, _BRANCH)


def _commit(tokens: Sequence[Token]) -> Rule | str:
    tokens, branch = _on_branch(tokens)
    verbs = _COMMIT.verbs | ({"commit"} if _commits(tokens) else frozenset())
    found = prefix(tokens, COMMON | _COMMIT.nouns | verbs | _COMMIT.beside)
    if reason := problem(found, _COMMIT.nouns, verbs):
        return reason
    if found.names:
        return "it names something that a commit does not have"
    if found.denials and found.words & _PARTS:
        return "it denies that some of the changes were committed"
    if _is_figurative(found, _COMMITTED | {"commit"}):
        return "to be committed to something is not to make a commit"
    if branch == "new" and found.denials:
        return "it denies a commit on one branch only"
    if branch and found.denials and (found.quantities or found.tail):
        return "it denies a commit on one branch only"
    events = ("on_new_branch",) if branch == "new" else ()
    return rule_of("commit", found)._replace(where="" if events else branch, events=events)


def _commits(tokens: Sequence[Token]) -> bool:
    """Is `commit` a verb here: `did not commit`, `the agent should commit`?"""
    before = AGENT | {"not", "never", "did", "does", "should", "must", "to"}
    return tokens[0].word == "commit" or any(
        b.word == "commit" and a.word in before for a, b in pairwise(tokens)
    )


def _is_figurative(found: Prefix, verbs: Collection[str]) -> bool:
    """Is what is committed to, or pushed for, no place: `is committed to quality`?"""
    if not found.tail or not found.known or found.words & (_OBJECTS | _BRANCH.nouns):
        return False
    rest = {token.word for token in found.tail}
    is_place = rest & _PLACES or any(token.is_name for token in found.tail)
    return found.known[-1].word in verbs and found.tail[0].word in ("to", "for") and not is_place


def _on_branch(tokens: Sequence[Token]) -> tuple[Sequence[Token], str]:
    """Without `on the new branch` or `to branch X` at the end; and that branch, `new` or its name.

    The current branch is what the check asks anyway.
    """
    tokens = [token for token in tokens if token.word != "directly"]
    for start in range(len(tokens) - 1, 0, -1):
        if tokens[start].word in ("on", "to", "onto"):
            rest = tokens[start + 1 :]
            words = [token.word for token in rest if token.word not in ("the", "a", "named", "")]
            names = [token.name for token in rest if token.is_name]
            if any(token.quantity for token in rest):
                return tokens, ""
            if names and len(names) == 1 and words in (["branch"], []):
                return tokens[:start], names[0]
            if not names and words in (["new", "branch"], ["feature", "branch"]):
                return tokens[:start], "new"
            if not names and words in (["current", "branch"], ["head"]):
                return tokens[:start], ""
            return tokens, ""
    return tokens, ""


def _push(tokens: Sequence[Token]) -> Rule | str:
    on_remote = _is_remote(tokens)
    words = {token.word for token in tokens}
    verbs = _PUSHED | (EXISTS | CREATED if on_remote else frozenset())
    beside = _PUSH_BESIDE | {"made", "performed", "done"} if "push" in words else _PUSH_BESIDE
    found = prefix(tokens, COMMON | verbs | beside)
    if reason := problem(found, verbs | ({"remote"} if on_remote else set()), verbs):
        return reason
    if _is_figurative(found, _PUSHED):
        return "to push for something is not to push"
    rule = rule_of("push", found)._replace(only="all" in found.words)
    if rule.only and (rule.negated or not found.words & {"changes", "commits"}):
        return "it denies all, or it is not clear of what"
    if rule.quantity:
        return "pushes are not counted"
    if (on_remote and found.words & _BRANCH.nouns) or _follows(tokens, "new", _BRANCH.nouns):
        rule = rule._replace(events=("new_branch",))
    if "upstream" in rule.names or _follows(tokens, "to", {"upstream"}):
        return "it names another remote than origin"
    names = tuple(name.removeprefix("origin/") for name in rule.names if name != "origin")
    if any(" " in name or name.endswith("/") for name in names):
        return "it names no branch"
    return rule._replace(names=names)
