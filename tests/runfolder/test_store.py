"""The run folder: whole files or none, the seed's layout, and resuming by content."""

import json
import os
import re
from fractions import Fraction

import pytest

from skilleval import aggregate, writing
from skilleval.errors import UsageError
from skilleval.model import (
    Arm,
    Case,
    Check,
    Gate,
    Outcome,
    Report,
    Result,
    Suite,
    Trial,
    Usage,
    Verdict,
)
from skilleval.runfolder import store

CASES = (Case("a", "do a", (Check("1", "x", "text"), Check("2", "y", "text"))), Case("b", "do b"))
SUITE = Suite("demo", "skills/demo", CASES, arms=(Arm("m", "kiro", "m"),), skill="demo")
VERDICTS = (Verdict("1", "pass", 1, "", "text"), Verdict("2", "skip", None, "no judge", "judge"))
RESULT = Result(
    Trial("a", "m"),
    Outcome("ok", "said", seconds=1.5, exit_code=0, usage=Usage(10, 5, 2)),
    VERDICTS,
)


def read(folder, name):
    with open(os.path.join(folder, *name.split("/"))) as file:
        return json.load(file)


def test_a_result_has_the_documented_files(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    store.save(run, RESULT)
    folder = tmp_path / "demo-workspace" / "iteration-1" / "eval-a" / "kiro" / "with_skill"
    assert sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()) == [
        "grading.json",
        "outputs/output.txt",
        "outputs/stderr.log",
        "outputs/stdout.log",
        "run_meta.json",
        "timing.json",
        "trial.json",
    ]
    assert (folder / "outputs" / "output.txt").read_text() == "said"
    assert read(folder, "timing.json") == {
        "total_tokens": 15,
        "input_tokens": 10,
        "output_tokens": 5,
        "cached_tokens": 2,
        "non_cached_input_tokens": None,
        "cache_creation_tokens": None,
        "reasoning_output_tokens": None,
        "cost_usd": None,
        "cost_usd_source": None,
        "duration_ms": 1500,
        "exit_code": 0,
        "timed_out": False,
        "retries": 0,
    }
    grading = read(folder, "grading.json")
    assert grading["summary"] == {
        "passed": 1,
        "failed": 0,
        "skipped": 1,
        "total": 2,
        "pass_rate": 1.0,
    }
    assert list(grading["assertion_results"][0]) == [
        "text",
        "passed",
        "method",
        "skipped",
        "evidence",
    ]


