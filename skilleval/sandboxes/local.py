"""Boxes that are a fresh temporary folder on this machine, outside any repository.

The agent starts in an empty folder that is removed afterwards, and so does not find this project's
files by looking up from it. That is all: it runs as the user, with the user's rights. It can read
and write every file that the user can, reach the network, start programs, and read the credentials
in the home folder. What a program started is ended with it, if it did not hide (see `process`).
Use `docker` for what must not do that.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from skilleval.errors import AgentUnavailable, SkillevalError
from skilleval.process import Command, Completed
from skilleval.reading.textfile import contains_path, reason
from skilleval.sandboxes import Spec, fresh_folder
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools
from skilleval.trial import gitfiles
from skilleval.trial.leftovers import Swept


def available(engine: str, tools: Tools) -> str:
    """Always empty: it needs nothing."""
    return ""


@contextmanager
def open_box(spec: Spec, tools: Tools) -> Iterator[Folder]:
    """A folder that is gone afterwards. Raises `AgentUnavailable` if there is no place for it."""
    with fresh_folder("openkata-eval-agent-") as name:
        around = os.path.realpath(name)
        if repository := gitfiles.repository_of(around):
            raise AgentUnavailable(
                f"the temporary folder {around} lies in the repository {repository}, whose files"
                " an agent would read; set TMPDIR to a folder outside"
            )
        folder = os.path.join(around, "workspace")
        try:
            os.mkdir(folder)
        except OSError as error:
            raise AgentUnavailable(f"cannot make a temporary folder: {reason(error)}") from None
        yield Folder(spec, tools, folder)


def sweep(engine: str, tools: Tools) -> tuple[Swept, ...]:
    """Nothing: folders are all there is."""
    return ()


class Folder:
    """One folder, which is the workspace."""

    def __init__(self, spec: Spec, tools: Tools, folder: str) -> None:
        self.spec, self.tools, self.folder = spec, tools, folder

    def copy_in(self, source: str, target: str) -> None:
        """Copies a file or folder; see `Box`. A link is copied as a link, save `source` itself."""
        place = self._inside(target) if target else self.folder
        try:
            if os.path.isdir(source):
                shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy2(source, place)
        except (OSError, shutil.Error) as error:
            raise SkillevalError(f"copy {os.path.basename(source)}: {error}") from None

    def write(self, target: str, text: str, called: str = "") -> None:
        """Writes a file; see `Box`."""
        place = self._inside(target)
        try:
            with open(place, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as error:
            name = called or os.path.basename(target)
            raise SkillevalError(f"copy {name}: {reason(error)}") from None

    def run(self, argv: Sequence[str]) -> Completed:
        """Runs a program in the folder; see `Box`."""
        env = _environment(self.spec.variables, self.tools.environ)
        return self.tools.run(Command(argv, self.spec.timeout_s, cwd=self.folder, env=env))

    def snapshot(self, since: Snapshot | None = None) -> Snapshot:
        """Looks at the folder; see `Box`."""
        return self.tools.look(self.folder, since)

    def _inside(self, target: str) -> str:
        """The place of a target, in a folder that exists. Raises `ValueError` for one outside.

        Links count: what an agent left there must not lead us to write elsewhere.
        """
        place = os.path.realpath(os.path.join(self.folder, target))
        if place == self.folder or not contains_path(self.folder, place):
            raise ValueError(f"{target!r} is no path inside the workspace")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        return place


def _environment(names: tuple[str, ...] | None, environ: Mapping[str, str]) -> Mapping[str, str]:
    """All of it, or only the variables with these names."""
    if names is None:
        return environ
    return {name: environ[name] for name in names if name in environ}
