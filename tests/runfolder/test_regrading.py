"""Grading a run again: from what is stored, without the workspace, and without losing anything."""

import json
import re
import threading
from pathlib import Path

import build
import foreign
import pytest
from loopback import Loopback, Reply, reply_json

from skilleval import assertions
from skilleval.model import Arm, Case, Check, Event, Outcome, Result, Suite, Trial, Verdict
from skilleval.runfolder import regrading, runs, store
from skilleval.tools import Tools

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


def regrade(run, suite=None, jobs=1, tools=TOOLS, **options):
    suite = suite or run.suite
    return regrading.regrade(run, store.Run(run.folder, suite), tools, jobs, **options)


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
    flips = regrade(run, judge_off=True).flips
    assert [flip.after.status for flip in flips] == ["skip", "skip"]


def test_a_judge_that_nobody_turned_off_takes_no_verdict_away_by_being_missing(tmp_path):
    run = stored(tmp_path, suite_of(TEXT, JUDGED))
    done = regrade(run)
    assert [v.status for v in done.results[0].verdicts] == ["pass", "pass"]
    assert done.problems == (f"{regrading.NO_JUDGE}; the verdict before stays",)


def test_the_use_of_a_skill_that_a_judge_guessed_once_is_unknown_now(tmp_path):
    used = assertions.check(1, "The skill was used", True, ("demo",))
    guessed = (Verdict(used.id, "pass", 1.0, "it speaks of it", "judge"),)
    late = DONE._replace(events=(Event("text", output="x"),), timed_out=True)
    done = regrade(stored(tmp_path, suite_of(used), guessed, late))
    assert [flip.after.status for flip in done.flips] == ["skip", "skip"]
    assert done.problems == ()


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


def original(root, *assertions, rows=(), should_trigger=True, **content):
    """A run of seed 002's original with one case and one trial; the grading has the `rows`."""
    entry = {"id": "notes", "assertions": list(assertions), "should_trigger": should_trigger}
    foreign.meta(root, entry)
    return foreign.trial(root, **{"grading": foreign.grading(*rows), **content})


def decided(done):
    [result] = done.results
    return [(v.status, v.method) for v in result.verdicts]


def regraded(root, judge=None, **options):
    """The original's run in a folder, graded again; with the settings of a judge."""
    run = runs.load(str(root))
    return regrade(run, run.suite._replace(judge=judge or {}), **options)


RULED = [
    *foreign.NOTES,
    'The output contains "committed"',
    "The agent ran `git commit`",
    "The skill was used",
]


def test_a_run_of_the_original_is_graded_by_what_it_left(tmp_path):
    stdout = foreign.said("Done.", "bash -lc 'git commit -m x'", "cat .codex/skills/demo/SKILL.md")
    original(tmp_path, *RULED, stdout=stdout)
    done = regraded(tmp_path)
    assert decided(done) == [("pass", "deterministic")] * 5
    assert (done.problems, done.graded) == ((), 1)


def test_a_negative_control_of_the_original_is_turned_around(tmp_path):
    original(tmp_path, *foreign.NOTES, should_trigger=False)
    assert decided(regraded(tmp_path)) == [("fail", "deterministic")] * 2


def test_the_grading_is_written_in_the_fields_of_the_original_and_nothing_else(tmp_path):
    place = original(tmp_path, *foreign.NOTES, rows=[foreign.row(foreign.NOTES[0], False)])
    before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    regraded(tmp_path)
    after = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    written = {path for path in after if after[path] != before.get(path)}
    assert written == {place / "grading.json", place / "grading.previous.json"}
    assert after[place / "grading.previous.json"] == before[place / "grading.json"]
    document = json.loads(after[place / "grading.json"])
    assert document["summary"] == foreign.grading(*map(foreign.row, foreign.NOTES))["summary"]
    for row in document["assertion_results"]:
        assert set(row) == set(foreign.row(""))
        assert all(type(row[key]) is type(value) for key, value in foreign.row("").items())


def test_where_nothing_was_graded_the_original_reads_a_number(tmp_path):
    place = original(tmp_path, "The notes are polite")
    regraded(tmp_path)
    summary = json.loads((place / "grading.json").read_text())["summary"]
    assert (summary["pass_rate"], summary["skipped"], summary["total"]) == (0.0, 1, 1)


UNSEEN = ["The file `NOTES.md` exists", "The file `a` was not created", '`a.md` contains "x"']


