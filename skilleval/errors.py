"""The error tree. Owns what can go wrong by somebody's mistake or accident, and its exit code.

A bug of ours is none of these: it reaches `cli.main` as a traceback and exit code 70.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skilleval.model import Call, Failure


class NotStarted(Exception):
    """A trial's agent is not to start, which is nobody's mistake; the message says why.

    No agent handles it: what was made for it goes.
    """

    def __init__(self, message: str, failure: Failure = "") -> None:
        super().__init__(message)
        self.failure: Failure = failure


class SkillevalError(Exception):
    """Something we can explain in one message. `exit_code` is what a command ends with.

    `folder` is what is kept of the trial that it ended, "" if nothing is.

    `failure` is of what kind a trial's failure is that it ends. What an agent does wrong, its
    program tells and nobody raises: so it is the surroundings', unless a subclass knows better.
    """

    exit_code = 3
    failure: Failure = "infrastructure"
    folder = ""


class UsageError(SkillevalError):
    """A wrong flag, an unknown name or a bad configuration. The message says what to write."""

    exit_code = 2


class SuiteError(UsageError):
    """A user's file that cannot be used. Prints as `path:where: message`."""

    def __init__(self, path: str, where: str, message: str) -> None:
        super().__init__(f"{path}:{where}: {message}" if where else f"{path}: {message}")
        self.path, self.where, self.message = path, where, message


class AgentUnavailable(SkillevalError):
    """The agent cannot be started at all: not installed, not configured, not logged in."""


class GraderError(SkillevalError):
    """A grader could not decide. Becomes an `error` verdict, never a `fail`.

    `calls` are the questions to a model (`model.Call`) that it had asked by then.
    """

    def __init__(self, message: str, calls: tuple[Call, ...] = ()) -> None:
        super().__init__(message)
        self.calls = calls


class ModelError(SkillevalError):
    """A model endpoint or model program gave no usable reply."""
