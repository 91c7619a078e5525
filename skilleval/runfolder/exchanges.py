"""Records every exchange of a run with the world, and plays it back without the world.

It sits at the `Tools` seam, so every agent and every judge has it: what a program printed, what an
endpoint answered, what a workspace held. The exchanges of a trial are numbered in their order, one
file each: requests hold random names and markers, so their text cannot be what finds them again.
Secrets are redacted from what is written, and headers are never written.

Owns the files below the folder; owns no meaning of what they hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, Literal, NamedTuple, TypeVar

from skilleval import writing
from skilleval.errors import SkillevalError, SuiteError
from skilleval.http import Request, Response
from skilleval.model import Trial
from skilleval.process import Command, Completed
from skilleval.reading import jsonread, textfile
from skilleval.redaction import redact, secrets_in, secrets_of
from skilleval.runfolder import serial
from skilleval.snapshot import Snapshot
from skilleval.tools import Tools

CONTENTS = "contents.json"
Kind = Literal["run", "post", "look", "observe"]
T = TypeVar("T")


class _Place(NamedTuple):
    """The folder of one trial's exchanges, and the numbers of those to come."""

    folder: str
    numbers: Iterator[int]

    def next(self, kind: Kind) -> str:
        return os.path.join(self.folder, f"{next(self.numbers):03}-{kind}.json")


def _place(root: str, trial: Trial) -> _Place:
    from urllib.parse import quote

    parts = [quote(part, safe=" ") for part in (trial.case_id, trial.arm, f"r{trial.repeat}")]
    return _Place(os.path.join(root, *parts), count(1))


def recording(root: str, names: Iterable[str] = ()) -> Callable[[Tools, Trial], Tools]:
    """For `engine.Session.equip`: tools that write every exchange below `root` as it is made.

    What the variables `names` hold is secret, too (see `redaction.secrets_in`).
    Where that cannot be written, the run goes on, and the user is told once: what an agent did is
    worth more than its recording, and a replay names what it misses.
    """
    told: list[str] = []

    def write(tools: Tools, path: str, asked: Any, response: Any, secrets: Sequence[str]) -> None:
        try:
            document = {"request": asked, "response": response}
            writing.write_text(path, redact(writing.as_json(document), secrets))
        except OSError as error:
            if not told:
                told.append(path)
                reason = textfile.reason(error)
                tools.note(f"warning: the recording is incomplete: {path}: {reason}")

    def equip(tools: Tools, trial: Trial) -> Tools:
        place = _place(root, trial)
        secrets = secrets_in(tools.environ, names)
        keep = partial(write, tools)

        def run(command: Command) -> Completed:
            completed = tools.run(command)
            request = {"argv": list(command.argv)}
            keep(place.next("run"), request, completed, secrets)
            return completed

        def post(request: Request) -> Response:
            response = tools.post(request)
            asked = {"url": request.url, "body": request.body.decode("utf-8", "replace")}
            found = response._replace(headers={})
            keep(place.next("post"), asked, found, (*secrets, *secrets_of(request)))
            return response

        def look(folder: str, since: Snapshot | None) -> Snapshot:
            path = place.next("look")
            try:
                snapshot = tools.look(folder, since)
            except OSError as error:
                keep(path, {}, {"error": textfile.reason(error)}, secrets)
                raise
            keep(path, {}, snapshot, secrets)
            return snapshot

        def observe(find_out: Callable[[], Any]) -> Any:
            found = tools.observe(find_out)
            keep(place.next("observe"), {}, {"found": found}, secrets)
            return found

        return tools._replace(run=run, post=post, look=look, observe=observe, unrecorded=tools.bare)

    return equip


def replaying(root: str) -> Callable[[Tools, Trial], Tools]:
    """For `engine.Session.equip`: tools that give back what `recording` wrote, and do nothing else.

    They start no program, open no connection and do not wait. Raises `SkillevalError` for an
    exchange that was not recorded, naming the case: it becomes an error of that trial.
    """

    def equip(tools: Tools, trial: Trial) -> Tools:
        place = _place(root, trial)

        def run(command: Command) -> Completed:
            return _read(place.next("run"), Completed, trial)

        def post(request: Request) -> Response:
            return _read(place.next("post"), Response, trial)

        def look(folder: str, since: Snapshot | None) -> Snapshot:
            path = place.next("look")
            response = _read(path, dict, trial)
            if "error" in response:
                raise OSError(0, response["error"])
            return serial.from_json(Snapshot, response)

        def observe(find_out: Callable[[], Any]) -> Any:
            return _read(place.next("observe"), dict, trial)["found"]

        return tools._replace(
            run=run,
            post=post,
            look=look,
            observe=observe,
            sleep=_no_wait,
            unrecorded=tools.bare,
        )

    return equip


def note_contents(root: str, contents: Mapping[str, str]) -> None:
    """Writes what each recorded trial is about: its key (case, arm, repeat) -> hash of its content.

    Raises `SkillevalError` if it cannot be written.
    """
    with writing.guarded(root):
        writing.write_text(os.path.join(root, CONTENTS), writing.as_json(dict(contents)))


def changed(root: str, contents: Mapping[str, str]) -> list[str]:
    """The trials that are about something else now than when they were recorded, sorted."""
    try:
        recorded, _ = jsonread.load(os.path.join(root, CONTENTS))
    except SuiteError:
        return []
    if not isinstance(recorded, dict):
        return []
    return sorted(key for key in contents if recorded.get(key, contents[key]) != contents[key])


def _no_wait(seconds: float) -> None:
    """What is replayed has been waited for already."""


def _read(path: str, kind: type[T], trial: Trial) -> T:
    try:
        document, _ = jsonread.load(path)
        return serial.from_json(kind, document["response"])
    except (SuiteError, ValueError, TypeError, KeyError) as error:
        raise SkillevalError(
            f"replay: case {trial.case_id!r} has no usable exchange {path} ({error});"
            " what is asked has changed since the recording: record it again"
        ) from None