@pytest.mark.parametrize("said_before", [True, False])
def test_what_only_the_files_could_tell_is_skipped_whatever_was_said_before(tmp_path, said_before):
    original(tmp_path, *UNSEEN, rows=[foreign.row(text, said_before) for text in UNSEEN])
    done = regraded(tmp_path)
    assert decided(done) == [("skip", "undecided")] * 3
    assert {v.reason for v in done.results[0].verdicts} == {
        "the files of the workspace were not stored with this trial"
    }
    assert done.problems == ()


def asked(root, *answers):
    """What comes of grading with a judge that gives the answers, and what it was asked."""
    message = {"content": json.dumps(answers)}
    with Loopback() as server:
        server.on(PATH, reply_json({"choices": [{"message": message, "finish_reason": "stop"}]}))
        done = regraded(root, judge_of(server))
    return done, [request.json()["messages"][-1]["content"] for request in server.requests]


def test_what_only_the_files_could_tell_goes_to_the_judge_who_knows_that_they_are_gone(tmp_path):
    stdout = foreign.transcript("codex/apply-patch-shell.jsonl")
    original(tmp_path, UNSEEN[0], "The notes are polite", stdout=stdout)
    done, questions = asked(tmp_path, {"number": 1, "reason": "seen", "pass": True})
    assert decided(done) == [("pass", "judge")] * 2
    assert len(questions) == 2
    for question in questions:
        assert "The files of the workspace were not stored" in question
        assert "Leave out of your answer every criterion" in question
        assert "The task was: Write the notes." in question


def test_a_judge_that_leaves_a_check_out_leaves_the_reason_of_the_rule(tmp_path):
    original(tmp_path, UNSEEN[0])
    done, _ = asked(tmp_path)
    assert decided(done) == [("skip", "undecided")]
    assert "not stored" in done.results[0].verdicts[0].reason


def test_a_verdict_of_the_originals_judge_stays_where_there_is_none_now(tmp_path):
    row = foreign.row("The notes are polite", True, "llm")
    place = original(tmp_path, "The notes are polite", rows=[row])
    done = regraded(tmp_path)
    assert decided(done) == [("pass", "llm")]
    assert done.problems == (f"{regrading.NO_JUDGE}; the verdict before stays",)
    assert json.loads((place / "grading.json").read_text())["assertion_results"] == [row]
    assert decided(regraded(tmp_path, judge_off=True)) == [("skip", "judge")]


def test_a_verdict_on_a_run_that_failed_around_the_agent_does_not_stay(tmp_path):
    foreign.meta(tmp_path, {"id": "notes", "assertions": foreign.NOTES, "should_trigger": False})
    foreign.trial(
        tmp_path,
        "eval-notes/claude-code/with_skill",
        stdout=foreign.transcript("claude/e401-r0.json"),
        grading=foreign.grading(*map(foreign.row, foreign.NOTES)),
    )
    done = regraded(tmp_path)
    assert [v.status for v in done.results[0].verdicts] == ["error", "error"]
    assert done.problems == ()


@pytest.mark.parametrize(
    "method", ["hook", "budget", "side-effect-contract", "structured:git_clean"]
)
def test_a_row_on_no_assertion_stays_as_it_is(tmp_path, method):
    row = foreign.row("Told by another", False, method)
    place = original(tmp_path, foreign.NOTES[0], rows=[foreign.row(foreign.NOTES[0]), row])
    assert decided(regraded(tmp_path)) == [("pass", "deterministic"), ("fail", method)]
    assert json.loads((place / "grading.json").read_text())["assertion_results"][1] == row


def test_a_judges_own_wording_of_an_assertion_is_no_row_any_more(tmp_path):
    rows = [foreign.row("a NEW branch", False, "llm"), foreign.row(foreign.NOTES[0])]
    place = original(tmp_path, foreign.NOTES[0], rows=rows)
    regraded(tmp_path)
    [row] = json.loads((place / "grading.json").read_text())["assertion_results"]
    assert (row["text"], row["passed"]) == (foreign.NOTES[0], True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"pre_state": "{"}, r"pre_state\.json: is damaged"),
        ({"post_state": "[]"}, r"post_state\.json: must hold an object, not a list"),
        (
            {"output": None, "stdout": None},
            r"has no outputs/output\.txt and no outputs/stdout\.log",
        ),
    ],
)
def test_a_trial_without_its_evidence_is_left_as_it_is_and_the_others_are_graded(
    tmp_path, content, message
):
    place = original(tmp_path, foreign.NOTES[0], rows=[foreign.row("x", False)], **content)
    before = (place / "grading.json").read_text()
    foreign.trial(tmp_path, "eval-notes/codex/without_skill")
    done = regraded(tmp_path)
    [problem] = done.problems
    assert re.search(message, problem)
    assert problem.startswith(str(place))
    assert problem.endswith("left as it is")
    assert (place / "grading.json").read_text() == before
    assert (len(done.results), done.graded) == (2, 1)


