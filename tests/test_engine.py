"""One trial does not take the others with it; undecided is not failed."""

import threading
import time

import pytest

from skilleval import agents, engine, graders
from skilleval.errors import AgentUnavailable, GraderError, SkillevalError, UsageError
from skilleval.model import Arm, Call, Case, Check, Graded, Outcome, Rules, Suite, Verdict
from skilleval.tools import Tools

TOOLS = Tools()


class Echo:
    """Answers with the prompt; breaks when told to, and waits for what it is told to wait for."""

    def run(self, case, arm, tools):
        if isinstance(case.annotations, threading.Event):
            assert case.annotations.wait(20)
        if case.prompt == "break":
            raise RuntimeError("kaput")
        if case.prompt == "claim":
            raise Claimed("not what it claims")
        if case.prompt == "unavailable":
            raise AgentUnavailable("not there")
        return Outcome("missing") if case.prompt == "nothing" else Outcome("ok", case.prompt)


class Prepared:
    """Makes something before it takes its seat, and looks at it after that."""

    OPTIONS = frozenset()

    def run(self, case, arm, tools):
        annotations = case.annotations
        annotations["before"](case.id)
        with tools.seat():
            annotations["agent"](case.id)
        annotations["after"](case.id)
        return Outcome("ok", case.prompt)


class Claimed(SkillevalError):
    """An error that knows better whose failure it is."""

    failure = "control"


class Refuses:
    """A grader that cannot decide."""

    def grade(self, checks, evidence, tools):
        raise GraderError("cannot decide", (Call("judge", "m", 1, 0.1),))


class Breaks:
    """A grader with a bug."""

    def grade(self, checks, evidence, tools):
        return Graded((Verdict(checks[5].id, "pass", 1),))


@pytest.fixture(autouse=True)
def table(tmp_path):
    """Names of the test's own agents and graders, taken back afterwards."""
    import sys
    import types

    for group, name, instance in (
        (agents.AGENTS, "echo", Echo()),
        (agents.AGENTS, "prepared", Prepared()),
        (graders.GRADERS, "refuses", Refuses()),
        (graders.GRADERS, "breaks", Breaks()),
    ):
        module = types.ModuleType(f"test_{name}")
        module.OPTIONS = getattr(instance, "OPTIONS", None)
        for method in ("run", "grade"):
            if hasattr(instance, method):
                setattr(module, method, getattr(instance, method))
        sys.modules[module.__name__] = module
        group[name] = module.__name__
    yield
    for name in ("echo", "prepared"):
        del agents.AGENTS[name]
    for name in ("refuses", "breaks"):
        del graders.GRADERS[name]


def case(name, prompt="use x(", *checks):
    return Case(name, prompt, checks or (Check("c1", "x(", "text"),))


def suite(*cases, rules=None):
    return Suite("s", "", cases, rules=rules or Rules(), arms=(Arm("one", "echo"),))


def test_results_come_in_the_order_of_the_trials():
    results = engine.run(suite(case("a"), case("b", "no")))
    assert [(r.trial.key, r.verdicts[0].status) for r in results] == [
        ("a/one/r1", "pass"),
        ("b/one/r1", "fail"),
    ]


def test_an_agent_that_breaks_is_an_error_and_the_others_go_on():
    broken, good = engine.run(suite(case("a", "break"), case("b")))
    assert broken.outcome.status == "error"
    assert broken.outcome.error.startswith("RuntimeError: kaput\n")
    assert "test_engine.py" in broken.outcome.error
    assert broken.outcome.failure == "infrastructure"
    assert [v.status for v in broken.verdicts] == ["error"]
    assert good.verdicts[0].status == "pass"


def test_an_error_says_whose_failure_it_is():
    results = engine.run(suite(case("a", "claim"), case("b", "unavailable")))
    assert [(r.outcome.error, r.outcome.failure) for r in results] == [
        ("not what it claims", "control"),
        ("not there", "infrastructure"),
    ]


@pytest.mark.parametrize(("rule", "status"), [("zero", "fail"), ("skip", "skip")])
def test_without_an_outcome_the_rules_decide(rule, status):
    [result] = engine.run(suite(case("a", "nothing"), rules=Rules(no_outcome=rule)))
    assert [v.status for v in result.verdicts] == [status]


