"""The ground that the trials of a case start from: made once in a process, copied for each trial.

Owns what is in a workspace before the skill: a new repository or the clone of one, the case's files
in it, committed or staged. Owns where temporary folders may be. Grounds are removed at exit.

Does not own the trial's folder (`workspace`), nor which files a case has (formats).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from skilleval import placement
from skilleval.errors import SkillevalError, UsageError
from skilleval.model import Arm, Case, File, State
from skilleval.process import owner, turns
from skilleval.reading.textfile import contains_path, links_below, reason
from skilleval.redaction import redact
from skilleval.runfolder import serial
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools
from skilleval.trial import firstcommit, gitfiles, gitstate, template
from skilleval.trial.pullrequests import github_slug
from skilleval.trial.removal import remove
from skilleval.trial.template import Template

SUBJECT = "Initial commit"
# a file that says that a temporary folder is ours to remove, and of which process
MARKER = ".skilleval-trial"
# how the names of trials' folders begin that are kept on purpose
KEPT = "skilleval-kept-"
CLONE_TIMEOUT_S = 600.0
# of the system, for temporary files
COMMON = ("/tmp", "/var/tmp")


class Ground(NamedTuple):
    """A prepared workspace with what it held when it was made.

    `remote` is the bare repository behind `origin`, "" unless the source is one on this machine.
    """

    folder: str
    files: Snapshot
    state: State
    look: gitstate.Look
    template: Template

    @property
    def workspace(self) -> str:
        return inside(self.folder)

    @property
    def remote(self) -> str:
        path = os.path.join(self.folder, "remote.git")
        return path if os.path.isdir(path) else ""


class _Store:
    """The grounds of this process, by everything that they are made of, and where they are."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.locks: dict[object, threading.Lock] = {}
        self.grounds: dict[object, Ground] = {}
        self.folders: dict[str, str] = {}
        self.secret = os.urandom(16).hex()

    def lock_of(self, key: object) -> threading.Lock:
        """Who makes a ground holds up those who wait for the same one, and nobody else."""
        with self.lock:
            return self.locks.setdefault(key, threading.Lock())

    def folder(self, environ: Mapping[str, str]) -> str:
        """The folder of this process where temporary ones are made; it is removed at exit."""
        root = temporary_root(environ)
        with self.lock:
            folder = self.folders.get(root, "")
            with contextlib.suppress(OSError):  # an agent may have locked it
                os.chmod(folder, stat.S_IRWXU)
            if not os.path.isdir(folder):
                # the marker comes late, and may go early
                folder = tempfile.mkdtemp(prefix=f"skilleval-{owner.ours().tag}-", dir=root)
                self.folders[root] = folder
                atexit.register(_remove, folder, os.getpid())
                mark(folder)
                plant_canary(folder)
                placement.spread(folder)
            return folder


_STORE = _Store()


def ground(case: Case, arm: Arm, hidden: Sequence[str], tools: Tools) -> Ground:
    """The ground of a case in an arm, made if there is none of exactly these files yet.

    Paths in and below `hidden` (where skills and a program's own files lie) are ignored by git and
    are no part of its state. What a ground held is part of the evidence: where it is played back,
    nothing is made or cloned, and the workspace is empty. Raises `SkillevalError` if it cannot be
    made.
    """
    if tools.bare is tools:
        return _stored(case, arm, hidden, tools)
    made: list[Ground] = []

    def hold() -> Any:
        made.append(_stored(case, arm, hidden, tools.bare))
        return {"files": serial.to_json(made[0].files), "git": serial.to_json(made[0].look.state)}

    held = tools.observe(hold)
    if made:
        return made[0]
    files = serial.from_json(Snapshot, held["files"])
    with making(f"make the workspace of case {case.id}"):
        folder = new_folder(tools.environ, "ground-")
        os.mkdir(inside(folder))
        empty = template.read(inside(folder))
    return Ground(folder, files, _state(files, held["git"]), gitstate.Look(held["git"]), empty)


