"""Waits for a child and takes in its output meanwhile. Owns how much of the output stays in memory.

Nobody here waits for the end of a pipe: a process that goes on holding one delays nothing. Does
not own: starting and ending processes (`process`), or deadlines: a wait is as long as it is told.
"""

from __future__ import annotations

import codecs
import math
import os
import re
import time
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading

CHUNK_BYTES = 64 * 1024
# Enough for the largest pipe; an escaped process that goes on writing is not ours to wait for.
LAST_READS = 32
LAST_WAIT_S = 0.3
POLL_S = 0.01
# the line in place of what was cut
CUT = re.compile(r"\[\.\.\. (\d+) bytes cut \.\.\.\]")
_SEAM = re.compile(r"\n\[\.\.\. \d+ bytes cut \.\.\.\]\n")


def pieces(text: str) -> list[str]:
    """What was kept of a text of `Capture.text`: what is around the cut, or all if there is none.

    For texts that are known to be cut: a program may have printed such a line itself.
    """
    return _SEAM.split(text)


class Capture:
    """The head (80 %) and the tail of one stream, in bounded memory, and how long it was."""

    def __init__(self, limit_bytes: int) -> None:
        self.head, self.head_limit = bytearray(), limit_bytes * 4 // 5
        self.tail, self.tail_limit = bytearray(), limit_bytes - limit_bytes * 4 // 5
        self.total = 0

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self.head_limit - len(self.head)
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > 2 * self.tail_limit:
            self._trim()

    def _trim(self) -> None:
        del self.tail[: max(0, len(self.tail) - self.tail_limit)]

    def text(self) -> tuple[str, int]:
        """The text as UTF-8, bad bytes replaced, with a line in place of what was cut; bytes cut.

        The cuts are ours, so a character that they went through is cut whole, not replaced.
        """
        self._trim()
        cut = self.total - len(self.head) - len(self.tail)
        if not cut:
            return (self.head + self.tail).decode("utf-8", "replace"), 0
        head, used = codecs.utf_8_decode(self.head, "replace", False)
        start = 0
        while start < min(3, len(self.tail)) and self.tail[start] & 0xC0 == 0x80:
            start += 1
        cut += len(self.head) - used + start
        tail = self.tail[start:].decode("utf-8", "replace")
        return f"{head}\n[... {cut} bytes cut ...]\n{tail}", cut


class Child(Protocol):
    """What is needed of a started program; its pipes are unbuffered."""

    @property
    def pid(self) -> int: ...
    @property
    def stdout(self) -> IO[bytes] | None: ...
    @property
    def stderr(self) -> IO[bytes] | None: ...
    def poll(self) -> int | None: ...


class Watch(Protocol):
    """How a platform waits for a child and reads its output at the same time."""

    def wait(self, seconds: float) -> bool:
        """Take in output for at most `seconds`; say whether the child has ended."""

    def close(self) -> None:
        """Take in what is left, without waiting for more, and let go of the pipes."""


def watch(child: Child, stdout: Capture, stderr: Capture) -> Watch:
    """Watch over a child: exactly and without a thread where the platform has pidfds (Linux)."""
    assert child.stdout
    assert child.stderr
    pairs = ((child.stdout, stdout), (child.stderr, stderr))
    try:
        return _PidfdWatch(child, pairs)
    except (AttributeError, OSError):
        return _ThreadWatch(child, pairs)


class _PidfdWatch:
    """One poll over child and pipes. The child stays unreaped, so its pid stays its own."""

    def __init__(self, child: Child, pairs: Sequence[tuple[IO[bytes], Capture]]) -> None:
        import select

        self.pidfd = os.pidfd_open(child.pid)
        self.streams = [stream for stream, _ in pairs]
        self.captures = {stream.fileno(): capture for stream, capture in pairs}
        self.poll = select.poll()
        for fd in (self.pidfd, *self.captures):
            self.poll.register(fd, select.POLLIN)

    def wait(self, seconds: float) -> bool:
        ready = [fd for fd, _ in self.poll.poll(math.ceil(seconds * 1000))]
        for fd in ready:
            if fd != self.pidfd:
                self._read(fd)
        return self.pidfd in ready

    def _read(self, fd: int) -> None:
        chunk = os.read(fd, CHUNK_BYTES)
        if chunk:
            self.captures[fd].add(chunk)
        else:
            self.poll.unregister(fd)

    def close(self) -> None:
        self.poll.unregister(self.pidfd)
        os.close(self.pidfd)
        for _ in range(LAST_READS):
            ready = self.poll.poll(0)
            if not ready:
                break
            for fd, _event in ready:
                self._read(fd)
        for stream in self.streams:
            stream.close()


class _ThreadWatch:
    """A thread for each pipe. The child is reaped as soon as it is seen to have ended."""

    def __init__(self, child: Child, pairs: Sequence[tuple[IO[bytes], Capture]]) -> None:
        import threading

        self.child = child
        self.threads: list[threading.Thread] = []
        for pair in pairs:
            self.threads.append(threading.Thread(target=self._pump, args=pair, daemon=True))
            self.threads[-1].start()

    @staticmethod
    def _pump(stream: IO[bytes], capture: Capture) -> None:
        with stream:
            while chunk := stream.read(CHUNK_BYTES):
                capture.add(chunk)

    def wait(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.child.poll() is None:
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, POLL_S))
        return True

    def close(self) -> None:
        until = time.monotonic() + LAST_WAIT_S
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))
