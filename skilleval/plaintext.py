"""Text of others as it may be shown. Owns what a terminal obeys, what is put in its place, and
how things are counted in a sentence.

Agents, judges and servers write it: it must not colour, clear or retitle a terminal, and it must
not begin a line of our own. Which texts are secret is `redaction`'s; each sink escapes for its own
markup.
"""

from __future__ import annotations

import re

# cursor and colour sequences, titles and links, any other escape
_SEQUENCE = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]"


def counted(count: int, noun: str, plural: str = "s") -> str:
    """1 case, 2 cases; `plural` is what several have at their end."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}{plural}"


def every(count: int, noun: str) -> str:
    """All of them: the only trial, all 2 trials."""
    return f"the only {noun}" if count == 1 else f"all {counted(count, noun)}"


def without_sequences(text: str) -> str:
    """The text without colours and other control sequences of a terminal."""
    return re.sub(_SEQUENCE, "", text) if "\x1b" in text else text


def one_line(text: str) -> str:
    """Printable characters and single spaces only: safe in a terminal, a log and a table."""
    shown = without_sequences(text)
    return " ".join("".join(c if c.isprintable() else " " for c in shown).split())


def escaped(text: str) -> str:
    """The text with all that does not print, line breaks too, as `\\x00`: nothing of it is lost."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