def test_a_file_without_which_a_check_stays_open_is_named(tmp_path):
    place = original(tmp_path, *foreign.NOTES, pre_state=None)
    done = regraded(tmp_path)
    assert decided(done) == [("skip", "undecided")] * 2
    assert done.problems == (f"{place}/outputs/pre_state.json: is not there",)


def test_a_file_that_no_check_needs_may_be_missing(tmp_path):
    original(tmp_path, 'The output contains "notes"', pre_state=None, stdout=None)
    assert regraded(tmp_path).problems == ()


def test_a_case_that_evals_meta_does_not_have_cannot_be_graded(tmp_path):
    original(tmp_path, *foreign.NOTES)
    foreign.trial(tmp_path, "eval-stale/codex/with_skill")
    foreign.trial(tmp_path, "eval-stale/codex/without_skill")
    done = regraded(tmp_path)
    assert done.problems == (f"{tmp_path}/evals_meta.json: has no eval 'stale'; left as it is",)
    assert done.graded == 1


@pytest.mark.parametrize("content", ["{", "[]", '{"assertion_results": 3}', '{"summary": []}'])
def test_a_grading_that_an_agent_wrote_is_put_right(tmp_path, content):
    place = original(tmp_path, *foreign.NOTES, grading=content)
    done = regraded(tmp_path)
    assert (decided(done), done.problems) == ([("pass", "deterministic")] * 2, ())
    assert (place / "grading.previous.json").read_text() == content


def test_a_folder_in_the_place_of_a_grading_is_told_and_the_others_are_graded(tmp_path):
    place = original(tmp_path, *foreign.NOTES, grading=None)
    (place / "grading.json").mkdir()
    foreign.trial(tmp_path, "eval-notes/codex/without_skill")
    done = regraded(tmp_path)
    assert done.graded == 1
    assert done.problems[-1].startswith(f"{place}: cannot be written")


def test_a_grading_that_is_a_link_out_is_replaced_and_not_followed(tmp_path):
    home = build.write(tmp_path / "home" / "secret", "sk-secret")
    place = original(tmp_path / "run", *foreign.NOTES, grading=None)
    (place / "grading.json").symlink_to(home)
    regraded(tmp_path / "run")
    assert home.read_text() == "sk-secret"
    assert not (place / "grading.json").is_symlink()
    assert not (place / "grading.previous.json").exists()


@pytest.mark.parametrize("identifier", ["../../../escaped", "/tmp/escaped", "group/a", "a\ud83d"])
def test_the_id_of_a_case_is_no_path(tmp_path, identifier):
    root = tmp_path / "a" / "b" / "iteration-1"
    foreign.meta(root, {"id": identifier, "assertions": foreign.NOTES})
    meta = {"eval_id": identifier, "agent": "codex", "with_skill": True}
    place = foreign.trial(root, "eval-x/codex/with_skill", run_meta=meta)
    done = regraded(root)
    assert done.graded == 1
    assert (place / "grading.json").exists()
    assert not list(tmp_path.rglob("*escaped*"))


def test_several_agents_and_repeats_are_graded_each_by_itself(tmp_path):
    foreign.meta(tmp_path, {"id": "notes", "assertions": ["The agent ran `git commit`"]})
    for agent, stdout in (
        ("codex", foreign.said("Done.", "git commit -m x")),
        ("claude-code", foreign.transcript("claude/basic.json")),
    ):
        for repeat in (1, 2):
            foreign.trial(
                tmp_path,
                f"eval-notes/{agent}/with_skill/run-{repeat}",
                stdout=stdout,
                output="Done.",
            )
    done = regraded(tmp_path, jobs=3)
    found = {result.trial.key: result.verdicts[0].status for result in done.results}
    assert found == {
        "notes/codex-with_skill/r1": "pass",
        "notes/codex-with_skill/r2": "pass",
        # its last message alone does not say what it ran
        "notes/claude-code-with_skill/r1": "skip",
        "notes/claude-code-with_skill/r2": "skip",
    }


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
