"""Sinks: each turns a report into text. Pure: they write no file and print nothing.

Here is what several of them share: how a user's text is shown.
"""


def quoted(text: str, limit: int = 0) -> str:
    """A user's text on one line between quotes, cut at `limit`; what does not print is escaped."""
    import json

    if limit and len(text) > limit:
        text = text[: limit - 1] + "…"
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
