"""Results from the files that every tool of this layout writes: grading, timing and run_meta.json.

Reads run folders of seed 002's original and of agentskills.io, where our own trial.json is not: any
field may be missing or null, rows come in any order and under several names. What is not there
stays unknown. Owns that tolerance, and nothing of our own format.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from skilleval.reading import textfile

OUTPUTS = ("output.txt", "stdout.log", "stderr.log")
_LEAF = ("grading.json", "run_meta.json", "timing.json")
_LISTS = ("assertion_results", "expectations", "criteria")
_CONFIGURATIONS = (*SIDES.values(), "old_skill")
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
    meta = _object(os.path.join(folder, "evals_meta.json"), problems)
    leaves = [_leaf(folder, place, problems) for place in _leaves(folder)]
    cases = {case.id: case for case in _cases(meta)}
    for leaf in leaves:
        case = cases.setdefault(leaf.trial.case_id, Case(leaf.trial.case_id, ""))
        missing = _without_check(case, leaf.rows or ())
        new = (Check(f"row {len(case.checks) + i}", t, "") for i, t in enumerate(missing, 1))
        cases[case.id] = case._replace(checks=(*case.checks, *new))
    arms = {leaf.arm.name: leaf.arm for leaf in leaves}
    name = str(meta.get("skill_name") or "") or _workspace_name(folder)
    suite = Suite(
        name,
        folder,
        tuple(cases.values()),
        _RULES,
        tuple(sorted(arms.values(), key=lambda arm: (arm.agent, not arm.with_skill))),
        skill=name,
    )
    found = {leaf.trial: (_result(cases[leaf.trial.case_id], leaf), leaf.place) for leaf in leaves}
    return Found(suite, tuple(found.values()), tuple(problems))


def _workspace_name(folder: str) -> str:
    above = os.path.dirname(os.path.abspath(folder))
    return os.path.basename(above).removesuffix("-workspace")


def _object(path: str, problems: list[str]) -> Mapping[str, Any]:
    """The object in a JSON file; empty if it is not there, with a problem if it is no such."""
    try:
        value = json.loads(textfile.read_text(path))
    except FileNotFoundError:
        return EMPTY
    except OSError as error:
        problems.append(f"{path}: cannot be read: {textfile.reason(error)}")
        return EMPTY
    except (ValueError, RecursionError) as error:
        problems.append(f"{path}: is damaged: {error}")
        return EMPTY
    if isinstance(value, dict):
        return value
    problems.append(f"{path}: expected an object")
    return EMPTY


def _leaves(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        if place != folder and any(name in files for name in _LEAF):
            folders.clear()  # what the agent left in outputs/ is no result
            yield place
        else:
            folders.sort(key=natural)


def _cases(meta: Mapping[str, Any]) -> Iterator[Case]:
    evals = meta.get("evals")
    for raw in evals if isinstance(evals, list) else ():
        if isinstance(raw, dict) and raw.get("id") is not None:
            texts = raw.get("assertions") or raw.get("expectations") or []
            yield Case(
                str(raw["id"]),
                str(raw.get("prompt") or ""),
                tuple(Check(f"row {i}", str(text), "") for i, text in enumerate(texts, 1)),
                expected=str(raw.get("expected_output") or ""),
                annotations={"force": bool(raw.get("force_skill_invocation"))},
                should_trigger=raw.get("should_trigger") is not False,
            )


def _leaf(folder: str, place: str, problems: list[str]) -> _Leaf:
    meta = _object(os.path.join(place, "run_meta.json"), problems)
    timing = _object(os.path.join(place, "timing.json"), problems)
    path = os.path.join(place, "grading.json")
    grading = _object(path, problems) if os.path.lexists(path) else None
    parts = os.path.relpath(place, folder).split(os.sep)
    repeat = 1
    if number := re.fullmatch(r"run-(\d+)", parts[-1]):
        repeat = int(number[1])
        parts.pop()
    side = parts.pop() if parts and parts[-1] in _CONFIGURATIONS else ""
    agent = parts.pop() if len(parts) > 1 else "agent"
    identity = meta.get("eval_id")
    case_id = "/".join(parts).removeprefix("eval-") if identity is None else str(identity)
    with_skill = meta.get("with_skill")
    if not isinstance(with_skill, bool):
        with_skill = side == SIDES[True]
    agent = str(meta.get("agent") or agent)
    name = f"{agent}-{SIDES[with_skill]}"
    arm = Arm(name, agent, str(meta.get("model") or ""), with_skill)
    rows = None if grading is None else tuple(_rows(grading))
    return _Leaf(place, Trial(case_id, name, repeat), arm, _outcome(place, timing), rows)


def _outcome(place: str, timing: Mapping[str, Any]) -> Outcome:
    milliseconds, seconds = (
        _number(timing, "duration_ms"),
        _number(timing, "total_duration_seconds"),
    )
    exit_code, retries = _number(timing, "exit_code"), _number(timing, "retries")
    return Outcome(
        "ok",
        source=place,
        exit_code=None if exit_code is None else int(exit_code),
        timed_out=timing.get("timed_out") is True,
        seconds=seconds if milliseconds is None else milliseconds / 1000,
        usage=_usage(timing),
        attempts=1 + int(retries or 0),
    )


def _usage(timing: Mapping[str, Any]) -> Usage:
    received, sent = _number(timing, "input_tokens"), _number(timing, "output_tokens")
    total, cached = _number(timing, "total_tokens"), _number(timing, "cached_tokens")
    if received is None and sent is None and total is not None:
        received, sent = total, 0  # agentskills.io knows no more than their sum
    return Usage(
        None if received is None else int(received),
        None if sent is None else int(sent),
        None if cached is None else int(cached),
        _number(timing, "cost_usd"),
        str(timing.get("cost_usd_source") or ""),
    )


def _number(raw: Mapping[str, Any], key: str) -> float | None:
    value = raw.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _rows(grading: Mapping[str, Any]) -> Iterator[_Row]:
    lists = (grading.get(key) for key in _LISTS)
    for raw in next((found for found in lists if isinstance(found, list)), ()):
        if isinstance(raw, dict):
            text = _first(raw, "text", "name", "assertion", "criterion")
            reason = _first(raw, "evidence", "reason", "explanation")
            yield _Row(text, _status(raw), reason, _first(raw, "method"))


def _first(raw: Mapping[str, Any], *keys: str) -> str:
    return next((str(raw[key]) for key in keys if raw.get(key) is not None), "")


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
