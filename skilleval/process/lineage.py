"""Which living processes belong to a run. Owns how they are found through /proc, and nothing else.

A run marks its child with a token in the environment, a session of its own, and the pipes for its
output; whoever carries one of the three belongs to it. Starting, signalling and reading output are
`process`'s. Where /proc is absent, or speaks of another PID namespace, nothing can be found.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Collection
from typing import Literal, NamedTuple

CHUNK_BYTES = 64 * 1024
# Processes that a brief run started have the pids that follow its own: the others need no look.
BRIEF_PIDS = 8192

Standing = Literal["member", "stranger", "doubtful", "starting"]


class Lineage(NamedTuple):
    """The marks of a run: token, pid of its leader (0: unknown), (device, inode) of its pipes."""

    token: bytes
    leader: int = 0
    pipes: frozenset[tuple[int, int]] = frozenset()


class Look(NamedTuple):
    """The pids that belong to a run, without its leader, and how the processes looked at stand.

    `doubtful` are those that vanished or were dead during the look, and may have left a child that
    it did not see, or have an empty environment. `starting`: some were within execve, where a
    process shows nothing for a moment.
    """

    members: list[int]
    doubtful: frozenset[int] = frozenset()
    starting: bool = False


def readable() -> bool:
    """Whether /proc speaks of the pids that we use."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


def look(lineage: Lineage, brief: bool = False, others: Collection[int] = ()) -> Look:
    """One look at all processes; with `brief`, at those only that are younger than the leader.

    `brief` is right while fewer than 8192 processes can have started since. It saves reading the
    environment of every process of the machine. Our own process is never a member, nor are the
    `others`, leaders of runs beside this one.
    """
    if not readable():
        return Look([])
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if brief and lineage.leader:
        space = _pid_space()
        pids = [pid for pid in pids if (pid - lineage.leader) % space < BRIEF_PIDS]
    ours = {os.getpid(), lineage.leader, *others}
    standings = {pid: _standing(lineage, pid) for pid in pids if pid not in ours}
    members = [pid for pid, standing in standings.items() if standing == "member"]
    doubtful = frozenset(pid for pid, standing in standings.items() if standing == "doubtful")
    return Look(members, doubtful, "starting" in standings.values())


def _standing(lineage: Lineage, pid: int) -> Standing:
    try:
        session = os.getsid(pid)
        if session == 0:  # the kernel's own, or from outside of our container
            return "stranger"
        if session == lineage.leader:
            return "doubtful" if _is_zombie(pid) else "member"
        environ = _read(f"/proc/{pid}/environ")
        if lineage.token in environ or _holds(lineage.pipes, pid):
            return "member"
        if environ or _is_older(lineage, pid):
            return "stranger"
        # The arguments of a new program are there a moment before its environment.
        known = _read(f"/proc/{pid}/cmdline") or _is_zombie(pid)
        return "doubtful" if known else "starting"
    except PermissionError:
        return "stranger"
    except OSError:  # it has vanished, or is dead
        return "stranger" if _is_older(lineage, pid) else "doubtful"


def _is_older(lineage: Lineage, pid: int) -> bool:
    """Whether a process is known to be there for longer than the leader: it cannot be its child."""
    try:
        return bool(lineage.leader) and _start(pid) < _start(lineage.leader)
    except (OSError, IndexError):
        return False


def _holds(pipes: frozenset[tuple[int, int]], pid: int) -> bool:
    """Whether the output of a process goes into one of these pipes."""
    for fd in (1, 2):
        try:
            status = os.stat(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        if (status.st_dev, status.st_ino) in pipes:
            return True
    return False


@functools.cache
def _pid_space() -> int:
    """After this many, pids start again from the low numbers."""
    return int(_read("/proc/sys/kernel/pid_max"))


def _is_zombie(pid: int) -> bool:
    return state_and_start(pid)[0] in ("Z", "X")


def _start(pid: int) -> int:
    return int(state_and_start(pid)[1])


def state_and_start(pid: int) -> tuple[str, str]:
    """The letter of a process's state, and when it began, in ticks since the machine did.

    Raises `OSError` or `IndexError` where /proc does not tell; see proc(5).
    """
    # the name before them may hold anything, also spaces and brackets
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return fields[0].decode(), fields[19].decode()


def _read(path: str) -> bytes:
    """A file of /proc. Raises OSError: such a file can vanish, or be refused, at any moment."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(fd, CHUNK_BYTES), b""))
    finally:
        os.close(fd)
