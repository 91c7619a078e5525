"""One thread works at a time: who waits for a program lets another one work meanwhile.

A trial waits for its agent nearly all the time, so many run at once. Around that lie hundreds of
short system calls, each of which gives up the interpreter's lock: fifty threads that make them at
the same time wait for each other longer than all of them work in turn (measured: 1.8 s of CPU for
100 trials, 0.6 s in turn). Owns whose turn it is, and what is put off until nobody wants one.

A thread that waits for anything but its turn must have given it up: `given_up` is for that.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator

# as many pieces of work are put off at most: what is not removed yet takes room on the disk
PUT_OFF = 100


class _Mine(threading.local):
    """Whether it is this thread's turn."""

    turn = False


class _Turns:
    def __init__(self) -> None:
        lock = threading.Lock()
        self.lock = lock
        self.free, self.calm = threading.Condition(lock), threading.Condition(lock)
        self.mine = _Mine()
        self.taken = False
        self.wanted = 0
        self.put_off: deque[Callable[[], object]] = deque()
        self.busy_with_put_off = False
        self.in_a_hurry = 0

    def take(self) -> None:
        with self.lock:
            self.wanted += 1
            try:
                self.free.wait_for(lambda: not self.taken)
                self.taken = True
            finally:
                self.wanted -= 1
        self.mine.turn = True

    def give_back(self) -> None:
        self.mine.turn = False
        with self.lock:
            self.taken = False
            self.free.notify()
            if not self.wanted:
                self.calm.notify_all()

    def later(self, work: Callable[[], object]) -> None:
        with self.lock:
            others = self.wanted or (self.taken and not self.mine.turn)
            if others and len(self.put_off) < PUT_OFF:
                self.put_off.append(work)
                if not self.busy_with_put_off:
                    self.busy_with_put_off = True
                    atexit.register(self.settle)
                    threading.Thread(target=self._work_off, name="put off", daemon=True).start()
                return
        work()

    def _work_off(self) -> None:
        while True:
            with self.lock:
                self.calm.wait_for(lambda: self.in_a_hurry or not (self.taken or self.wanted))
                if not self.put_off:
                    self.busy_with_put_off = False
                    self.calm.notify_all()
                    return
                work = self.put_off.popleft()
            work()

    def settle(self) -> None:
        with self.lock:
            self.in_a_hurry += 1
            try:
                self.calm.notify_all()
                self.calm.wait_for(lambda: not self.busy_with_put_off)
            finally:
                self.in_a_hurry -= 1


_TURNS = _Turns()


@contextlib.contextmanager
def taken() -> Iterator[None]:
    """Waits for this thread's turn, which lasts as long as the context; it may have it already."""
    if _TURNS.mine.turn:
        yield
        return
    _TURNS.take()
    try:
        yield
    finally:
        _TURNS.give_back()


@contextlib.contextmanager
def given_up() -> Iterator[None]:
    """For a wait: others have their turn meanwhile. A thread that had none gets none."""
    if not _TURNS.mine.turn:
        yield
        return
    _TURNS.give_back()
    try:
        yield
    finally:
        _TURNS.take()


def later(work: Callable[[], object]) -> None:
    """Does what nobody waits for: in a thread of its own once nobody wants a turn, or right now.

    It must not raise, and needs no turn. Work of another process's end is lost with it.
    """
    _TURNS.later(work)


def settle() -> None:
    """Returns once all that was put off is done."""
    _TURNS.settle()
