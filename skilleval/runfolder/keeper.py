"""Keeps each result of a run the moment it is known, and brings back those of an interrupted one.

Owns the link between a session and its run folder. A disk that is full loses nothing that was
written before: it is said once, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock

from skilleval import console
from skilleval.engine import Watch
from skilleval.model import EMPTY, Report, Result, Trial
from skilleval.reading import textfile
from skilleval.runfolder import store


class Keeper:
    """Saves to a run folder, or nowhere (`run` None)."""

    def __init__(self, run: store.Run | None) -> None:
        self.run = run
        self.lock = RLock()
        self.failed = False
        self.leaving: list[Result] = []

    def begin(self, manifest: Mapping[str, object]) -> None:
        """Writes what is being run."""
        if self.run:
            self._try(lambda run: store.begin(run, manifest))

    def finished(self) -> Mapping[str, Result]:
        """The results that need no repeating, by the key of their content."""
        return store.finished(self.run) if self.run else EMPTY

    def watching(self, watch: Watch) -> Watch:
        """`watch`, which hears of a result after it has been saved."""

        def saved(trial: Trial, result: Result | None) -> None:
            if result is not None and self.run:
                self._try(lambda run: store.save(run, result))
                self._note(result)
            watch(trial, result)

        return saved

    def _note(self, result: Result) -> None:
        """Adds to the manifest what a trial left outside: `cleanup` touches nothing else."""
        with self.lock:
            if self.run and store.leaves(self.run, result):
                self.leaving.append(result)
                self._try(lambda run: run.write(store.CLEANUP, store.artefacts(run, self.leaving)))

    def finish(self, report: Report) -> None:
        """Writes the summary, which says that the run is complete."""
        if not self.failed:  # a run that is not whole on disk can be resumed
            self._try(lambda run: store.finish(run, report))

    def farewell(self) -> str:
        """What to say when the run is interrupted."""
        if not self.run:
            return "nothing was kept: a single scenario has no run folder without --workspace"
        return f"what was finished is kept in {self.run.folder}; --resume goes on with it"

    def _try(self, write: Callable[[store.Run], None]) -> None:
        if not self.run:
            return
        try:
            write(self.run)
        except OSError as error:
            with self.lock:
                if not self.failed:
                    reason = textfile.reason(error)
                    console.note(f"warning: {self.run.folder} cannot be written: {reason}")
                self.failed = True
