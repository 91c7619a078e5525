"""Grades the stored outcomes of a run again: same evidence, today's checks' graders, no agent.

Owns the order: read one trial, grade it, write it back whole; the grading before is kept beside it
as grading.previous.json. Everything that grading needs is in the run folder, so a rule decides as
it did with the workspace at hand; a judge is asked anew and may say something else. An accident now
(the judge is down) takes no verdict away that was reached before: that one stays, and it is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any, NamedTuple

from skilleval import engine, judging, settings
from skilleval.errors import SuiteError, UsageError
from skilleval.model import EMPTY, Result, Suite, Trial, Verdict
from skilleval.reading import textfile
from skilleval.runfolder import runs, store
from skilleval.runfolder.runs import StoredRun
from skilleval.tools import Tools

GRADING, PREVIOUS = "grading.json", "grading.previous.json"
_FLAGS = settings.Table("", judging.ROWS)


class Flip(NamedTuple):
    """A check whose verdict is another than before."""

    trial: Trial
    text: str
    before: Verdict
    after: Verdict


class Regraded(NamedTuple):
    """The results, light, in the order of the plan; what changed; what could not be read."""

    results: tuple[Result, ...]
    flips: tuple[Flip, ...]
    problems: tuple[str, ...]


def judged(
    suite: Suite, model: str | None, base_url: str | None, environ: Mapping[str, str]
) -> Mapping[str, Any]:
    """The judge to ask: the run's own, as far as model and endpoint are not given here.

    An empty model stands for no judge. A run that had none, or another endpoint, takes the key
    that belongs to it.
    """
    if model == "":
        return EMPTY
    if suite.judge and not base_url:
        return {**suite.judge, **({"model": model} if model else {})}
    given = {"judge_model": model or suite.judge.get("model"), "judge_base_url": base_url}
    return judging.settings(settings.resolve(given, environ, os.curdir, _FLAGS), environ)


def regrade(run: StoredRun, target: store.Run, tools: Tools, jobs: int = 1) -> Regraded:
    """Grades every stored outcome again and writes it to the run folder, `jobs` at once.

    `target` is the same run, to be written: its suite names the judge. Raises `UsageError` for a
    run of another tool, `OSError` if it cannot be written.
    """
    if run.known:
        raise UsageError(
            f"{run.folder}: holds no {store.TRIAL}, so the outcomes are not here; only report and"
            " compare can read runs of other tools"
        )
    done = list(_all(run, target, tools, jobs))
    return Regraded(
        tuple(result for result, _, _ in done if result),
        tuple(flip for _, flips, _ in done for flip in flips),
        tuple(problem for _, _, problems in done for problem in problems),
    )


_Done = tuple[Result | None, tuple[Flip, ...], tuple[str, ...]]


def _all(run: StoredRun, target: store.Run, tools: Tools, jobs: int) -> Iterator[_Done]:
    from concurrent.futures import ThreadPoolExecutor

    stopped = Event()
    stoppable = tools.stopping(stopped.is_set)

    def one(trial: Trial) -> _Done:
        try:
            old = runs.whole(run, trial)
        except SuiteError as error:
            return None, (), (f"{error}; left as it is",)
        new = _graded(target.suite, old, stoppable)
        # what was cut off half-way is no grading
        return (None, (), ()) if stopped.is_set() else _kept(run, target, old, new)

    pool = ThreadPoolExecutor(jobs, thread_name_prefix="grade")
    try:
        for future in [pool.submit(one, trial) for trial in run.trials]:
            yield future.result()
    finally:
        stopped.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _graded(suite: Suite, old: Result, tools: Tools) -> Result:
    case = next(case for case in suite.cases if case.id == old.trial.case_id)
    graded = engine.grade(case, old.outcome, suite.rules, tools, judge=suite.judge)
    return old._replace(verdicts=graded.verdicts, calls=graded.calls)


def _kept(run: StoredRun, target: store.Run, old: Result, new: Result) -> _Done:
    """Writes the new result, with the old verdict where the new one is an accident."""
    trial = old.trial
    pairs = list(zip(old.verdicts, new.verdicts, strict=True))
    lost = [now.status == "error" and was.status in ("pass", "fail") for was, now in pairs]
    verdicts = [was if keep else now for (was, now), keep in zip(pairs, lost, strict=True)]
    new = new._replace(verdicts=tuple(verdicts))
    path = os.path.join(run.trials[trial], GRADING)
    before = _text(path)
    store.save(target, new)
    if before and before != _text(path):
        place = os.path.relpath(run.trials[trial], run.folder)
        target.write(os.path.join(place, PREVIOUS), before)
    case = next(case for case in target.suite.cases if case.id == trial.case_id)
    flips = tuple(
        Flip(trial, check.text, was, now)
        for check, was, now in zip(case.checks, old.verdicts, verdicts, strict=True)
        if was.status != now.status
    )
    problems = tuple(
        f"{trial.key}: {now.reason}; the verdict before stays"
        for (_, now), keep in zip(pairs, lost, strict=True)
        if keep
    )
    return runs.light(new), flips, tuple(dict.fromkeys(problems))


def _text(path: str) -> str:
    try:
        return textfile.read_text(path)
    except OSError:
        return ""
