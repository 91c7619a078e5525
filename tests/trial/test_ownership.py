"""What a trial on a shared remote made itself: by the log of what it pushed, and nothing else."""

import pytest

from skilleval.trial import gitstate, ownership

NEW = "0" * 40
BEFORE = {
    "remote_branches": ["main", "old"],
    "remote_branch_heads": {"main": "c0", "old": "c1"},
    "open_prs": [{"number": 1, "headRefName": "old", "state": "OPEN"}],
}


def after(heads, pushes=None, requests=(), **more):
    state = {
        "remote_branches": sorted({"main": 0, "old": 0, **heads}),
        "remote_branch_heads": {**BEFORE["remote_branch_heads"], **heads},
        "open_prs": [*BEFORE["open_prs"], *requests],
        **more,
    }
    return state if pushes is None else {**state, "pushes": pushes}


def request(number, branch, **more):
    return {"number": number, "headRefName": branch, "state": "OPEN", **more}


@pytest.mark.parametrize(
    ("heads", "pushes", "pushed", "created"),
    [
        ({"feat": "c2"}, {"feat": [[NEW, "c2"]]}, {"feat": "c2"}, {"feat"}),
        ({"main": "c2"}, {"main": [["c0", "c2"]]}, {"main": "c2"}, set()),
        ({"feat": "c2"}, {}, {}, set()),  # fetched: somebody else's
        ({"feat": "c3"}, {"feat": [["c2", "c3"]]}, {"feat": "c3"}, set()),  # theirs, pushed on
        ({"feat": "c3"}, {"feat": [[NEW, "c2"]]}, {}, set()),  # ours, and they pushed on
        ({}, {"gone": [[NEW, "c2"]]}, {}, set()),  # pushed and deleted
        ({"a": "c2", "b": "c2"}, {"a": [[NEW, "c2"]]}, {"a": "c2"}, {"a"}),
    ],
)
def test_own_branches_are_those_that_the_log_of_pushes_proves(heads, pushes, pushed, created):
    state = after(heads, pushes)
    assert ownership.pushed(BEFORE, state) == pushed
    assert ownership.created(BEFORE, state) == created


def test_on_a_remote_of_its_own_everything_that_moved_is_the_trials():
    state = after({"feat": "c2", "main": "c3"}, branch_heads={"feat": "c2"})
    assert ownership.pushed(BEFORE, state) == {"feat": "c2", "main": "c3"}
    assert ownership.created(BEFORE, state) == {"feat"}


@pytest.mark.parametrize(
    ("row", "own"),
    [
        (request(7, "feat"), True),
        (request(7, "feat", headRefOid="c2"), True),
        (request(7, "feat", headRefOid="c9"), False),  # of the same name, with others' commits
        (request(7, "theirs"), False),
        (request(1, "feat"), False),  # was there before
    ],
)
def test_own_requests_are_new_and_for_what_the_trial_pushed(row, own):
    state = after({"feat": "c2", "theirs": "c8"}, {"feat": [[NEW, "c2"]]}, [row])
    assert ownership.requests(BEFORE, state) == ([row] if own else [])


@pytest.mark.parametrize(("oid", "own"), [("c2", True), ("c9", False), (None, False)])
def test_a_request_from_a_fork_is_ones_own_by_what_was_pushed_there(oid, own):
    row = request(7, "feat", headRefOid=oid)
    state = after({}, {}, [row], other_pushes={"fork": {"feat": [[NEW, "c2"]]}})
    assert ownership.requests(BEFORE, state) == ([row] if own else [])


def test_what_was_pushed_elsewhere_is_no_branch_of_the_source_repository():
    log = {"other": {"main": [["c0", "c1"], ["c1", "c2"]]}}
    state = after({}, {}, other_pushes=log)
    assert ownership.elsewhere(BEFORE, state) == {"other": {"main": "c2"}}
    assert ownership.elsewhere(state, state) == {}
    assert (ownership.pushed(BEFORE, state), ownership.created(BEFORE, state)) == ({}, set())


@pytest.mark.parametrize(("pushes", "sure"), [(None, True), ({}, False)])
def test_a_branch_that_is_gone_was_deleted_by_the_trial_where_nobody_else_can(pushes, sure):
    state = after({}, pushes)
    del state["remote_branch_heads"]["old"]
    assert (ownership.deleted(BEFORE, state), ownership.is_alone(state)) == ({"old"}, sure)


def test_unknown_requests_are_none_of_its_own():
    assert ownership.requests(BEFORE, {**after({}, {}), "open_prs": None}) == []


def test_change_of_git_leaves_out_what_others_did():
    theirs = request(8, "theirs")
    state = after({"theirs": "c8"}, {}, [theirs], current_branch="main", head_sha="c0")
    change = gitstate.change({**BEFORE, "current_branch": "main", "head_sha": "c0"}, state)
    assert (change["pushed_branches"], change["new_remote_branches"]) == ([], [])
    assert change["new_open_prs"] == []
