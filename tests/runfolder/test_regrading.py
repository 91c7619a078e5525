"""Grading a run again: from what is stored, without the workspace, and without losing anything."""

import json
import threading
from pathlib import Path

import pytest
from loopback import Loopback, Reply, reply_json

from skilleval.errors import UsageError
from skilleval.model import Arm, Case, Check, Outcome, Result, Suite, Trial, Verdict
from skilleval.runfolder import regrading, runs, store
from skilleval.tools import Tools

ROOT = Path(__file__).parent.parent / "data" / "runs"
PATH = "/v1/chat/completions"
TEXT = Check("1", "done", "text")
JUDGED = Check("2", "polite", "judge", {"description": "It is polite"})
ANSWER = "It is done, and there is nothing left to do for you."
DONE = Outcome("ok", ANSWER, stdout="log\n")
TOOLS = Tools(sleep=lambda seconds: None)
OLD = (Verdict("1", "fail", 0.0, "wrong once", "text"), Verdict("2", "pass", 1.0, "yes", "judge"))


def suite_of(*checks, judge=None):
    cases = tuple(Case(name, "p", checks) for name in ("a", "b"))
    return Suite("demo", "p", cases, arms=(Arm("codex-with_skill", "codex"),), judge=judge or {})


def stored(base, suite, verdicts=OLD, outcome=DONE):
    """A run folder in which every case had these verdicts."""
    run = store.create(str(base), suite)
    store.begin(run, {"suite": suite, "repeats": 1})
    for case in suite.cases:
        kept = tuple(v for v in verdicts if v.check_id in {c.id for c in case.checks})
        store.save(run, Result(Trial(case.id, "codex-with_skill"), outcome, kept))
    return runs.load(run.folder)


def regrade(run, suite=None, jobs=1, tools=TOOLS):
    suite = suite or run.suite
    return regrading.regrade(run, store.Run(run.folder, suite), tools, jobs)


def file(run, name, case="a"):
    return Path(run.folder) / f"eval-{case}" / "codex" / "with_skill" / name


def judge_of(server, model="m"):
    return {"backend": "http", "model": model, "base_url": f"{server.url}/v1", "timeout_s": 5.0}


def said(passed):
    opinion = {"number": 1, "name": "polite", "reason": "seen", "pass": passed}
    message = {"content": json.dumps([opinion])}
    return reply_json({"choices": [{"message": message, "finish_reason": "stop"}]})


def test_rules_decide_by_what_is_stored(tmp_path):
    run = stored(tmp_path, suite_of(TEXT))
    done = regrade(run, jobs=2)
    assert [v.status for result in done.results for v in result.verdicts] == ["pass", "pass"]
    assert [(f.trial.case_id, f.before.status, f.after.status) for f in done.flips] == [
        ("a", "fail", "pass"),
        ("b", "fail", "pass"),
    ]
    assert runs.results(runs.load(run.folder)).results == done.results


def test_the_grading_before_is_kept_beside_the_new_one(tmp_path):
    run = stored(tmp_path, suite_of(TEXT))
    before = file(run, "grading.json").read_text()
    regrade(run)
    assert file(run, "grading.previous.json").read_text() == before
    assert json.loads(file(run, "grading.json").read_text())["summary"]["passed"] == 1


def test_a_grading_that_stays_the_same_leaves_nothing_beside_it(tmp_path):
    good = (Verdict("1", "pass", 1, "", "text"),)
    run = stored(tmp_path, suite_of(TEXT), good)
    assert regrade(run).flips == ()
    assert not file(run, "grading.previous.json").exists()


def test_everything_else_of_the_trial_stays(tmp_path):
    run = stored(tmp_path, suite_of(TEXT))
    trial = Trial("a", "codex-with_skill")
    before = runs.whole(run, trial).outcome
    regrade(run)
    assert runs.whole(runs.load(run.folder), trial).outcome == before
    assert file(run, "outputs/stdout.log").read_text() == "log\n"


