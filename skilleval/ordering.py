"""The order of names as people count. Owns that one rule."""

from __future__ import annotations

import re


def natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts `iteration-2` before `iteration-10`."""
    parts = re.split(r"([0-9]+)", text)
    return [(int(part) if place % 2 else 0, part) for place, part in enumerate(parts)]
