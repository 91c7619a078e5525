"""The effects that the pipeline may have on the world. Owns their bundle, not their making.

Everything that starts a process, opens a connection, asks the time or waits goes through one
`Tools`, so that a test passes its own and nothing needs patching.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skilleval.http import Request, Response
    from skilleval.process import Command, Completed
    from skilleval.snapshot import Snapshot


def _run(command: Command) -> Completed:
    from skilleval import process

    return process.run(command)


def _post(request: Request) -> Response:
    from skilleval import http

    return http.post(request)


def _look(folder: str, since: Snapshot | None) -> Snapshot:
    from skilleval import snapshot

    return snapshot.take(folder, since)


class Tools(NamedTuple):
    """`run` a process, `post` a request, read the clock (`now`, in s), `sleep`, and `environ`.

    `look` takes the snapshot of a folder that programs have worked in (see `snapshot.take`).
    """

    run: Callable[[Command], Completed] = _run
    post: Callable[[Request], Response] = _post
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    environ: Mapping[str, str] = os.environ
    look: Callable[[str, Snapshot | None], Snapshot] = _look

    def stopping(self, stop: Callable[[], bool]) -> Tools:
        """The same tools, whose running programs end soon after `stop` says so.

        A command that brings a `stop` of its own keeps it: what cleans up has to run then too.
        """
        run = self.run
        return self._replace(run=lambda command: run(command._replace(stop=command.stop or stop)))
