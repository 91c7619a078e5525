"""One run of a suite from start to end: run folder, progress, interrupts. Owns their order.

What it is told comes from a command; what it finds out goes back as a report. It prints no result.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

from skilleval import evaluation, sandboxes, writing
from skilleval.budget import Budget
from skilleval.engine import Equip, Refusal, Refuse, Session
from skilleval.errors import SkillevalError, UsageError
from skilleval.model import EMPTY, Report, Result, Suite
from skilleval.plaintext import counted
from skilleval.plan import count, trials
from skilleval.progress import Progress
from skilleval.redaction import redact, secrets_in
from skilleval.runfolder import exchanges, lock, resuming, store
from skilleval.runfolder.keeper import Keeper
from skilleval.runfolder.runs import StoredRun
from skilleval.tools import Tools

WORKSPACE = "eval-workspace"


class Options(NamedTuple):
    """How a suite is run. `workspace` empty: no run folder; `iteration` 0: the next number.

    `record` and `replay` are folders of exchanges (see `exchanges`), at most one of them given.
    `keep` makes of a result, once it is on disk, what is kept of it in memory. A trial that the
    known costs leave too little of `budget_usd` for is not started (see `budget`). `command` is
    the command line that asked for the run, to say how it is resumed. `meanwhile` is the session's.
    """

    tools: Tools
    jobs: int = 1
    repeats: int = 1
    workspace: str = WORKSPACE
    iteration: int = 0
    resume: bool = False
    record: str = ""
    replay: str = ""
    quiet: bool = False
    keep: Callable[[Result], Result] | None = None
    budget_usd: float | None = None
    command: Sequence[str] = ()
    meanwhile: Callable[[], object] | None = None


class Ended(NamedTuple):
    """What came of a run: its report, and its folder if it has one.

    `kept`: is all that was found out on disk? Without a folder nothing was to be kept.
    """

    report: Report
    folder: store.Run | None
    kept: bool = True


@contextlib.contextmanager
def run(suite: Suite, options: Options, meta: Mapping[str, Any] = EMPTY) -> Iterator[Ended]:
    """Runs the trials that have no result yet, and reports on all.

    While the caller has the report, nobody else writes the run's folder. Every result is on disk
    the moment it is known. SIGTERM and Ctrl-C end the running trials, say where the finished ones
    are, and go on as KeyboardInterrupt. What killed runs left on this machine is swept first. After
    a first result that cannot be written, no further trial is started. Raises `UsageError` if
    another process writes the folder to be resumed, if the run in it is of something else or
    complete, and for more trials than a run may have; `SkillevalError` if the folder cannot be
    written at all.
    """
    count(suite, repeats=options.repeats)
    _check_tape(options)
    folder = _run_folder(suite, options)
    with lock.held(folder.folder) if folder else contextlib.nullcontext():
        if not options.replay:
            sweep(sandboxes.engines(suite), options.tools)
        yield _run_in(folder, suite, options, meta)


def earlier(suite: Suite, workspace: str, iteration: int) -> StoredRun | None:
    """The run of the suite that `--resume` goes on with, None if it has written nothing yet.

    What a command line does not say of it, it is to take from there. Raises `UsageError` if there
    is none, or if it is complete.
    """
    return resuming.find(workspace or WORKSPACE, suite, iteration=iteration)[1]


def check_resumed(before: StoredRun | None, suite: Suite, repeats: int, tools: Tools) -> None:
    """Raises `UsageError` if the run to be resumed is of anything else than the suite is now."""
    if before:
        resuming.check(before, suite, repeats, secrets_in(tools.environ, suite.pass_env))


def sweep(engines: Sequence[str], tools: Tools) -> None:
    """Ends and removes what killed runs left on this machine, and says so."""
    from skilleval.trial import leftovers

    containers = (sandboxes.get("docker").sweep(engine, tools) for engine in engines)
    for swept in itertools.chain(leftovers.sweep(tools.environ), *containers):
        tools.note(swept.text)


def _run_in(
    folder: store.Run | None, suite: Suite, options: Options, meta: Mapping[str, Any]
) -> Ended:
    note = options.tools.note
    total = count(suite, repeats=options.repeats)
    keys = (
        [store.key(suite, each) for each in trials(suite, repeats=options.repeats)]
        if options.resume
        else []
    )
    keeper = Keeper(folder, note, resume_command(options, folder))
    with writing.guarded(folder.folder if folder else ""):
        if folder and options.resume:
            _reopen(folder, keys, note)
        keeper.begin({"suite": suite, "repeats": options.repeats, **meta})
    _match_tape(suite, options)
    budget = Budget(options.budget_usd)
    finished = keeper.finished(_counting(budget, options.keep))
    done = sum(key in finished for key in keys)
    progress = Progress(total, done=done, shown=not options.quiet)
    with _Interruptible(note), progress:
        session = Session(
            options.tools,
            jobs=options.jobs,
            watch=keeper.watching(budget.watching(progress.watch)),
            equip=_equip(options, suite),
            keep=options.keep,
            refuse=_refusing(keeper, budget),
            meanwhile=options.meanwhile,
        )
        try:
            report = evaluation.evaluate(
                [suite],
                gates=suite.gates,
                session=session,
                meta=meta,
                finished=finished,
                repeats=options.repeats,
            )
        except (KeyboardInterrupt, SkillevalError):
            note(keeper.farewell())
            raise
    if doubt := budget.doubt():
        note(f"warning: {doubt}")
    if not budget.refused:  # with more of it, the run can be resumed
        keeper.finish(report)
    if budget.refused:
        keeper.resume = resume_command(options, folder, budget.enough_usd())
    if budget.refused or keeper.failed:
        note(keeper.farewell(", with a larger --max-budget-usd" if budget.refused else ""))
    return Ended(report, keeper.run, kept=not keeper.failed)


def _counting(
    budget: Budget, keep: Callable[[Result], Result] | None
) -> Callable[[Result], Result]:
    """`keep` for the results of an earlier start, whose costs count, too."""

    def counted_and_kept(result: Result) -> Result:
        budget.add(result)
        return keep(result) if keep else result

    return counted_and_kept


def _reopen(folder: store.Run, keys: Sequence[str], note: Callable[[str], None]) -> None:
    """Makes of a run one that is not complete, and has no result but of these contents."""
    store.reopen(folder)
    if aside := store.set_aside(folder, keys):
        note(
            f"warning: {counted(aside, 'result')} of another prompt, skill, checks or files than"
            f" there are now: no part of the run any more (see {store.SUPERSEDED}), and run again"
        )


def _refusing(keeper: Keeper, budget: Budget) -> Refuse:
    """Asks before each trial whether its result could be kept, and whether it may be paid for."""

    def refuse(stop: Callable[[], bool]) -> Refusal | None:
        if not keeper.failed:
            # who waits for others to end need not wait any more if one could not be kept
            reason = budget.refuse(lambda: stop() or keeper.failed)
            if reason:
                return Refusal("budget", reason)
        return keeper.refusal()

    return refuse


def timestamp(tools: Tools) -> str:
    """The time as reports have it: in UTC, whole seconds, such as 2026-11-30T09:30:00Z."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(tools.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def resume_command(
    options: Options, folder: store.Run | None, budget_usd: float | None = None
) -> str:
    """What to type to go on with a run; "" where nobody has typed a command, or nothing is kept.

    With `budget_usd`, another --max-budget-usd than the run was given.
    """
    if not options.command or not folder:
        return ""
    import shlex

    given = list(options.command)
    end = given.index("--") if "--" in given else len(given)
    given, after = given[:end], given[end:]
    if budget_usd is not None:
        given = _with_budget(given, f"{budget_usd:g}")
    missing = [] if options.resume else ["--resume"]
    missing += [] if options.iteration else ["--iteration", str(folder.number)]
    return redact(shlex.join([*given, *missing, *after]), folder.secrets)


