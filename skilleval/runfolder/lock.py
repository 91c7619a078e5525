"""Who writes a run folder: one process at a time. Owns the file that says who it is.

The lock is the kernel's, on an open file. It ends with the process that holds it, however that
ends, so a dead one is never in the way; programs that the process starts do not hold it. Where the
kernel has none (Windows, some network file systems), and where the file cannot be made, nothing is
locked: what cannot be written is told by who writes it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from skilleval.errors import UsageError

NAME = ".lock"


@contextlib.contextmanager
def held(folder: str) -> Iterator[None]:
    """Keeps all others from writing the folder meanwhile; the lock's file is gone afterwards.

    Raises `UsageError` that names the process, if another one is at it.
    """
    path = os.path.join(folder, NAME)
    handle = _locked(path)
    try:
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                os.unlink(path)
            os.close(handle)


def _locked(path: str) -> int | None:
    """The open file that is the lock, None where there are no locks. Raises `UsageError`."""
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.read(handle, 20).decode("ascii", "replace").strip()
            os.close(handle)
            raise UsageError(_refusal(os.path.dirname(path), pid)) from None
        except OSError:
            os.close(handle)
            return None
        if _is_at(handle, path):
            break
        os.close(handle)  # whoever held it has removed it in the meantime
    with contextlib.suppress(OSError):  # a full disk: then nobody can be named
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def _is_at(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def _refusal(folder: str, pid: str) -> str:
    if not pid.isdecimal():
        return f"{folder} is being written by another process; wait for its end"
    return (
        f"{folder} is being written by process {pid}, which is still alive; wait for its end, or"
        f" end it (kill {pid})"
    )
