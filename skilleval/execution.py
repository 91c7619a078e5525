"""One run of a suite from start to end: run folder, progress, interrupts. Owns their order.

What it is told comes from a command; what it finds out goes back as a report. It prints no result.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

from skilleval import console, evaluation
from skilleval.budget import Budget
from skilleval.engine import Equip, Session
from skilleval.errors import UsageError
from skilleval.model import EMPTY, Report, Result, Suite, Trial
from skilleval.plan import trials
from skilleval.progress import Progress
from skilleval.redaction import secrets_in
from skilleval.runfolder import exchanges, store
from skilleval.runfolder.keeper import Keeper
from skilleval.tools import Tools

WORKSPACE = "eval-workspace"


class Options(NamedTuple):
    """How a suite is run. `workspace` empty: no run folder; `iteration` 0: the next number.

    `record` and `replay` are folders of exchanges (see `exchanges`), at most one of them given.
    `keep` makes of a result, once it is on disk, what is kept of it in memory. Once the known
    costs reach `budget_usd`, no further trial is started.
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


def run(
    suite: Suite, options: Options, meta: Mapping[str, Any] = EMPTY
) -> tuple[Report, store.Run | None]:
    """The report, and the run's folder if it has one.

    Every result is on disk the moment it is known. SIGTERM and Ctrl-C end the running trials, say
    where the finished ones are, and go on as KeyboardInterrupt.
    """
    _check_tape(options)
    keeper = Keeper(_run_folder(suite, options))
    keeper.begin({"suite": suite, "repeats": options.repeats, **meta})
    planned = trials(suite, repeats=options.repeats)
    _match_tape(suite, planned, options)
    budget = Budget(options.budget_usd)
    finished = keeper.finished()
    done = sum(store.key(suite, trial) in finished for trial in planned) if finished else 0
    progress = Progress(len(planned), done=done, shown=not options.quiet)
    with _Interruptible(), progress:
        session = Session(
            options.tools,
            jobs=options.jobs,
            watch=keeper.watching(budget.watching(progress.watch)),
            equip=_equip(options),
            keep=options.keep,
            refuse=budget.refuse,
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
        except KeyboardInterrupt:
            console.note(keeper.farewell())
            raise
    if doubt := budget.doubt():
        console.note(f"warning: {doubt}")
    if not budget.refused:  # with more of it, the run can be resumed
        keeper.finish(report)
    return report, keeper.run


def _check_tape(options: Options) -> None:
    """Before anything is started: a run that costs must not find out at its end."""
    if options.record and options.replay:
        raise UsageError("--record and --replay exclude each other: what is replayed is recorded")
    if options.replay and not os.path.isdir(options.replay):
        raise UsageError(f"--replay {options.replay}: no such folder; --record makes one")
    if options.record:
        with store.writing(options.record):
            os.makedirs(options.record, exist_ok=True)


def _match_tape(suite: Suite, planned: Sequence[Trial], options: Options) -> None:
    """Notes on the tape what its trials are about; of a replay, says which have changed since."""
    if not (options.record or options.replay):
        return
    contents = {trial.key: store.key(suite, trial) for trial in planned}
    if options.record:
        exchanges.note_contents(options.record, contents)
    for key in exchanges.changed(options.replay, contents) if options.replay else ():
        console.note(
            f"warning: {key} has changed since it was recorded (prompt, checks, model or settings);"
            " what is played back answers the old one"
        )


def _run_folder(suite: Suite, options: Options) -> store.Run | None:
    if options.resume:
        base = options.workspace or WORKSPACE
        found = store.unfinished(base, suite, iteration=options.iteration)
    elif options.workspace:
        with store.writing(options.workspace):
            found = store.create(options.workspace, suite, iteration=options.iteration)
    else:
        return None
    secrets = secrets_in(options.tools.environ)
    return found._replace(suite=suite, repeats=options.repeats > 1, secrets=secrets)


def _equip(options: Options) -> Equip | None:
    if options.record:
        return exchanges.recording(options.record)
    return exchanges.replaying(options.replay) if options.replay else None


class _Interruptible:
    """While it lasts, SIGTERM is Ctrl-C: the programs of the running trials are ended by it too.

    Only the first interrupts. Ending programs and containers takes seconds, and has deadlines of
    its own; an impatient second and third Ctrl-C would leave containers behind.
    """

    def __enter__(self) -> None:
        self.before: dict[int, Any] = {}
        self.stopping = False
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGINT):
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
            console.note("still ending what runs; please wait")
