"""The ground that the trials of a case start from: made once in a process, copied for each trial.

Owns what is in a workspace before the skill: a new repository or the clone of one, the case's files
in it, committed or staged.

Does not own the trial's folder (`workspace`), nor which files a case has (formats).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from skilleval.errors import SkillevalError
from skilleval.model import Arm, Case, File, State
from skilleval.process import turns
from skilleval.reading.textfile import contains_path, links_below, reason
from skilleval.redaction import redact
from skilleval.runfolder import serial
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools
from skilleval.trial import firstcommit, gitfiles, gitstate, template, temporary
from skilleval.trial.pullrequests import github_slug
from skilleval.trial.template import Template

SUBJECT = "Initial commit"
CLONE_TIMEOUT_S = 600.0


class Ground(NamedTuple):
    """A prepared workspace with what it held when it was made.

    `remote` is the bare repository behind `origin`, "" unless the source is one on this machine.
    `spare` is a workspace like each copy that is to be had for the first trial, for whom it was
    made; "" if there is none.
    """

    folder: str
    files: Snapshot
    state: State
    look: gitstate.Look
    template: Template
    remote: str = ""
    spare: str = ""

    @property
    def workspace(self) -> str:
        return temporary.inside(self.folder)

    @property
    def is_usable(self) -> bool:
        """Is all there that copies are made of, whatever agents have removed?"""
        needed = [self.remote] if self.remote else []
        needed += [] if self.template.is_whole else [self.workspace]
        return all(map(os.path.isdir, needed))

    def furnish(self, workspace: str) -> Ground:
        """Makes a workspace; what is left of the ground then has no spare one. Raises `OSError`."""
        with contextlib.suppress(OSError):  # it lies on another disk, or an agent was there
            if self.spare:
                os.rename(self.spare, workspace)
                os.rmdir(self.folder)
        if not os.path.isdir(workspace):
            self.template.write(workspace)
        return self._replace(spare="")


class _Store:
    """The grounds of this process, by everything that they are made of."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.locks: dict[object, threading.Lock] = {}
        self.grounds: dict[object, Ground] = {}

    def lock_of(self, key: object) -> threading.Lock:
        """Who makes a ground holds up those who wait for the same one, and nobody else."""
        with self.lock:
            return self.locks.setdefault(key, threading.Lock())


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
    with temporary.making(f"make the workspace of case {case.id}"):
        folder = temporary.new_folder(tools.environ, "ground-")
        os.mkdir(temporary.inside(folder))
        empty = template.read(temporary.inside(folder))
    return Ground(folder, files, _state(files, held["git"]), gitstate.Look(held["git"]), empty)


def _stored(case: Case, arm: Arm, hidden: Sequence[str], tools: Tools) -> Ground:
    source = str(arm.options.get("source_repo") or "")
    stage = bool(case.annotations.get("stage"))
    key = (source, _mark(source), stage, tuple(_signature(case)), tuple(hidden))
    with contextlib.ExitStack() as stack:
        with turns.given_up():
            stack.enter_context(_STORE.lock_of(key))
        made = _STORE.grounds.get(key)
        if made is None or not made.is_usable:
            with temporary.making(f"make the workspace of case {case.id}"):
                folder = temporary.new_folder(tools.environ, "ground-")
                made = _Maker(folder, tuple(hidden), tools).make(case, source)
            _STORE.grounds[key] = made._replace(spare="")
        return made


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
        return temporary.inside(self.folder)

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
        state, copied_from = _state(files, look.state), template.read(self.workspace)
        # what git made knows when and where its files were made, and is not like its copies
        spare = self.workspace if done and copied_from.is_whole else ""
        return Ground(self.folder, files, state, look, copied_from, remote, spare)

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
        # trials write below it, and the user's repository must not share a file with it
        bare = [*clone, "--no-hardlinks", "--bare", "--", path, remote]
        _cloned(source, bare, self.tools, options)
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
            shutil.copytree(source, place, dirs_exist_ok=True, copy_function=shutil.copy)
            for folder, _, _ in os.walk(place):
                os.utime(folder)  # no copy keeps times
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
