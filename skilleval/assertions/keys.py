"""Reads assertions about the keys of a JSON object, and about the value of one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import COMMON, EXISTS
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import NEGATIONS, Token, word_set
from skilleval.assertions.texts import OUTPUT

_KEYS = word_set("key keys field fields property properties attribute attributes")
_HAS = word_set("contain contains include includes containing including with having where whose")
_JSON = word_set("json valid object document file parsed parses as and in of , top-level")
_IS = word_set("is equals equal to set value values of = are was")
_LITERALS = word_set("true false null")
_JOINING = _KEYS | {"", ",", "and", "the", "a"}
_KNOWN = (
    COMMON
    | EXISTS
    | OUTPUT
    | _KEYS
    | _HAS
    | _JSON
    | _IS
    | _LITERALS
    | NEGATIONS
    | {"named", "called"}
)


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = {token.word for token in tokens}
    files = [token.name for token in tokens if token.is_name and token.name.endswith(".json")]
    if not (words & _KEYS or {"set", "to"} <= words) or not ("json" in words or files):
        return ""
    if len(files) > 1 or any(token.word and token.word not in _KNOWN for token in tokens):
        return "it says more of JSON than that it has keys"
    if len(files) == bool(words & OUTPUT):
        return "it does not say where the JSON is"
    where = next(iter(files), "")
    rest = [token for token in tokens if not token.is_name or token.name not in files]
    rule = _keys(rest, where)
    claims_json = {"valid", "json"} <= words or ("is", "json") in _pairs_without_articles(tokens)
    if isinstance(rule, str) or not claims_json or rule.negated:
        return rule
    kind = ("object",) if "object" in words else ()
    return Rule("all", parts=(Rule("json", where=where, events=kind), rule))


def _pairs_without_articles(tokens: Sequence[Token]) -> set[tuple[str, str]]:
    return set(pairwise(token.word for token in tokens if token.word not in ("a", "an", "the")))


def _keys(tokens: Sequence[Token], where: str) -> Rule | str:
    value, rest = _value(tokens)
    places = [number for number, token in enumerate(rest) if token.is_name]
    if not places or any(token.quantity or token.word in _LITERALS for token in rest):
        return "it names no key, or says more than its value"
    before = [token.word for token in rest[: places[0]]]
    between = {token.word for token in rest[places[0] : places[-1]]}
    if not between <= _JOINING or any(a in _KEYS and {b} & _IS for a, b in pairwise(before)):
        return "it says more of its keys than that they are there"
    words = {token.word for token in rest}
    denials = sum(token.word in NEGATIONS for token in rest)
    names = tuple(rest[place].name for place in places)
    if denials > 1 or (denials and "valid" in words) or (len(names) > 1 and (denials or value)):
        return "it denies several keys, or gives one value to several"
    return Rule("key", denials == 1, None, names, where, events=(value,) if value else ())


def _value(tokens: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """The value that a key should have, as JSON ("" if none is said), and what stands before it."""
    if len(tokens) < 2 or not any(token.is_name for token in tokens[:-1]):
        return "", tokens
    last, before = tokens[-1], tokens[-2]
    if before.word not in _IS | {"no", "not"} | COMMON:
        return "", tokens
    stated = _IS & {token.word for token in tokens[_first_name(tokens) :]}
    if not stated:
        return "", tokens
    if last.is_name:
        return json.dumps(last.name), tokens[:-1]
    if last.quantity and last.quantity[0] == "==":
        return str(last.quantity[1]), tokens[:-1]
    if last.word == "no" and before.word in _IS:  # `is 0`
        return "0", tokens[:-1]
    return (last.word, tokens[:-1]) if last.word in _LITERALS else ("", tokens)


def _first_name(tokens: Sequence[Token]) -> int:
    return next(number for number, token in enumerate(tokens) if token.is_name)
