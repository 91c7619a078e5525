"""Temporary folders: where they may be, whose they are, and when they go.

All of a process lie in one folder of it, which says whose it is and is removed at exit; those that
are kept on purpose lie beside it. An agent may do to them whatever it likes: what it locked is
opened again, and what it removed is made anew.

Does not own what is in them (`grounds`, `workspace`), nor what killed processes leave
(`leftovers`).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence

from skilleval import placement
from skilleval.errors import SkillevalError, UsageError
from skilleval.process import owner
from skilleval.reading.textfile import reason
from skilleval.trial import gitfiles
from skilleval.trial.removal import remove

# a file that says that a temporary folder is ours to remove, and of which process
MARKER = ".skilleval-trial"
# how the names of trials' folders begin that are kept on purpose
KEPT = "skilleval-kept-"
# and those of all others
TRIAL = "trial-"
# of the system, for temporary files
COMMON = ("/tmp", "/var/tmp")


class _Home:
    """Where this process has its temporary folders, by the folder that this is in."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.folders: dict[str, str] = {}
        self.secret = os.urandom(16).hex()

    def folder(self, root: str) -> str:
        """The folder of this process in a root, where temporary ones are made; it goes at exit."""
        with self.lock:
            folder = self.folders.get(root, "")
            if not _is_usable(folder):
                # the marker comes late, and may go early
                folder = tempfile.mkdtemp(prefix=f"skilleval-{owner.ours().tag}-", dir=root)
                self.folders[root] = folder
                atexit.register(_remove, folder, os.getpid())
                mark(folder)
                plant_canary(folder)
                placement.spread(folder)
            return folder


_HOME = _Home()


def _is_usable(folder: str) -> bool:
    """Is it a folder, and no link that an agent put there? One that was locked is opened."""
    if not folder or os.path.islink(folder):
        return False
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
    return os.path.isdir(folder)


def new_folder(environ: Mapping[str, str], prefix: str) -> str:
    """A new temporary folder that no other user can enter.

    It goes when this process ends, unless the prefix is `KEPT`. Raises `UsageError` if there is no
    place for it, and `SkillevalError` if it cannot be made there.
    """
    root = root_for(environ)
    with making(f"make a folder in {root}"):
        within = root if prefix == KEPT else _HOME.folder(root)
        return tempfile.mkdtemp(prefix=prefix, dir=within)


def unlock() -> None:
    """Makes the folders of this process enterable again: an agent may have locked them."""
    for folder in list(_HOME.folders.values()):
        _is_usable(folder)


@contextlib.contextmanager
def making(what: str) -> Iterator[None]:
    """While files of ours are made: that it failed is a `SkillevalError`, which says why."""
    try:
        yield
    except OSError as error:  # `copytree` collects several in one without a number
        cause = reason(error) if error.strerror else str(error)
        raise SkillevalError(f"cannot {what}: {cause}") from None


def canary() -> str:
    """A word that no text holds by chance, one for all trials of this process."""
    return f"skilleval-canary-{_HOME.secret}"


def plant_canary(folder: str) -> None:
    """A decoy beside a workspace, of the name that answers have. Raises `OSError`."""
    os.makedirs(os.path.join(folder, "evals"), exist_ok=True)
    text = f'{{"skill_name": "{canary()}", "evals": [], "expected_output": "{canary()}"}}\n'
    with open(os.path.join(folder, "evals", "evals.json"), "w", encoding="utf-8") as file:
        file.write(text)


def mark(folder: str) -> None:
    """Says that a folder is ours, of this process (`owner.parse` reads it). Raises `OSError`."""
    with open(os.path.join(folder, MARKER), "w", encoding="utf-8") as file:
        file.write(f"{owner.ours().text}\n")


def root_for(environ: Mapping[str, str], others: Sequence[str] = COMMON) -> str:
    """A folder for temporary files that is in no git repository, whose files an agent would read.

    $TMPDIR is taken if it is one, else one of the `others`. Raises `UsageError` if there is none.
    """
    named = [environ[name] for name in ("TMPDIR", "TEMP", "TMP") if environ.get(name)]
    looked_at: dict[str, None] = {}
    for folder in map(os.path.realpath, (*named, *others)):
        usable = os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
        if usable and not gitfiles.repository_of(folder):
            return folder
        looked_at[folder] = None
    raise UsageError(
        "no temporary folder outside a git repository: an agent in it would read that repository's"
        f" files; set TMPDIR to a folder elsewhere (looked at: {', '.join(looked_at)})"
    )


def inside(folder: str) -> str:
    """Where in the folder of a ground or a trial the workspace is."""
    return os.path.join(folder, "workspace")


def _remove(folder: str, maker: int) -> None:
    if os.getpid() != maker:  # a fork that ends must not take its parent's folder with it
        return
    if os.path.islink(folder):  # the place is ours, where it leads is not
        with contextlib.suppress(OSError):
            os.unlink(folder)
    else:
        remove(folder, MARKER)