def test_a_broken_case_is_an_error_and_its_agent_is_not_run():
    [result] = engine.run(suite(case("a", "break")._replace(broken="no criteria")))
    assert (result.outcome.status, result.outcome.error) == ("error", "no criteria")
    assert result.outcome.failure == "infrastructure"


def test_a_grader_that_cannot_decide_says_why_and_keeps_its_calls():
    [result] = engine.run(suite(case("a", "x", Check("c1", "t", "refuses"))))
    [verdict] = result.verdicts
    assert (verdict.status, verdict.score, verdict.reason) == ("error", None, "cannot decide")
    assert result.calls[0].model == "m"


def test_a_grader_with_a_bug_is_an_error_with_its_traceback():
    [result] = engine.run(suite(case("a", "x", Check("c1", "t", "breaks"))))
    assert result.verdicts[0].status == "error"
    assert "IndexError" in result.verdicts[0].reason


def test_verdicts_keep_the_order_of_the_checks_across_graders():
    checks = (Check("1", "x", "text"), Check("2", "t", "refuses"), Check("3", "x", "text"))
    [result] = engine.run(suite(case("a", "x", *checks)))
    assert [(v.check_id, v.status) for v in result.verdicts] == [
        ("1", "pass"),
        ("2", "error"),
        ("3", "pass"),
    ]


def test_an_unknown_agent_is_a_usage_error_before_anything_runs():
    heard = []
    with pytest.raises(UsageError, match="unknown agent 'nobody'; choose one of"):
        engine.run(
            suite(case("a"), case("b")._replace(agent="nobody")),
            engine.Session(watch=lambda *seen: heard.append(seen)),
        )
    assert heard == []


@pytest.mark.parametrize("jobs", [1, 3])
def test_watch_hears_of_every_start_and_every_result(jobs):
    heard, lock = [], threading.Lock()

    def watch(trial, result):
        with lock:
            heard.append((trial.case_id, result is not None))

    cases = [case(f"c{i}") for i in range(6)]
    results = engine.run(suite(*cases), engine.Session(jobs=jobs, watch=watch))
    assert [r.trial.case_id for r in results] == [c.id for c in cases]
    assert sorted(heard) == sorted((c.id, ended) for c in cases for ended in (False, True))


def test_jobs_run_at_the_same_time():
    barrier = threading.Barrier(3, timeout=20)

    def watch(trial, result):
        if result is None:
            barrier.wait()

    results = engine.run(suite(*(case(f"c{i}") for i in range(3))), engine.Session(TOOLS, 3, watch))
    assert len(results) == 3


def test_next_agent_starts_while_the_one_before_is_graded():
    third_has_started = threading.Event()

    def watch(trial, result):
        if result is None and trial.case_id == "c2":
            third_has_started.set()
        if result is not None and trial.case_id == "c0":
            assert third_has_started.wait(20)

    cases = suite(*(case(f"c{i}") for i in range(4)))
    assert len(engine.run(cases, engine.Session(TOOLS, 2, watch))) == 4


def test_no_more_agents_run_at_once_than_jobs():
    started, go_on = [], threading.Event()

    def watch(trial, result):
        if result is None:
            started.append(trial.case_id)

    cases = suite(*(case(f"c{i}")._replace(annotations=go_on) for i in range(6)))
    found = []
    run = threading.Thread(
        target=lambda: found.extend(engine.run(cases, engine.Session(TOOLS, 2, watch)))
    )
    run.start()
    time.sleep(0.3)
    assert len(started) == 2
    go_on.set()
    run.join(20)
    assert len(found) == 6


def prepared(count, *, before=len, agent=len, after=len):
    steps = {"before": before, "agent": agent, "after": after}
    cases = [case(f"c{i}")._replace(annotations=steps, agent="prepared") for i in range(count)]
    return suite(*cases)


def test_workspaces_of_the_next_agents_are_made_while_others_work():
    next_is_ready = threading.Event()

    def before(name):
        if name == "c2":
            next_is_ready.set()

    def agent(name):
        assert next_is_ready.wait(20)

    results = engine.run(prepared(3, before=before, agent=agent), engine.Session(TOOLS, 2))
    assert [r.outcome.status for r in results] == ["ok"] * 3


