"""Sinks: each turns a report into text. Pure: they write no file and print nothing.

Here is what several of them share: how a user's text is shown, and a number of things.
"""


def quoted(text: str, limit: int = 0) -> str:
    """A user's text on one line between quotes, cut at `limit`; what does not print is escaped."""
    import json

    from skilleval.plaintext import escaped

    if limit and len(text) > limit:
        text = text[: limit - 1] + "…"
    return escaped(json.dumps(text, ensure_ascii=False))


def counted(count: int, noun: str) -> str:
    """1 case, 2 cases."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
