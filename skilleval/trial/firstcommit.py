"""The repository of a new workspace, with all of its files in one commit, written without git.

It is what `git init`, `git add --all` and `git commit` make of plain files, in half as many files
of its own: one pack, no log yet. New files and processes are what takes time where hundreds of
trials begin. Owns the formats (gitformat-pack(5), gitformat-index(5)) and when they will do: what
has a say in how git adds files, such as a `.gitignore`, is left to git.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from skilleval import writing
from skilleval.trial import gitstate, template
from skilleval.trial.template import Entry

# git need not hold its objects in memory
LARGEST_BYTES = 4 * 1024 * 1024
BRANCH = "main"
# how names begin that may mean something to git
_OF_GIT = (".git", "git~")
_CONFIGURATION = (
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
    "\tlogallrefupdates = true\n"
)
_COMMIT, _TREE, _BLOB = (1, b"commit"), (2, b"tree"), (3, b"blob")
_FILE, _PROGRAM, _LINK, _FOLDER = 0o100644, 0o100755, 0o120000, 0o40000
# of a file in the index: six words of its times and place, which git finds out itself; mode, owner
# and group, size, id, and the length of the name
_TRACKED = struct.Struct(">24x I 8x I 20s H")
_LONGEST_NAME = 0xFFF

Tree = dict[bytes, Any]  # of a name: (mode, size, id) of a file, or another tree


class _Objects:
    """Git objects by their id, as they are in a pack."""

    def __init__(self) -> None:
        self.packed: dict[bytes, bytes] = {}

    def add(self, kind: tuple[int, bytes], content: bytes) -> bytes:
        """The id of an object, 20 bytes."""
        number, name = kind
        digest = _sha1(b"%s %d\0%s" % (name, len(content), content))
        if digest not in self.packed:
            self.packed[digest] = _header(number, len(content)) + zlib.compress(content, 1)
        return digest

    def add_tree(self, tree: Tree) -> bytes:
        rows = {}
        for name, inner in tree.items():
            is_tree = isinstance(inner, dict)
            mode, _, digest = (_FOLDER, 0, self.add_tree(inner)) if is_tree else inner
            rows[name + b"/" * is_tree] = b"%o %s\0%s" % (mode, name, digest)
        return self.add(_TREE, b"".join(rows[name] for name in sorted(rows)))


def make(workspace: str, subject: str, hidden: Sequence[str]) -> bool:
    """Makes `workspace/.git`, all files committed but those in and below the `hidden` paths.

    False if only git can do that, nothing is made then. Raises `OSError`.
    """
    found = template.read(workspace)
    names = (os.path.basename(entry.path).lower() for entry in (*found.folders, *found.files))
    whole = sum(entry.size for entry in found.files)
    # elsewhere git finds out first what the disk can: cases, links, bits
    usual = sys.platform.startswith("linux") and whole <= LARGEST_BYTES
    if not usual or any(name.startswith(_OF_GIT) for name in names):
        return False
    objects, files = _Objects(), {}
    for entry in found.files:
        if gitstate.within(entry.path, hidden):
            continue
        content = _content(workspace, entry)
        kind = _LINK if entry.link else _PROGRAM if entry.mode & stat.S_IXUSR else _FILE
        files[os.fsencode(entry.path)] = (kind, len(content), objects.add(_BLOB, content))
    who = "{} <{}> {} {}".format(*gitstate.IDENTITY, int(time.time()), time.strftime("%z"))
    tree = objects.add_tree(_tree(files)).hex()
    text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{subject}\n"
    commit = objects.add(_COMMIT, text.encode()).hex()
    _write(os.path.join(workspace, ".git"), commit, _index(files), objects.packed)
    return True


def _content(workspace: str, entry: Entry) -> bytes:
    if entry.link:
        return os.fsencode(entry.link)
    if entry.content is not None:
        return entry.content
    with open(os.path.join(workspace, entry.path), "rb") as file:
        return file.read()


def _tree(files: Mapping[bytes, object]) -> Tree:
    root: Tree = {}
    for path, file in files.items():
        *folders, name = path.split(b"/")
        tree = root
        for folder in folders:
            tree = tree.setdefault(folder, {})
        tree[name] = file
    return root


def _write(folder: str, commit: str, index: bytes, objects: Mapping[bytes, bytes]) -> None:
    pack, index_of_pack = _pack(objects)
    name = f"objects/pack/pack-{pack[-20:].hex()}"
    refs = f"# pack-refs with: peeled fully-peeled sorted \n{commit} refs/heads/{BRANCH}\n"
    for each in ("", "objects", "objects/pack", "refs"):
        os.mkdir(os.path.join(folder, each))
    for path, content, mode in (
        ("HEAD", f"ref: refs/heads/{BRANCH}\n".encode(), 0o666),
        ("config", _CONFIGURATION.encode(), 0o666),
        ("index", index, 0o666),
        ("packed-refs", refs.encode(), 0o666),
        (f"{name}.pack", pack, 0o444),
        (f"{name}.idx", index_of_pack, 0o444),
    ):
        writing.create(os.path.join(folder, path), content, mode)


def _header(number: int, size: int) -> bytes:
    """Before an object in a pack: its type, and its size in groups of 4, 7, 7, … bits."""
    first, size = number << 4 | size & 0xF, size >> 4
    groups = [first]
    while size:
        groups[-1] |= 0x80
        groups.append(size & 0x7F)
        size >>= 7
    return bytes(groups)


def _pack(objects: Mapping[bytes, bytes]) -> tuple[bytes, bytes]:
    """A pack, and the index of it, of version 2 both."""
    ids = sorted(objects)
    head = struct.pack(">4sII", b"PACK", 2, len(ids))
    pack = _signed([head, *(objects[each] for each in ids)])
    offsets = accumulate((len(objects[each]) for each in ids[:-1]), initial=len(head))
    firsts = Counter(each[0] for each in ids)
    counts = accumulate(firsts[byte] for byte in range(256))
    parts = [
        b"\xfftOc\0\0\0\x02",
        *(count.to_bytes(4, "big") for count in counts),
        *ids,
        *(zlib.crc32(objects[each]).to_bytes(4, "big") for each in ids),
        *(offset.to_bytes(4, "big") for offset in offsets),
        pack[-20:],
    ]
    return pack, _signed(parts)


def _index(files: Mapping[bytes, tuple[int, int, bytes]]) -> bytes:
    """The index of a working tree that holds these files, by path: (mode, size, id)."""
    parts = [struct.pack(">4sII", b"DIRC", 2, len(files))]
    for path in sorted(files):
        row = _TRACKED.pack(*files[path], min(len(path), _LONGEST_NAME)) + path
        parts.append(row + b"\0" * (8 - len(row) % 8))
    return _signed(parts)


def _signed(parts: Iterable[bytes]) -> bytes:
    """All of it, and the SHA-1 of it, which also ends each of these files."""
    content = b"".join(parts)
    return content + _sha1(content)


def _sha1(content: bytes) -> bytes:
    return hashlib.sha1(content, usedforsecurity=False).digest()
