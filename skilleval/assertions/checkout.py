"""Reads assertions about a checkout: its current branch, where HEAD is, what is staged or clean.

Owns their words. What is new in the repository is `git`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import AGENT, AUXILIARIES, COMMON, Prefix, prefix
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, is_file, word_set

_HELPERS = word_set("do does did should must shall will")
_BRANCH = frozenset({"branch", "branches"})
_SWITCHED = word_set("switch switches switched switching")
_STAY = _SWITCHED | word_set("stay stays stayed staying remain remains remained")
_CURRENT = word_set("current checked out active") | _STAY
_MOVED = word_set("move moves moved moving advance advances advanced change changes changed")
_MOVED |= {"modified"}
_MOVED_TO = word_set("move moves moved moving changed changing")
_STILL = word_set("unchanged untouched unmoved")
_DELETED = word_set("delete deletes deleted deleting remove removes removed removing")
_STAGED = word_set("staged stage stages staging unstaged")
_COMMITTED = word_set("committed commit commits committing")
_LEFT = word_set("left leaves leave leaving")
_CLEAN = word_set("clean dirty")
_UNCOMMITTED = word_set("uncommitted unstaged")
_OF_FILES = word_set("file files change changes work in to of and , for both everything anything")
_CONTAINS = word_set("includes include contains contain included")
# branches that a sentence may name without quoting them
MAIN = word_set("main master develop trunk")
_BEFORE_MAIN = word_set("on to from against targeting targets into onto is was not branch still at")
_BEFORE_MAIN |= word_set("directly")


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    tokens = with_main(tokens)
    words = {token.word for token in tokens}
    if "head" in words:
        return _head(tokens)
    if words & (_CLEAN | _UNCOMMITTED | _STAGED) or _is_commit_of(tokens, words):
        return _status(tokens)
    if words & _BRANCH and words & _DELETED:
        return _deleted(tokens)
    if found := _current(tokens):
        return found
    if words & _BRANCH and words & (_STILL | _MOVED | {"still", "no-longer"}):
        return _of_branch(tokens)
    return ""


def with_main(tokens: Sequence[Token]) -> list[Token]:
    """With `main` and its like as names, where only a branch can be meant: `pushed to main`."""
    words = ["", *(token.word for token in tokens), ""]
    return [
        Token("", token.word)
        if token.word in MAIN and (words[n] in _BEFORE_MAIN or words[n + 2] == "branch" or n == 0)
        else token
        for n, token in enumerate(tokens)
    ]


def _simple(found: Prefix) -> bool:
    """Is it read to its end, with at most one denial and no number?"""
    return not found.tail and found.denials <= 1 and not found.quantities


def _head(tokens: Sequence[Token]) -> Rule | str:
    """`HEAD did not move`; `HEAD is detached`."""
    found = prefix(tokens, COMMON | _MOVED | _STILL | {"head", "detached", "same", "at", "commit"})
    still = bool(found.words & _STILL)
    if not _simple(found) or found.names or (still and found.denials):
        return "it says more of HEAD than whether it moved or is detached"
    if "detached" in found.words:
        return Rule("head", found.denials == 1, events=("detached",))
    if not found.words & (_MOVED | _STILL):
        return "it says more of HEAD than whether it moved or is detached"
    return Rule("head", still or found.denials == 1, events=("moved",))


def _current(tokens: Sequence[Token]) -> Rule | str:
    """`The current branch is feat`; `main is checked out`; `the agent stayed on main`."""
    known = COMMON | _BRANCH | _CURRENT | {"on", "still", "named", "called", "equals"}
    found = prefix(tokens, known | {"ends", "ended", "up"})
    words = found.words
    if not _simple(found) or len(found.names) != 1 or is_file(found.names[0]):
        return ""
    checked = {"checked", "out"} <= words or {"current", "branch"} <= words
    stays = bool(words & _STAY) and bool(words & {"on", "to"})
    is_on = "on" in words and bool(words & {"is", "was", "ends", "ended"})
    if not checked and not ((stays or is_on) and words & AGENT | _BRANCH & words):
        return ""
    if words & {"create", "created", "creates", "new"} or " " in found.names[0]:
        return ""
    acts = words & AGENT and "checked" in words and not words & AUXILIARIES - _HELPERS
    event = "switched" if words & _SWITCHED or acts else "current"
    return Rule("head", found.denials == 1, None, found.names, events=(event,))


def _deleted(tokens: Sequence[Token]) -> Rule | str:
    """`The branch old was deleted`; `no branch was deleted`."""
    found = prefix(tokens, COMMON | _BRANCH | _DELETED | {"local", "named", "called"})
    if found.tail or found.denials > 1 or len(found.names) > 1 or len(found.quantities) > 1:
        return "it says more of a branch than that it was deleted"
    definite = any(a.word == "the" and b.word == "branch" for a, b in pairwise(found.known))
    if (definite and not found.names) or (found.quantities and (found.denials or found.names)):
        return "it does not say which branch"
    quantity = next(iter(found.quantities), None)
    return Rule("deleted_branch", found.denials == 1, quantity, found.names)


def _of_branch(tokens: Sequence[Token]) -> Rule | str:
    """`The branch main is unchanged`; `the branch old still exists`."""
    known = COMMON | _BRANCH | _MOVED | _STILL | word_set("still exist exists existed no-longer")
    found = prefix(tokens, known | {"local", "named", "called", "left", "remains"})
    words = found.words
    if not _simple(found) or len(found.names) != 1:
        return "" if words & (_MOVED | _STILL) else "it says more of a branch than a rule knows"
    exists = bool(words & {"exist", "exists", "existed"})
    if exists is bool(words & (_MOVED | _STILL)) or (exists and found.denials):
        return "it says more of a branch than a rule knows"
    if exists:
        return Rule("deleted_branch", "no-longer" not in words, None, found.names)
    still = bool(words & _STILL)
    if still and found.denials:
        return "it denies twice"
    # `changed the branch to feat` is about HEAD; `no changes to main` is about main
    event = "switched" if "to" in words and words & _MOVED_TO else "moved"
    return Rule("head", still or found.denials == 1, None, found.names, events=(event,))


def _is_commit_of(tokens: Sequence[Token], words: set[str]) -> bool:
    """Is it about committed files, or about all that was to be committed?"""
    files = any(token.is_name and is_file(token.name) for token in tokens)
    everything = bool({"all", "everything"} & words) and bool({"changes", "everything"} & words)
    return bool(words & _COMMITTED) and (files or everything)


def _status(tokens: Sequence[Token]) -> Rule | str:
    """`a.py is staged`; `there are no uncommitted changes`; `the working tree is clean`."""
    known = COMMON | _STAGED | _COMMITTED | _CLEAN | _UNCOMMITTED | _OF_FILES | _CONTAINS
    found = prefix(tokens, known | {"workspace", "repository", "repo", "git", "all"} | _LEFT)
    words = found.words
    if not _simple(found) or not all(map(is_file, found.names)):
        return "it says more of the working tree than a rule knows"
    if words & _CLEAN or words & {"uncommitted"}:
        return _clean(found)
    if words & _STAGED and words & _COMMITTED and not {"for", "commit"} <= words:
        return "it asks two things of a file"
    adverse = "unstaged" in words
    event = "staged" if words & _STAGED else "committed"
    if adverse and (found.denials or not found.names):
        return "it denies twice, or does not say which file"
    denied = adverse or found.denials == 1
    everything = bool(words & {"all", "everything"})
    if (len(found.names) > 1 or everything) and denied:
        return "it denies several files, together or each"
    if not found.names and not everything and not (event == "staged" and denied):
        return "it does not say which file"
    return Rule("status", denied, None, found.names, events=(event,))


def _clean(found: Prefix) -> Rule | str:
    if found.names or (found.words & (_STAGED | _COMMITTED)):
        return "it says more of the working tree than whether it is clean"
    dirty = bool(found.words & {"dirty", "uncommitted"})
    place = found.words & {"workspace", "repository", "repo"} or "uncommitted" in found.words
    if not place or {"all", "everything"} & found.words:
        return "it does not say what is clean"
    return Rule("status", dirty is not (found.denials == 1), events=("clean",))