def test_the_meta_of_a_trial_has_the_seeds_fields_and_the_id_of_its_run(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    store.save(run, RESULT)
    place = store.trial_folder(run, RESULT.trial, SUITE.arms[0])
    found = read(run.folder, f"{place}/run_meta.json")
    assert re.fullmatch("[0-9a-f]{8}", found["run_id"])
    assert found == {
        "eval_id": "a",
        "agent": "kiro",
        "with_skill": True,
        "iteration": 1,
        "skill_name": "demo",
        "source_repo": None,
        "run_id": run.run_id,
        "run_index": 1,
        "model": "m",
        "model_answered": None,
        "session_id": None,
    }


def test_the_model_that_answered_and_its_session_are_in_the_meta(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    told = RESULT._replace(outcome=RESULT.outcome._replace(model="m-2026", session="s-7"))
    store.save(run, told)
    found = read(
        run.folder, f"{store.trial_folder(run, RESULT.trial, SUITE.arms[0])}/run_meta.json"
    )
    assert [found[name] for name in ("model", "model_answered", "session_id")] == [
        *("m", "m-2026", "s-7"),
    ]


def test_a_resumed_run_has_an_id_of_its_own_and_a_graded_one_leaves_what_is_there(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    store.save(run, RESULT)
    assert store.resumable(str(tmp_path), SUITE)[0].run_id not in ("", run.run_id)
    store.save(store.Run(run.folder, SUITE), RESULT)
    place = store.trial_folder(run, RESULT.trial, SUITE.arms[0])
    assert read(run.folder, f"{place}/run_meta.json")["run_id"] == run.run_id


def test_unknown_tokens_and_rates_are_null_and_not_zero(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    result = RESULT._replace(outcome=Outcome("ok"), verdicts=VERDICTS[1:] * 2)
    store.save(run, result)
    folder = os.path.join(run.folder, store.trial_folder(run, RESULT.trial, SUITE.arms[0]))
    assert read(folder, "timing.json")["total_tokens"] is None
    assert read(folder, "grading.json")["summary"]["pass_rate"] is None


def test_repeats_and_the_arm_without_the_skill_have_folders_of_their_own():
    run = store.Run("r", SUITE, repeats=True)
    arm = Arm("m", "codex", with_skill=False)
    assert store.trial_folder(run, Trial("a", "m", 3), arm) == "eval-a/codex/without_skill/run-3"


def test_runs_are_numbered_and_never_mixed(tmp_path):
    folders = [store.create(str(tmp_path), SUITE).folder for _ in range(11)]
    assert folders[-1].endswith("iteration-11")
    assert len(set(folders)) == 11
    with pytest.raises(UsageError, match="iteration-2 is there already"):
        store.create(str(tmp_path), SUITE, iteration=2)
    assert store.create(str(tmp_path), SUITE, iteration=40).folder.endswith("iteration-40")


def test_the_newest_run_and_older_ones_without_a_summary_may_be_gone_on_with(tmp_path):
    made = [store.create(str(tmp_path), SUITE) for _ in range(4)]
    report = Report((), aggregate.summarise([]), (Gate("score", ">=", Fraction(1, 2)),), ())
    for run in (made[1], made[3]):
        store.finish(run, report)
    found = store.resumable(str(tmp_path), SUITE)
    assert [run.number for run in found] == [4, 3, 1]
    [named] = store.resumable(str(tmp_path), SUITE, iteration=2)
    assert named.folder == made[1].folder
    assert read(made[1].folder, "summary.json")["gates"] == [
        {"metric": "score", "op": ">=", "limit": 0.5, "check": ""}
    ]


def test_a_run_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    with pytest.raises(UsageError, match="no run to resume; leave out --resume to start one"):
        store.resumable(str(tmp_path), SUITE)
    store.create(str(tmp_path), SUITE)
    store.create(str(tmp_path), SUITE, iteration=7)
    with pytest.raises(UsageError, match="no iteration 99 to resume; there are: 1, 7"):
        store.resumable(str(tmp_path), SUITE, iteration=99)


def test_finished_results_are_found_by_their_content(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    store.save(run, RESULT)
    reordered = SUITE._replace(cases=CASES[::-1])
    assert store.finished(run) == {store.key(reordered, RESULT.trial): RESULT}


@pytest.mark.parametrize(
    "changed",
    [
        SUITE._replace(cases=(CASES[0]._replace(prompt="other"), CASES[1])),
        SUITE._replace(cases=(CASES[0]._replace(checks=CASES[0].checks[:1]), CASES[1])),
        SUITE._replace(arms=(SUITE.arms[0]._replace(model="n"),)),
        SUITE._replace(judge={"model": "other"}),
    ],
    ids=["prompt", "checks", "model", "judge"],
)
def test_another_content_is_another_trial(changed):
    assert store.key(changed, RESULT.trial) != store.key(SUITE, RESULT.trial)
    assert store.key(SUITE, RESULT.trial) != store.key(SUITE, RESULT.trial._replace(repeat=2))


def test_an_edited_file_makes_another_trial_and_another_budget_does_not(tmp_path):
    case = CASES[0]._replace(files=("in",), annotations={"fixtures": str(tmp_path)})
    suite = SUITE._replace(cases=(case, CASES[1]))
    (tmp_path / "in").mkdir()
    keys = []
    for text in ("old", "new"):
        (tmp_path / "in" / "a.txt").write_text(text)
        keys.append(store.key(suite, RESULT.trial))
    assert keys[0] != keys[1]
    richer = SUITE.arms[0]._replace(options={**SUITE.arms[0].options, "max_budget_usd": 9})
    assert store.key(suite._replace(arms=(richer,)), RESULT.trial) == keys[1]


def test_another_place_or_spelling_of_it_is_no_other_trial(tmp_path):
    def key(folder, skill):
        case = CASES[0]._replace(
            files=("in",), source=f"{folder}/evals.json", annotations={"fixtures": str(folder)}
        )
        arm = SUITE.arms[0]._replace(options={"skill": skill, "skill_digest": "d"})
        return store.key(SUITE._replace(cases=(case,), arms=(arm,)), RESULT.trial)

    for name in ("here", "there"):
        (tmp_path / name / "in").mkdir(parents=True)
        (tmp_path / name / "in" / "a.txt").write_text("same")
    here = key(tmp_path / "here", "skills/demo")
    assert key(tmp_path / "there", f"{tmp_path}/skills/./demo/") == here
    assert key(tmp_path / "there", "skills/other") != here  # by which name agents see it
    (tmp_path / "there" / "in" / "a.txt").rename(tmp_path / "there" / "in" / "b.txt")
    assert key(tmp_path / "there", "skills/demo") != here


@pytest.mark.parametrize(
    "errored",
    [
        RESULT._replace(outcome=Outcome("error", error="down")),
        RESULT._replace(verdicts=(VERDICTS[0], Verdict("2", "error", None))),
    ],
    ids=["agent", "judge"],
)
def test_an_error_is_no_finished_result(tmp_path, errored):
    run = store.create(str(tmp_path), SUITE)
    store.save(run, errored)
    assert store.finished(run) == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"key": "k"}', '{"key": "k", "result": {"trial": 1}}']
)
def test_a_damaged_result_is_run_again(tmp_path, text):
    run = store.create(str(tmp_path), SUITE)
    writing.write_text(os.path.join(run.folder, "eval-a", "kiro", "with_skill", "trial.json"), text)
    assert store.finished(run) == {}


def test_a_lone_surrogate_does_not_lose_the_result(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    store.save(run, RESULT._replace(outcome=Outcome("ok", "a\ud83d\x00\x1b")))
    [found] = store.finished(run).values()
    assert found.outcome.output == "a\ud83d\x00\x1b"


def test_secrets_are_redacted_from_every_file(tmp_path):
    run = store.create(str(tmp_path), SUITE)._replace(secrets=("sk-very-secret",))
    store.save(run, RESULT._replace(outcome=Outcome("ok", "the key is sk-very-secret")))
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert "sk-very-secret" not in path.read_text()


def test_a_secret_is_in_no_part_of_a_long_document(tmp_path):
    """Long enough to be written in many pieces, with the secret at every place of a piece."""
    secret = 'hush"\n\u00e9 hush'
    items = [{secret: [n, f"{'x' * (n % 211)}{secret}", f"https://{n}@host"]} for n in range(2000)]
    run = store.create(str(tmp_path), SUITE)._replace(secrets=(secret,))
    run.write("long.json", {"rows": writing.Rows(lambda: items), "end": secret})
    found = read(run.folder, "long.json")
    assert found["end"] == "[redacted]"
    assert found["rows"] == [
        {"[redacted]": [n, f"{'x' * (n % 211)}[redacted]", "https://[redacted]@host"]}
        for n in range(2000)
    ]


def test_of_what_needs_no_repeating_only_what_is_asked_for_is_kept(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    store.save(run, RESULT)
    read_whole = []

    def keep(result):
        read_whole.append(result)
        return result._replace(verdicts=())

    assert store.finished(run, keep) == {store.key(SUITE, RESULT.trial): keep(RESULT)}
    assert read_whole == [RESULT, RESULT]
