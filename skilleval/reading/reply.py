"""JSON out of a model's reply. Owns finding it, and the choice between several; knows no schema.

A reply is prose that may hold JSON: in fences, after a preamble, more than once, or quoted from the
text that the model was asked about, which somebody may have forged. So the rules are these, and
whenever they leave a doubt, the reply is no answer (`ModelError`) and the caller asks again:

1. Every outermost list and object is read. // comments, commas before a closing bracket and raw
   line breaks within strings are forgiven; NaN, infinity and a key given twice are not.
2. JSON that cannot be read spoils the whole reply, for what is left to read of it may be a piece of
   something else. `[x]` and `{braces}` in prose are not JSON.
3. All answers must mean the same. Two that differ are never weighed against each other: nothing in
   the reply proves which one is the model's own.
4. An answer that stands in the question is a quotation: it is refused, even as the only one.

So a forged answer can make a reply unreadable, and an honest one with it, but it cannot win. What
the rules cannot see: a model that believes the forgery, and says so in its own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn, TypeVar

from skilleval.errors import ModelError
from skilleval.plaintext import without_sequences

Answer = TypeVar("Answer")

# far beyond any answer, and what keeps a flood of brackets from costing seconds
LIMIT_CHARACTERS = 200_000
DEEPEST = 16
MOST_OTHER_BRACKETS = 1000
# reasoning models that think aloud; the first closing tag, so that a quoted one hides no answer
_THOUGHTS = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_SPACE = re.compile(r"(?:[\s\ufeff\u200b]|//[^\n]*)*")
_OPENING = re.compile(r"[\[{]")
# what only JSON and its dialects (Python, JavaScript, YAML) look like; `${x:-y}` is shell
_FRAGMENT = re.compile(
    r"""["']\w+["']\s*:\s*(?:["'\[{\d-]|true|false|null|True|False|None)|\{\s*\w+\s*:(?![-=+?])"""
)
_LINE_START = re.compile(r"[>\s`]*(?:json)?\s*")
_LINE_END = re.compile(r"[\s`]*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Found(NamedTuple):
    """A JSON list or object, and the piece of the reply that it was read from.

    `alone`: it shares its lines with nothing but a fence or a quotation mark (`>`).
    """

    value: Any
    source: str
    alone: bool


def answer(
    text: str,
    read: Callable[[Found], Answer | None],
    meaning: Callable[[Answer], object],
    *,
    asked: str = "",
) -> Answer:
    """The answer in a model's reply; of several that mean the same, the last.

    `read` turns what was found into an answer, into None if it is something else, or raises
    ModelError if it is an answer that cannot be used. Answers are compared by their `meaning`.
    `asked` is all that the model was given to read.
    Raises ModelError if there is no answer, or a doubt about it by the rules above.
    """
    answers = []
    for found in values(text):
        given = read(found)
        if given is None:
            continue
        if _is_quotation(found, asked):
            raise ModelError("the answer is copied from the question")
        answers.append(given)
    if not answers:
        raise ModelError("no JSON with an answer found" if text.strip() else "the reply is empty")
    if any(meaning(other) != meaning(answers[-1]) for other in answers):
        raise ModelError(f"{len(answers)} answers that contradict each other")
    return answers[-1]


def values(text: str) -> tuple[Found, ...]:
    """Every outermost list and object in a reply, in order. Raises ModelError by rule 2."""
    text = clean(text)
    if len(text) > LIMIT_CHARACTERS:
        raise ModelError(f"the reply is longer than {LIMIT_CHARACTERS} characters")
    found, rest, end = [], [], 0
    for start, stop, value in _scan(text):
        found.append(Found(value, text[start:stop], _is_alone(text, start, stop)))
        rest.append(text[end:start])
        end = stop
    rest.append(text[end:])
    if fragment := next(filter(None, map(_FRAGMENT.search, rest)), None):
        raise ModelError(f"holds a piece of JSON that cannot be read: {fragment[0]!r}")
    return tuple(found)


def clean(text: str) -> str:
    """A reply without escape sequences, a leading block of thoughts, and white space around it.

    Fences and the like stay: they do not disturb. What kiro-cli adds is kiro.py's to take away.
    """
    text = without_sequences(text)
    if thoughts := _THOUGHTS.match(text):
        text = text[thoughts.end() :]
    return text.strip()


def writable(text: str) -> str:
    r"""The text with U+FFFD for each half of a surrogate pair, which no file could hold.

    JSON can spell such a half ("\ud835"), and models that are cut off in mid-character do.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _scan(text: str) -> Iterator[tuple[int, int, Any]]:
    """Start, end and value of each outermost list and object. Raises ModelError by rule 2."""
    position = skipped = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        reader = _Reader(text, start)
        try:
            value = reader.read(0)
        except _Unreadable as failure:
            if reader.keys or reader.at_end:
                place = text.count("\n", 0, start) + 1
                raise ModelError(f"the JSON in line {place} cannot be read: {failure}") from None
            position = start + 1
            skipped += 1
            if skipped > MOST_OTHER_BRACKETS:
                raise ModelError("holds too many brackets that are no JSON") from None
            continue
        yield start, reader.position, value
        position = reader.position


def _is_alone(text: str, start: int, stop: int) -> bool:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", stop)
    after = text[stop:] if line_end < 0 else text[stop:line_end]
    before = text[line_start:start]
    return bool(_LINE_START.fullmatch(before)) and bool(_LINE_END.fullmatch(after))


def _is_quotation(found: Found, asked: str) -> bool:
    """Does one of the objects in it stand in `asked`, however it is spaced or escaped there?"""
    objects = list(_objects(found.value))
    if not objects or not asked:
        return False
    within = _squeezed(asked)
    written = [json.dumps(part, ensure_ascii=False) for part in objects]
    return any(_squeezed(part) in within for part in (found.source, *written))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and value:
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from _objects(part)


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\\]+", "", text)


class _Unreadable(ValueError):
    """Why a piece of text is not JSON. Stays inside this module."""


def _refuse(constant: str) -> NoReturn:
    raise _Unreadable(f"{constant} is not a number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _Unreadable(f"{digits} is too large a number")
    return number


# not strict: raw line breaks within strings are taken as they are
_SCALARS = json.JSONDecoder(strict=False, parse_constant=_refuse, parse_float=_finite)


class _Reader:
    """Reads one JSON value by rule 1. `position` is where it stands, `keys` how many it has read.

    `at_end`: it has met the end of the text, so what it read was broken off.
    """

    def __init__(self, text: str, position: int) -> None:
        self.text, self.position = text, position
        self.keys = 0
        self.at_end = False

    def read(self, depth: int) -> Any:
        """The value at the position. Raises _Unreadable."""
        if depth > DEEPEST:
            raise _Unreadable("nested too deeply")
        match self.peek():
            case "{":
                return self.read_object(depth)
            case "[":
                return self.read_list(depth)
        return self.read_scalar()

    def read_object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        found: dict[str, Any] = {}
        while self.peek() != "}":
            if self.peek() != '"':
                raise _Unreadable("a key must be a text in double quotes")
            key = self.read_scalar()
            self.expect(":")
            self.keys += 1
            if key in found:
                raise _Unreadable(f"the key {key!r} is given twice")
            found[key] = self.read(depth + 1)
            if self.peek() != "}":
                self.expect(",")
        self.position += 1
        return found

    def read_list(self, depth: int) -> list[Any]:
        self.position += 1
        found = []
        while self.peek() != "]":
            found.append(self.read(depth + 1))
            if self.peek() != "]":
                self.expect(",")
        self.position += 1
        return found

    def read_scalar(self) -> Any:
        try:
            value, self.position = _SCALARS.raw_decode(self.text, self.position)
        except json.JSONDecodeError as error:
            if error.msg.startswith("Unterminated string"):
                raise self.broken_off() from None
            raise _Unreadable(f"{error.msg[:1].lower()}{error.msg[1:]}") from None
        except _Unreadable:
            raise
        except ValueError:  # an integer of thousands of digits
            raise _Unreadable("too large a number") from None
        return writable(value) if isinstance(value, str) else value

    def expect(self, character: str) -> None:
        if self.peek() != character:
            raise _Unreadable(f"a {character} is missing")
        self.position += 1

    def peek(self) -> str:
        """The next character that means something. Raises _Unreadable at the end of the text."""
        if space := _SPACE.match(self.text, self.position):
            self.position = space.end()
        if self.position == len(self.text):
            raise self.broken_off()
        return self.text[self.position]

    def broken_off(self) -> _Unreadable:
        self.at_end = True
        return _Unreadable("it breaks off")
