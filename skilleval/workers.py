"""Work on many things, a few at once. Owns their order and their end.

An executor of the standard library makes a future for each beforehand: of thousands of trials those
would be more in memory than what comes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from queue import SimpleQueue
    from threading import Event, Thread

T = TypeVar("T")
R = TypeVar("R")


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
    crew = _Crew(work, items, stopped, name)
    try:
        if meanwhile:
            crew.begin(threads // 2)
            meanwhile()
        crew.begin(threads)
        for _ in crew.begun:
            if problem := crew.ends.get():
                raise problem
        return crew.made
    except RuntimeError as error:
        # Ctrl-C while a thread begins may come out as the complaint of `threading` about a lock
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
    finally:
        stopped.set()
        crew.await_end()


class _Crew:
    """The threads that work, what they make, and how each ended: with an exception, or None."""

    def __init__(
        self, work: Callable[[Any], Any], items: Sequence[Any], stopped: Event, name: str
    ) -> None:
        from queue import SimpleQueue
        from threading import Lock

        self.work, self.items, self.stopped, self.name = work, items, stopped, name
        self.made: list[Any] = [None] * len(items)
        self.ends: SimpleQueue[BaseException | None] = SimpleQueue()
        self.places, self.taking = iter(range(len(items))), Lock()
        self.begun: list[Thread] = []
        self.working = 0

    def begin(self, count: int) -> None:
        """So many threads work afterwards, if there are as many items."""
        from threading import Thread

        while len(self.begun) < min(count, len(self.items)):
            # one that Ctrl-C catches half begun may never be: nobody waits for it, here or at exit
            thread = Thread(target=self._take, name=f"{self.name}_{len(self.begun)}", daemon=True)
            thread.start()
            self.begun.append(thread)

    def await_end(self) -> None:
        """Returns once nobody works any more; after `stopped`, nobody begins to."""
        while self._is_working():
            self.ends.get()

    def _is_working(self) -> bool:
        with self.taking:
            return self.working > 0

    def _take(self) -> None:
        with self.taking:
            self.working += 1
        with _Relay(self):
            while (place := self._next()) is not None:
                self.made[place] = self.work(self.items[place])

    def _next(self) -> int | None:
        with self.taking:
            return None if self.stopped.is_set() else next(self.places, None)


class _Relay:
    """Hands over what ends a thread's work: it goes on where the work was asked for."""

    def __init__(self, crew: _Crew) -> None:
        self.crew = crew

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, place: object) -> bool:
        crew = self.crew
        if error:
            crew.stopped.set()
        with crew.taking:
            crew.working -= 1
        crew.ends.put(error)
        return True
