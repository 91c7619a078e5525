"""What goes to the terminal. Owns stdout and stderr: encoding, closed pipes, nothing else.

Results go to stdout, everything else to stderr. A reader that stops reading (`| head -1`) is no
error: what is left is dropped, and the exit code keeps its meaning.
"""

from __future__ import annotations

import os
import sys


def prepare() -> None:
    """Makes both streams able to write any text: what the encoding lacks is escaped, not fatal."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def colours() -> bool:
    """Is stdout a terminal without NO_COLOR, or does FORCE_COLOR say so?"""
    if os.environ.get("NO_COLOR"):
        return False
    return sys.stdout.isatty() or os.environ.get("FORCE_COLOR", "0") not in ("", "0")


def write(text: str) -> None:
    """Writes a result, and a newline, to stdout."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # the interpreter flushes stdout once more when it ends: let that go nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Writes a message that is not a result to stderr."""
    try:
        sys.stderr.write(text + "\n")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
