"""A git repository read as files: where refs point, with no git process.

Owns which files these are, and reading them safely in a folder that an agent has filled: no link
is followed out of it and no pipe is opened. What only git knows (history, status) is `gitstate`'s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from skilleval.reading import textfile

HEADS = "refs/heads/"
TAGS = "refs/tags/"
_REMOTE_LOGS = "logs/refs/remotes/"
_REMOTE_SECTION = re.compile(r'^\s*\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]', re.MULTILINE)


def is_repository(workspace: str) -> bool:
    """Is `.git` a folder of the workspace itself? A link or a file may lead anywhere."""
    folder = os.path.join(workspace, ".git")
    return os.path.isdir(folder) and not os.path.islink(folder) and not os.path.islink(workspace)


def repository_of(folder: str) -> str:
    """The innermost git repository that holds the folder; empty if none does."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def heads(folder: str) -> dict[str, str]:
    """The branches of the git folder with their ids, sorted."""
    return _refs(folder, HEADS)


def tags(folder: str) -> dict[str, str]:
    """The tags of the git folder with their ids, sorted; an annotated one has an id of its own."""
    return _refs(folder, TAGS)


def _refs(folder: str, below: str) -> dict[str, str]:
    found = {}
    for line in _file(folder, "packed-refs").decode("utf-8", "replace").splitlines():
        sha, _, name = line.partition(" ")
        if name.startswith(below):
            found[name.removeprefix(below)] = sha
    for name, content in _loose(folder, below.rstrip("/")):
        found[name.removeprefix(below)] = content.decode("ascii", "replace").strip()
    return dict(sorted(found.items()))


def head(folder: str) -> str:
    """The content of HEAD: `ref: NAME`, or an id if HEAD is on no branch; empty if unreadable."""
    return _file(folder, "HEAD").decode("utf-8", "replace").strip()


def pushes(folder: str) -> dict[str, list[list[str]]]:
    """What this repository pushed to each branch of a remote, in order: [id before, id after].

    The branches are named as `origin/main`. By the log that git keeps of what it last saw there; a
    fetch is no push. A branch that was not known before has only zeros there.
    """
    found = {}
    for name, content in _loose(folder, _REMOTE_LOGS.rstrip("/")):
        lines = content.decode("utf-8", "replace").split("\n")
        own = [line.split(" ", 2)[:2] for line in lines if line.endswith("\tupdate by push")]
        if own:
            found[name.removeprefix(_REMOTE_LOGS)] = own
    return found


def remote_names(folder: str) -> list[str]:
    """The remotes in the configuration, sorted."""
    text = _file(folder, "config").decode("utf-8", "replace")
    return sorted(set(_REMOTE_SECTION.findall(text)))


def refs_mark(folder: str) -> str:
    """Stands for the content of all files that say where refs point, and the configuration."""
    parts = [_file(folder, name) for name in ("HEAD", "packed-refs", "config")]
    for name, content in _loose(folder, "refs"):
        parts += [os.fsencode(name), content]
    if os.path.isdir(os.path.join(folder, "reftable")):
        parts.append(os.urandom(16))  # refs that we cannot read: never the same
    return _digest(parts)


def index_mark(folder: str) -> str:
    """Stands for the content of the index."""
    return _digest([_file(folder, "index")])


def _digest(parts: list[bytes]) -> str:
    import hashlib

    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _file(folder: str, name: str) -> bytes:
    """The bytes of a file of a git folder; empty if it is not there or leads out of it."""
    try:
        return textfile.read_bytes(os.path.join(folder, name), within=folder)
    except OSError:
        return b""


def _loose(folder: str, below: str) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the ref files below a folder, in order; no link to one is followed."""
    try:
        with os.scandir(os.path.join(folder, below)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = f"{below}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _loose(folder, name)
        elif not name.endswith(".lock"):
            yield name, _file(folder, name)
