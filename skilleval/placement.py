"""Where a file system is to look for room. Owns the hint, which changes nothing that can be read.

Where files were removed a moment ago, an ext4 without a journal, as small virtual machines have it,
looks at each of them before it makes a new one near by: measured, 250 microseconds for a file
instead of 9. What has nothing to do with each other may lie anywhere (chattr(1), the attribute T).
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys

_TOP_OF_HIERARCHIES = 0x00020000
_FLAGS = struct.Struct("@l")
# FS_IOC_GETFLAGS and FS_IOC_SETFLAGS (ioctl_iflags(2))
_GET = 2 << 30 | _FLAGS.size << 16 | ord("f") << 8 | 1
_SET = 1 << 30 | _FLAGS.size << 16 | ord("f") << 8 | 2


def spread(folder: str) -> None:
    """Says that the folders made in this one have nothing to do with each other.

    Nothing happens where there is no such hint, or it is not ours to give.
    """
    if not sys.platform.startswith("linux"):
        return
    import fcntl

    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            (flags,) = _FLAGS.unpack(fcntl.ioctl(handle, _GET, _FLAGS.pack(0)))
            fcntl.ioctl(handle, _SET, _FLAGS.pack(flags | _TOP_OF_HIERARCHIES))
        finally:
            os.close(handle)
