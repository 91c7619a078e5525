"""Results from the files that every tool of this layout writes: grading, timing and run_meta.json.

Reads run folders of seed 002's original and of agentskills.io, where our own trial.json is not: any
field may be missing or null, rows come in any order and under several names. What is not there
stays unknown. Owns that tolerance, and nothing of our own format.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from skilleval.errors import SuiteError
from skilleval.model import (
    EMPTY,
    SIDES,
    Arm,
    Case,
    Check,
    Outcome,
    Result,
    Rules,
    Status,
    Suite,
    Trial,
    Usage,
    Verdict,
)
from skilleval.ordering import natural
from skilleval.reading.jsonvalues import LARGEST, amount, count, word
from skilleval.runfolder import evalsmeta, foreignfiles

_LEAF = ("grading.json", "run_meta.json", "timing.json")
_LISTS = ("assertion_results", "expectations", "criteria")
_CONFIGURATIONS = (*SIDES.values(), "old_skill")
_REPEAT = re.compile(r"run-(\d{1,9})")
_LONGEST_NAME = 100
# later versions of the original add such rows to those of the assertions
_RECORDED = {"hook", "budget", "side-effect-contract"}
_RULES = Rules(unanswered="skip", errored="skip")


class Found(NamedTuple):
    """The suite as far as the files tell, each result with its folder, and what is unreadable."""

    suite: Suite
    results: tuple[tuple[Result, str], ...]
    problems: tuple[str, ...]


class _Row(NamedTuple):
    """One graded assertion."""

    text: str
    status: Status
    reason: str
    method: str


class _Leaf(NamedTuple):
    """The folder of one trial, and what its files say. `rows` is None without a grading."""

    place: str
    trial: Trial
    arm: Arm
    outcome: Outcome
    rows: tuple[_Row, ...] | None


def read(folder: str) -> Found:
    """All results below a run folder. Raises nothing: what is unreadable is named in `problems`."""
    problems: list[str] = []
    meta = evalsmeta.read(folder)
    problems += meta.problems
    leaves = [_leaf(folder, place, problems) for place in _leaves(folder, problems)]
    cases = dict(meta.cases)
    for leaf in leaves:
        case = cases.setdefault(leaf.trial.case_id, meta.case(leaf.trial.case_id))
        missing = _without_check(case, leaf.rows or ())
        new = (Check(f"row {len(case.checks) + i}", t, "") for i, t in enumerate(missing, 1))
        cases[case.id] = case._replace(checks=(*case.checks, *new))
    arms = {leaf.arm.name: leaf.arm for leaf in leaves}
    name = meta.skill or _workspace_name(folder)
    suite = Suite(
        name,
        folder,
        tuple(cases.values()),
        _RULES,
        tuple(sorted(arms.values(), key=lambda arm: (arm.agent, not arm.with_skill))),
        skill=name,
    )
    found: dict[Trial, tuple[Result, str]] = {}
    for leaf in leaves:
        if leaf.trial in found:
            problems.append(f"{leaf.place}: is the trial of {found[leaf.trial][1]} again, left out")
        else:
            found[leaf.trial] = _result(cases[leaf.trial.case_id], leaf), leaf.place
    return Found(suite, tuple(found.values()), tuple(problems))


def is_recorded(verdict: Verdict) -> bool:
    """Is it on what no assertion is about, and what nobody can decide from evidence again?"""
    return verdict.method in _RECORDED or verdict.method.startswith("structured:")


def _workspace_name(folder: str) -> str:
    above = os.path.dirname(os.path.abspath(folder))
    return os.path.basename(above).removesuffix("-workspace")


def _object(path: str, root: str, problems: list[str]) -> Mapping[str, Any]:
    """The object in a JSON file; empty if it is not there, with a problem if it is no such."""
    try:
        return foreignfiles.document(path, root) or EMPTY
    except SuiteError as error:
        problems.append(str(error))
        return EMPTY


def _leaves(folder: str, problems: list[str]) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        if place != folder and ("outputs" in folders or any(name in files for name in _LEAF)):
            if any(_REPEAT.fullmatch(name) for name in folders):
                problems.append(f"{place}: holds a result beside run-N of another run, left out")
            folders.clear()  # what the agent left in outputs/ is no result
            yield place
        else:
            folders.sort(key=natural)


def _leaf(folder: str, place: str, problems: list[str]) -> _Leaf:
    meta = _object(os.path.join(place, "run_meta.json"), folder, problems)
    timing = _object(os.path.join(place, "timing.json"), folder, problems)
    path = os.path.join(place, "grading.json")
    grading = _object(path, folder, problems) if os.path.lexists(path) else None
    parts = os.path.relpath(place, folder).split(os.sep)
    repeat = 1
    if number := _REPEAT.fullmatch(parts[-1]):
        repeat = int(number[1])
        parts.pop()
    side = parts.pop() if parts and parts[-1] in _CONFIGURATIONS else ""
    agent = parts.pop() if len(parts) > 1 else "agent"
    case_id = evalsmeta.identity(meta.get("eval_id")) or "/".join(parts).removeprefix("eval-")
    with_skill = meta.get("with_skill")
    if not isinstance(with_skill, bool):
        with_skill = side == SIDES[True]
    agent = _name(meta, "agent") or agent
    name = f"{agent}-{SIDES[with_skill]}"
    arm = Arm(name, agent, _name(meta, "model"), with_skill)
    rows = None if grading is None else tuple(_rows(grading))
    return _Leaf(place, Trial(case_id, name, repeat), arm, _outcome(place, timing), rows)


def _name(meta: Mapping[str, Any], key: str) -> str:
    """A name that may become a part of a file's; "" for what is none."""
    name = word(meta.get(key))
    return name if name.isprintable() and len(name) <= _LONGEST_NAME else ""


