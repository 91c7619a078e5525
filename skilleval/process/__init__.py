"""The only way to start a program. Owns its deadline, its output, and the end of all it started.

`run` gives back a value whatever happens: a missing program, a timeout and a flood of output are
fields of `Completed`, never exceptions. When it returns, what the program started is dead, however
deep: agent CLIs put their tools into sessions of their own, where a signal to the group does not
reach, so everything is found by a token in its environment, by its session, or by the output pipe
that it holds. A process that gives up all three by intent escapes: only a container keeps it. So
does one that hides from us (another user's, after `sudo`). Without /proc only the group is reached.

Output is read from pipes and bounded while it comes in: head and tail stay in memory, nothing is on
disk. (A file instead of a pipe would be emptied by every `tee /dev/stderr`.) Nobody waits for the
end of a pipe, so a process that holds one open delays nothing.

Does not own: what output means (agents, graders), retries (harness), containers (sandboxes), or
which variables a program may see (workspace): it passes on exactly those that it is given.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from skilleval.process import lineage, owner, turns
from skilleval.process.capture import Capture, Watch, watch

if TYPE_CHECKING:
    import subprocess

__all__ = [
    "LONGEST_ARGUMENT_BYTES",
    "TOKEN_NAME",
    "Command",
    "Completed",
    "complaint",
    "end_all",
    "find_executable",
    "run",
]

TOKEN_NAME = "SKILLEVAL_RUN"
# Linux gives one argument 32 pages, its closing NUL included, whatever the limit for all of them.
LONGEST_ARGUMENT_BYTES = 32 * 4096 - 1
# Between two looks at the clock, the amount of output and `stop`; an ended child wakes us at once.
TICK_S = 0.1
GRACE_TICK_S = 0.02
LONGEST_GRACE_S = 5.0
# With the longest grace, everything is over 6 s after the deadline.
SWEEP_S = 0.6
SWEEP_TICK_S = 0.001
# A process that vanishes while we look may have left a child that only the next look shows. On a
# busy machine strangers vanish all the time, so there is a last look.
LOOKS = 3
# POSIX fixes these numbers; the module `signal` would cost more than the rest of our import.
SIGKILL, SIGTERM = 9, 15
# So soon after the start, only the youngest processes of the machine can be ours: see `lineage`.
BRIEF_S = 0.5

Cause = Literal["ended", "timeout", "overflow", "stopped"]


class Command(NamedTuple):
    """A program to run, and what it may cost.

    `argv` is looked up in the PATH of `env`, never by a shell. `env` is the whole environment (None
    = ours); the token is added. `stdin` is its whole input (None = /dev/null). `timeout_s` is the
    one deadline. Of each stream `output_limit_bytes` are kept; a program that writes more than
    `flood_limit_bytes` to both together is killed. `grace_s` (at most 5) lies between SIGTERM and
    SIGKILL. `stop` is asked at least ten times a second whether to give up.
    """

    argv: Sequence[str]
    timeout_s: float
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str] | None = None
    stdin: bytes | None = None
    output_limit_bytes: int = 10_000_000
    flood_limit_bytes: int = 512 * 1024 * 1024
    grace_s: float = LONGEST_GRACE_S
    stop: Callable[[], bool] | None = None


class Completed(NamedTuple):
    """What came of a command.

    `exit_code` is negative after a signal, and None unless the program ended by itself; `error`
    then says why in one line. `not_found`: it could not be started, for whatever reason.
    `overflow`: killed for its flood of output. `stopped`: killed because `stop` said so.
    `stdout` and `stderr` are UTF-8, bad bytes replaced; `…_cut_bytes` were taken out of the middle,
    where a line says so. `seconds` is the time to the end of the program, or to its kill.
    `survivors` counts what it left running and we had to kill (None: unknown, there is no /proc).
    """

    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False
    not_found: bool = False
    overflow: bool = False
    stopped: bool = False
    error: str = ""
    seconds: float = 0.0
    stdout_cut_bytes: int = 0
    stderr_cut_bytes: int = 0
    survivors: int | None = None


def run(command: Command) -> Completed:
    """Run a program to its end or its deadline, and end everything that it started.

    Returns at most 6 s after the deadline. Safe to call from many threads at once. An exception
    that arrives while waiting, such as KeyboardInterrupt, ends the program too and then goes on; a
    second one only cuts the grace short.
    """
    if command.stop is not None and command.stop():  # an agent that begins costs already
        return Completed(stopped=True, error=_why_ended(command, "stopped"))
    family = _Family(command.output_limit_bytes)
    try:
        try:
            family.start(command)
        except (OSError, ValueError) as error:
            return Completed(not_found=True, error=_why_not(command, error))
        with turns.given_up():
            cause = _await_end(family, command)
            seconds = time.monotonic() - family.started
            if cause != "ended":  # nobody's turn is worth waiting for, nor is a grace a turn
                family.end(command.grace_s)
    finally:
        family.end(command.grace_s)
    stdout, stdout_cut = family.stdout.text()
    stderr, stderr_cut = family.stderr.text()
    return Completed(
        exit_code=family.exit_code if cause == "ended" else None,
        stdout=stdout,
        stderr=stderr,
        timed_out=cause == "timeout",
        overflow=cause == "overflow",
        stopped=cause == "stopped",
        error=_why_ended(command, cause),
        seconds=seconds,
        stdout_cut_bytes=stdout_cut,
        stderr_cut_bytes=stderr_cut,
        survivors=family.survivors,
    )


def end_all(token: str) -> int | None:
    """Kills all that carry a token, save this process; says how many (None: there is no /proc)."""
    family = _Family(0, token)
    family.end(0)
    return family.survivors


def complaint(done: Completed, limit: int = 500) -> str:
    """Why a program failed, on one line: the end of its words if it had some, `limit` at most."""
    from skilleval.plaintext import one_line

    said = one_line((done.error or done.stderr.strip() or done.stdout)[-4 * limit :])[-limit:]
    return said or f"exit code {done.exit_code}"


def find_executable(name: str, env: Mapping[str, str] | None = None) -> str | None:
    """The path of the program that `name` means on the PATH of `env`, None if there is none.

    `env` None means our own environment. On Windows this finds `.cmd` and `.bat` files as well.
    """
    import shutil

    return shutil.which(name, path=(os.environ if env is None else env).get("PATH", os.defpath))


def _await_end(family: _Family, command: Command) -> Cause:
    """Wait until the program ends or has to; say which."""
    deadline = family.started + command.timeout_s
    while True:
        left = deadline - time.monotonic()
        if family.wait(max(0.0, min(left, TICK_S))):
            return "ended"
        if left <= 0:
            return "timeout"
        if family.stdout.total + family.stderr.total > command.flood_limit_bytes:
            return "overflow"
        if command.stop is not None and command.stop():
            return "stopped"


def _why_ended(command: Command, cause: Cause) -> str:
    name = command.argv[0]
    return {
        "ended": "",
        "timeout": f"{name}: timed out after {command.timeout_s:g} s",
        "overflow": f"{name}: wrote more than {command.flood_limit_bytes} bytes and was killed",
        "stopped": f"{name}: stopped before its end",
    }[cause]


def _why_not(command: Command, error: OSError | ValueError) -> str:
    """Why a program could not be started, and what to do."""
    if not command.argv:
        return "cannot start anything: the command is empty"
    name = command.argv[0]
    reason: str = getattr(error, "strerror", None) or str(error)
    code = getattr(error, "errno", None)
    if command.cwd is not None and not os.path.isdir(_encoded(os.fspath(command.cwd))):
        wrong = (
            "cannot be entered; check its permissions" if code == errno.EACCES else "does not exist"
        )
        reason = f"its working folder {os.fspath(command.cwd)!r} {wrong}"
    elif code == errno.ENOENT and find_executable(_from_cwd(command), command.env):
        reason = 'the interpreter in its "#!" line is missing'
    elif code == errno.ENOENT and os.path.dirname(name):
        reason = "no such file"
    elif code == errno.ENOENT:
        reason = "not found on PATH; install it, or give its full path"
    elif code == errno.EACCES:
        reason = "not executable; run chmod +x on it, or name another program"
    elif code == errno.ENOEXEC:
        reason = 'not a program; a script needs a "#!" line'
    elif code == errno.E2BIG:
        reason = "the argument list is too long; pass long text on stdin or in a file"
    return f"cannot start {name!r}: {reason}"


def _from_cwd(command: Command) -> str:
    """The program's name; a relative path is one from the folder that the program starts in."""
    name = command.argv[0]
    return os.path.join(command.cwd or "", name) if os.path.dirname(name) else name


