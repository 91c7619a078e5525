"""Work on many things, a few at once. Owns their order and their end.

An executor of the standard library makes a future for each beforehand: of thousands of trials those
would be more in memory than what comes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from threading import Event

T = TypeVar("T")
R = TypeVar("R")


def at_once(
    work: Callable[[T], R], items: Sequence[T], threads: int, stopped: Event, *, name: str
) -> list[R]:
    """What `work` makes of each item, in their order, whichever ends first.

    `stopped` is set when the last has ended, at the first exception, and when Ctrl-C comes: no
    further item is begun then, those that are have ended on return, and the exception goes on.
    `name` is what the threads are called.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed
    from threading import Lock

    made: list[Any] = [None] * len(items)
    places, taking = iter(range(len(items))), Lock()

    def next_place() -> int | None:
        with taking:
            return None if stopped.is_set() else next(places, None)

    def take() -> None:
        while (place := next_place()) is not None:
            made[place] = work(items[place])

    pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
    try:
        for ended in as_completed([pool.submit(take) for _ in range(min(threads, len(items)))]):
            ended.result()
        return made
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)
