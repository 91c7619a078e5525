"""Files that we write: whole or not at all, nouns as JSON. Owns how, and what is said if it fails.

What is written, and where, is for the callers to say. Reading is `reading.textfile`'s.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from json.encoder import encode_basestring_ascii
from typing import Any

from skilleval.errors import SkillevalError
from skilleval.reading import textfile
from skilleval.runfolder import serial

# characters of a document that are in memory at a time, at least one value of it
PIECE = 1 << 16
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class Rows:
    """A list in a document that is made while it is written, an item at a time.

    `make` is called anew each time: a document may be written twice.
    """

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[Any]:
        return iter(self.make())


def write_text(path: str, text: str | Iterable[str]) -> None:
    """Writes a file whole or not at all, making its folders. Raises `OSError`.

    The text may come in pieces, one of which is in memory at a time. What UTF-8 cannot hold (a lone
    surrogate in a model's output) is escaped: nothing is lost by it.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")
    try:
        handle = os.open(temporary, _NEW, 0o666)
    except FileNotFoundError:  # seldom: most files join others
        os.makedirs(folder or os.curdir, exist_ok=True)
        handle = os.open(temporary, _NEW, 0o666)
    with contextlib.ExitStack() as unless_done:
        unless_done.callback(_discard, temporary)
        with _closing(handle):
            for piece in [text] if isinstance(text, str) else text:
                _write(handle, piece.encode("utf-8", "backslashreplace"))
        os.replace(temporary, path)
        unless_done.pop_all()


def create(path: str, content: bytes = b"", mode: int = 0o666) -> None:
    """Makes a file that must not be there, with as few calls as there are. Raises `OSError`."""
    handle = os.open(path, _NEW, mode)
    with _closing(handle):
        _write(handle, content)


@contextlib.contextmanager
def _closing(handle: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(handle)


def _write(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def _discard(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def make_folder(path: str) -> None:
    """Makes a folder, and proves that a file can be made in it. Raises `OSError`."""
    os.makedirs(path, exist_ok=True)
    probe = os.path.join(path, f".{os.urandom(4).hex()}.part")
    create(probe)
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
    return "".join(pieces(value))


def pieces(value: Any) -> Iterator[str]:
    """The same text in pieces of about `PIECE` characters: one is in memory at a time.

    A piece never ends inside of a string or a number: what is to be found in one is found in a
    piece. `Rows` may be a value of an object, which may be an item of other `Rows`.
    """
    held: list[str] = []
    size = 0
    for text in _parts(value, "\n"):
        held.append(text)
        size += len(text)
        if size >= PIECE:
            yield "".join(held)
            held, size = [], 0
    yield "".join([*held, "\n"])


def _parts(value: Any, line: str) -> Iterator[str]:
    """`line` is what starts a line at this depth."""
    inner = f"{line}  "
    if isinstance(value, Rows):
        start = "["
        for item in value:
            yield f"{start}{inner}"
            yield from _parts(item, inner)
            start = ","
        yield "[]" if start == "[" else f"{line}]"
    elif isinstance(value, Mapping) and any(isinstance(each, Rows) for each in value.values()):
        start = "{"
        for key, item in value.items():
            yield f"{start}{inner}{encode_basestring_ascii(str(key))}: "
            yield from _parts(item, inner)
            start = ","
        yield f"{line}}}"
    else:
        yield _indented(serial.to_json(value), line)


def _indented(value: Any, line: str) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    inner = f"{line}  "
    if isinstance(value, dict):
        if not value:
            return "{}"
        rows = [
            f"{encode_basestring_ascii(key)}: {_indented(item, inner)}"
            for key, item in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(rows)}{line}}}"
    if isinstance(value, list):
        if not value:
            return "[]"
        rows = [_indented(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(rows)}{line}]"
    return json.dumps(value, allow_nan=False)
