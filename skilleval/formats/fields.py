"""Typed reading of parsed JSON or YAML, for all formats. Owns the words of type errors.

A format names a field, its type and its default; what is wrong comes out as a `Problem` and the
default is used, so that one pass reports everything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from skilleval.errors import SuiteError
from skilleval.model import Level, Problem

WORDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_ONLY_TEXT = frozenset({str})


def kind(value: Any) -> str:
    """The type of a value in the words of the messages."""
    return WORDS.get(type(value), type(value).__name__)


def nearest(name: str, known: Collection[str]) -> str:
    """` (did you mean 'x'?)` for the nearest known name, else the list of those there are."""
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), known, 1, 0.6)
    if close:
        return f" (did you mean {close[0]!r}?)"
    return f" (known: {', '.join(sorted(known))})" if known else ""


def problem_of(error: SuiteError, rule: str, level: Level = "error") -> Problem:
    """What a reader of files refused, as a problem under a rule."""
    line = int(error.where) if error.where.isdecimal() else 0
    return Problem(error.path, line, "", rule, level, error.message)


def refuse(problems: Iterable[Problem]) -> None:
    """Raises `SuiteError` for the first error among the problems, if there is one."""
    for problem in problems:
        if problem.level == "error":
            place = ": ".join(filter(None, (str(problem.line or ""), problem.where)))
            raise SuiteError(problem.path, place, problem.message)


def line_of_id(identifier: str, text: str) -> int:
    """The 1-based line of `"id": identifier` in a JSON text; 0 when it is not clear."""
    import re

    name = re.escape(identifier)
    found = re.search(rf'"id"\s*:\s*(?:"{name}"|{name}\b)', text) if identifier else None
    return text.count("\n", 0, found.start()) + 1 if found else 0


class Reader:
    """Collects the problems of one file while its fields are read."""

    def __init__(self, path: str, rule: str) -> None:
        self.path, self.rule = path, rule
        self.problems: list[Problem] = []

    def complain(self, where: str, message: str, rule: str = "", level: Level = "error") -> None:
        """Notes a problem at a place, under the reader's rule unless another is named."""
        self.problems.append(Problem(self.path, 0, where, rule or self.rule, level, message))

    def unknown_keys(self, raw: Mapping[str, Any], known: Collection[str], where: str) -> None:
        """A key that nobody reads is an error: misspelt, it would switch a check off in silence."""
        for key in raw:
            if key not in known:
                self.complain(where, f"unknown key {key!r}{nearest(key, known)}")

    def text(self, raw: Mapping[str, Any], key: str, where: str, default: str = "") -> str:
        """A text field, the default if it is absent or of another type."""
        value = raw.get(key, default)
        if not isinstance(value, str):
            self.complain(where, f"{key} must be text, not {kind(value)}")
            return default
        return value

    def check_sendable(self, text: str, key: str, where: str) -> None:
        """Complains about what cannot be sent to an agent as it is, with its place from 1 on."""
        if place := text.find("\0") + 1:
            message = f"{key} has a NUL as character {place}, which no program can be given"
            self.complain(where, f"{message}: remove it")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            message = f"{key} has half a surrogate pair as character {error.start + 1}"
            self.complain(where, f"{message}, which is sent as '?'", level="warning")

    def texts(self, raw: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
        """A list of texts; what is none in it is left out and complained about."""
        value = raw.get(key, ())
        if value == ():
            return ()
        if not isinstance(value, list):
            self.complain(where, f"{key} must be a list of texts, not {kind(value)}")
            return ()
        if _ONLY_TEXT.issuperset(map(type, value)):
            return tuple(value)
        return tuple(self._texts_of(value, key, where))

    def _texts_of(self, value: list[Any], key: str, where: str) -> Iterator[str]:
        for position, item in enumerate(value, 1):
            if isinstance(item, str):
                yield item
            else:
                self.complain(where, f"{key} entry {position} must be text, not {kind(item)}")
