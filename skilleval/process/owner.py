"""Which process of ours made a thing, and whether that process is dead. Owns its written form.

What outlives a runner that was killed (a folder, a container, an agent) carries the identity of its
owner, so that somebody else can tell that nobody will clean it up any more. Unknown is not dead: an
owner on another machine, in another PID namespace, or on a system that does not tell when a process
was started, may be alive.

Does not own: what is done with what the dead left (`trial.leftovers`, `sandboxes`).
"""

from __future__ import annotations

import os
from typing import NamedTuple

from skilleval.process import lineage

UNKNOWN = "-"
TOKEN_DIGITS = 32
_HIGHEST_PID = 2**31 - 1


class Owner(NamedTuple):
    """A process: its pid, when it started, where both are true, and what all its programs carry.

    `start` is in the kernel's ticks since boot; `machine` is a host and a PID namespace of it;
    `token` is 32 hexadecimal digits.
    """

    pid: int
    start: str
    machine: str
    token: str

    @property
    def text(self) -> str:
        """All of it in one line; `parse` reads it."""
        return f"{self.pid} {self.start} {self.machine} {self.token}"

    @property
    def tag(self) -> str:
        """Eight digits of the token, for the names of what it makes."""
        return self.token[:8]

    def is_dead(self) -> bool:
        """Is it known that this process is not there any more?"""
        # elsewhere `kill` ends a process, whatever the signal
        if os.name != "posix" or self.machine != _machine():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass  # somebody else's: the pid may have been given away again
        state, start = _state_and_start(self.pid)
        return state in ("Z", "X") or (UNKNOWN not in (start, self.start) and start != self.start)


_OURS: dict[int, Owner] = {}


def ours() -> Owner:
    """This process. A fork of it is another owner."""
    pid = os.getpid()
    found = _OURS.get(pid)
    if found is None:
        made = Owner(pid, _state_and_start(pid)[1], _machine(), os.urandom(TOKEN_DIGITS // 2).hex())
        found = _OURS.setdefault(pid, made)  # of many threads, the first one's holds for all
    return found


def parse(text: str) -> Owner | None:
    """The owner that a text is about; None for any other text."""
    words = text.split()
    if len(words) != 4:
        return None
    pid, start, machine, token = words
    if not (pid.isascii() and pid.isdecimal() and 0 < int(pid[:11]) <= _HIGHEST_PID):
        return None
    if len(token) != TOKEN_DIGITS or set(token) - set("0123456789abcdef"):
        return None
    return Owner(int(pid), start, machine, token)


def _machine() -> str:
    """Where a pid means what it means here."""
    host = "".join(os.uname().nodename.split()) if hasattr(os, "uname") else ""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = UNKNOWN
    return f"{host or UNKNOWN}/{space}"


def _state_and_start(pid: int) -> tuple[str, str]:
    """The letter of its state, and its start; both unknown where /proc does not tell."""
    try:
        return lineage.state_and_start(pid) if lineage.readable() else (UNKNOWN, UNKNOWN)
    except (OSError, IndexError):
        return UNKNOWN, UNKNOWN
