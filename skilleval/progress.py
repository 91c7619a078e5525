"""Progress of a run on stderr: what is running, what is done, how long it takes.

Owns that one line. It is drawn only on a terminal, and leaves nothing behind.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from skilleval.model import Result, Trial

TICK_S = 1.0
WIDTH = 78


class Progress:
    """`[2/6] 00:41 running: a, b`, redrawn every second between `with` and its end."""

    def __init__(
        self, total: int, stream: TextIO | None = None, *, done: int = 0, shown: bool = True
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.shown = shown and self.stream.isatty()
        self.total, self.done = total, done
        self.running: list[str] = []
        self.started = time.monotonic()
        self.ended = threading.Event()
        self.lock = threading.Lock()

    def watch(self, trial: Trial, result: Result | None) -> None:
        """Takes note of a trial that starts (no result yet) or ends. Safe from any thread."""
        with self.lock:
            if result is None:
                self.running.append(trial.case_id)
            else:
                self.running.remove(trial.case_id)
                self.done += 1
        self._draw()

    def line(self) -> str:
        """What is shown, cut to the width of a small terminal."""
        minutes, seconds = divmod(int(time.monotonic() - self.started), 60)
        with self.lock:
            running = ", ".join(self.running)
            text = f"[{self.done}/{self.total}] {minutes:02}:{seconds:02} running: {running}"
        return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"

    def _draw(self) -> None:
        if self.shown and not self.ended.is_set():
            self.stream.write(f"\r\x1b[K{self.line()}")
            self.stream.flush()

    def __enter__(self) -> Progress:
        if self.shown:
            threading.Thread(target=self._tick, name="progress", daemon=True).start()
        return self

    def _tick(self) -> None:
        while not self.ended.wait(TICK_S):
            self._draw()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        self.ended.set()
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
