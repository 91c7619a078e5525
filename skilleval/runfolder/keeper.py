"""Keeps each result of a run the moment it is known, and brings back those of an interrupted one.

Owns the link between a session and its run folder. A disk that is full loses nothing that was
written before: it is said once, and no further trial is started, for its result would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock

from skilleval.engine import Refusal, Watch
from skilleval.model import EMPTY, Report, Result, Trial
from skilleval.plaintext import counted
from skilleval.process import turns
from skilleval.reading import textfile
from skilleval.runfolder import artefacts, store


class Keeper:
    """Saves to a run folder, or nowhere (`run` None). `resume` is the command to go on with it.

    `note` is told of a folder that cannot be written.
    """

    def __init__(
        self, run: store.Run | None, note: Callable[[str], None], resume: str = ""
    ) -> None:
        self.run, self.resume, self.note = run, resume, note
        self.lock = RLock()
        self.problem = ""  # why it cannot be written
        self.leaving: list[Result] = []
        self.listed: Mapping[str, object] = EMPTY

    def begin(self, manifest: Mapping[str, object]) -> None:
        """Writes what is being run. Raises `OSError`: nothing has been paid for yet."""
        if self.run:
            self.listed = artefacts.listed(self.run.folder)
            store.begin(self.run, manifest)

    @property
    def failed(self) -> bool:
        """Has anything not been written that should have been?"""
        return bool(self.problem)

    def refusal(self) -> Refusal | None:
        """Why no further trial is started: its result would be paid for and lost."""
        return Refusal("storage", f"storage: {self.problem}") if self.problem else None

    def finished(self, keep: Callable[[Result], Result] | None = None) -> Mapping[str, Result]:
        """The results that need no repeating, by the key of their content: what `keep` makes of
        each."""
        return store.finished(self.run, keep) if self.run else EMPTY

    def watching(self, watch: Watch) -> Watch:
        """`watch`, which hears of a result after it has been saved."""

        def saved(trial: Trial, result: Result | None) -> None:
            unkept = result is not None and result.outcome.failure == "storage"
            if result is not None and self.run and not unkept:
                with turns.taken():
                    self._try(lambda run: store.save(run, result))
                self._note(result)
            watch(trial, result)

        return saved

    def _note(self, result: Result) -> None:
        """Adds to the manifest what a trial left outside: `cleanup` touches nothing else."""
        with self.lock:
            if self.run and artefacts.leaves(self.run.suite, result):
                self.leaving.append(artefacts.traces(result))
                left = artefacts.manifest(self.run.suite, self.leaving, self.listed)
                self._try(lambda run: run.write(store.CLEANUP, left))

    def finish(self, report: Report) -> None:
        """Writes the summary: the run is complete. Says how what ended in an error is run again."""
        if not self.failed:  # a run that is not whole on disk can be resumed
            self._try(lambda run: store.finish(run, report))
        results = [result for suite in report.suites for result in suite.results]
        count = sum(map(store.is_open, results))
        if count and self.resume and not self.failed:
            failed = f"{count} of {counted(len(results), 'trial')} ended in an error"
            self.note(f"{failed}; to try again what did, and nothing else:\n  {self.resume}")

    def farewell(self, needed: str = "") -> str:
        """What to say when the run ends before it is complete, and what it takes to go on."""
        if not self.run:
            return "nothing was kept: a single scenario has no run folder without --workspace"
        what = "what could be written" if self.failed else "what was finished"
        kept = f"{what} is kept in {self.run.folder}"
        if not self.resume:
            return f"{kept}; --resume goes on with it"
        return f"{kept}; to go on with it{needed}:\n  {self.resume}"

    def _try(self, write: Callable[[store.Run], None]) -> None:
        if not self.run:
            return
        try:
            write(self.run)
        except OSError as error:
            with self.lock:
                if not self.problem:
                    self.problem = f"{self.run.folder} cannot be written: {textfile.reason(error)}"
                    self.note(f"warning: {self.problem}")