def _stored(case: Case, arm: Arm, hidden: Sequence[str], tools: Tools) -> Ground:
    source = str(arm.options.get("source_repo") or "")
    stage = bool(case.annotations.get("stage"))
    key = (source, _mark(source), stage, tuple(_signature(case)), tuple(hidden))
    with contextlib.ExitStack() as stack:
        with turns.given_up():
            stack.enter_context(_STORE.lock_of(key))
        made = _STORE.grounds.get(key)
        if made is None or not made.template.is_usable:
            with making(f"make the workspace of case {case.id}"):
                folder = new_folder(tools.environ, "ground-")
                made = _Maker(folder, tuple(hidden), tools).make(case, source)
            _STORE.grounds[key] = made
        return made


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
    return f"skilleval-canary-{_STORE.secret}"


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


def new_folder(environ: Mapping[str, str], prefix: str) -> str:
    """A new temporary folder that no other user can enter. Raises `OSError`, `UsageError`.

    It goes when this process ends, unless the prefix is `KEPT`.
    """
    within = temporary_root(environ) if prefix == KEPT else _STORE.folder(environ)
    return tempfile.mkdtemp(prefix=prefix, dir=within)


def temporary_root(environ: Mapping[str, str], others: Sequence[str] = COMMON) -> str:
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


def is_address(source: str) -> bool:
    """Is a source repository somewhere else, and not a folder of this machine?

    A `file:` address counts as elsewhere: it is cloned and pushed to like any other.
    """
    if "://" in source:
        return True
    host, colon, _ = source.partition(":")
    scp = bool(colon) and "/" not in host and len(host) > 1
    return (scp or bool(github_slug(source))) and not os.path.exists(source)


def targets(files: Sequence[str]) -> dict[str, str]:
    """Where each of a case's files goes in the workspace.

    `files/` is no part of it, nor is the one folder in there that all share the case's files
    with (`files/x/a.txt` is `a.txt`; spec/suites section 2). Raises `SkillevalError` if two meet.
    """
    parts = {path: _parts(path) for path in files}
    grouped = {p[1] for p in parts.values() if p[0] == "files" and len(p) > 2}
    found: dict[str, str] = {}
    for path, names in parts.items():
        if names[0] == "files" and len(names) > 1:
            names = names[1:]
            if len(grouped) == 1 and names[0] in grouped and len(names) > 1:
                names = names[1:]
        target = "/".join(names)
        if target in found.values():
            other = next(each for each, place in found.items() if place == target)
            raise SkillevalError(f"files {other!r} and {path!r} are both {target!r}; rename one")
        found[path] = target
    return found


def _parts(path: str) -> list[str]:
    names = [name for name in path.replace("\\", "/").split("/") if name not in ("", ".")]
    if not names or ".." in names or os.path.isabs(path) or ".git" in names:
        raise SkillevalError(f"file {path!r} must be a path inside the folder of the evals file")
    return names


