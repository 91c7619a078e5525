"""Sinks: each turns a report into text. Pure: they write no file and print nothing.

Here is what several of them share: how a user's text is shown, and a number of things.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def quoted(text: str, limit: int = 0) -> str:
    """A user's text on one line between quotes, cut at `limit`; what does not print is escaped."""
    import json

    from skilleval.plaintext import escaped

    if limit and len(text) > limit:
        text = text[: limit - 1] + "…"
    return escaped(json.dumps(text, ensure_ascii=False))


def decimals(value: Any, limit: Any, places: int) -> int:
    """How many decimals show that a value is not its limit: `places`, or as many as it takes."""
    shown, bound = float(value), float(limit)
    while value != limit and places < 12 and f"{shown:.{places}f}" == f"{bound:.{places}f}":
        places += 1
    return places
