"""The end of a folder that an agent has had: whatever it did to it, it goes.

Owns folders without permissions, thousands of levels deep, and links in their place, which are left
alone: what they lead to is not ours. Whose folder it is, the callers know.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat


def remove(folder: str, last: str = "") -> bool:
    """Removes a folder with all that is in it; says if it is gone.

    The file `last` in it, which tells whose it is, is there as long as anything else is.
    """
    if os.path.islink(folder):
        return False
    _try(folder, last)
    if os.path.lexists(folder):
        _level(folder, last)
    return not os.path.lexists(folder)


def _try(folder: str, last: str) -> None:
    """As nearly all go: nothing was done to them."""
    with contextlib.suppress(OSError, RecursionError):  # it is nested deeper than calls may be
        if last:
            with os.scandir(folder) as entries:
                inner = [each for each in entries if each.name != last]
            for each in inner:
                if each.is_dir(follow_symlinks=False):
                    shutil.rmtree(each.path)
                else:
                    os.unlink(each.path)
        shutil.rmtree(folder)


def _level(folder: str, last: str) -> None:
    """Each folder is moved to the top before it is looked at: no path is long, no call deep."""
    _usable(folder)
    waiting, number = [folder], 0
    while waiting:
        place = waiting.pop()
        with contextlib.suppress(OSError):
            with os.scandir(place) as entries:
                inner = list(entries)
            for each in inner:
                if not each.is_dir(follow_symlinks=False):
                    if place != folder or each.name != last:
                        os.unlink(each.path)
                    continue
                _usable(each.path)
                moved = each.path
                if place != folder:
                    number += 1
                    moved = os.path.join(folder, f".{number}.{os.urandom(4).hex()}")
                    os.rename(each.path, moved)
                waiting.append(moved)
            if place != folder:
                os.rmdir(place)
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)


def _usable(folder: str) -> None:
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
