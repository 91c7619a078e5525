"""What a run left outside of its folder: proven to be its own, and never forgotten."""

from pathlib import Path

import build
import pytest

from skilleval.errors import SuiteError
from skilleval.model import Arm, Case, File, FileChange, Outcome, Result, State, Suite, Trial
from skilleval.runfolder import artefacts, store

SUITE = Suite("demo", "skills/demo", (Case("a", "do a"),), arms=(Arm("m", "kiro"),), skill="demo")
RESULT = Result(Trial("a", "m"), Outcome("ok"), ())


def test_the_manifest_names_the_repository_on_github(tmp_path):
    arms = (SUITE.arms[0]._replace(options={"source_repo": "https://github.com/o/r.git"}),)
    run = store.create(str(tmp_path), SUITE._replace(arms=arms))
    assert artefacts.manifest(run.suite)["source_repo_slug"] == "o/r"


def pushed(name="feat", head="c1", request=None, local=None):
    """A result whose agent has (or, with another `local` head, has not) pushed a branch."""
    git = {
        "branch_heads": {"main": "c0", "feat": local or head},
        "remote_branch_heads": {"main": "c0"},
    }
    before = State((), {**git, "open_prs": []})
    heads = {"main": "c0", name: head}
    requests = [request] if request else []
    after = State((), {**git, "remote_branch_heads": heads, "open_prs": requests})
    return RESULT._replace(outcome=Outcome("ok", before=before, after=after))


def elsewhere(tmp_path, source="https://github.com/o/r"):
    arm = SUITE.arms[0]._replace(options={"source_repo": source})
    return store.create(str(tmp_path), SUITE._replace(arms=(arm,)))


def test_a_branch_that_the_agent_pushed_is_its_own_and_noted(tmp_path):
    run = elsewhere(tmp_path)
    request = {"number": 7, "headRefName": "feat", "state": "OPEN"}
    found = artefacts.manifest(run.suite, [pushed(request=request)])
    assert (found["remote_branches"], found["pr_numbers"]) == (["feat"], [7])
    assert artefacts.leaves(run.suite, pushed())


@pytest.mark.parametrize(
    "result",
    [
        pushed(local="other"),
        pushed(name="main"),
        pushed(local="other", request={"number": 7, "headRefName": "feat", "state": "OPEN"}),
    ],
    ids=["somebody else's branch", "no new branch", "somebody else's request"],
)
def test_what_others_did_meanwhile_is_not_noted(tmp_path, result):
    assert not artefacts.leaves(elsewhere(tmp_path).suite, result)


def logged(name, before, after):
    """A result whose repository says by its log that it pushed `after` to a branch."""
    heads = {"main": "c0", **({name: before} if before else {})}
    old = State((), {"branch_heads": {}, "remote_branch_heads": heads, "pushes": {}})
    log = {name: [[before or "0" * 40, after]]}
    new = {"branch_heads": {}, "remote_branch_heads": {**heads, name: after}, "pushes": log}
    return RESULT._replace(outcome=Outcome("ok", before=old, after=State((), new)))


def test_what_was_pushed_last_to_a_branch_of_the_run_is_noted(tmp_path):
    run = elsewhere(tmp_path)
    found = artefacts.manifest(run.suite, [logged("feat", "", "c1"), logged("feat", "c1", "c2")])
    assert (found["remote_branches"], found["remote_branch_heads"]) == (["feat"], {"feat": "c2"})
    assert artefacts.leaves(run.suite, logged("feat", "c1", "c2"))


def test_a_branch_that_a_trial_only_moved_is_not_the_runs(tmp_path):
    found = artefacts.manifest(elsewhere(tmp_path).suite, [logged("main", "c0", "c9")])
    assert (found["remote_branches"], found["remote_branch_heads"]) == ([], {})


def test_what_was_pushed_to_another_remote_is_no_branch_of_the_source_repository(tmp_path):
    result = logged("main", "c0", "c0")
    log = {"other": {"feat": [["0" * 40, "c5"]]}}
    request = {"number": 7, "headRefName": "feat", "headRefOid": "c5", "state": "OPEN"}
    after = {**result.outcome.after.git, "other_pushes": log, "open_prs": [request]}
    outcome = result.outcome._replace(after=State((), after))
    found = artefacts.manifest(elsewhere(tmp_path).suite, [result._replace(outcome=outcome)])
    assert (found["remote_branches"], found["pr_numbers"]) == ([], [])


def test_an_earlier_start_of_the_run_is_not_forgotten(tmp_path):
    run = elsewhere(tmp_path)
    store.begin(run, {})
    kept = RESULT._replace(outcome=Outcome("ok", source="/tmp/skilleval-kept-1"))
    run.write(artefacts.NAME, artefacts.manifest(run.suite, [logged("feat", "", "c1"), kept]))
    store.begin(run, {})
    found = artefacts.manifest(
        run.suite, [logged("feat", "c1", "c2"), pushed("new")], artefacts.listed(run.folder)
    )
    assert found["remote_branch_heads"] == {"feat": "c2", "new": "c1"}
    assert found["remote_branches"] == ["feat", "new"]
    assert found["workspaces"] == ["/tmp/skilleval-kept-1"]


@pytest.mark.parametrize("text", ["{", "[]", '{"remote_branch_heads": []}'])
def test_a_damaged_manifest_of_an_earlier_start_is_not_overwritten(tmp_path, text):
    run = elsewhere(tmp_path)
    build.write(Path(run.folder) / artefacts.NAME, text)
    with pytest.raises(SuiteError, match=r"cleanup\.json"):
        store.begin(run, {})
    assert (Path(run.folder) / artefacts.NAME).read_text() == text


def test_a_closed_request_is_not_noted(tmp_path):
    request = {"number": 7, "headRefName": "feat", "state": "MERGED"}
    assert (
        artefacts.manifest(elsewhere(tmp_path).suite, [pushed(request=request)])["pr_numbers"] == []
    )


def test_a_copy_of_a_local_repository_leaves_nothing(tmp_path):
    assert not artefacts.leaves(elsewhere(tmp_path, str(tmp_path)).suite, pushed())


def test_a_kept_workspace_is_noted(tmp_path):
    run = store.create(str(tmp_path), SUITE)
    kept = RESULT._replace(outcome=Outcome("ok", source=str(tmp_path / "kept")))
    assert artefacts.manifest(run.suite, [kept])["workspaces"] == [str(tmp_path / "kept")]


def test_what_is_remembered_of_a_trial_gives_the_same_manifest(tmp_path):
    suite = elsewhere(tmp_path).suite
    request = {"number": 7, "headRefName": "feat", "state": "OPEN"}
    result = pushed(request=request)
    files = (File(FileChange("f", 1, "x"), "d"),)
    outcome = result.outcome._replace(
        source=str(tmp_path), output="x", after=result.outcome.after._replace(files=files)
    )
    traces = artefacts.traces(result._replace(outcome=outcome))
    assert artefacts.manifest(suite, [traces]) == artefacts.manifest(
        suite, [result._replace(outcome=outcome)]
    )
    assert (traces.outcome.output, traces.outcome.after.files) == ("", ())
