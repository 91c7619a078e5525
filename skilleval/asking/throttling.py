"""Asking a throttled model again (seed 000, "Direct scenarios"). Owns when, how often, and waiting.

It knows a throttled call by the words of its error, as a program's output has no status code.
Where there is one, `retry` decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from skilleval.errors import ModelError

Reply = TypeVar("Reply")
# the seconds after each failure; the seed counts the last wait too, after which nobody asks
WAITS_S = (1, 2, 4)
_THROTTLED = re.compile(
    r"\b429\b|throttl|rate[ _-]?limit|too[ _-]?many[ _-]?requests|rate exceeded", re.IGNORECASE
)


class Throttled(ModelError):
    """The model was throttled at every attempt. `attempts` says how many there were."""

    def __init__(self, message: str, attempts: int) -> None:
        super().__init__(f"throttled after {attempts} attempts: {message}")
        self.attempts = attempts


def is_throttled(message: str) -> bool:
    """Does an error text speak of too many requests?"""
    return _THROTTLED.search(message) is not None


def persist(ask: Callable[[], Reply], sleep: Callable[[float], object]) -> tuple[Reply, int]:
    """The reply and the number of attempts, at most three. Any other error is raised at once.

    Raises `Throttled` when the last attempt was throttled too.
    """
    last = ""
    for attempt, wait_s in enumerate(WAITS_S, 1):
        try:
            return ask(), attempt
        except ModelError as error:
            if not is_throttled(str(error)):
                raise
            last = str(error)
        sleep(wait_s)
    raise Throttled(last, len(WAITS_S))
