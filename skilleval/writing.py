"""Files that we write: whole or not at all, nouns as JSON. Owns how, and what is said if it fails.

What is written, and where, is for the callers to say. Reading is `reading.textfile`'s.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from json.encoder import encode_basestring_ascii
from typing import Any

from skilleval.errors import SkillevalError
from skilleval.reading import textfile
from skilleval.runfolder import serial


def write_text(path: str, text: str) -> None:
    """Writes a file whole or not at all, making its folders. Raises `OSError`.

    What UTF-8 cannot hold (a lone surrogate in a model's output) is escaped: nothing is lost by it.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o666)
    except FileNotFoundError:  # seldom: most files join others
        os.makedirs(folder or os.curdir, exist_ok=True)
        handle = os.open(temporary, flags, 0o666)
    with contextlib.ExitStack() as unless_done:
        unless_done.callback(_discard, temporary)
        fill(handle, text.encode("utf-8", "backslashreplace"))
        os.replace(temporary, path)
        unless_done.pop_all()


def fill(handle: int, content: bytes) -> None:
    """Writes all of it to an open file, and closes that. Raises `OSError`."""
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)


def _discard(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def make_folder(path: str) -> None:
    """Makes a folder, and proves that a file can be made in it. Raises `OSError`."""
    os.makedirs(path, exist_ok=True)
    probe = os.path.join(path, f".{os.urandom(4).hex()}.part")
    os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    os.unlink(probe)


@contextlib.contextmanager
def guarded(place: str) -> Iterator[None]:
    """For a command: an `OSError` of what it writes is told as one sentence, with exit code 3."""
    try:
        yield
    except OSError as error:
        raise SkillevalError(f"{place}: cannot be written: {textfile.reason(error)}") from None


def as_json(value: Any) -> str:
    """A noun or plain value as JSON, two-space indented. Raises `ValueError` for NaN.

    (The encoder of `json` leaves a cycle of functions behind for each indented text, a few KiB that
    stay until the collector looks at everything: a run of thousands of trials would grow.)
    """
    return _indented(serial.to_json(value), "\n") + "\n"


def _indented(value: Any, line: str) -> str:
    """`line` is what starts a line at this depth."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    inner = f"{line}  "
    if isinstance(value, dict) and value:
        rows = [
            f"{encode_basestring_ascii(key)}: {_indented(item, inner)}"
            for key, item in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(rows)}{line}}}"
    if isinstance(value, list) and value:
        rows = [_indented(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(rows)}{line}]"
    return json.dumps(value, allow_nan=False)
