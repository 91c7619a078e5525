"""A folder to be copied many times: looked at once, then written with as few calls as there are.

Each system call gives up the interpreter's lock, and many trials start at once: `shutil.copytree`
makes twenty calls for a small file, this makes three. Owns what a copy keeps: names, contents,
modes, links as they are; no times, and nothing that is neither file, folder nor link.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from typing import NamedTuple

from skilleval import writing
from skilleval.process import turns

# of one file, and of all files of a template: contents up to here stay in memory
SMALL_BYTES = 16 * 1024
KEPT_BYTES = 512 * 1024
_EVERYBODY = 0o777


class Entry(NamedTuple):
    """What lies at a path relative to the folder; the `content` of a large file is not kept."""

    path: str
    mode: int
    link: str = ""
    content: bytes | None = None
    size: int = 0


class Template(NamedTuple):
    """What is below a folder, outer ones first; `mode` is its own."""

    folder: str
    mode: int
    folders: tuple[Entry, ...]
    files: tuple[Entry, ...]

    @property
    def is_whole(self) -> bool:
        """Can copies be made without the folder, of what is kept in memory?"""
        return all(entry.link or entry.content is not None for entry in self.files)

    def write(self, target: str) -> None:
        """Makes a copy at `target`, which must not be there. Raises `OSError`."""
        os.mkdir(target)
        masked = _EVERYBODY & ~self.mode  # what a new file or folder does not get by itself
        for entry in self.folders:
            os.mkdir(os.path.join(target, entry.path))
        for entry in self.files:
            place = os.path.join(target, entry.path)
            if entry.link:
                os.symlink(entry.link, place)
                continue
            if entry.content is None:
                with turns.given_up():  # long, and without the interpreter's lock
                    shutil.copyfile(os.path.join(self.folder, entry.path), place)
            else:
                writing.create(place, entry.content, entry.mode)
            if entry.content is None or entry.mode & masked:
                os.chmod(place, entry.mode)
        for entry in reversed(self.folders):
            if entry.mode != self.mode:
                os.chmod(os.path.join(target, entry.path), entry.mode)


def read(folder: str) -> Template:
    """The template of a folder that stays as it is. Raises `OSError`."""
    folders, files, room = [], [], KEPT_BYTES
    for entry in _walk(folder, ""):
        if stat.S_ISDIR(entry.mode):
            folders.append(entry._replace(mode=stat.S_IMODE(entry.mode)))
            continue
        kept = entry._replace(mode=stat.S_IMODE(entry.mode))
        if not entry.link and entry.size <= min(SMALL_BYTES, room):
            with open(os.path.join(folder, entry.path), "rb") as file:
                kept = kept._replace(content=file.read())
            room -= entry.size
        files.append(kept)
    return Template(folder, stat.S_IMODE(os.stat(folder).st_mode), tuple(folders), tuple(files))


def _walk(folder: str, prefix: str) -> Iterator[Entry]:
    """Everything below; a folder comes before what is in it."""
    with os.scandir(os.path.join(folder, prefix)) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for each in entries:
        path = os.path.join(prefix, each.name)
        status = each.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            yield Entry(path, status.st_mode, os.readlink(each.path))
        elif stat.S_ISDIR(status.st_mode):
            yield Entry(path, status.st_mode)
            yield from _walk(folder, path)
        elif stat.S_ISREG(status.st_mode):
            yield Entry(path, status.st_mode, size=status.st_size)
