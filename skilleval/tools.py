"""The effects that the pipeline may have on the world. Owns their bundle, not their making.

Everything that starts a process, opens a connection, asks the time or waits goes through one
`Tools`, so that a test passes its own and nothing needs patching.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from skilleval import console

if TYPE_CHECKING:
    from skilleval.http import Request, Response
    from skilleval.process import Command, Completed
    from skilleval.snapshot import Snapshot

# between two looks at whether to stop
LONGEST_PAUSE_S = 0.5


def _run(command: Command) -> Completed:
    from skilleval import process

    return process.run(command)


def _post(request: Request) -> Response:
    from skilleval import http

    return http.post(request)


def _look(folder: str, since: Snapshot | None) -> Snapshot:
    from skilleval import snapshot

    return snapshot.take(folder, since)


def _observe(find_out: Callable[[], Any]) -> Any:
    return find_out()


class Tools(NamedTuple):
    """`run` a process, `post` a request, read the clock (`now`, in s), `sleep`, and `environ`.

    `look` takes the snapshot of a folder that programs have worked in (see `snapshot.take`);
    `observe` is told how to find out anything else about the world, as plain JSON values. What is
    no part of the evidence, such as making a workspace, uses `bare`: the tools that nobody records.
    `note` tells the user what is no result, a warning say; from any thread. `seat` is held by an
    agent while it works, where only so many may at once; it raises `NotStarted` if it is not to.
    """

    run: Callable[[Command], Completed] = _run
    post: Callable[[Request], Response] = _post
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    environ: Mapping[str, str] = os.environ
    look: Callable[[str, Snapshot | None], Snapshot] = _look
    observe: Callable[[Callable[[], Any]], Any] = _observe
    unrecorded: Tools | None = None
    note: Callable[[str], None] = console.note
    seat: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    @property
    def bare(self) -> Tools:
        """These tools without a recorder or player around them."""
        return self.unrecorded or self

    def stopping(self, stop: Callable[[], bool]) -> Tools:
        """The same tools, whose programs, requests and pauses end soon after `stop` says so.

        A command that brings a `stop` of its own keeps it: what cleans up has to run then too.
        """
        run, post, pause = self.run, self.post, self.sleep

        def sleep(seconds: float) -> None:
            while seconds > 0 and not stop():
                pause(min(seconds, LONGEST_PAUSE_S))
                seconds -= LONGEST_PAUSE_S

        return self._replace(
            run=lambda command: run(command._replace(stop=command.stop or stop)),
            post=lambda request: post(request._replace(stop=request.stop or stop)),
            sleep=sleep,
        )
