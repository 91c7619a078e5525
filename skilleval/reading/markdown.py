"""The lines of a Markdown text and what each is. Owns fences, read and made, headings, and code.

Only as much of Markdown as answers and skills use: block structure by line. It renders nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["blank", "fence", "code", "heading", "rule", "prose"]

# a line that is bold from end to end is how many answers write a heading: below every `#` one
BOLD_LEVEL = 7
LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_BACKTICKS = re.compile("`+")
_BOLD = re.compile(r"\*\*[^*]+\*\*:?")


def fence(text: str) -> str:
    """The shortest fence that no line of the text closes: more backticks than in any run of it."""
    return "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))


class Line(NamedTuple):
    """One line: its 1-based number, its place in the text with the newline, and its kind.

    `fence` is a line that opens or closes a code block, `code` one inside it (or an indented one),
    `rule` a line of punctuation only. `level` is that of a heading, else 0.
    """

    number: int
    start: int
    end: int
    text: str
    kind: Kind
    level: int = 0


def lines(text: str) -> tuple[Line, ...]:
    """Every line of the text in order; joined, their texts are the text. Never raises."""
    return tuple(_lines(text))


def _lines(text: str) -> Iterator[Line]:
    fence, before, listed = "", "blank", False
    for number, found in enumerate(_LINE.finditer(text), 1):
        raw = found[0]
        fence, kind = _fenced(fence, raw.strip())
        if not kind:
            indented = raw.startswith(("    ", "\t"))
            may_be_code = indented and not listed and before in ("blank", "code")
            kind = _kind(raw, may_be_code=may_be_code)
            if kind != "blank" and not indented:
                listed = LIST_ITEM.match(raw) is not None
        level = _level(raw) if kind == "heading" else 0
        yield Line(number, found.start(), found.end(), raw, kind, level)
        before = kind


def _fenced(fence: str, body: str) -> tuple[str, Kind | None]:
    """The fence that is open after this line, and the line's kind if it belongs to a fenced block.

    A block ends with its own mark, at least as long as it began (CommonMark 4.5).
    """
    if fence:
        closes = body.startswith(fence) and not body.strip(fence[0])
        return ("", "fence") if closes else (fence, "code")
    opened = _FENCE.match(body)
    return (opened[1] or opened[2], "fence") if opened else ("", None)


def _kind(raw: str, *, may_be_code: bool) -> Kind:
    if not raw.strip():
        return "blank"
    if may_be_code:
        return "code"
    if _level(raw):
        return "heading"
    return "prose" if any(map(str.isalnum, raw)) else "rule"


def _level(raw: str) -> int:
    if found := _HEADING.match(raw):
        return len(found[1])
    return BOLD_LEVEL if _BOLD.fullmatch(raw.strip()) else 0