def test_a_judge_is_asked_anew(tmp_path):
    with Loopback() as server:
        server.on(PATH, said(False))
        run = stored(tmp_path, suite_of(JUDGED, judge=judge_of(server)))
        done = regrade(run)
    assert [flip.after.status for flip in done.flips] == ["fail", "fail"]
    assert len(server.requests) == 2


def test_a_judge_that_is_down_takes_no_verdict_away(tmp_path):
    with Loopback() as server:
        server.on(PATH, Reply(401))
        run = stored(tmp_path, suite_of(TEXT, JUDGED, judge=judge_of(server)))
        done = regrade(run)
    assert [v.status for v in done.results[0].verdicts] == ["pass", "pass"]
    assert len(done.problems) == 2
    assert done.problems[0].endswith("the verdict before stays")


def test_without_a_judge_its_checks_are_skipped(tmp_path):
    run = stored(tmp_path, suite_of(JUDGED))
    assert [flip.after.status for flip in regrade(run).flips] == ["skip", "skip"]


def test_an_interrupted_grading_writes_no_half_verdict(tmp_path):
    asked = threading.Event()

    def interrupted(request):
        asked.set()
        raise KeyboardInterrupt

    with Loopback() as server:
        run = stored(tmp_path, suite_of(JUDGED, judge=judge_of(server)))
        before = file(run, "trial.json").read_text()
        with pytest.raises(KeyboardInterrupt):
            regrade(run, tools=Tools(post=interrupted))
    assert asked.is_set()
    assert file(run, "trial.json").read_text() == before


def test_a_damaged_trial_is_left_as_it_is_and_said(tmp_path):
    run = stored(tmp_path, suite_of(TEXT))
    file(run, "trial.json").write_text("{")
    done = regrade(run)
    assert len(done.results) == 1
    assert file(run, "trial.json").read_text() == "{"
    assert done.problems[0].endswith("left as it is")


def test_a_failed_trial_stays_an_error(tmp_path):
    outcome = Outcome("error", error="HTTP 429", failure="infrastructure")
    run = stored(tmp_path, suite_of(TEXT), (Verdict("1", "error", None, "HTTP 429"),), outcome)
    done = regrade(run)
    assert [v.status for v in done.results[0].verdicts] == ["error"]
    assert done.problems == ()


def test_a_run_of_another_tool_cannot_be_graded():
    run = runs.load(str(ROOT / "original-workspace" / "iteration-2"))
    with pytest.raises(UsageError, match=r"only report and compare can read"):
        regrade(run)


@pytest.mark.parametrize(
    ("model", "url", "environ", "want"),
    [
        (None, None, {}, {"model": "m", "base_url": "http://run/v1", "key_name": "RUN_KEY"}),
        ("n", None, {}, {"model": "n", "base_url": "http://run/v1", "key_name": "RUN_KEY"}),
        ("", "http://x/v1", {"OPENAI_API_KEY": "sk-x"}, {}),
        (None, "http://x/v1", {}, {"model": "m", "base_url": "http://x/v1", "key_name": ""}),
    ],
    ids=["the run's own", "another model", "none", "another endpoint"],
)
def test_the_judge_is_the_runs_own_as_far_as_nothing_else_is_said(model, url, environ, want):
    own = {"backend": "http", "model": "m", "base_url": "http://run/v1", "key_name": "RUN_KEY"}
    found = regrading.judged(suite_of(JUDGED, judge=own), model, url, environ)
    assert {key: found.get(key) for key in want} == want
    assert bool(found) == bool(want)


def test_a_run_without_a_judge_gets_one_where_there_is_a_key_now():
    assert regrading.judged(suite_of(JUDGED), None, None, {}) == {}
    found = regrading.judged(suite_of(JUDGED), None, None, {"OPENROUTER_API_KEY": "sk-or"})
    assert found["key_name"] == "OPENROUTER_API_KEY"
