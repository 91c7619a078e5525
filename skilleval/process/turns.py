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
# a calm that does not come is not waited for
CALM_S = 1.0


class _Mine(threading.local):
    """Whether it is this thread's turn, and whether it lets others go first."""

    turn = False
    patient = False


class _Turns:
    def __init__(self) -> None:
        lock = threading.Lock()
        self.lock = lock
        self.free, self.last = threading.Condition(lock), threading.Condition(lock)
        self.calm = threading.Condition(lock)
        self.mine = _Mine()
        self.taken = self.urgent = False
        self.wanted = self.wanted_last = 0
        self.put_off: deque[Callable[[], object]] = deque()
        self.busy_with_put_off = False
        self.in_a_hurry = 0
        self.settled_at_exit = False

    def take(self) -> None:
        with self.lock:
            if self.mine.patient:
                self._take_last()
            else:
                self._take()
            self.taken, self.urgent = True, not self.mine.patient
            if self.put_off and not self.urgent:
                self.calm.notify_all()
        self.mine.turn = True

    def _take(self) -> None:
        self.wanted += 1
        try:
            self.free.wait_for(lambda: not self.taken)
        finally:
            self.wanted -= 1

    def _take_last(self) -> None:
        self.wanted_last += 1
        try:
            self.last.wait_for(lambda: not (self.taken or self.wanted))
        finally:
            self.wanted_last -= 1

    def give_back(self) -> None:
        self.mine.turn = False
        with self.lock:
            self.taken = self.urgent = False
            for wanted, queue in ((self.wanted, self.free), (self.wanted_last, self.last)):
                if wanted:
                    queue.notify()
                    return
            self.calm.notify_all()

    @property
    def _is_wanted(self) -> bool:
        return bool(self.wanted or self.wanted_last)

    def later(self, work: Callable[[], object]) -> None:
        with self.lock:
            others = self._is_wanted or (self.taken and not self.mine.turn)
            if others and len(self.put_off) < PUT_OFF:
                self.put_off.append(work)
                if self.busy_with_put_off or self._is_worked_off():
                    return
                self.put_off.pop()
        work()

    def _is_worked_off(self) -> bool:
        """Begins to work off what was put off, in a thread of its own; is there room for one?"""
        try:
            threading.Thread(target=self._work_off, name="put off", daemon=True).start()
        except RuntimeError:
            return False
        self.busy_with_put_off = True
        if not self.settled_at_exit:
            self.settled_at_exit = True
            atexit.register(self.settle)
        return True

    def _work_off(self) -> None:
        while True:
            with self.lock:
                self.calm.wait_for(lambda: self.in_a_hurry or not (self.urgent or self.wanted))
                if not self.put_off:
                    self.busy_with_put_off = False
                    self.calm.notify_all()
                    return
                work = self.put_off.popleft()
            work()

    def await_calm(self) -> None:
        with self.lock:
            self.calm.wait_for(lambda: not (self.taken or self._is_wanted), CALM_S)

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


def be_patient(patient: bool) -> None:
    """Says whether what this thread does can wait: it has its turns when nobody else wants one."""
    _TURNS.mine.patient = patient


def await_calm() -> None:
    """Returns once nobody has a turn or wants one: right now, or after `CALM_S` at the latest."""
    _TURNS.await_calm()


def later(work: Callable[[], object]) -> None:
    """Does what nobody waits for: right now, or in a thread of its own once nobody is in a hurry.

    It must not raise, and needs no turn. Work of another process's end is lost with it.
    """
    _TURNS.later(work)


def settle() -> None:
    """Returns once all that was put off is done."""
    _TURNS.settle()
