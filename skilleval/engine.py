"""Runs trials: agent, then graders. Owns the isolation of one trial from the others.

It computes no score and prints nothing; `aggregate` and the sinks do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from skilleval import agents, graders, plan
from skilleval.errors import NotStarted, SkillevalError
from skilleval.model import (
    EMPTY,
    Arm,
    Case,
    Check,
    Evidence,
    Failure,
    Graded,
    Outcome,
    Result,
    Rules,
    Status,
    Suite,
    Trial,
    Verdict,
)
from skilleval.tools import Tools

Watch = Callable[[Trial, "Result | None"], None]
Equip = Callable[[Tools, Trial], Tools]


class Refusal(NamedTuple):
    """Why a trial is not started: of what kind that is, and the reason in words."""

    failure: Failure
    reason: str


Refuse = Callable[[Callable[[], bool]], Refusal | None]


class Session(NamedTuple):
    """How trials are run: `jobs` agents at once.

    `watch` hears of each start (None) and each result. It may be called from several threads; it
    never hears the result of an interrupted trial.
    `equip` gives each trial tools of its own, made from the common ones (see `exchanges`). `keep`
    makes of a result that `watch` has seen what is to stay in memory: a long run needs no more.
    `refuse` is asked before each trial and says why it is not to be started, or None. It may wait
    with its answer, but not when what it is given says that the run is to stop. `meanwhile` is
    what only the report needs: it is called while the first agents work, if there are several.
    """

    tools: Tools = Tools()
    jobs: int = 1
    watch: Watch | None = None
    equip: Equip | None = None
    keep: Callable[[Result], Result] | None = None
    refuse: Refuse | None = None
    meanwhile: Callable[[], object] | None = None


SESSION = Session()


def run(
    suite: Suite, session: Session = SESSION, trials: Sequence[Trial] | None = None
) -> tuple[Result, ...]:
    """The results of the trials (default: all of the plan), in their order.

    Raises `UsageError` for an unknown agent before anything is started; what goes wrong in one
    trial is recorded in its result. KeyboardInterrupt ends the running trials, and goes on.
    """
    for name in plan.agents(suite):
        agents.get(name)
    planned = plan.trials(suite) if trials is None else trials
    bench = _Bench(suite, session)
    return _in_turn(bench, planned) if session.jobs == 1 else _at_once(bench, planned)


class _Bench:
    """What is done with each trial, in two steps, each of which may run beside those of others."""

    def __init__(self, suite: Suite, session: Session) -> None:
        self.suite, self.session = suite, session
        self.cases = {case.id: case for case in suite.cases}
        self.arms = {arm.name: arm for arm in suite.arms}

    def prepares(self, trial: Trial) -> bool:
        """Does the trial's agent make a workspace first, for which it needs no seat?"""
        name = self.cases[trial.case_id].agent or self.arms[trial.arm].agent
        return agents.get(name).OPTIONS is not None

    def begin(self, trial: Trial, stop: Callable[[], bool]) -> None:
        """Says that the trial starts. Raises `NotStarted` if it is refused."""
        session = self.session
        refusal = session.refuse(stop) if session.refuse else None
        if session.watch:
            session.watch(trial, None)
        if refusal:
            raise NotStarted(refusal.reason, refusal.failure)

    def run_agent(
        self,
        trial: Trial,
        tools: Tools,
        begin: Callable[[], None],
        end: Callable[[], None] | None = None,
    ) -> tuple[Outcome, Tools]:
        """What came of the trial's agent, between `begin` and `end`; the tools to grade that with.

        Either may raise `NotStarted`.
        """
        try:
            begin()
            if self.session.equip:
                tools = self.session.equip(tools, trial)
            outcome = _attempt(self.cases[trial.case_id], self.arms[trial.arm], tools)
            if end:
                end()
            return outcome, tools
        except NotStarted as reason:
            return Outcome("missing", error=str(reason), failure=reason.failure), tools

    def result(
        self, trial: Trial, outcome: Outcome, tools: Tools, stop: Callable[[], bool]
    ) -> Result:
        """The graded trial; nobody hears of it if the run is to stop."""
        case, suite, session = self.cases[trial.case_id], self.suite, self.session
        arm = self.arms[trial.arm]
        graded = grade(case, outcome, suite.rules, tools, judge=suite.judge, arm=arm)
        result = Result(trial, outcome, graded.verdicts, graded.calls)
        if session.watch and not stop():
            session.watch(trial, result)
        return session.keep(result) if session.keep else result


def _never() -> bool:
    return False


def _in_turn(bench: _Bench, trials: Sequence[Trial]) -> tuple[Result, ...]:
    results = []
    for trial in trials:
        begin = partial(bench.begin, trial, _never)
        outcome, tools = bench.run_agent(trial, bench.session.tools, begin)
        results.append(bench.result(trial, outcome, tools, _never))
    return tuple(results)