def _with_budget(words: Sequence[str], usd: str) -> list[str]:
    """A command line with that budget in place of its own; the last one counts."""
    flag = "--max-budget-usd"
    found = [f"{flag}={usd}" if word.startswith(f"{flag}=") else word for word in words]
    for place in [number for number, word in enumerate(found[:-1]) if word == flag]:
        found[place + 1] = usd
    return found if found != list(words) else [*found, flag, usd]


def _check_tape(options: Options) -> None:
    """Before anything is started: a run that costs must not find out at its end."""
    if options.record and options.replay:
        raise UsageError("--record and --replay exclude each other: what is replayed is recorded")
    if options.replay and not os.path.isdir(options.replay):
        raise UsageError(f"--replay {options.replay}: no such folder; --record makes one")
    if options.record:
        with writing.guarded(options.record):
            writing.make_folder(options.record)


def _match_tape(suite: Suite, options: Options) -> None:
    """Notes on the tape what its trials are about; of a replay, says which have changed since."""
    if not (options.record or options.replay):
        return
    planned = trials(suite, repeats=options.repeats)
    contents = {trial.key: store.key(suite, trial) for trial in planned}
    if options.record:
        exchanges.note_contents(options.record, contents)
    for key in exchanges.changed(options.replay, contents) if options.replay else ():
        options.tools.note(
            f"warning: {key} has changed since it was recorded (prompt, checks, model or settings);"
            " what is played back answers the old one"
        )


def _run_folder(suite: Suite, options: Options) -> store.Run | None:
    if options.resume:
        base = options.workspace or WORKSPACE
        found, stored = resuming.find(base, suite, iteration=options.iteration)
        check_resumed(stored, suite, options.repeats, options.tools)
    elif options.workspace:
        with writing.guarded(options.workspace):
            found = store.create(options.workspace, suite, iteration=options.iteration)
    else:
        return None
    secrets = secrets_in(options.tools.environ, suite.pass_env)
    return found._replace(suite=suite, repeats=options.repeats > 1, secrets=secrets)


def _equip(options: Options, suite: Suite) -> Equip | None:
    if options.record:
        return exchanges.recording(options.record, suite.pass_env)
    return exchanges.replaying(options.replay) if options.replay else None


class _Interruptible:
    """While it lasts, SIGTERM and SIGHUP are Ctrl-C: what runs is ended by them, too.

    Only the first interrupts. Ending programs and containers takes seconds, and has deadlines of
    its own; an impatient second and third Ctrl-C would leave containers behind.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self.note = note

    def __enter__(self) -> None:
        self.before: dict[int, Any] = {}
        self.stopping = False
        if threading.current_thread() is not threading.main_thread():
            return
        # Windows has no SIGHUP
        for number in {signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)}:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and `&` want it
                self.before[number] = signal.signal(number, self._interrupt)

    def __exit__(self, *error: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self.stopping:
            self.stopping = True
            raise KeyboardInterrupt
        with contextlib.suppress(RuntimeError):  # in the middle of another message
            self.note("still ending what runs; please wait")