class _Maker(NamedTuple):
    folder: str
    hidden: tuple[str, ...]
    tools: Tools

    @property
    def workspace(self) -> str:
        return inside(self.folder)

    def make(self, case: Case, source: str) -> Ground:
        remote = self._clone(source) if source else ""
        os.makedirs(self.workspace, exist_ok=True)
        try:
            copied = _copy_files(case, self.workspace)
        except OSError as error:
            raise SkillevalError(f"case {case.id}: copy files: {reason(error)}") from None
        stage = bool(case.annotations.get("stage"))
        plain = not (source or stage)
        done = plain and firstcommit.make(self.workspace, SUBJECT, self.hidden)
        if not (source or done):
            self._git("init", "--quiet", "--template=")
        self._exclude()
        if not done:
            self._commit(first=not source, copied=copied, stage=stage)
        files = visible_files(self.tools.look(self.workspace, None), self.hidden)
        if plain:
            look = gitstate.initial(self.workspace, SUBJECT)
        else:
            look = gitstate.look(self.workspace, self.tools, remote=remote, hidden=self.hidden)
        state = _state(files, look.state)
        return Ground(self.folder, files, state, look, template.read(self.workspace))

    def _git(self, *arguments: str) -> None:
        gitstate.run_git(arguments, self.tools, cwd=self.workspace)

    def _clone(self, source: str) -> str:
        """A clone of a source elsewhere; of a local one, of a bare copy that its trials push to."""
        clone = ["clone", "--quiet", "--template="]
        if is_address(source):
            url = source if ":" in source else f"https://{source}"
            env = {**self.tools.environ, "GIT_TERMINAL_PROMPT": "0"}
            options = {"env": env, "timeout_s": CLONE_TIMEOUT_S}
            _cloned(source, [*clone, "--", url, self.workspace], self.tools, options)
            return ""
        remote = os.path.join(self.folder, "remote.git")
        path = os.path.abspath(source)
        options = {"timeout_s": CLONE_TIMEOUT_S}
        _cloned(source, [*clone, "--bare", "--", path, remote], self.tools, options)
        _cloned(source, [*clone, "--", remote, self.workspace], self.tools, options)
        return remote

    def _exclude(self) -> None:
        folder = os.path.join(self.workspace, ".git", "info")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "exclude"), "a", encoding="utf-8") as file:
            file.writelines(f"/{path}\n" for path in self.hidden)

    def _commit(self, *, first: bool, copied: bool, stage: bool) -> None:
        """The case's files are committed, or staged; a new repository has one commit anyway."""
        commit = ("commit", "--quiet", "--no-verify", "--allow-empty", "-m")
        if first and (stage or not copied):
            self._git(*commit, SUBJECT)
        if copied:
            self._git("add", "--all")
            if not stage:
                self._git(*commit, SUBJECT if first else "Add the files of the case")


def _cloned(source: str, argv: list[str], tools: Tools, options: Mapping[str, Any]) -> None:
    try:
        gitstate.run_git(argv, tools, **options)
    except SkillevalError as error:
        raise SkillevalError(redact(f"source repository {source}: {error}", ())) from None


def _state(files: Snapshot, git: Mapping[str, Any]) -> State:
    return State(tuple(File(*file) for file in files.files), git)


def visible_files(found: Snapshot, hidden: Sequence[str]) -> Snapshot:
    """A snapshot without what is no work of the agent: `hidden`, and the insides of `.git`."""
    hidden = (".git", *hidden)
    return Snapshot(
        tuple(
            file
            for file in found.files
            if "/.git/" not in file.change.path
            and not gitstate.within(file.change.path.rstrip("/"), hidden)
        )
    )


def _copy_files(case: Case, workspace: str) -> bool:
    """Copies the case's files; says whether there are any. Raises `OSError`, `SkillevalError`."""
    root = os.path.realpath(str(case.annotations.get("fixtures") or "."))
    for path, target in targets(case.files).items():
        source = os.path.join(root, path)
        for each in (source, *links_below(source)):
            if not contains_path(root, os.path.realpath(each)):
                raise SkillevalError(f"file {path!r} is or holds a link that leaves {root}")
        place = os.path.join(workspace, target)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, place, dirs_exist_ok=True)
        elif stat.S_ISREG(os.stat(source).st_mode):
            shutil.copy(source, place)
        else:
            raise SkillevalError(f"file {path!r} is no regular file")
    return bool(case.files)


def _signature(case: Case) -> Iterator[object]:
    """What tells whether a case's files are still those that a ground was made of."""
    root = str(case.annotations.get("fixtures") or ".")
    yield root
    for path in case.files:
        place = os.path.join(root, path)
        yield path
        yield from _stamps(place)


def _stamps(place: str) -> Iterator[object]:
    try:
        status = os.stat(place)
        yield status.st_size, status.st_mtime_ns, status.st_mode
        if stat.S_ISDIR(status.st_mode):
            for name in sorted(os.listdir(place)):
                yield name
                yield from _stamps(os.path.join(place, name))
    except OSError as error:
        yield reason(error)


def _mark(source: str) -> str:
    """Where a local source repository stands; empty for one elsewhere."""
    if not source or is_address(source):
        return ""
    inner = os.path.join(source, ".git")
    return gitfiles.refs_mark(inner if os.path.isdir(inner) else source)


def _remove(folder: str, maker: int) -> None:
    if os.getpid() == maker:  # a fork that ends must not take its parent's grounds with it
        remove(folder, MARKER)
