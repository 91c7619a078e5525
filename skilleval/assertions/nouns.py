"""Reads claims that something new is there: a branch, a commit, a pull request, so and so many.

Owns what such claims have in common; the words of each kind are those of its module.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from skilleval.assertions.clause import COMMON, Prefix, prefix, unknown
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, word_set

# what joins the names of one claim
_JOINING = word_set("and or both either neither nor , except")


class Noun(NamedTuple):
    """The words of one kind: what it is called, what is done to it, and what may stand beside."""

    kind: str
    nouns: frozenset[str]
    verbs: frozenset[str]
    beside: frozenset[str]


def claim(tokens: Sequence[Token], noun: Noun) -> Rule | str:
    """The rule of a clause about this kind, or why it is none."""
    several = sum(token.is_name for token in tokens) > 1
    joined = _JOINING if several else {"except"}
    found = prefix(tokens, COMMON | noun.nouns | noun.verbs | noun.beside | joined)
    if reason := problem(found, noun.nouns, noun.verbs):
        return reason
    if found.quantities and "there" in found.words and "new" not in found.words:
        return "some may have been there before"
    if any(a.word in noun.nouns and b.quantity for a, b in pairwise(found.known)):
        return "its number says which one it is, not how many"
    if any(" " in name for name in found.names):
        return "a branch has no name with a space"
    if "except" in found.words and not (found.names and found.denials):
        return "except of something that is not named"
    if len(found.names) > 1 and (found.quantities or (found.denials and not found.denies_each)):
        return "it counts or denies several names, together or each"
    rule = rule_of(noun.kind, found)
    any_name = several and "or" in found.words and not rule.negated
    return rule._replace(any_name=any_name, only="except" in found.words)


def rule_of(kind: str, found: Prefix) -> Rule:
    """The rule of a claim that is no problem. "Not more than one" is "at most one"."""
    negated, quantity = found.claim
    return Rule(kind, negated, quantity, found.names, partial=bool(found.tail))


def problem(found: Prefix, nouns: Collection[str], verbs: Collection[str]) -> str:
    """Why the known part is no claim of this kind that stands by itself; "" if it is one."""
    words = found.words
    if not words & set(nouns):
        return unknown(found)
    if found.tail and (not found.is_open or not says(found, verbs) or found.denials):
        return unknown(found)
    if sum(token.word in set(nouns) - set(verbs) for token in found.known) > 1:
        return "it speaks of two of a kind"
    if found.denials > 1:
        return "it denies twice"
    if len(found.quantities) > 1:
        return "it has two numbers"
    if found.claim[0] and found.quantities:
        return "it denies a number"
    if words & {"should"} and not says(found, verbs):
        return unknown(found)
    return ""


def says(found: Prefix, verbs: Collection[str]) -> bool:
    """Does it say what happened, and does not only name it?"""
    return bool(found.words & set(verbs)) or {"there"} <= found.words