def _outcome(place: str, timing: Mapping[str, Any]) -> Outcome:
    milliseconds = amount(timing.get("duration_ms"))
    seconds = amount(timing.get("total_duration_seconds"))
    exit_code = timing.get("exit_code")
    return Outcome(
        "ok",
        source=place,
        exit_code=exit_code if type(exit_code) is int and abs(exit_code) < LARGEST else None,
        timed_out=timing.get("timed_out") is True,
        seconds=seconds if milliseconds is None else milliseconds / 1000,
        usage=_usage(timing),
        attempts=1 + (count(timing.get("retries")) or 0),
    )


def _usage(timing: Mapping[str, Any]) -> Usage:
    received, sent = count(timing.get("input_tokens")), count(timing.get("output_tokens"))
    if received is None and sent is None:
        # agentskills.io knows no more than their sum
        received = count(timing.get("total_tokens"))
        sent = None if received is None else 0
    return Usage(
        received,
        sent,
        count(timing.get("cached_tokens")),
        amount(timing.get("cost_usd")),
        word(timing.get("cost_usd_source")),
    )


def _rows(grading: Mapping[str, Any]) -> Iterator[_Row]:
    lists = (grading.get(key) for key in _LISTS)
    for raw in next((found for found in lists if isinstance(found, list)), ()):
        if isinstance(raw, dict):
            text = _first(raw, "text", "name", "assertion", "criterion")
            reason = _first(raw, "evidence", "reason", "explanation")
            yield _Row(text, _status(raw), reason, _first(raw, "method"))


def _first(raw: Mapping[str, Any], *keys: str) -> str:
    """What the first of the keys says that is there; of a list, its texts."""
    value = next((raw[key] for key in keys if raw.get(key) is not None), "")
    parts = value if isinstance(value, list) else [value]
    return "; ".join(str(part) for part in parts if isinstance(part, str | int | float))


def _status(raw: Mapping[str, Any]) -> Status:
    passed = raw.get("passed", raw.get("pass"))
    if raw.get("skipped") is True or not isinstance(passed, bool):
        return "skip"
    return "pass" if passed else "fail"


def _without_check(case: Case, rows: tuple[_Row, ...]) -> list[str]:
    """The texts of the rows that no check of the case has: a judge's own wording, say."""
    left = [check.text for check in case.checks]
    missing = []
    for row in rows:
        if row.text in left:
            left.remove(row.text)
        else:
            missing.append(row.text)
    return missing


def _result(case: Case, leaf: _Leaf) -> Result:
    """The rows in the order of the case's checks; a check without a row was not decided."""
    left = list(leaf.rows or ())
    verdicts = []
    for check in case.checks:
        row = next((row for row in left if row.text == check.text), None)
        if row:
            left.remove(row)
            score = {"pass": 1.0, "fail": 0.0}.get(row.status)
            verdicts.append(Verdict(check.id, row.status, score, row.reason, row.method))
        else:
            reason = "not graded" if leaf.rows is None else "not in grading.json"
            verdicts.append(Verdict(check.id, "skip", None, reason))
    return Result(leaf.trial, leaf.outcome, tuple(verdicts))
