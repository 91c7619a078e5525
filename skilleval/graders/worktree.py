"""The files of a workspace as stored with a trial: which there are, and what became of them.

Owns what a file's name in a sentence means there: a base name anywhere, a path from the top or
below, a pattern. Skills that were installed for the agent are no work of it, and are passed over.
Reads stored states only (see `snapshot` for how they are made).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from skilleval.model import File, Outcome

_INSTALLED = re.compile(r"(?:^|/)\.(?:claude|codex|opencode|agents|fake)/skills/|(?:^|/)\.git/")


class Tree(NamedTuple):
    """Files after the agent by path, those before it (None: nobody looked), and the difference.

    `unreadable` are folders that could not be looked into: what is in them is unknown.
    """

    after: dict[str, File]
    before: dict[str, File] | None
    created: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()

    def having(self, event: str) -> tuple[str, ...]:
        """The paths to which this happened; `exists` are all that there are."""
        if event == "created":
            return self.created
        if event == "modified":
            return self.modified
        return self.deleted if event == "deleted" else tuple(self.after)

    def content(self, path: str) -> tuple[str, bool] | None:
        """What is kept of a file's text, and whether that is all of it; None if nothing is.

        Of a file that has not changed, the content may be kept with the state before.
        """
        file = self.after[path]
        if file.change.note == "not kept" and self.before and path in self.before:
            earlier = self.before[path]
            file = earlier if earlier.digest == file.digest else file
        note = file.change.note
        return (file.change.content, not note) if note in ("", "cut") else None


def read(outcome: Outcome) -> Tree | None:
    """The tree of an outcome; None if its files were not stored after the agent."""
    if outcome.after is None or outcome.after.files is None:
        return None
    after = _by_path(outcome.after.files)
    unreadable = tuple(path for path in after if path.endswith("/"))
    after = {path: file for path, file in after.items() if not path.endswith("/")}
    if outcome.before is None or outcome.before.files is None:
        return Tree(after, None, unreadable=unreadable)
    before = _by_path(outcome.before.files)
    return Tree(
        after,
        before,
        created=tuple(path for path in after if path not in before),
        modified=tuple(p for p, f in after.items() if p in before and before[p].digest != f.digest),
        deleted=tuple(p for p in before if p not in after and not p.startswith(unreadable)),
        unreadable=unreadable,
    )


def missing(outcome: Outcome) -> str:
    """Why an outcome has no tree, or none from before the agent."""
    if outcome.before is None or outcome.before.files is None:
        return "the files of the workspace were not stored with this trial"
    return "the files of the workspace are unknown: it was gone when the agent had ended"


def _by_path(files: Iterable[File]) -> dict[str, File]:
    named = sorted((unicodedata.normalize("NFC", file.change.path), file) for file in files)
    return {path: file for path, file in named if not _INSTALLED.search(path)}


def inside(name: str) -> str | None:
    """A name as a path within the workspace: `./docs/` is `docs`; None if it leads out of it."""
    name = unicodedata.normalize("NFC", name).replace("\\", "/")
    if name.startswith(("/", "~")) or re.match("[A-Za-z]:/", name):
        return None
    parts: list[str] = []
    for part in name.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def matching(name: str, paths: Iterable[str], folder: str = "") -> tuple[str, ...]:
    """The paths that a name means: itself, or below any folder; else by its `*` and `?`.

    A name in capitals without an extension may have one. With `folder`, only those below it. A name
    that leads out of the workspace means none.
    """
    wanted = inside(name)
    if not wanted:
        return ()
    if folder:
        paths = [path for path in paths if is_below(path, folder)]
    paths = tuple(paths)
    literal = tuple(path for path in paths if path == wanted or path.endswith(f"/{wanted}"))
    if literal:
        return literal
    if wanted.isupper() and "." not in wanted:  # "the README" may be a README.md
        return tuple(p for p in paths if p.rpartition("/")[2].partition(".")[0] == wanted)
    if not {"*", "?"} & set(wanted):
        return ()
    pattern = re.compile(_expression(wanted))
    return tuple(path for path in paths if pattern.search(path))


def is_below(path: str, folder: str) -> bool:
    """Is a path in a folder of this name, at the top or anywhere?"""
    wanted = inside(folder)
    return wanted is not None and (not wanted or f"/{wanted}/" in f"/{path}")


def without_namesakes(tree: Tree, names: Iterable[str]) -> Tree | None:
    """The tree where a name that is a path from the top means no file in a folder below.

    Those that it could mean otherwise are there under another name; None if there are none.
    """
    paths = dict.fromkeys((*tree.after, *(tree.before or ())))
    tops = [wanted for name in names if (wanted := inside(name)) in paths]
    aside = {path for path in paths if any(path.endswith(f"/{top}") for top in tops)}
    if not aside:
        return None

    def moved(path: str) -> str:
        return f"{path}\0" if path in aside else path

    return tree._replace(
        after={moved(path): file for path, file in tree.after.items()},
        before=tree.before and {moved(path): file for path, file in tree.before.items()},
        created=tuple(map(moved, tree.created)),
        modified=tuple(map(moved, tree.modified)),
        deleted=tuple(map(moved, tree.deleted)),
    )


def folders(name: str, paths: Iterable[str]) -> set[str]:
    """The folders of this name that hold some of the paths, each as its whole path."""
    wanted = inside(name)
    if not wanted:
        return set()
    marked = ((f"/{path}", f"/{path}".find(f"/{wanted}/")) for path in paths)
    return {path[1 : start + 1 + len(wanted)] for path, start in marked if start >= 0}


def _expression(pattern: str) -> str:
    """A pattern with `*` and `?` as a regular expression; neither means a `/`, but `**` does."""
    parts = re.split(r"(\*\*/?|\*|\?)", pattern)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return rf"(?:^|/){''.join(meaning.get(part) or re.escape(part) for part in parts)}\Z"
