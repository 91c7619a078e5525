"""Results are kept the moment they are known, and a full disk is said once."""

import shutil

import build
import pytest

from skilleval.engine import Refusal
from skilleval.model import (
    Arm,
    Case,
    Check,
    Outcome,
    Report,
    Result,
    Suite,
    Summary,
    Trial,
    Verdict,
)
from skilleval.runfolder import artefacts, store
from skilleval.runfolder.keeper import Keeper

SUITE = Suite("demo", "p", (Case("a", "p", (Check("1", "x", "text"),)),), arms=(Arm("m", "kiro"),))
RESULT = Result(Trial("a", "m"), Outcome("ok", "x"), (Verdict("1", "pass", 1),))
REPORT = Report((), Summary(1, 1, 1, 1, 1), (), ())


def test_a_result_is_saved_before_anybody_hears_of_it(tmp_path):
    keeper = Keeper(store.create(str(tmp_path), SUITE), print)
    heard = []
    watch = keeper.watching(lambda trial, result: heard.append((result, len(keeper.finished()))))
    watch(RESULT.trial, None)
    watch(RESULT.trial, RESULT)
    assert heard == [(None, 0), (RESULT, 1)]


def test_without_a_run_folder_nothing_is_written(tmp_path):
    keeper = Keeper(None, print)
    keeper.begin({"a": 1})
    keeper.watching(lambda trial, result: None)(RESULT.trial, RESULT)
    keeper.finish(REPORT)
    assert keeper.finished() == {}
    assert "nothing was kept" in keeper.farewell()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said_once_and_the_run_stays_open(tmp_path):
    run, said = store.create(str(tmp_path), SUITE), []
    keeper = Keeper(run, said.append)
    shutil.rmtree(run.folder)
    (tmp_path / "demo-workspace" / "iteration-1").write_text("a file where the folder was")
    watch = keeper.watching(lambda trial, result: None)
    watch(RESULT.trial, RESULT)
    watch(RESULT.trial, RESULT)
    keeper.finish(REPORT)
    [warning] = said
    assert "cannot be written" in warning
    assert "what could be written is kept" in keeper.farewell()


def test_no_trial_may_start_after_a_result_that_could_not_be_written(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    keeper = Keeper(run, lambda text: None)
    assert (keeper.refusal(), keeper.failed) == (None, False)
    build.write(tmp_path / "demo-workspace" / "iteration-1" / "eval-a", "a file")
    keeper.watching(lambda trial, result: None)(RESULT.trial, RESULT)
    reason = f"storage: {run.folder} cannot be written: Not a directory"
    assert (keeper.refusal(), keeper.failed) == (Refusal("storage", reason), True)


def test_a_trial_that_was_not_started_for_want_of_room_leaves_no_file(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    refused = RESULT._replace(outcome=Outcome("missing", failure="storage"))
    Keeper(run, print).watching(lambda trial, result: None)(RESULT.trial, refused)
    assert list((tmp_path / "demo-workspace" / "iteration-1").iterdir()) == []


def test_a_folder_that_cannot_be_begun_is_an_error_before_anything_is_paid_for(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    (tmp_path / "demo-workspace" / "iteration-1" / "run.json").mkdir()
    with pytest.raises(OSError, match=r"run\.json"):
        Keeper(run, print).begin({})


def test_what_an_earlier_start_left_outside_stays_listed(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    watch = [lambda trial, result: None] * 2
    for number, each in enumerate(watch):
        keeper = Keeper(run, print)
        keeper.begin({})
        left = RESULT._replace(outcome=Outcome("ok", source=f"/tmp/skilleval-kept-{number}"))
        keeper.watching(each)(RESULT.trial, left)
    assert artefacts.listed(run.folder)["workspaces"] == [
        *("/tmp/skilleval-kept-0", "/tmp/skilleval-kept-1"),
    ]


def test_the_command_that_goes_on_stands_on_a_line_of_its_own(tmp_path):
    keeper = Keeper(store.create(str(tmp_path), SUITE), print, "skilleval run x --resume")
    assert keeper.farewell().endswith("; to go on with it:\n  skilleval run x --resume")


def test_an_interrupted_run_says_where_its_results_are(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    assert (
        Keeper(run, print).farewell()
        == f"what was finished is kept in {run.folder}; --resume goes on with it"
    )
