"""Going on with a run: what it is of, and that what goes on in it is the same.

Owns the comparison of a stored run with the suite that is to be run in its folder: one run is never
made of what two command lines asked for. Changed cases and skills are no such difference: their
trials have another content, and are run again (`store.key`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from skilleval.errors import UsageError
from skilleval.model import SIDES, Suite
from skilleval.redaction import redact
from skilleval.runfolder import runs, serial, store
from skilleval.runfolder.runs import StoredRun

# options of an arm that may change: the content of the skill tells whether it has, and a larger
# budget is what a run goes on with
_FREE = frozenset({"skill", "skill_digest", "max_budget_usd"})
_LONGEST_LIST = 10


def find(base: str, suite: Suite, *, iteration: int = 0) -> tuple[store.Run, StoredRun | None]:
    """The run of the suite to go on with, and what is stored of it; None if nothing is yet.

    It is the newest with anything left to run (an older one only if it never ended), or the named
    iteration: a trial that ended in an error is open. Raises `UsageError` if there is none.
    """
    runs_found = store.resumable(base, suite, iteration=iteration)
    for found in runs_found:
        if not os.path.lexists(os.path.join(found.folder, store.RUN)):
            return found, None
        stored = runs.load(found.folder)
        if not _is_complete(found, stored):
            return found, stored
    complete = runs_found[0].folder
    raise UsageError(
        f"{complete} is complete: see `skilleval report {complete}`, or leave out --resume to start"
        " another run"
    )


def _is_complete(run: store.Run, stored: StoredRun) -> bool:
    ended = os.path.lexists(os.path.join(run.folder, store.SUMMARY))
    return ended and len(store.finished(run, runs.light)) >= (stored.planned or 0)


def check(stored: StoredRun, suite: Suite, repeats: int, secrets: Sequence[str]) -> None:
    """Raises `UsageError` that names every difference of the run to what is asked for now."""
    before = _facts(stored.suite, int(stored.meta.get("repeats", 1)))
    now = {name: redact(text, secrets) for name, text in _facts(suite, repeats).items()}
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if "agents" in names and "models" in names:
        names.remove("models")  # which goes without saying
    rows = [(name, before.get(name, _NONE), now.get(name, _NONE)) for name in names]
    rows += _cases(stored.suite, suite)
    if rows:
        was, asked = ("; ".join(f"{row[0]} {row[place]}" for row in rows) for place in (1, 2))
        raise UsageError(
            f"the run in {stored.folder} is of {was}; this would be of {asked}:"
            f" {' and '.join(_fixes(stored.suite, suite, rows))}, or leave out --resume to start"
            " another"
        )


def _fixes(before: Suite, now: Suite, rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """What makes it the run again. The key of the judge, no option takes: a variable does."""
    was, given = (str(suite.judge.get("key_name") or "") for suite in (before, now))
    other_key = was != given and bool(before.judge)
    if not other_key or any(name not in (_JUDGE, _KEY) for name, *_ in rows):
        yield "leave out what differs, as --resume takes it from the run"
    if other_key and was:
        yield f"set {was}"
    if other_key and given:
        yield f"unset {given}"


_NONE, _JUDGE, _KEY = "none", "judge", "key of the judge"


def _facts(suite: Suite, repeats: int) -> dict[str, str]:
    """What a run is of, but for its cases, in words by name."""
    arms, judge = suite.arms, suite.judge
    options = dict.fromkeys(name for arm in arms for name in arm.options if name not in _FREE)
    return {
        "suite": os.path.basename(os.path.abspath(suite.path)),
        "agents": _listed(arm.agent for arm in arms),
        "models": _listed(f"{arm.agent}={arm.model or 'its own'}" for arm in arms),
        "arms": _listed(SIDES[arm.with_skill] for arm in arms),
        "runs": str(repeats),
        _JUDGE: f"{judge.get('model')} at {judge.get('base_url') or 'no URL'}" if judge else _NONE,
        _KEY: str(judge.get("key_name") or _NONE),
        **{name: _listed(_words(arm.options.get(name)) for arm in arms) for name in options},
    }


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value or _NONE
    return _NONE if value in (None, (), []) else json.dumps(serial.to_json(value))


def _cases(before: Suite, now: Suite) -> Iterator[tuple[str, str, str]]:
    """The cases that only one of the two has."""
    old, new = ([case.id for case in suite.cases] for suite in (before, now))
    gone, come = [each for each in old if each not in new], [e for e in new if e not in old]
    if gone or come:
        yield "cases", _listed(gone) or "fewer", _listed(come) or "fewer"


def _listed(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = len(found) - _LONGEST_LIST
    return ", ".join(found[:_LONGEST_LIST]) + (f" and {more} more" if more > 0 else "")
