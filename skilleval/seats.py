"""Seats for agents: so many of them work at once, and who has one goes before who has none.

A trial without a seat gets ready for its own while others work, and waits for it when it is. Owns
who waits, not what a seat is for: an agent's work, without what is made before it and found out
after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from threading import Semaphore

from skilleval.errors import NotStarted
from skilleval.process import turns


class Seat:
    """One of the `free` seats, for one trial and the thread that runs it.

    `begin` is called when the trial has its seat, which may be long before its agent starts. What
    it raises goes on; the seat has to be given back then, too. Once the run has `ended`, no trial
    begins and no agent starts: `NotStarted` is raised.
    """

    def __init__(
        self, free: Semaphore, begin: Callable[[], None], ended: Callable[[], bool]
    ) -> None:
        self.free, self.begin, self.ended = free, begin, ended
        self.taken = self.begun = False
        turns.be_patient(True)

    def take(self, *, wait: bool = True) -> None:
        """Takes the seat, unless that is done; without `wait` only if there is one."""
        if self.taken or not self.free.acquire(blocking=wait):
            return
        self.taken = True
        turns.be_patient(False)
        self.be_begun()

    def be_begun(self) -> None:
        """For a trial that came to its end without a seat, as its agent could not start."""
        self._check()
        if not self.begun:
            self.begun = True
            self.begin()

    def _check(self) -> None:
        if self.ended():
            raise NotStarted("the run was ended")

    def give_back(self) -> None:
        if self.taken:
            self.taken = False
            turns.be_patient(True)
            self.free.release()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While the agent works. The thread must not wait for its turn meanwhile."""
        with turns.given_up():
            self.take()
        self._check()
        try:
            yield
        finally:
            with turns.given_up():
                self.give_back()
