"""Grades the stored outcomes of a run again: same evidence, today's checks' graders, no agent.

Owns the order: read one trial, grade it, write it back whole; the grading before is kept beside it
as grading.previous.json. Everything that grading needs is in the run folder, so a rule decides as
it did with the workspace at hand; a judge is asked anew and may say something else. An accident now
(the judge is down) takes no verdict away that was reached before: that one stays, and it is said.
A run of another tool is graded by what it left (`evidencefiles`): a check that needs more than that
goes to the judge, and without one it is skipped, whatever the other tool had said of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any, NamedTuple

from skilleval import engine, graders, judging, settings, workers
from skilleval.errors import SuiteError
from skilleval.model import EMPTY, Case, Result, Suite, Trial, Verdict
from skilleval.reading import textfile
from skilleval.runfolder import foreignfiles, gradingfiles, runs, store
from skilleval.runfolder.runs import StoredRun
from skilleval.tools import Tools

GRADING, PREVIOUS = "grading.json", "grading.previous.json"
NO_JUDGE = f"there is no judge: set {' or '.join(judging.KEYS)}, or --judge-base-url"
# without both, nothing is left of what an agent said
SAID = ("output.txt", "stdout.log")
# what a verdict of a judge is called here, and in a grading.json
_JUDGES = {"judge", store.METHODS["judge"]}
_FLAGS = settings.Table("", judging.ROWS)


class Flip(NamedTuple):
    """A check whose verdict is another than before."""

    trial: Trial
    text: str
    before: Verdict
    after: Verdict


class Regraded(NamedTuple):
    """The results, light, in the order of the plan; what changed; what could not be graded.

    `graded` counts the results that are new: of a trial of another tool that could not be graded,
    the old one is among the results.
    """

    results: tuple[Result, ...]
    flips: tuple[Flip, ...]
    problems: tuple[str, ...]
    graded: int


class _Done(NamedTuple):
    """What came of one trial. No result: nothing is known of it, or it was cut off."""

    result: Result | None = None
    flips: tuple[Flip, ...] = ()
    problems: tuple[str, ...] = ()
    graded: bool = False


class _Refused(Exception):
    """A trial that cannot be graded; the message says why."""


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


def regrade(
    run: StoredRun, target: store.Run, tools: Tools, jobs: int = 1, *, judge_off: bool = False
) -> Regraded:
    """Grades every stored outcome again and writes it to the run folder, `jobs` at once.

    `target` is the same run, to be written: its suite names the judge. `judge_off` says that there
    is to be none; where there merely is none, a verdict that one has given stays. What cannot be
    read is told in `problems`, and the other trials are graded; so is what cannot be written of
    another tool's. Raises `OSError` if a trial of ours cannot be written.
    """
    done = _all(run, target, tools, jobs, judge_off)
    written_anew = tuple(f"{os.path.join(place, GRADING)}:" for place in run.trials.values())
    problems = [problem for problem in run.problems if not problem.startswith(written_anew)]
    problems += [problem for each in done for problem in each.problems]
    return Regraded(
        tuple(each.result for each in done if each.result),
        tuple(flip for each in done for flip in each.flips),
        tuple(dict.fromkeys(problems)),
        sum(each.graded for each in done),
    )


def _all(
    run: StoredRun, target: store.Run, tools: Tools, jobs: int, judge_off: bool
) -> list[_Done]:
    stopped = Event()
    stoppable = tools.stopping(stopped.is_set)

    def one(trial: Trial) -> _Done:
        try:
            old = _gradable(run, trial)
            new = _graded(target.suite, old, stoppable)
            # what was cut off half-way is no grading
            return _Done() if stopped.is_set() else _kept(run, target, old, new, judge_off)
        except (SuiteError, _Refused) as error:
            reason = str(error)
        except OSError as error:  # an agent may have left a folder in the place of a file
            if not run.is_foreign:
                raise
            reason = f"{run.trials[trial]}: cannot be written: {textfile.reason(error)}"
        return _Done(run.known.get(trial), problems=(f"{reason}; left as it is",))

    return workers.at_once(one, tuple(run.trials), jobs, stopped, name="grade")


def _gradable(run: StoredRun, trial: Trial) -> Result:
    """The whole result. Raises `SuiteError` or `_Refused` if there is nothing to grade it by."""
    case = _case(run.suite, trial)
    if case.broken:
        raise _Refused(case.broken)
    if run.is_foreign and {*SAID} <= {*_absent(run, trial)}:
        raise _Refused(f"{run.trials[trial]}: has no outputs/{' and no outputs/'.join(SAID)}")
    return runs.whole(run, trial)


def _absent(run: StoredRun, trial: Trial) -> tuple[str, ...]:
    """The files of evidence that a trial of another tool lacks; ours is in one file."""
    from skilleval.runfolder import evidencefiles

    return evidencefiles.absent(run.trials[trial]) if run.is_foreign else ()


def _case(suite: Suite, trial: Trial) -> Case:
    return next(case for case in suite.cases if case.id == trial.case_id)


def _graded(suite: Suite, old: Result, tools: Tools) -> Result:
    """The result with new verdicts on what has a grader.

    Other rows of another tool's grading are on no assertion: what a hook or a budget said stays,
    and a judge's own wording of an assertion, which is graded by itself, is nothing any more.
    """
    case = _case(suite, old.trial)
    own = tuple(check for check in case.checks if check.grader)
    arm = next(arm for arm in suite.arms if arm.name == old.trial.arm)
    graded = engine.grade(
        case._replace(checks=own), old.outcome, suite.rules, tools, judge=suite.judge, arm=arm
    )
    new = {verdict.check_id: verdict for verdict in graded.verdicts}
    verdicts = (new.get(was.check_id) or _recorded(was) for was in old.verdicts)
    return old._replace(verdicts=tuple(verdicts), calls=graded.calls)


def _recorded(verdict: Verdict) -> Verdict:
    if gradingfiles.is_recorded(verdict):
        return verdict
    return Verdict(verdict.check_id, "skip", None, "is no assertion of the case")


def _kept(run: StoredRun, target: store.Run, old: Result, new: Result, judge_off: bool) -> _Done:
    """Writes the new result, with the old verdict where there is none now by accident."""
    trial, case = old.trial, _case(target.suite, old.trial)
    reasons = [
        _lost(was, now, new, without_judge=not (target.suite.judge or judge_off))
        for was, now in zip(old.verdicts, new.verdicts, strict=True)
    ]
    pairs = zip(old.verdicts, new.verdicts, reasons, strict=True)
    new = new._replace(verdicts=tuple(was if lost else now for was, now, lost in pairs))
    _write(run, target, new)
    flips = tuple(
        Flip(trial, check.text, was, now)
        for check, was, now in zip(case.checks, old.verdicts, new.verdicts, strict=True)
        if was.status != now.status
    )
    lost = [f"{reason}; the verdict before stays" for reason in reasons if reason]
    problems = dict.fromkeys((*_unseen(run, new), *lost))
    return _Done(runs.light(new), flips, tuple(problems), graded=True)


def _lost(was: Verdict, now: Verdict, result: Result, *, without_judge: bool) -> str:
    """Why nobody could decide now what was decided before, by accident; "" if it is none."""
    if was.status not in ("pass", "fail") or result.outcome.status != "ok":
        return ""
    if now.status == "error":
        return f"{result.trial.key}: {now.reason}"
    missed = now.status == "skip" and now.method in (*_JUDGES, graders.UNDECIDED)
    return NO_JUDGE if missed and was.method in _JUDGES and without_judge else ""


def _unseen(run: StoredRun, new: Result) -> Iterator[str]:
    """The files without which a check of a trial could not be decided."""
    if any(v.status == "skip" and v.method not in _JUDGES for v in new.verdicts):
        for name in _absent(run, new.trial):
            yield f"{os.path.join(run.trials[new.trial], 'outputs', name)}: is not there"


def _write(run: StoredRun, target: store.Run, new: Result) -> None:
    """Writes a result, and what its grading.json said before beside it. Raises `OSError`.

    Of a trial of another tool only the grading is written: a trial.json would say that its evidence
    is ours and whole, and the other tool would go on without it.
    """
    place = os.path.relpath(run.trials[new.trial], run.folder)
    path = os.path.join(run.trials[new.trial], GRADING)
    before = _text(path, run.folder)
    if run.is_foreign:
        written = _foreign_grading(_case(target.suite, new.trial), new)
        target.write(os.path.join(place, GRADING), written)
    else:
        store.save(target, new)
    if before and before != _text(path, run.folder):
        target.write(os.path.join(place, PREVIOUS), before)


def _foreign_grading(case: Case, result: Result) -> dict[str, Any]:
    """A grading.json as the other tool reads it: it expects a number where nothing was graded."""
    rows = [
        (check, verdict)
        for check, verdict in zip(case.checks, result.verdicts, strict=True)
        if check.grader or gradingfiles.is_recorded(verdict)
    ]
    checks, verdicts = tuple(check for check, _ in rows), tuple(verdict for _, verdict in rows)
    found = store.grading(case._replace(checks=checks), result._replace(verdicts=verdicts))
    found["summary"]["pass_rate"] = found["summary"]["pass_rate"] or 0.0
    return found


def _text(path: str, root: str) -> str:
    try:
        return foreignfiles.text(path, root) or ""
    except SuiteError:
        return ""
