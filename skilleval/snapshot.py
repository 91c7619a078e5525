"""What a folder holds, what changed in it between two looks, and that change as text for a judge.

A snapshot is safe to take of a folder that an untrusted agent has filled: no link is followed, no
pipe or device is opened, and how much is kept is bounded. What is left out is said, never silent.
Empty folders, modes and times are no part of it. Of a `.git/` folder only what tells of commits is:
HEAD and its log, refs, packed-refs and COMMIT_EDITMSG.

Does not own: how a folder comes here (sandboxes), or what a change is worth (graders). It assumes
that nothing writes into the folder meanwhile. (Seed 000; spec/scenarios section 10.)
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from skilleval.model import Delta, File, FileChange
from skilleval.reading import textfile

# of one file in a snapshot; of all files in a snapshot; of everything in a description
FILE_LIMIT_BYTES = 64 * 1024
KEPT_LIMIT_BYTES = 64 * 1024 * 1024
TEXT_LIMIT_BYTES = 512 * 1024
# the names in one section of a description, so that contents get most of it
NAMES_LIMIT_BYTES = 64 * 1024
# an agent can make a file of a terabyte in no time: beyond this, size and time stand for the rest
DIGEST_LIMIT_BYTES = 256 * 1024 * 1024
GIT_KEPT = frozenset({"HEAD", "logs", "logs/HEAD", "packed-refs", "COMMIT_EDITMSG", "refs"})
HEADING = "## Workspace Changes\n\n"
# what a name costs in a description besides itself: its markup, fences and note
MARKUP_BYTES = 64


class Snapshot(NamedTuple):
    """The files below a folder, sorted by path; `/` separates the parts of a path.

    The `digest` of each is the SHA-256 of its whole content in hex; of what has none (a link, a
    pipe, an unreadable file) it is the note. The `note` is empty for a whole text, else `binary`,
    `cut` (`content` is the beginning), `not kept`, `link to TARGET`, `unreadable: WHY` or
    `special file`.
    """

    files: tuple[File, ...] = ()

    @property
    def by_path(self) -> Mapping[str, File]:
        return {file.change.path: file for file in self.files}


def take(folder: str | os.PathLike[str], since: Snapshot | None = None) -> Snapshot:
    """A snapshot of what is below `folder`. Raises `OSError` if the folder itself is unreadable.

    Contents are kept up to 64 KiB each and 64 MiB in all. With `since`, an earlier snapshot, the
    content of what is as it was then is not kept: a large tree costs no memory twice.
    """
    known = since.by_path if since else {}
    room = KEPT_LIMIT_BYTES
    files = []
    for path, place, problem in _walk(os.fspath(folder)):
        file = _without_content(path, problem) if problem else _look_at(path, place)
        if file.change.content:
            unchanged = path in known and known[path].digest == file.digest
            size = min(file.change.size, FILE_LIMIT_BYTES)
            if unchanged or size > room:
                file = file._replace(change=file.change._replace(content="", note="not kept"))
            else:
                room -= size
        files.append(file)
    return Snapshot(tuple(sorted(files, key=lambda file: file.change.path)))


def delta(before: Snapshot, after: Snapshot) -> Delta:
    """What was added, modified (the new content) and deleted, each sorted by path.

    What lies in a folder that has become unreadable is not deleted as far as anybody knows.
    """
    old, new = before.by_path, after.by_path
    unreadable = tuple(path for path in new if path.endswith("/"))
    return Delta(
        added=tuple(file.change for path, file in new.items() if path not in old),
        modified=tuple(
            file.change
            for path, file in new.items()
            if path in old and old[path].digest != file.digest
        ),
        deleted=tuple(path for path in old if path not in new and not path.startswith(unreadable)),
    )


def describe(delta: Delta) -> str:
    """The change as the text that a judge reads (seed 000), of about 512 KiB at most.

    Every section names its files, up to 64 KiB of names. When the contents do not all fit, the
    largest are cut, all to the same length: one huge file cannot hide the others.
    """
    added, modified = _named(delta.added), _named(delta.modified)
    deleted = delta.deleted[: _count_that_fit(delta.deleted)]
    names = [change.path for change in added + modified] + list(deleted)
    room = TEXT_LIMIT_BYTES - sum(map(_cost, names))
    share = _share([len(change.content.encode()) for change in added + modified], room)
    return (
        HEADING
        + _section("Added", [_block(change, share) for change in added], len(delta.added))
        + _section("Modified", [_block(change, share) for change in modified], len(delta.modified))
        + _section("Deleted", [f"- {_printable(path)}\n" for path in deleted], len(delta.deleted))
    )


def _walk(folder: str) -> Iterator[tuple[str, str, str]]:
    """(path in the snapshot, path to open, "") of everything below that is no folder.

    A folder that cannot be read is there as well, as `path/`, with a note that says why.
    """
    waiting = [("", folder)]
    while waiting:
        prefix, place = waiting.pop()
        try:
            with os.scandir(place) as found:
                entries = list(found)
        except OSError as error:
            if not prefix:
                raise
            yield prefix, place, _why_not(error)
            continue
        for entry in entries:
            path = prefix + _valid(entry.name)
            if _is_left_out(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append((f"{path}/", entry.path))
            else:
                yield path, entry.path, ""


def _is_left_out(path: str) -> bool:
    """Is it within a `.git/` folder, and not among what tells of commits?"""
    inside = f"/{path}".partition("/.git/")[2]
    return bool(inside) and inside not in GIT_KEPT and not inside.startswith("refs/")


def _valid(name: str) -> str:
    """A name that any encoding can write: bytes that are no UTF-8 become `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _look_at(path: str, place: str) -> File:
    try:
        status = os.lstat(place)
        if stat.S_ISLNK(status.st_mode):
            return _without_content(path, f"link to {_valid(os.readlink(place))}")
        if stat.S_ISREG(status.st_mode):
            return _read(path, place)
        return _without_content(path, "special file")
    except OSError as error:
        return _without_content(path, _why_not(error))


def _why_not(error: OSError) -> str:
    return f"unreadable: {textfile.reason(error)}"


def _without_content(path: str, note: str) -> File:
    return File(FileChange(path, 0, note=note), note)


def _read(path: str, place: str) -> File:
    """Raises `OSError`."""
    import hashlib

    digest = hashlib.sha256()
    head, size = b"", 0
    descriptor = os.open(place, textfile.SAFE_FLAGS | textfile.NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        while size < DIGEST_LIMIT_BYTES and (chunk := os.read(descriptor, 1 << 20)):
            head += chunk[: FILE_LIMIT_BYTES - len(head)]
            digest.update(chunk)
            size += len(chunk)
    finally:
        os.close(descriptor)
    if size >= DIGEST_LIMIT_BYTES:
        size = status.st_size
        digest.update(f"{size} {status.st_mtime_ns}".encode())
    content, note = _text(head, whole=len(head) == size)
    return File(FileChange(path, size, content, note), digest.hexdigest())


def _text(data: bytes, whole: bool) -> tuple[str, str]:
    """The text of a file's beginning, and the note on it.

    Binary is what holds a NUL, or is not UTF-8 in more than a tenth: a text in an old encoding
    has a wrong byte here and there.
    """
    import codecs

    # a decoder that is told of more to come keeps back a character that is cut in two
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=whole)
    if "\0" in text or text.count("\ufffd") * 10 > len(text):
        return "", "binary"
    return text, "" if whole else "cut"


def _named(changes: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
    return changes[: _count_that_fit([change.path for change in changes])]


def _count_that_fit(paths: Sequence[str]) -> int:
    """How many of the first names fit into one section."""
    room = NAMES_LIMIT_BYTES
    for count, path in enumerate(paths):
        room -= _cost(path)
        if room < 0:
            return count
    return len(paths)


def _cost(path: str) -> int:
    return len(_printable(path).encode()) + MARKUP_BYTES


def _share(sizes: Sequence[int], room: int) -> int:
    """The size to which the contents must be cut, so that together they fit into the room."""
    for index, size in enumerate(sorted(sizes)):
        fair = room // (len(sizes) - index)
        if size > fair:
            return fair
        room -= size
    return TEXT_LIMIT_BYTES


def _section(title: str, blocks: list[str], total: int) -> str:
    """A section with the first blocks of a total; nothing if there are none."""
    if not blocks:
        return ""
    if len(blocks) < total:
        blocks = [*blocks, f"truncated, {total - len(blocks)} more files\n"]
    listed = "".join(blocks).rstrip("\n")
    return f"### {title} Files\n\n{listed}\n\n"


def _block(change: FileChange, share: int) -> str:
    """A file with its content, or what is to be said instead."""
    from skilleval.reading import markdown

    name = f"**{_printable(change.path)}**\n"
    if change.note == "binary":
        return f"{name}binary, {change.size} bytes\n\n"
    if change.note == "not kept":
        return f"{name}truncated, {change.size} bytes in all\n\n"
    if change.note not in ("", "cut"):
        return f"{name}{_printable(change.note)}\n\n"
    data = change.content.encode()
    is_cut = change.note == "cut" or len(data) > share
    content = data[:share].decode("utf-8", "ignore")
    fence = markdown.fence(content)
    rest = f"truncated, {change.size} bytes in all\n" if is_cut else ""
    return f"{name}{fence}\n{content}\n{fence}\n{rest}\n"


def _printable(text: str) -> str:
    """A name on one line: a line break in it must not make a heading of our own."""
    from skilleval.plaintext import escaped

    return escaped(text)
