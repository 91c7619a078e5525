"""The report of scenario folders: the console text and the dated JSON of seed 000.

The field names and their order are the seed's (spec/scenarios sections 13 and 14).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from skilleval.model import Case, Report, Result, Score, SuiteReport
from skilleval.plaintext import one_line

GREEN, RED, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


def render(report: Report, *, colour: bool = False) -> str:
    """Each scenario's criteria with their points, then the overall result, for people."""
    lines = []
    for suite in report.suites:
        lines.append(suite.suite.path)
        for case, result, score in _rows(suite):
            lines += _scenario(case, result, score, colour)
        lines.append("")
    percentage = percent(report.summary.score or 0)
    verdict = _painted(report.passed, "PASS" if report.passed else "FAIL", colour)
    lines.append(f"  Overall: {percentage:.0f}% {verdict} (threshold: {report.meta['threshold']}%)")
    return "\n".join(lines) + "\n"


def _rows(suite: SuiteReport) -> Iterator[tuple[Case, Result, Score]]:
    cases = {case.id: case for case in suite.suite.cases}
    for result, score in zip(suite.results, suite.scores, strict=True):
        yield cases[result.trial.case_id], result, score


def _scenario(case: Case, result: Result, score: Score, colour: bool) -> Iterator[str]:
    document = scenario(case, result, score)
    yield f"  {case.id}: {one_line(document['description'])}"
    for row in document["criteria"]:
        mark = _painted(row["pass"], "✓" if row["pass"] else "✗", colour)
        reason = f" — {one_line(row['reason'])}" if row["reason"] and not row["pass"] else ""
        yield f"    {mark} {one_line(row['name'])} ({row['score']}/{row['max_score']}){reason}"
    verdict = _painted(score.passed, "PASS" if score.passed else "FAIL", colour)
    points = f"{document['score']}/{document['max_score']}"
    yield f"    Score: {points} ({document['percentage']:.0f}%) {verdict}"


def _painted(good: bool, text: str, colour: bool) -> str:
    return f"{GREEN if good else RED}{text}{PLAIN}" if colour else text


def report_path(folder: str, timestamp: str, *, output: str = "", is_folder: bool = False) -> str:
    """Where the report goes: a dated file in `folder`, or what `output` says, with the time added.

    `timestamp` as in the report; `is_folder`: `output` names an existing folder, or ends in a
    slash (spec/scenarios section 15).
    """
    time = timestamp.replace(":", "").rstrip("Z")
    if not output:
        return f"{folder}/{time}.json"
    if is_folder:
        return f"{output.rstrip('/')}/results-{time}.json"
    head, slash, name = output.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, ".", "json"
    return f"{head}{slash}{stem}-{time}{dot}{extension}"


def folder_name(model: str) -> str:
    """The folder of a model's reports: its name, in which a slash would make two of it."""
    return model.replace("/", "__") or "default"


def document(report: Report) -> str:
    """The JSON report, two-space indented, in UTF-8, a newline at the end."""
    meta = report.meta
    [suite] = report.suites
    config = {
        "backend": meta["backend"],
        "agent_model": meta["agent_model"],
        "judge_model": meta["judge_model"],
    }
    if meta["model_label"]:
        config["model_label"] = meta["model_label"]
    content = {
        "skill": suite.suite.name,
        "skill_version": meta["skill_version"],
        "timestamp": meta["timestamp"],
        "config": config,
        "threshold": meta["threshold"],
        "scenarios": [scenario(*row) for row in _rows(suite)],
        "overall_percentage": percent(report.summary.score or 0),
        "pass": report.passed,
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def scenario(case: Case, result: Result, score: Score) -> dict[str, Any]:
    """One scenario as the report has it; one that could not be completed says so and has 0 of 0."""
    description = str(case.annotations.get("description", ""))
    error = _error(result)
    if error:
        description = f"{description} (error: {error})"
        return _row(case.id, description, [], Score(0, 0, False, 0, 0))
    verdicts = zip(case.checks, result.verdicts, strict=True)
    criteria = [
        {
            "name": check.text,
            "pass": verdict.status == "pass",
            "score": check.weight if verdict.status == "pass" else 0,
            "max_score": check.weight,
            "reason": verdict.reason,
        }
        for check, verdict in verdicts
    ]
    return _row(case.id, description, criteria, score)


def _row(name: str, description: str, criteria: list[Any], score: Score) -> dict[str, Any]:
    exact = score.earned * 100 / score.possible if score.possible > 0 else 0
    return {
        "name": name,
        "description": description,
        "criteria": criteria,
        "score": score.earned,
        "max_score": score.possible,
        "percentage": _short(exact),
        "pass": score.passed,
    }


def _error(result: Result) -> str:
    """Why a scenario could not be completed, in one line; "" if it was.

    The traceback of a bug of ours stays in the run folder.
    """
    reason = result.outcome.error if result.outcome.status == "error" else ""
    for verdict in () if reason else result.verdicts:
        if verdict.status == "error":
            reason = f"{verdict.method}: {verdict.reason}"
            break
    return one_line(reason.partition('\n  File "')[0])


def percent(share: Any) -> float:
    """A share as a percentage; a whole one is an int, so that it is written as 85 and not 85.0."""
    return _short(float(share * 100))


def _short(value: float) -> float:
    return int(value) if value == int(value) else value