def test_no_more_agents_with_workspaces_work_at_once_than_jobs():
    lock, working, most = threading.Lock(), [], []

    def agent(name):
        with lock:
            working.append(name)
            most.append(len(working))
        time.sleep(0.05)
        with lock:
            working.remove(name)

    results = engine.run(prepared(9, agent=agent), engine.Session(TOOLS, 2))
    assert [r.outcome.status for r in results] == ["ok"] * 9
    assert max(most) == 2


def test_next_agent_starts_before_what_the_last_one_did_is_looked_at():
    third_has_started = threading.Event()

    def agent(name):
        if name == "c2":
            third_has_started.set()

    def after(name):
        if name == "c0":
            assert third_has_started.wait(20)

    assert len(engine.run(prepared(4, agent=agent, after=after), engine.Session(TOOLS, 2))) == 4


def test_a_trial_is_refused_when_its_agent_would_start_whatever_was_prepared():
    worked, spent = [], threading.Event()

    def agent(name):
        worked.append(name)
        time.sleep(0.1)  # the next ones are ready by then
        spent.set()

    def refuse(stop):
        return engine.Refusal("budget", "spent") if spent.is_set() else None

    heard = []
    session = engine.Session(TOOLS, 2, lambda *seen: heard.append(seen), refuse=refuse)
    results = engine.run(prepared(6, agent=agent), session)
    assert sorted(worked) == ["c0", "c1"]
    assert [r.outcome.failure for r in results] == ["", ""] + ["budget"] * 4
    assert [v.status for r in results[2:] for v in r.verdicts] == ["skip"] * 4
    assert len(heard) == 12


def test_a_trial_that_comes_to_no_agent_needs_no_seat_and_is_heard_of_all_the_same():
    """Its workspace cannot be made, or its case is broken, while all seats are taken."""
    heard, lock, all_others = [], threading.Lock(), threading.Event()

    def watch(trial, result):
        with lock:
            heard.append((trial.case_id, result is not None))
            if {name for name, ended in heard if ended} >= {"c2", "c3", "c4"}:
                all_others.set()

    def before(name):
        if name not in ("c0", "c1"):
            raise RuntimeError(f"no room for {name}")

    def agent(name):
        assert all_others.wait(20)

    made = prepared(5, before=before, agent=agent)
    cases = (*made.cases[:4], made.cases[4]._replace(broken="no prompt"))
    results = engine.run(made._replace(cases=cases), engine.Session(TOOLS, 2, watch))
    assert [r.outcome.status for r in results] == ["ok"] * 2 + ["error"] * 3
    for name in ("c0", "c1", "c2", "c3", "c4"):
        assert [ended for case_id, ended in heard if case_id == name] == [False, True]


def test_nothing_more_is_started_after_an_interrupt():
    started, lock = [], threading.Lock()

    def watch(trial, result):
        with lock:
            started.append(trial.case_id)
        time.sleep(0.05)
        raise KeyboardInterrupt

    cases = suite(*(case(f"c{i}") for i in range(40)))
    with pytest.raises(KeyboardInterrupt):
        engine.run(cases, engine.Session(TOOLS, 2, watch))
    assert len(started) < 10


def test_an_agent_that_was_never_started_has_failed_nothing():
    refused = Outcome("missing", error="budget: spent", failure="budget")
    found = engine.grade(case("a"), refused, Rules(no_outcome="zero"), TOOLS)
    [verdict] = found.verdicts
    assert (verdict.status, verdict.score, verdict.method) == ("skip", None, "budget")
    assert verdict.reason == "budget: spent"


class Undecided:
    """A grader that finds nothing to decide on."""

    def grade(self, checks, evidence, tools):
        found = [Verdict(c.id, "skip", None, "no events", "undecided") for c in checks]
        return Graded(tuple(found))


@pytest.mark.parametrize(("judge", "statuses"), [({}, ["skip"]), ({"model": "m"}, ["pass"])])
def test_what_a_grader_cannot_decide_goes_to_the_one_it_names_if_there_is_a_judge(judge, statuses):
    import sys
    import types

    module = types.ModuleType("test_undecided")
    module.grade = Undecided().grade
    sys.modules["test_undecided"] = module
    graders.GRADERS["undecided"] = "test_undecided"
    try:
        check = Check("c1", "x", "undecided", {"fallback": "text"})
        found = engine.grade(case("a", "x", check), Outcome("ok", "x"), Rules(), TOOLS, judge=judge)
    finally:
        del graders.GRADERS["undecided"]
    assert [v.status for v in found.verdicts] == statuses
