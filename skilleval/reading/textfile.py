"""Reading the text files of users and agents. Owns safe opening, links and decoding.

The fixtures' rule for text (seed 001, spec/fixtures section 2): UTF-8 with errors replaced, a byte
order mark dropped, CRLF read as LF, and nothing else normalised.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from skilleval.errors import SuiteError

LIMIT_BYTES = 64 * 1024 * 1024
# O_NONBLOCK: opening a named pipe must not wait for a writer
SAFE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def read_bytes(path: str, *, within: str = "", limit: int = LIMIT_BYTES) -> bytes:
    """The bytes of a regular file. Raises `OSError` for anything else, or over `limit` bytes.

    With `within`, a symbolic link at `path` is followed only to a place inside that folder.
    """
    try:
        descriptor = os.open(path, SAFE_FLAGS | (NOFOLLOW if within else 0))
    except OSError as error:
        if not within or error.errno != errno.ELOOP:
            raise
        descriptor = os.open(_inside(path, within), SAFE_FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise OSError(errno.EINVAL, f"is {kind}", path)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"is larger than {limit // 1_000_000} MB", path)
        data = os.read(descriptor, status.st_size + 1)
        if len(data) != status.st_size:
            # it shrinks or grows while we read: take what is there, within the limit
            while len(data) <= limit and (more := os.read(descriptor, 1 << 20)):
                data += more
        return data
    finally:
        os.close(descriptor)


def _inside(path: str, folder: str) -> str:
    target, root = os.path.realpath(path), os.path.realpath(folder)
    if not contains_path(root, target):
        raise OSError(errno.ELOOP, f"is a symbolic link that leaves {folder}", path)
    return target


def contains_path(root: str, target: str) -> bool:
    """Is `target` `root` itself or below it? Both must be real, absolute paths."""
    return target == root or target.startswith(root.rstrip(os.sep) + os.sep)


def links_below(folder: str) -> Iterator[str]:
    """Every symbolic link below a folder; none of them is followed."""
    for place, folders, names in os.walk(folder):
        paths = (os.path.join(place, name) for name in (*folders, *names))
        yield from (path for path in paths if os.path.islink(path))


def decode(data: bytes) -> str:
    """Text from bytes by the rule above. Never raises."""
    text = data.decode("utf-8", "replace")
    if text.startswith("\ufeff"):
        text = text[1:]
    return text.replace("\r\n", "\n") if "\r" in text else text


def read_strict(path: str) -> str:
    """The text of a file that has to be UTF-8. Raises `SuiteError` if it is not, or not there."""
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        raise SuiteError(path, "", "no such file") from None
    except OSError as error:
        raise SuiteError(path, "", f"cannot be read: {reason(error)}") from None
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SuiteError(path, str(line), "is not UTF-8; save the file as UTF-8") from None


def reason(error: OSError) -> str:
    """The reason of an `OSError` without its number and path, for a message that has the path."""
    return error.strerror or str(error)


def read_text(path: str) -> str:
    """The decoded text of a file. Raises `OSError`."""
    return decode(read_bytes(path))