def _at_once(bench: _Bench, trials: Sequence[Trial]) -> tuple[Result, ...]:
    """`jobs` agents at once; as many others are prepared or graded meanwhile."""
    from threading import Event, Semaphore

    from skilleval import workers
    from skilleval.process import turns
    from skilleval.seats import Seat

    jobs = bench.session.jobs
    stopped, free = Event(), Semaphore(jobs)
    stoppable = bench.session.tools.stopping(stopped.is_set)

    def watched(trial: Trial) -> Result:
        seat = Seat(free, partial(bench.begin, trial, stopped.is_set), stopped.is_set)
        begin = partial(seat.take, wait=not bench.prepares(trial))
        try:
            tools = stoppable._replace(seat=seat.held)
            outcome, tools = bench.run_agent(trial, tools, begin, seat.be_begun)
        finally:
            seat.give_back()
        return bench.result(trial, outcome, tools, stopped.is_set)

    def meanwhile() -> None:
        turns.await_calm()  # all agents of the first threads work
        if bench.session.meanwhile:
            bench.session.meanwhile()

    try:
        # after Ctrl-C the programs of the running trials are stopped
        return tuple(
            workers.at_once(watched, trials, 2 * jobs, stopped, name="trial", meanwhile=meanwhile)
        )
    finally:
        turns.settle()


def _attempt(case: Case, arm: Arm, tools: Tools) -> Outcome:
    if case.broken:
        return Outcome("error", error=case.broken, failure="infrastructure")
    try:
        return agents.get(case.agent or arm.agent).run(case, arm, tools)
    except NotStarted:
        raise
    except Exception as error:  # one trial must not take the others with it
        # what no program of an agent told is no failure of the agent: a full disk, a bug of ours
        failure = error.failure if isinstance(error, SkillevalError) else "infrastructure"
        return Outcome("error", error=_describe(error), failure=failure)


def grade(
    case: Case,
    outcome: Outcome,
    rules: Rules,
    tools: Tools,
    *,
    judge: Mapping[str, Any] = EMPTY,
    arm: Arm | None = None,
) -> Graded:
    """A verdict on each check of the case, in their order. Pure over the stored outcome.

    Of an agent that failed every check is an `error`; of one that gave nothing `rules.no_outcome`
    decides: every check fails, or is skipped. Of one that was never started they are skipped. A
    check that its grader cannot decide goes to the one that its `params["fallback"]` names, if
    there is a judge.
    """
    if outcome.status != "ok":
        return Graded(_without_outcome(case.checks, outcome, rules))
    evidence = Evidence(case, outcome, judge, arm)
    graded = _graded(case.checks, evidence, tools)
    open_checks = _handed_over(case.checks, graded.verdicts)
    if not (open_checks and judge):
        return graded
    second = _graded(open_checks, evidence, tools)
    # where the judge is silent too, what the rule missed is the better reason
    decided = {found.check_id: found for found in second.verdicts if found.status != "skip"}
    verdicts = tuple(decided.get(verdict.check_id, verdict) for verdict in graded.verdicts)
    return Graded(verdicts, graded.calls + second.calls)


def _handed_over(checks: Sequence[Check], verdicts: Sequence[Verdict]) -> tuple[Check, ...]:
    """The checks that their grader could not decide, for the grader that they name next."""
    return tuple(
        check._replace(grader=check.params["fallback"])
        for check, verdict in zip(checks, verdicts, strict=True)
        if verdict.method == graders.UNDECIDED and check.params.get("fallback")
    )


def _graded(checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    by_grader: dict[str, list[Check]] = {}
    for check in checks:
        by_grader.setdefault(check.grader, []).append(check)
    if len(by_grader) == 1:
        return _grade_with(checks[0].grader, checks, evidence, tools)
    parts = [_grade_with(name, own, evidence, tools) for name, own in by_grader.items()]
    verdicts = {verdict.check_id: verdict for part in parts for verdict in part.verdicts}
    return Graded(
        tuple(verdicts[check.id] for check in checks),
        tuple(call for part in parts for call in part.calls),
    )


def _grade_with(name: str, checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    try:
        return graders.get(name).grade(checks, evidence, tools)
    except Exception as error:  # a grader that breaks is an `error` verdict, never a `fail`
        calls = getattr(error, "calls", ())
        reason = _describe(error)
        verdicts = [Verdict(c.id, "error", None, reason, name, c.weight) for c in checks]
        return Graded(tuple(verdicts), calls)


def _without_outcome(
    checks: Sequence[Check], outcome: Outcome, rules: Rules
) -> tuple[Verdict, ...]:
    status: Status = "error" if outcome.status == "error" else "skip"
    if status == "skip" and rules.no_outcome == "zero" and not outcome.refused:
        status = "fail"
    reason = outcome.error or "the agent gave no outcome"
    method = outcome.failure if outcome.refused else "no outcome"
    points = 0 if status == "fail" else None
    return tuple(Verdict(c.id, status, points, reason, method, c.weight) for c in checks)


def _describe(error: Exception) -> str:
    if isinstance(error, SkillevalError):
        return str(error)
    import traceback

    place = "".join(traceback.format_tb(error.__traceback__))
    return f"{type(error).__name__}: {error}\n{place}"
