"""The agent that is any program: a template of its command line. Owns what is put into it.

The answer is what the program prints; where that is the stream of a program that we know, its
events and tokens are read as well. Folders, retries and time limits are `harness`'s.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple, cast

from skilleval import agents
from skilleval.errors import UsageError
from skilleval.model import Arm, Case, Outcome, Suite
from skilleval.process import capture
from skilleval.tools import Tools
from skilleval.trial import commandline, transcript
from skilleval.trial.transcript import Transcript

if TYPE_CHECKING:
    from skilleval.trial.harness import Ask, Program

OPTIONS = frozenset({"command", "max_budget_usd"})
_PLACEHOLDER = re.compile(r"\{(prompt|workspace|model)\}")
_FORM = 'write it as a list, such as ["my-agent", "--dir", "{workspace}", "{prompt}"]'


def preflight(suite: Suite, tools: Tools) -> tuple[str, ...]:
    """Why the programs of the arms cannot be started here; empty if they can.

    Raises `UsageError` for a template that is none.
    """
    programs = {_template(arm)[0] for arm in suite.arms if arm.agent == "command"}
    install = "name a program that is there first in --agent-command '...' (in Python: `command`)"
    return tuple(
        reason
        for program in sorted(programs)
        for reason in commandline.missing(program, install, tools)
    )


def run(case: Case, arm: Arm, tools: Tools) -> Outcome:
    """What the program made of the case, in a workspace of its own (see `harness.run`).

    The arm's option `command` is the template (a list, or one text in the words of a shell).
    Without `{prompt}` in it, the prompt is its standard input. A key it has to be given by name:
    `pass_env`. Raises `UsageError` for a template that is none.
    """
    from skilleval.trial import harness

    return harness.run(_Command(_template(arm)), case, arm, tools)


class _Command(NamedTuple):
    """The program of one arm. It is asked for no version: it may take any argument as a task."""

    template: tuple[str, ...]
    CREDENTIALS: tuple[str, ...] = ()
    NAME: str = "command"
    PROGRAM: str = ""
    SKILLS: str = ".agents/skills"
    DROPPINGS: tuple[str, ...] = (".agents", ".claude", ".codex", ".opencode")
    HELP: tuple[str, ...] = ()

    def argv(self, ask: Ask) -> list[str]:
        values = {"prompt": ask.prompt, "workspace": ask.workspace, "model": ask.model}
        return [_PLACEHOLDER.sub(lambda m: values[m[1]], part) for part in self.template]

    def stdin(self, ask: Ask) -> bytes | None:
        given = any("{prompt}" in part for part in self.template)
        return None if given else commandline.encoded(ask.prompt)

    def environ(self, ask: Ask) -> dict[str, str]:
        return {}

    def read(self, stdout: str, stderr: str, exit_code: int | None) -> Transcript:
        return read(stdout, stderr, exit_code)


def read(stdout: str, stderr: str, exit_code: int | None) -> Transcript:
    """What the output of any program says: all of it is the answer, unless it is a known stream."""
    known = transcript.dialect(transcript.stream(stdout).records)
    if known:
        return cast("Program", agents.get(known)).read(stdout, stderr, exit_code)
    whole = len(capture.pieces(stdout)) == 1
    told = Transcript(transcript.safe(stdout), output_whole=whole, events_whole=whole)
    if exit_code:
        error = transcript.reason(f"exit status {exit_code}", stderr)
        return told._replace(failure=transcript.blame(stderr), error=error)
    return told


def words(given: object) -> tuple[str, ...]:
    """The words of a template; the path of a program starts where we were started.

    () for what is neither a text nor a list of texts. Raises `ValueError` for a text that is not
    in the words of a shell.
    """
    found = shlex.split(given) if isinstance(given, str) else given
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        return ()
    if not found:
        return ()
    program, *rest = found
    return (os.path.abspath(program) if os.path.dirname(program) else program, *rest)


def _template(arm: Arm) -> tuple[str, ...]:
    try:
        template = words(arm.options.get("command", ()))
    except ValueError as error:
        raise UsageError(f"arm {arm.name!r}: `command` cannot be read: {error}; {_FORM}") from None
    if not template:
        raise UsageError(f"arm {arm.name!r}: the agent `command` needs a `command`; {_FORM}")
    return template
