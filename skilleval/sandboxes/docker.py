"""Boxes that are containers of docker or podman, by their command line. (Seed 000.)

Owns the sequence of engine commands that a user of the original finds again (spec/scenarios
section 9), the deadlines of each, and that a container is gone in the end: after an error, a
timeout, Ctrl-C, a second Ctrl-C.

A container keeps an agent from the user's files and processes, except that it reads `~/.aws`, which
is mounted read-only. With the network `host`, the default, it reaches whatever this machine does.
Nothing limits its memory, its processes, or the size of its workspace, which is copied to this
machine's temporary folder for a snapshot. What an agent leaves running in the background works on
until the container is removed, also during the last snapshot, unless the agent was timed out.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skilleval.errors import AgentUnavailable, SkillevalError, UsageError
from skilleval.plaintext import one_line
from skilleval.process import LONGEST_ARGUMENT_BYTES, Command, Completed, owner
from skilleval.reading.textfile import reason
from skilleval.sandboxes import Spec, fresh_folder
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools
from skilleval.trial import leftovers
from skilleval.trial.leftovers import Swept

ENGINES = ("docker", "podman")
WORKSPACE = "/workspace"
# by the labels a user finds what a run left that was killed with SIGKILL, and we who is dead
RUN_LABEL, OWNER_LABEL = "skilleval.run", "skilleval.owner"
# deadlines in s; `create` may pull an image first
INFO_S, CREATE_S, START_S, MKDIR_S, COPY_S, REMOVE_S = 20, 600, 120, 60, 300, 30
DEFAULT_TIMEOUT_S = 300
# between SIGTERM and SIGKILL inside the box, and from the deadline inside to the one outside
KILL_AFTER_S, OUTER_S = 5, 30
# what `timeout` ends with: its own code, and those of a program that it had to kill
TIMEOUT_CODES = (124, 128 + 15, 128 + 9)
TAIL_CHARACTERS = 600
NO_IMAGE = re.compile("unable to find image|no such image|image not known|pull access denied", re.I)
NO_CONTAINER = re.compile("no such container|no container with", re.I)


def available(engine: str, tools: Tools) -> str:
    """Empty if the engine answers, else why not, with the end of what `info` said.

    Raises `UsageError` for an unknown engine.
    """
    _check(engine)
    done = tools.run(Command([engine, "info"], INFO_S, env=tools.environ))
    if done.not_found:
        return f"{done.error}; sandboxed scenarios need a container engine"
    if done.exit_code == 0:
        return ""
    return f"{_failure(f'{engine} info', done)}; start {engine}, or check that you may use it"


@contextmanager
def open_box(spec: Spec, tools: Tools) -> Iterator[Container]:
    """A started container. Raises `UsageError` for an unknown engine, else `AgentUnavailable`."""
    _check(spec.engine)
    with fresh_folder("openkata-eval-") as scratch:
        box = Container(spec, tools, scratch)
        try:
            box.create()
            yield box
        finally:
            box.remove()


def sweep(engine: str, tools: Tools) -> tuple[Swept, ...]:
    """Removes the containers that dead processes of ours left; see `Sandbox`.

    An engine that does not answer has none. Raises `UsageError` for an unknown engine.
    """
    _check(engine)

    def said(limit_s: float, *arguments: str) -> Completed:
        return tools.run(Command([engine, *arguments], limit_s, env=tools.environ))

    listed = said(INFO_S, "ps", "-aq", "--filter", f"label={OWNER_LABEL}")
    found = listed.stdout.split() if listed.exit_code == 0 else []
    if not found:
        return ()
    shown = f'{{{{.Id}}}} {{{{index .Config.Labels "{OWNER_LABEL}"}}}}'
    labels = said(INFO_S, "inspect", "--type", "container", "--format", shown, *found).stdout
    dead: dict[owner.Owner, list[str]] = {}
    for line in labels.splitlines():
        container, _, label = line.partition(" ")
        named = owner.parse(label)
        if named and leftovers.is_over(named):
            dead.setdefault(named, []).append(container)
    removed = {named: said(REMOVE_S, "rm", "-f", *of_it) for named, of_it in dead.items()}
    return tuple(
        Swept(named.pid, stuck=tuple(f"container {each[:12]}" for each in dead[named]))
        if done.exit_code != 0 and not NO_CONTAINER.search(done.stderr)
        else Swept(named.pid, containers=len(dead[named]))
        for named, done in removed.items()
    )


def _check(engine: str) -> None:
    if engine not in ENGINES:
        raise UsageError(f"unknown engine {engine!r}; choose one of: {', '.join(ENGINES)}")


class Container:
    """One container, and the folder on this machine through which files come in and out."""

    def __init__(self, spec: Spec, tools: Tools, scratch: str) -> None:
        self.spec, self.tools, self.scratch = spec, tools, scratch
        self.name = _name(spec.label, tools.now())
        self.may_exist = False
        self.folders = {""}
        self.snapshots = 0

    def create(self) -> None:
        """Creates and starts it. Raises `AgentUnavailable`."""
        spec = self.spec
        flags = ["--name", self.name, "--network", spec.network]
        flags += _credentials(spec.home)
        flags += ["-w", WORKSPACE, "--label", f"{RUN_LABEL}={spec.run or self.name}"]
        flags += ["--label", f"{OWNER_LABEL}={owner.ours().text}"]
        self.may_exist = True
        created = self._engine("create", *flags, spec.image, "sleep", "infinity", limit_s=CREATE_S)
        if created.exit_code != 0:
            # an engine that was interrupted may have made it all the same
            self.may_exist = created.exit_code is None and not created.not_found
            hint = "; build it with `make eval-image`" if NO_IMAGE.search(created.stderr) else ""
            raise AgentUnavailable(_failure(f"{spec.engine} create", created) + hint)
        started = self._engine("start", self.name, limit_s=START_S)
        if started.exit_code != 0:
            raise AgentUnavailable(_failure(f"{spec.engine} start", started))

    def copy_in(self, source: str, target: str) -> None:
        """Copies a file or folder; see `Box`. A link is copied as a link, save `source` itself."""
        # absolute: the engine takes what holds a colon for a place in a container
        source = os.path.realpath(source) if os.path.islink(source) else os.path.abspath(source)
        what = f"copy {os.path.basename(source)}"
        if target:
            self._copy(what, source, self._inside(target))
        else:
            self._copy(what, f"{source}/.", f"{self.name}:{WORKSPACE}/")

    def write(self, target: str, text: str, called: str = "") -> None:
        """Writes a file by way of one on this machine; see `Box`."""
        place = self._inside(target)
        what = f"copy {called or posixpath.basename(target)}"
        source = os.path.join(self.scratch, posixpath.basename(target))
        try:
            with open(source, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(source, 0o644)  # the image may run programs as another user
        except OSError as error:
            raise SkillevalError(f"{what}: {reason(error)}") from None
        self._copy(what, source, place)

    def run(self, argv: Sequence[str]) -> Completed:
        """Runs a program under two deadlines: one inside, and later one here, should that fail."""
        _refuse_long(argv)
        limit_s = self.spec.timeout_s if self.spec.timeout_s > 0 else DEFAULT_TIMEOUT_S
        # with no value given, the engine takes it from its own environment: none is in an argv
        known = [name for name in self.spec.variables or () if name in self.tools.environ]
        flags = [word for name in known for word in ("-e", name)]
        inner = ["timeout", "-k", str(KILL_AFTER_S), f"{limit_s:.12g}", *argv]
        done = self._engine("exec", *flags, self.name, *inner, limit_s=limit_s + OUTER_S)
        if not done.timed_out and (done.exit_code not in TIMEOUT_CODES or done.seconds < limit_s):
            return done
        # `timeout` does not reach what has left its process group, and the last snapshot must not
        # see somebody work
        self._engine("kill", self.name, limit_s=REMOVE_S)
        error = f"{argv[0]}: timed out after {limit_s:g} s"
        return done._replace(exit_code=None, timed_out=True, error=error)

    def snapshot(self, since: Snapshot | None = None) -> Snapshot:
        """Copies the workspace out, and looks at the copy; see `Box`."""
        self.snapshots += 1
        what = "snapshot before" if self.snapshots == 1 else "snapshot after"
        with fresh_folder("snapshot-", self.scratch) as folder:
            source = f"{self.name}:{WORKSPACE}/."
            _require(what, self._engine("cp", source, folder, limit_s=COPY_S))
            return self.tools.look(folder, since)

    def remove(self) -> None:
        """Removes it within bounds of time, or warns that it may still be there."""
        if not self.may_exist:
            return
        try:
            problem = self._remove()
        except KeyboardInterrupt:  # a second Ctrl-C: it must not cost us the container
            self._remove()
            raise
        if problem:
            command = f"{self.spec.engine} rm -f {self.name}"
            self.tools.note(f"warning: {problem}; remove the container yourself: {command}")

    def _remove(self) -> str:
        """Empty if it is gone, else why not."""
        for arguments in (("rm", "-f"), ("kill",), ("rm", "-f")):
            command = [self.spec.engine, *arguments, self.name]
            # a `stop` of its own: this has to run to its end also when all else is being stopped
            done = self.tools.run(Command(command, REMOVE_S, env=self.tools.environ, stop=_never))
            if arguments[0] == "rm" and (done.exit_code == 0 or NO_CONTAINER.search(done.stderr)):
                return ""
        return _failure(f"{self.spec.engine} rm", done)

    def _copy(self, what: str, source: str, place: str) -> None:
        _require(what, self._engine("cp", source, place, limit_s=COPY_S))

    def _inside(self, target: str) -> str:
        """The place of a target for `cp`; makes its folder. Raises `ValueError` for one outside."""
        path = posixpath.normpath(target)
        if path.startswith(("/", "../")) or path in ("..", "."):
            raise ValueError(f"{target!r} is no path inside the workspace")
        folder = posixpath.dirname(path)
        if folder not in self.folders:
            self.folders.add(folder)
            # if that fails, the copy into it will say so
            self._engine("exec", self.name, "mkdir", "-p", f"{WORKSPACE}/{folder}", limit_s=MKDIR_S)
        return f"{self.name}:{WORKSPACE}/{path}"

    def _engine(self, *arguments: str, limit_s: float) -> Completed:
        command = [self.spec.engine, *arguments]
        return self.tools.run(Command(command, limit_s, env=self.tools.environ))


def _never() -> bool:
    return False


def _name(label: str, now_s: float) -> str:
    """A name that no other container has: two runs may start the same scenario at the same time."""
    words = re.sub("[^A-Za-z0-9_.-]", "-", label)[:100]
    return f"openkata-eval-{int(now_s * 1000)}-{os.urandom(4).hex()}-{words}"


def _credentials(home: str) -> list[str]:
    """The flags that mount `~/.aws`; none if there is no home.

    An engine makes a folder that it is to mount and that does not exist: as root, in the user's
    home. So we make it, empty and the user's own; where we cannot, nothing is mounted.
    """
    folder = os.path.join(os.path.abspath(home), ".aws")
    if not home:
        return []
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return []
    return ["-v", f"{folder}:/root/.aws:ro"]


def _refuse_long(argv: Sequence[str]) -> None:
    """Raises `SkillevalError` for an argument that no Linux would take: that is the prompt."""
    for argument in argv:
        size = len(argument.encode("utf-8", "surrogateescape"))
        if size > LONGEST_ARGUMENT_BYTES:
            raise SkillevalError(
                f"{argv[0]}: its prompt has {size} bytes, and Linux passes at most"
                f" {LONGEST_ARGUMENT_BYTES} in one argument; shorten the skill's references,"
                " scripts and assets, or the scenario's inputs"
            )


def _require(what: str, done: Completed) -> None:
    if done.exit_code != 0:
        raise SkillevalError(_failure(what, done))


def _failure(what: str, done: Completed) -> str:
    """What failed, why, and the end of what it printed, in one line."""
    cause = done.error or f"exit code {done.exit_code}"
    said = one_line((done.stderr.strip() or done.stdout.strip())[-TAIL_CHARACTERS:])
    return f"{what}: {cause}: {said}" if said else f"{what}: {cause}"
