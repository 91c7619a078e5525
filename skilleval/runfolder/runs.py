"""Reading run folders: which there are, what was run in one, and its results, one at a time.

Owns the way back from what `store` wrote. Of a folder of another tool with the same layout (seed
002's original, agentskills.io), `gradingfiles` reads what was run and found, and `evidencefiles`
what is left of each trial. Judges and writes nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.errors import SuiteError, UsageError
from skilleval.model import EMPTY, Event, Outcome, Result, State, Suite, Trial
from skilleval.ordering import natural
from skilleval.reading import textfile
from skilleval.runfolder import serial, store

# a trial holds two snapshots and a transcript, all of them capped
LIMIT_BYTES = 1 << 30
_ITERATION = re.compile(r"iteration-\d+")
# without one of these, a folder is no run
_MARKS = (store.RUN, "evals_meta.json", "benchmark.json")
# what `light` leaves of a snapshot: that there was one
_SEEN = State()
_NOTHING_KNOWN: Mapping[Trial, Result] = {}


class StoredRun(NamedTuple):
    """A run on disk. `trials` are those with a result, in the order of the plan, and their folders.

    `meta` is what run.json says besides the suite. `planned` is how many trials there are to be,
    None if nobody knows. `problems` says what could not be read, a line each. `known` holds the
    results that had to be read to know the suite: of a run of another tool, without its evidence.
    """

    folder: str
    suite: Suite
    trials: Mapping[Trial, str]
    meta: Mapping[str, Any] = EMPTY
    planned: int | None = None
    problems: tuple[str, ...] = ()
    known: Mapping[Trial, Result] = _NOTHING_KNOWN

    @property
    def name(self) -> str:
        """The name of its folder: iteration-3."""
        return os.path.basename(os.path.abspath(self.folder))

    @property
    def is_foreign(self) -> bool:
        """Was it written by another tool, which has no run.json and no trial.json?"""
        return bool(self.known)


class Results(NamedTuple):
    """The results of a run, light, in the order of the plan; what is unreadable, a line each."""

    results: tuple[Result, ...]
    problems: tuple[str, ...]


def iterations(workspace: str) -> tuple[str, ...]:
    """The run folders that a path stands for, in natural order.

    The path is a run itself, the workspace of a skill (`<skill>-workspace`), or what holds those.
    Raises `UsageError` if it is not there, or holds no run.
    """
    if not os.path.isdir(workspace):
        raise UsageError(f"{workspace}: no such folder; name a run folder or its workspace")
    found = [workspace] if _is_run(workspace) else list(_below(workspace))
    if not found:
        raise UsageError(
            f"{workspace}: holds no run; expected iteration-1, or <skill>-workspace/iteration-1"
        )
    return tuple(found)


def iteration(workspace: str, number: int) -> str:
    """The folder of one iteration of a workspace. Raises `UsageError` naming those there are."""
    found = iterations(workspace)
    wanted = [path for path in found if os.path.basename(path) == f"iteration-{number}"]
    if len(wanted) == 1:
        return wanted[0]
    if wanted:
        raise UsageError(f"{workspace}: iteration {number} of which skill? {', '.join(wanted)}")
    known = ", ".join(os.path.basename(path) for path in found)
    raise UsageError(f"{workspace}: has no iteration {number}; there are: {known}")


def _is_run(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, mark)) for mark in _MARKS) or (
        _ITERATION.fullmatch(os.path.basename(os.path.abspath(folder))) is not None
    )


def _below(folder: str, *, deeper: bool = True) -> Iterator[str]:
    for name in sorted(os.listdir(folder), key=natural):
        path = os.path.join(folder, name)
        if not os.path.isdir(path) or os.path.islink(path):
            continue
        if _ITERATION.fullmatch(name):
            yield path
        elif deeper and name.endswith("-workspace"):
            yield from _below(path, deeper=False)


def load(folder: str) -> StoredRun:
    """What was run in the folder, and which results are there. Opens no result.

    Raises `SuiteError` if run.json is damaged, `UsageError` if the folder holds no run.
    """
    path = os.path.join(folder, store.RUN)
    if not os.path.lexists(path):
        return _foreign(folder)
    document = _document(path)
    try:
        suite = _with_exact_gates(serial.from_json(Suite, document["suite"]))
        repeats = int(document.get("repeats", 1))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SuiteError(path, "", f"is not the manifest of a run: {error!r}") from None
    run = store.Run(folder, suite, repeats=repeats > 1)
    planned = [
        (Trial(case.id, arm.name, repeat), arm)
        for case in suite.cases
        for arm in suite.arms
        for repeat in range(1, repeats + 1)
    ]
    places = {
        trial: os.path.join(folder, store.trial_folder(run, trial, arm)) for trial, arm in planned
    }
    there = {
        trial: place
        for trial, place in places.items()
        if os.path.lexists(os.path.join(place, store.TRIAL))
    }
    meta = {key: value for key, value in document.items() if key != "suite"}
    return StoredRun(folder, suite, there, meta, len(planned))


def _with_exact_gates(suite: Suite) -> Suite:
    """A limit is stored as text such as "19/20": as a fraction it stays exact."""
    from fractions import Fraction

    gates = tuple(
        gate._replace(limit=Fraction(gate.limit)) if isinstance(gate.limit, str) else gate
        for gate in suite.gates
    )
    return suite._replace(gates=gates)


def _foreign(folder: str) -> StoredRun:
    from skilleval.runfolder import gradingfiles  # it needs the rules for assertions

    found = gradingfiles.read(folder)
    if not found.results:
        raise UsageError(f"{folder}: holds no result yet: no {store.RUN}, and no grading.json")
    places = {result.trial: place for result, place in found.results}
    known = {result.trial: result for result, _ in found.results}
    return StoredRun(folder, found.suite, places, problems=found.problems, known=known)


def _document(path: str) -> Any:
    """Plain JSON, whatever its size. Raises `SuiteError`."""
    try:
        return json.loads(textfile.decode(textfile.read_bytes(path, limit=LIMIT_BYTES)))
    except OSError as error:
        raise SuiteError(path, "", f"cannot be read: {textfile.reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise SuiteError(path, "", f"is damaged: {error}") from None


def results(run: StoredRun) -> Results:
    """Every result, without what only a close look needs (see `light`).

    One trial is in memory at a time. One that cannot be read is left out and said; of another
    tool's, what its grading says is shown without the evidence.
    """
    found, problems = [], list(run.problems)
    shared = sharing()
    for trial in run.trials:
        try:
            read = _evident(run, trial) if run.is_foreign else _stored(run, trial)
            found.append(shared(light(read._replace(trial=trial))))
        except SuiteError as error:
            known = run.known.get(trial)
            problems.append(f"{error}; {'shown without its evidence' if known else 'left out'}")
            found += [known] if known else []
    return Results(tuple(found), tuple(problems))


def whole(run: StoredRun, trial: Trial) -> Result:
    """The result with all its evidence. Raises `SuiteError` if it cannot be read."""
    if run.is_foreign:
        return _evident(run, trial)
    result = _stored(run, trial)
    outputs = os.path.join(run.trials[trial], "outputs")
    stdout, stderr = (_text(os.path.join(outputs, f"{name}.log")) for name in ("stdout", "stderr"))
    return result._replace(outcome=result.outcome._replace(stdout=stdout, stderr=stderr))


def _text(path: str) -> str:
    try:
        return textfile.read_text(path)
    except OSError:
        return ""  # a huge one is no evidence that one can read


def _evident(run: StoredRun, trial: Trial) -> Result:
    """A result of another tool with all its evidence. Raises `SuiteError`."""
    from skilleval.runfolder import evidencefiles  # it needs the agents

    result = run.known[trial]
    agent = next(arm.agent for arm in run.suite.arms if arm.name == trial.arm)
    return result._replace(outcome=evidencefiles.whole(result.outcome, agent, run.folder))


def _stored(run: StoredRun, trial: Trial) -> Result:
    path = os.path.join(run.trials[trial], store.TRIAL)
    document = _document(path)
    try:
        result = serial.from_json(Result, document["result"])
        if result.trial != trial:
            raise ValueError(f"it is of {result.trial.key}")
        case = next(case for case in run.suite.cases if case.id == trial.case_id)
        if [verdict.check_id for verdict in result.verdicts] != [c.id for c in case.checks]:
            raise ValueError("its verdicts are not on the checks of the case")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SuiteError(path, "", f"is not the result of {trial.key}: {error}") from None
    return result


def light(result: Result) -> Result:
    """A result without what only a close look needs: texts, contents, inputs, and judge's calls."""
    outcome = result.outcome
    return result._replace(
        outcome=outcome._replace(
            output="",
            stdout="",
            stderr="",
            events=tuple(Event(event.kind, event.name) for event in outcome.events),
            before=outcome.before and _SEEN,
            after=outcome.after and _SEEN,
            delta=None,
            session="",
        ),
        calls=(),
    )


def sharing() -> Callable[[Result], Result]:
    """For results that stay in memory: gives each the parts that one before it has just the same.

    Of thousands of trials, most verdicts, events and errors are those of another. Only the last of
    each kind is remembered. May be called from several threads.
    """
    last: dict[Hashable, Any] = {}

    def shared(kind: Hashable, found: Any) -> Any:
        known = last.setdefault(kind, found)
        if _is_same(known, found):
            return known
        last[kind] = found
        return found

    def share(result: Result) -> Result:
        outcome = result.outcome
        events = tuple(shared((event.kind, event.name), event) for event in outcome.events)
        outcome = outcome._replace(events=events)
        verdicts = tuple(shared((each.check_id, each.status), each) for each in result.verdicts)
        return result._replace(
            outcome=Outcome(*map(shared, Outcome._fields, outcome)),
            verdicts=shared("verdicts", verdicts),
        )

    return share


def _is_same(known: Any, found: Any) -> bool:
    """Would nobody tell one from the other? 1, 1.0 and True are equal, but not the same."""
    if known is found:
        return True
    if type(known) is not type(found):
        return False
    if isinstance(found, tuple):
        return len(known) == len(found) and all(map(_is_same, known, found))
    return bool(known == found) and str(known) == str(found)
