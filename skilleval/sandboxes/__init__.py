"""Sandboxes: a box is a place with a workspace in which one trial's agent works.

Owns the contract and the table of names. What a box keeps an agent from differs: each module says.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from skilleval.errors import AgentUnavailable, UsageError
from skilleval.model import Suite
from skilleval.process import owner
from skilleval.reading.textfile import reason
from skilleval.tools import Tools

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from skilleval.process import Completed
    from skilleval.snapshot import Snapshot
    from skilleval.trial.leftovers import Swept

SANDBOXES = {
    "docker": "skilleval.sandboxes.docker",
    "local": "skilleval.sandboxes.local",
}


class Spec(NamedTuple):
    """What a box has to be like. (Seed 000: image, network and timeout are its defaults.)

    `label` says what it is for, and is part of its name. `timeout_s` limits each program in it.
    `engine` is the program that makes containers. Of `home`, the user's, an agent may read the
    credentials (empty = none). `variables` are the names in `tools.environ` that programs may see
    (None = what the sandbox gives by default). `run` is the run that the box belongs to. A sandbox
    without containers uses `label`, `timeout_s` and `variables` only.
    """

    label: str
    image: str = "openkata-eval:latest"
    network: str = "host"
    timeout_s: float = 300
    engine: str = "docker"
    home: str = ""
    variables: tuple[str, ...] | None = None
    run: str = ""


class Box(Protocol):
    """An open box. A `target` is a path in the workspace, `/` between its parts.

    Each raises `SkillevalError`, with the cause and the end of the output, if it cannot be done.
    """

    def copy_in(self, source: str, target: str) -> None:
        """Copies a file to `target`, or a folder; the contents of a folder if `target` is empty."""

    def write(self, target: str, text: str, called: str = "") -> None:
        """Writes a file; `called` is its name in an error text (default: its own)."""

    def run(self, argv: Sequence[str]) -> Completed:
        """Runs a program in the workspace to its end or the deadline; what came of it is a value.

        After a timeout nothing that it started is working in the box any more.
        """

    def snapshot(self, since: Snapshot | None = None) -> Snapshot:
        """What the workspace holds; see `snapshot.take`."""


class Sandbox(Protocol):
    """A module that makes boxes."""

    def available(self, engine: str, tools: Tools) -> str:
        """Empty if boxes can be made here, else why not: for a check before anything is run."""

    def open_box(self, spec: Spec, tools: Tools) -> AbstractContextManager[Box]:
        """A new box, gone when the context ends, however it does. Raises `AgentUnavailable`."""

    def sweep(self, engine: str, tools: Tools) -> tuple[Swept, ...]:
        """Removes what dead processes of ours left, except for folders (see `trial.leftovers`)."""


@cache
def get(name: str) -> Sandbox:
    """The sandbox of that name. Raises `UsageError` listing the names there are."""
    if name not in SANDBOXES:
        raise UsageError(f"unknown sandbox {name!r}; choose one of: {', '.join(sorted(SANDBOXES))}")
    return cast(Sandbox, import_module(SANDBOXES[name]))


def engines(suite: Suite) -> tuple[str, ...]:
    """The programs that make the containers of its sandboxed cases; none without such a case."""
    if not any(case.sandbox for case in suite.cases):
        return ()
    named = (str(arm.options.get("engine", Spec("").engine)) for arm in suite.arms)
    return tuple(dict.fromkeys(named))


def fresh_folder(prefix: str, within: str = "") -> TemporaryDirectory[str]:
    """A new folder, gone when the context ends. Raises `AgentUnavailable` if there is no place.

    One that is in no other holds our marker, and so is swept if we are killed.
    """
    import tempfile

    from skilleval.trial import temporary

    try:
        folder = tempfile.TemporaryDirectory(
            prefix=prefix if within else f"{prefix}{owner.ours().tag}-",
            dir=within or None,
            ignore_cleanup_errors=True,
        )
        if not within:
            temporary.mark(folder.name)
    except OSError as error:
        raise AgentUnavailable(f"cannot make a temporary folder: {reason(error)}") from None
    return folder
