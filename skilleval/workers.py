"""Work on many things, a few at once. Owns their order and their end.

An executor of the standard library makes a future for each beforehand: of thousands of trials those
would be more in memory than what comes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from queue import SimpleQueue
    from threading import Event

T = TypeVar("T")
R = TypeVar("R")


class _Relay:
    """Tells how a thread's work ends: its exception goes on where the work was asked for."""

    def __init__(self, ends: SimpleQueue[BaseException | None], stopped: Event) -> None:
        self.ends, self.stopped = ends, stopped

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, place: object) -> bool:
        if error:
            self.stopped.set()
        self.ends.put(error)
        return True


def at_once(
    work: Callable[[T], R],
    items: Sequence[T],
    threads: int,
    stopped: Event,
    *,
    name: str,
    meanwhile: Callable[[], object] | None = None,
) -> list[R]:
    """What `work` makes of each item, in their order, whichever ends first.

    `stopped` is set when the last has ended, at the first exception, and when Ctrl-C comes: no
    further item is begun then, those that are have ended on return, and the exception goes on.
    `name` is what the threads are called. With `meanwhile`, the second half of them begins when
    that returns.
    """
    from queue import SimpleQueue
    from threading import Lock, Thread

    made: list[Any] = [None] * len(items)
    places, taking = iter(range(len(items))), Lock()
    ends: SimpleQueue[BaseException | None] = SimpleQueue()
    begun: list[Thread] = []

    def next_place() -> int | None:
        with taking:
            return None if stopped.is_set() else next(places, None)

    def take() -> None:
        with _Relay(ends, stopped):
            while (place := next_place()) is not None:
                made[place] = work(items[place])

    def begin(count: int) -> None:
        while len(begun) < min(count, len(items)):
            begun.append(Thread(target=take, name=f"{name}_{len(begun)}"))
            begun[-1].start()

    try:
        if meanwhile:
            begin(threads // 2)
            meanwhile()
        begin(threads)
        for _ in begun:
            if problem := ends.get():
                raise problem
        return made
    finally:
        stopped.set()
        for thread in begun:
            thread.join()
