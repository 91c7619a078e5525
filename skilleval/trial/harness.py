"""The trial of an agent program: prepare, run with retries, look, prove the arm, tell what came.

Owns the order of these, the prompt as sent, and which outcome comes of them: an arm that is not
what it claims, and an agent that found the answers, give an error and never a number. What a
program's words mean is its agent module's (`agents`), the folders are `workspace`'s, git is
`gitstate`'s.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from skilleval import snapshot
from skilleval.errors import SkillevalError
from skilleval.model import Arm, Case, Delta, Failure, File, Outcome, State
from skilleval.plaintext import counted
from skilleval.process import (
    LONGEST_ARGUMENT_BYTES,
    Command,
    Completed,
    find_executable,
    turns,
)
from skilleval.reading import textfile
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools
from skilleval.trial import attempts, gitstate, integrity, pullrequests, temporary, workspace
from skilleval.trial.attempts import Attempt

if TYPE_CHECKING:
    from skilleval.trial.transcript import Transcript

PAUSE_S = 2.0  # before another attempt; it grows with each
QUESTION_TIMEOUT_S = 30.0
# what went wrong around the agent says nothing about the agent, whatever it did until then
OUTSIDE = ("infrastructure", "permission", "budget")


class Ask(NamedTuple):
    """One start of an agent program. Folders are absolute; what is not asked for is "" or None.

    `prompt` is the text as sent. `keys` are the variables of its CREDENTIALS that hold something,
    in their order. `version` is what `PROGRAM --version` prints, `help` what the
    program's HELP prints: by them an agent module chooses between the flags of old and new ones.
    """

    prompt: str
    workspace: str
    home: str
    model: str = ""
    effort: str = ""
    base_url: str = ""
    max_budget_usd: float | None = None
    version: str = ""
    help: str = ""
    keys: tuple[str, ...] = ()


class Program(workspace.Layout, Protocol):
    """An agent program, as its module describes it; a module or a NamedTuple will do.

    `NAME` is the agent's ("claude-code"), `PROGRAM` the executable's ("claude"; empty if it has no
    version to ask for). `SKILLS` is where a skill is installed, relative to the workspace
    (".claude/skills"). `DROPPINGS` are paths in the workspace that are the program's own and no
    work of the agent (".claude"). `CREDENTIALS` are the variables of ours that it may see. `HELP`
    is the whole argv that prints the help it needs ("codex", "exec", "--help"), or (). `stdin` is
    its whole input, None for none; `environ` comes on top of what every agent sees.
    """

    @property
    def NAME(self) -> str: ...
    @property
    def PROGRAM(self) -> str: ...
    @property
    def HELP(self) -> Sequence[str]: ...

    def argv(self, ask: Ask, /) -> list[str]: ...
    def stdin(self, ask: Ask, /) -> bytes | None: ...
    def environ(self, ask: Ask, /) -> Mapping[str, str]: ...
    def read(self, stdout: str, stderr: str, exit_code: int | None, /) -> Transcript: ...


def run(program: Program, case: Case, arm: Arm, tools: Tools) -> Outcome:
    """What came of the case in this arm, with all that grading needs later, without the workspace.

    The arm's options, beside those of `workspace.prepare`: `timeout_s` (of one attempt), `retries`,
    `base_url`, `effort`, `max_budget_usd`. A program that ends with an error or at its deadline is
    graded if it has said or changed anything (seed 002); what failed around it is an error, and so
    is a workspace that cannot be made. The outcome's `source` is the trial's folder if kept.
    """
    trial = _Trial(program, case, arm, tools)
    try:
        with turns.taken(), workspace.prepare(case, arm, program, tools) as place:
            outcome = trial.run(place)
            return _kept(outcome, place.folder if workspace.is_kept(tools.environ) else "")
    except SkillevalError as error:
        return _kept(trial.ended_by(error), error.folder)


def _kept(outcome: Outcome, folder: str) -> Outcome:
    """The outcome of a trial whose folder is left behind; "": it is not."""
    if not folder:
        return outcome
    notes = (*outcome.notes, f"workspace kept: {temporary.inside(folder)}")
    return outcome._replace(notes=notes, source=folder)


def prompt(case: Case, arm: Arm) -> str:
    """The prompt as sent: verbatim, save where a case forces the skill in an arm that has it."""
    if arm.with_skill and case.annotations.get("force"):
        return f"Use the ${workspace.skill_name(arm)} skill. {case.prompt}"
    return case.prompt


_ANSWERS: dict[tuple[object, ...], str] = {}


def answer(argv: Sequence[str], environ: Mapping[str, str], folder: str, tools: Tools) -> str:
    """What a program prints about itself, such as its version; "" if it is not there.

    It is asked once by this process, until the program changes on disk.
    """
    path = find_executable(argv[0], environ) if argv else None
    if path is None:
        return ""
    key = (*argv, path, os.stat(path).st_mtime_ns)
    if key not in _ANSWERS:
        env = {**environ, "HOME": folder}
        done = tools.run(Command(argv, QUESTION_TIMEOUT_S, cwd=folder, env=env))
        if done.exit_code is None:
            return ""
        _ANSWERS[key] = done.stdout.strip() or done.stderr.strip()
    return _ANSWERS[key]


class _Trial:
    """One case in one arm, while it runs."""

    def __init__(self, program: Program, case: Case, arm: Arm, tools: Tools) -> None:
        self.program, self.case, self.arm, self.tools = program, case, arm, tools
        self.attempts: list[Attempt] = []
        self.notes: list[str] = []
        self.slug = pullrequests.github_slug(str(arm.options.get("source_repo") or ""))

    def run(self, place: workspace.Place) -> Outcome:
        before = place.ground.state._replace(git=self._with_pulls(place.look.state))
        with self.tools.seat():
            place = self._try(workspace.restored(place, self.arm))
        after, delta = self._look(place, before)
        failure, error = self._failure(place, delta)
        told = attempts.outcome(self.attempts)
        self.notes += attempts.uncounted(self.attempts)
        graded = is_graded(failure, told.output, delta)
        if graded and failure:
            self.notes.append(f"{failure}: {error}")
        listed = attempts.listed(self.attempts)
        if listed is None:
            listed = self.tools.observe(lambda: list(place.skills))
        return told._replace(
            status="ok" if graded else "error",
            error="" if graded else error,
            delta=delta,
            failure=failure,
            before=before,
            after=after,
            skills=tuple(sorted(listed)),
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def ended_by(self, error: SkillevalError) -> Outcome:
        """What is known when the place cannot be made, also the one for another attempt."""
        told = attempts.outcome(self.attempts) if self.attempts else Outcome("error")
        notes = tuple(dict.fromkeys(self.notes))
        return told._replace(error=str(error), failure=error.failure, notes=notes)

    def _try(self, place: workspace.Place) -> workspace.Place:
        """Attempts until one is good or the last; another one starts from a place as new."""
        retries = int(self.arm.options.get("retries", attempts.RETRIES))
        while True:
            self.attempts.append(self._attempt(place))
            number, attempt = len(self.attempts), self.attempts[-1]
            if number > retries or not attempt.may_be_repeated:
                return place
            failure, error = attempt.failure
            if not self._is_pristine(place):
                self.notes.append(
                    f"not repeated after {failure}: attempt {number} had changed the workspace"
                )
                return place
            self.notes.append(f"attempt {number}: {failure}: {error}")
            with turns.given_up():
                self.tools.sleep(PAUSE_S * number)
            place = workspace.furnish(place, self.arm)

    def _is_pristine(self, place: workspace.Place) -> bool:
        return bool(self.tools.observe(lambda: place.is_pristine(self.tools.bare)))

    def _attempt(self, place: workspace.Place) -> Attempt:
        ask = self._ask(place)
        argv = self.program.argv(ask)
        longest = max((len(part.encode("utf-8", "surrogatepass")) for part in argv), default=0)
        done = Completed(
            not_found=True,
            error=f"the prompt of {longest} bytes is longer than an argument of a program may be"
            f" ({LONGEST_ARGUMENT_BYTES}); put the long text in a file of the case",
        )
        if longest <= LONGEST_ARGUMENT_BYTES or not sys.platform.startswith("linux"):
            timeout_s = float(self.arm.options.get("timeout_s") or attempts.TIMEOUT_S)
            environ = {**place.environ, **self.program.environ(ask)}
            stdin = self.program.stdin(ask)
            command = Command(argv, timeout_s, cwd=place.workspace, env=environ, stdin=stdin)
            done = self.tools.run(command)
        told = self.program.read(done.stdout, done.stderr, done.exit_code)
        self._note(done, told)
        return Attempt(done, told)

    def _ask(self, place: workspace.Place) -> Ask:
        options, name = self.arm.options, self.program.PROGRAM

        def printed(argv: Sequence[str]) -> str:
            folder, tools = os.path.join(place.folder, "tmp"), self.tools
            return str(tools.observe(lambda: answer(argv, place.environ, folder, tools.bare)))

        version = printed([name, "--version"]) if name else ""
        if version:
            self.notes.append(f"{name} --version: {version.splitlines()[0]}")
        return Ask(
            prompt=prompt(self.case, self.arm),
            workspace=place.workspace,
            home=place.home,
            model=self.arm.model,
            effort=str(options.get("effort") or ""),
            base_url=str(options.get("base_url") or ""),
            max_budget_usd=options.get("max_budget_usd"),
            version=version,
            help=printed(self.program.HELP),
            keys=tuple(key for key in self.program.CREDENTIALS if place.environ.get(key)),
        )

    def _note(self, done: Completed, told: Transcript) -> None:
        self.notes += told.notes
        if denied := [event for event in told.events if event.kind == "denied"]:
            names = ", ".join(dict.fromkeys(event.name for event in denied))
            self.notes.append(f"permission denied: {names} ({counted(len(denied), 'time')})")
        if done.survivors:
            left = counted(done.survivors, "process", "es")
            self.notes.append(f"left running, and ended: {left}")
        if cut := done.stdout_cut_bytes + done.stderr_cut_bytes:
            self.notes.append(f"cut out of the middle: {counted(cut, 'byte')} of output")

    def _look(self, place: workspace.Place, before: State) -> tuple[State, Delta]:
        """The state afterwards, and the change; what cannot be seen any more is noted.

        Of a workspace that is gone, or leads elsewhere now, nothing is known.
        """
        try:
            files = place.files(self.tools)
        except OSError as error:
            self.notes.append(f"the workspace is gone: {textfile.reason(error)}")
            return State(None), Delta()
        changes = snapshot.delta(place.ground.files, files)
        git, problem = self.tools.observe(lambda: self._git(place, changes))
        if problem:
            self.notes.append(f"the state of git is unknown: {problem}")
            return State(_whole(files, before), None), changes
        if not git and before.git:
            self.notes.append("the workspace has no git repository any more")
            return State(_whole(files, before), {}), changes
        git = self._with_pulls(git)
        return State(_whole(files, before), git), changes._replace(
            git=gitstate.change(before.git or {}, git)
        )

    def _git(self, place: workspace.Place, changes: Delta) -> tuple[Mapping[str, Any], str]:
        try:
            look = place.git(self.tools.bare, touched=_has_changed(changes))
        except SkillevalError as error:
            return {}, str(error)
        return look.state, ""

    def _with_pulls(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.slug:
            return state
        try:
            found = pullrequests.pull_requests(self.slug, self.tools)
            return {**state, "open_prs": found, "open_prs_of": self.slug}
        except SkillevalError as error:
            self.notes.append(str(error))
            return {**state, "open_prs": None}  # unknown, which is not none

    def _failure(self, place: workspace.Place, delta: Delta) -> tuple[Failure, str]:
        """Why this is no number, or what went wrong with the agent; the worst first."""
        failure, error = self.attempts[-1].failure
        if failure in OUTSIDE:
            return failure, error
        tried, before = self.attempts, place.ground.state
        if told := self.tools.observe(
            lambda: integrity.contamination(self.case, before, tried, delta)
        ):
            # what was recorded by older versions says only that it is so
            return "contaminated", told if isinstance(told, str) else integrity.CANARY_SEEN
        if broken := integrity.broken_control(
            place, self.case, self.arm, tried, lambda: self.tools.observe(place.visible)
        ):
            return "control", broken
        return failure, error


def is_graded(failure: Failure, output: str, delta: Delta) -> bool:
    """Is there something to grade in what came of a trial that may have failed?

    What failed around the agent says nothing about it; an agent that failed is graded by what it
    said and changed until then, if that is anything.
    """
    lost = failure in (*OUTSIDE, "contaminated", "control")
    return not lost and bool(output or not failure or _has_changed(delta))


def _whole(files: Snapshot, before: State) -> tuple[File, ...]:
    """Files with their contents, also of those that have not changed."""
    known = {file.change.path: file for file in before.files or ()}
    return tuple(
        known[file.change.path]
        if file.change.path in known and known[file.change.path].digest == file.digest
        else file
        for file in files.files
    )


def _has_changed(delta: Delta) -> bool:
    git = delta.git
    fields = ("new_branches", "new_commit_shas", "pushed_branches", "deleted_remote_branches")
    moved = any(git.get(field) for field in fields)
    head = bool(git.get("head_advanced") or git.get("current_branch_changed"))
    return bool(delta.added or delta.modified or delta.deleted) or moved or head