def _encoded(text: str) -> str | bytes:
    """A text that a program may be given in every locale: an ASCII one could not hold a prompt."""
    if sys.getfilesystemencoding() == "utf-8":
        return text
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def _environment(env: Mapping[str, str] | None, token: str) -> dict[Any, str | bytes]:
    """What the program sees: what it was given, and the tokens of every run that it is part of.

    A run inside a run keeps the outer token, so that the outer one finds its grandchildren. One
    token is that of this process: by it, what we leave is found if we are killed (`end_all`).
    """
    given = os.environ if env is None else env
    outer = f"{os.environ.get(TOKEN_NAME, '')}:{given.get(TOKEN_NAME, '')}".split(":")
    tokens = ":".join(dict.fromkeys([*filter(None, outer), owner.ours().token, token]))
    return {_encoded(k): _encoded(v) for k, v in {**given, TOKEN_NAME: tokens}.items()}


# the leaders of all families that run now: none belongs to another
_LEADERS: set[int] = set()


class _Family:
    """Everything that one command started: the child that leads its session, and all below it."""

    def __init__(self, output_limit_bytes: int, token: str = "") -> None:
        self.started = time.monotonic()
        self.token = token or os.urandom(16).hex()
        self.stdout, self.stderr = Capture(output_limit_bytes), Capture(output_limit_bytes)
        self.lineage = lineage.Lineage(self.token.encode())
        self.child: subprocess.Popen[bytes] | None = None
        self.watch: Watch | None = None
        self.exit_code: int | None = None
        self.survivors: int | None = None
        self.ended = False

    def start(self, command: Command) -> None:
        """Raises OSError or ValueError if that is not possible; nothing is left then."""
        import subprocess

        if not command.argv:
            raise ValueError("the command is empty")
        if command.stdin is None:
            self._open(command, subprocess.DEVNULL)
            return
        with _input_file() as source:
            source.write(command.stdin)
            source.seek(0)
            self._open(command, source)

    def _open(self, command: Command, stdin: int | IO[bytes]) -> None:
        import subprocess

        argv = list(command.argv)
        if os.name == "nt":
            argv[0] = find_executable(argv[0], command.env) or argv[0]
        self.child = subprocess.Popen(
            [_encoded(argument) for argument in argv],
            bufsize=0,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=None if command.cwd is None else _encoded(os.fspath(command.cwd)),
            env=_environment(command.env, self.token),
            start_new_session=True,
        )
        _LEADERS.add(self.child.pid)
        self.lineage = lineage.Lineage(
            self.token.encode(), self.child.pid, _identities(self.child.stdout, self.child.stderr)
        )
        self.watch = watch(self.child, self.stdout, self.stderr)

    def wait(self, seconds: float) -> bool:
        """Take in output for at most `seconds`; say whether the child has ended."""
        return self.watch is None or self.watch.wait(seconds)

    def end(self, grace_s: float) -> None:
        """Kill what is alive, once: after SIGTERM and a grace if that is the child itself."""
        if self.ended:
            return
        try:
            if not self.wait(0):
                self._ask_to_end(time.monotonic() + min(grace_s, LONGEST_GRACE_S))
        finally:
            self._kill()
            self._let_go()

    def _ask_to_end(self, until: float) -> None:
        self._send(self._look().members, SIGTERM)
        while (left := until - time.monotonic()) > 0:
            if self.wait(min(left, GRACE_TICK_S)):
                if not self._look().members:
                    return
                time.sleep(GRACE_TICK_S)

    def _kill(self) -> None:
        """SIGKILL to everybody, until nobody is left to be seen."""
        until = time.monotonic() + SWEEP_S
        killed: set[int] = set()
        quiet_looks, doubtful = 0, frozenset[int]()
        while time.monotonic() < until:
            ended = self.wait(0)
            seen = self._look()
            self._send(seen.members, SIGKILL)
            killed.update(seen.members)
            quiet = ended and not seen.members and not seen.starting
            quiet_looks = quiet_looks + 1 if quiet else 0
            # who was dead at the look before has left no child since
            if quiet and (quiet_looks == LOOKS or seen.doubtful <= doubtful):
                break
            doubtful = seen.doubtful
            with turns.given_up():
                time.sleep(SWEEP_TICK_S)
        self.survivors = len(killed) if lineage.readable() else None

    def _let_go(self) -> None:
        import subprocess

        self.ended = True
        if self.watch is not None:
            self.watch.close()
        if self.child is not None:
            _LEADERS.discard(self.child.pid)
            # A child that hangs inside the kernel cannot be ended by anybody; its code is unknown.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.exit_code = self.child.wait(TICK_S)

    def _look(self) -> lineage.Look:
        brief = time.monotonic() - self.started < BRIEF_S
        return lineage.look(self.lineage, brief, _LEADERS)

    def _send(self, members: Sequence[int], number: int) -> None:
        for pid in members:
            _signal(os.kill, pid, number)
        if self.child is None:
            return
        if os.name == "nt":
            self.child.terminate()
        else:
            _signal(os.killpg, self.child.pid, number)


def _input_file() -> IO[bytes]:
    """For what a program is to read; no pipe: one that does not read it cannot hold us up."""
    with contextlib.suppress(AttributeError, OSError):  # elsewhere there are none
        return os.fdopen(os.memfd_create("input"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()


def _signal(send: Callable[[int, int], None], target: int, number: int) -> None:
    """Send a signal to somebody who may have ended, or be another user's, meanwhile."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        send(target, number)


def _identities(*streams: IO[bytes] | None) -> frozenset[tuple[int, int]]:
    """(device, inode) of each stream."""
    states = [os.fstat(stream.fileno()) for stream in streams if stream]
    return frozenset((state.st_dev, state.st_ino) for state in states)
