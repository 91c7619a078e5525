"""What a killed process of ours left on this machine: programs that work on, temporary folders.

A process that ends, however it is told to, leaves nothing behind; one that is killed with SIGKILL,
or with its machine, cannot tidy up. Who comes after it does. Owns the proof that a thing is a dead
one's: a folder of our user's lies directly where temporary folders are made, has a name of ours,
and holds a marker with an owner that is dead; or it has no marker, yet or any more, and its name
carries the tag of such an owner. No link is followed. What was kept on purpose stays.

Does not own: who is dead (`process.owner`), containers (`sandboxes`), run folders, and what runs
left elsewhere (`runfolder.cleaning`).
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from skilleval import process
from skilleval.errors import UsageError
from skilleval.plaintext import counted, one_line
from skilleval.process.owner import Owner, parse
from skilleval.trial import removal, temporary

# how the names of our temporary folders begin; those of sandboxes are seed 000's
PREFIXES = ("skilleval-", "openkata-eval-")
MARKER_LIMIT_BYTES = 1000


class Swept(NamedTuple):
    """What a dead process had left: how much of it is gone, and the paths that could not be."""

    pid: int
    processes: int = 0
    folders: int = 0
    containers: int = 0
    stuck: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What was done, in one line."""
        things = ((self.folders, "folder"), (self.containers, "container"))
        removed = [counted(number, what) for number, what in things if number]
        done = [
            *([f"ended {counted(self.processes, 'process', 'es')}"] if self.processes else []),
            *([f"removed {' and '.join(removed)}"] if removed else []),
        ]
        text = " and ".join(done) or "found things"
        left = f"{text} that a killed run (pid {self.pid}) left"
        stuck = one_line(", ".join(self.stuck))
        return f"{left}; cannot remove {stuck}" if stuck else left


def sweep(environ: Mapping[str, str]) -> tuple[Swept, ...]:
    """Ends and removes what dead processes of ours left; where there is nothing, a look at a list.

    Where there is no /proc, programs are not found, and only folders are removed.
    """
    folders = [folder for root in _roots(environ) for folder in _folders(root)]
    owners = {folder: _owner(folder) for folder in folders}
    dead = {owner for owner in owners.values() if owner and is_over(owner)}
    return tuple(_swept(owner, owners) for owner in sorted(dead))


def _roots(environ: Mapping[str, str]) -> list[str]:
    """Where temporary folders are made: those of trials, and those of sandboxes."""
    found = [os.path.realpath(tempfile.gettempdir())]
    with contextlib.suppress(UsageError):
        found.append(temporary.root_for(environ))
    return list(dict.fromkeys(found))


def _folders(root: str) -> Iterator[str]:
    """The folders in there that may be ours, without those that were kept on purpose."""
    try:
        names = os.listdir(root)
    except OSError:
        return  # then it holds nothing that we could remove
    for name in names:
        if name.startswith(PREFIXES) and not name.startswith(temporary.KEPT):
            path = os.path.join(root, name)
            with contextlib.suppress(OSError):  # others end, and remove theirs, meanwhile
                status = os.lstat(path)
                if stat.S_ISDIR(status.st_mode) and _is_own(status):
                    yield path


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _owner(folder: str) -> Owner | None:
    """The owner that the marker names; without it that of a trial in there whose tag it carries."""
    if owner := _named(folder):
        return owner
    try:
        inner = [each for each in os.listdir(folder) if each.startswith(temporary.TRIAL)]
    except OSError:
        inner = []
    found = filter(None, (_named(os.path.join(folder, each)) for each in sorted(inner)))
    return next((owner for owner in found if _tagged(folder, owner)), None)


def _named(folder: str) -> Owner | None:
    """The owner that its marker names; None without one, or if it is no file of our user's."""
    path = os.path.join(folder, temporary.MARKER)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if not (stat.S_ISREG(status.st_mode) and _is_own(status)):
            return None
        return parse(os.read(handle, MARKER_LIMIT_BYTES).decode("utf-8", "replace"))
    except OSError:
        return None
    finally:
        os.close(handle)


def is_over(owner: Owner) -> bool:
    """Is it dead, and are we not among the programs that it has started ourselves?"""
    return owner.is_dead() and owner.token not in os.environ.get(process.TOKEN_NAME, "")


def _swept(owner: Owner, owners: Mapping[str, Owner | None]) -> Swept:
    """Programs first, for they could write on; then folders, those last that prove whose it is."""
    ended = process.end_all(owner.token)
    marked = [folder for folder, named in owners.items() if named == owner]
    bare = [folder for folder, named in owners.items() if named is None and _tagged(folder, owner)]
    stuck = tuple(
        folder for folder in (*bare, *marked) if not removal.remove(folder, temporary.MARKER)
    )
    return Swept(owner.pid, ended or 0, len(bare) + len(marked) - len(stuck), stuck=stuck)


def _tagged(folder: str, owner: Owner) -> bool:
    return owner.tag in os.path.basename(folder).split("-")
