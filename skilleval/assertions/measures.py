"""Reads assertions about how long a text is, and with what code the agent's program ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import COMMON, Prefix, prefix
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, is_file, word_set
from skilleval.assertions.texts import OUTPUT

_UNIT_OF = {
    "word": "words",
    "words": "words",
    "line": "lines",
    "lines": "lines",
    "character": "characters",
    "characters": "characters",
    "chars": "characters",
    "byte": "bytes",
    "bytes": "bytes",
}
_BESIDE = word_set("contain contains consist consists of long in length total stay stays kept keep")
_BESIDE |= word_set("keeps limited stays remains file content contents final")
_LIMITS = word_set("limited stay stays kept keep keeps")
_EMPTY = {"empty": False, "non-empty": True, "nonempty": True, "blank": False}
_EXIT = word_set("exit exits exited exiting")
_CODE = word_set("code status")
_NEW = word_set("new newly fresh")
_PROGRAM = word_set("agent assistant model run session agent's program")


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = {token.word for token in tokens}
    if words & _UNIT_OF.keys():
        return _length(tokens)
    if words & _EMPTY.keys() and words & OUTPUT and not any(token.is_name for token in tokens):
        return _empty(tokens)
    return _exit(tokens) if words & _EXIT and words & _CODE else ""


def _length(tokens: Sequence[Token]) -> Rule | str:
    """`The output is at most 100 words long`; `a.csv has exactly 3 lines`."""
    found = prefix(tokens, COMMON | OUTPUT | _UNIT_OF.keys() | _BESIDE)
    units = [_UNIT_OF[token.word] for token in found.known if token.word in _UNIT_OF]
    # `0 lines` is read as a denial of lines
    nothing = any(
        a.word == "no" and b.word in _UNIT_OF
        for a, b in zip(found.known, found.known[1:], strict=False)
    )
    quantities = (("==", 0),) if nothing and not found.quantities else found.quantities
    denials = found.denials - nothing
    if found.tail or len(units) != 1 or len(quantities) != 1 or denials > 1:
        return ""
    if any(a.word in _NEW and b.word in _UNIT_OF for a, b in pairwise(found.known)):
        return "it counts what was added to a text"
    subject, where = _subject(found)
    if not subject:
        return "it does not say whose length"
    op, number = quantities[0]
    if op == "==" and found.words & _LIMITS and "to" in found.words:
        op = "<="
    return Rule("length", denials == 1, (op, number), where=where, events=(units[0],))


def _subject(found: Prefix) -> tuple[bool, str]:
    """Is it of the output or of one file, and of which file? It stands before the number."""
    before: list[Token] = []
    for token in found.known:
        if token.quantity or token.word == "no":
            break
        before.append(token)
    names = [token.name for token in found.known if token.is_name]
    if names:
        own = any(token.is_name for token in before)
        return own and len(names) == 1 and is_file(names[0]), names[0]
    return any(token.word in OUTPUT - {"final", "text"} for token in before), ""


def _empty(tokens: Sequence[Token]) -> Rule | str:
    """`The output is not empty`."""
    found = prefix(tokens, COMMON | OUTPUT | _EMPTY.keys())
    adjectives = [_EMPTY[token.word] for token in found.known if token.word in _EMPTY]
    denials = found.denials + sum(adjectives)
    if found.tail or found.quantities or len(adjectives) != 1 or denials > 1:
        return "it says more of the output than whether it is empty"
    return Rule("length", denials == 1, ("==", 0), events=("characters",))


def _exit(tokens: Sequence[Token]) -> Rule | str:
    """`The agent exited with code 0`; `the run ends with a non-zero exit code`."""
    known = COMMON | _EXIT | _CODE | _PROGRAM | {"with", "non-zero", "nonzero", "of", "equals"}
    found = prefix(tokens, known | {"ends", "ended", "finishes", "finished"})
    if found.tail or found.names or not found.words & _PROGRAM - {"model"}:
        return "it does not say whose exit code, or more than that"
    nonzero = bool(found.words & {"non-zero", "nonzero"})
    # `code 0` is read as a denial
    zero = any(
        a.word in _CODE | {"with", "is", "of"} and b.word == "no"
        for a, b in zip(found.known, found.known[1:], strict=False)
    )
    denials = found.denials - zero + nonzero
    quantities = found.quantities or ((("==", 0),) if zero or nonzero else ())
    if len(quantities) != 1 or denials > 1 or quantities[0][0] != "==":
        return "it names no exit code, or denies twice"
    return Rule("exit_code", denials == 1, quantities[0])
