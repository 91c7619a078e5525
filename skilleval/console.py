"""What goes to the terminal. Owns stdout and stderr: encoding, closed pipes, nothing else.

Results go to stdout, everything else to stderr. A reader that stops reading (`| head -1`), or a
stream that was closed before we started (`>&-`), is no error: what is left is dropped, and the exit
code keeps its meaning. A full disk is one: a result that is cut must not look whole.
"""

from __future__ import annotations

import os
import sys

from skilleval.errors import SkillevalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO


def prepare() -> None:
    """Makes both streams able to write any text: what the encoding lacks is escaped, not fatal."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def colours() -> bool:
    """Is stdout a terminal without NO_COLOR, or does FORCE_COLOR say so?"""
    if os.environ.get("NO_COLOR"):
        return False
    if sys.stdout is not None and sys.stdout.isatty():
        return True
    return os.environ.get("FORCE_COLOR", "0") not in ("", "0")


def is_file() -> bool:
    """Does stdout lead to a file, so that nothing else reads what is written there?"""
    import stat

    try:
        return sys.stdout is not None and stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # no real stream, or a closed one
        return False


def write(text: str | Iterable[str]) -> None:
    """Writes a result, and a newline if it ends in none, to stdout; it may come in pieces.

    Raises `SkillevalError` if it does not fit.
    """
    if sys.stdout is None:  # closed from the start
        return
    try:
        last = ""
        for piece in [text] if isinstance(text, str) else text:
            sys.stdout.write(piece)
            last = piece or last
        if not last.endswith("\n"):
            sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
    except OSError as error:
        _drop(sys.stdout)
        raise SkillevalError(f"stdout cannot be written: {error.strerror}") from None


def note(text: str) -> None:
    """Writes a message that is not a result to stderr; where that cannot be, it is lost."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text + "\n")
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    # the interpreter flushes once more when it ends: let that go nowhere
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
