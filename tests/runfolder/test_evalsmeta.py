"""The cases of a run of another tool: graded as they were meant, or not at all."""

import json

import build
import foreign
import pytest

from skilleval.assertions import check
from skilleval.runfolder import evalsmeta

EVAL = {"id": "notes", "assertions": foreign.NOTES}


def only(root, **fields):
    foreign.meta(root, {**EVAL, **fields})
    found = evalsmeta.read(str(root))
    [case] = found.cases.values()
    return found, case


def test_a_case_has_the_checks_that_its_suite_would_give_it(tmp_path):
    found, case = only(tmp_path, should_trigger=False)
    assert case.checks == tuple(
        check(n, t, False, ("demo",)) for n, t in enumerate(foreign.NOTES, 1)
    )
    assert (case.prompt, case.expected) == ("Write the notes.", "Notes that are committed.")
    assert (case.should_trigger, case.broken, found.problems) == (False, "", ())


def test_a_number_is_an_id_and_true_is_none(tmp_path):
    foreign.meta(tmp_path, {**EVAL, "id": 7}, {**EVAL, "id": True}, {**EVAL, "id": ["x"]})
    found = evalsmeta.read(str(tmp_path))
    assert list(found.cases) == ["7"]
    assert len(found.problems) == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"assertions": "A commit was created"}, "assertions must be a list"),
        ({"assertions": [*foreign.NOTES, 3]}, "assertion 3 must be a text"),
        ({"should_trigger": "no"}, "should_trigger must be true or false"),
        ({"prompt": ["p"]}, "prompt must be a text"),
        ({"expected_output": {}}, "expected_output must be a text"),
    ],
)
def test_an_entry_that_says_nothing_clear_is_a_broken_case(tmp_path, fields, message):
    found, case = only(tmp_path, **fields)
    assert case.broken == f"{tmp_path}/evals_meta.json: eval 'notes': {message}"
    assert found.problems == (case.broken,)


def test_which_of_two_with_one_id_was_run_nobody_knows(tmp_path):
    foreign.meta(tmp_path, EVAL, {**EVAL, "prompt": "Another."})
    [case] = evalsmeta.read(str(tmp_path)).cases.values()
    assert "the id is used twice" in case.broken


def test_a_structured_assertion_has_no_grader_here(tmp_path):
    structured = {"type": "file_exists", "path": "a", "text": "There is an a"}
    _, case = only(tmp_path, assertions=["It is polite", structured, {"type": "git_clean"}])
    assert [(c.text, c.grader) for c in case.checks] == [
        ("It is polite", "judge"),
        ("There is an a", ""),
    ]


def test_the_list_of_assertions_has_another_name_elsewhere(tmp_path):
    _, case = only(tmp_path, assertions=None, expectations=["It is polite"])
    assert len(case.checks) == 1


@pytest.mark.parametrize("text", ["{", "[]", "null", '"x"'])
def test_a_damaged_file_leaves_every_case_broken(tmp_path, text):
    path = build.write(tmp_path / "evals_meta.json", text)
    found = evalsmeta.read(str(tmp_path))
    assert len(found.problems) == 1
    assert found.case("x").broken.startswith(f"{path}: ")
    assert found.case("x").broken.endswith("nobody knows the assertions of 'x'")


def test_a_file_that_is_not_there_is_no_problem_until_something_is_to_be_graded(tmp_path):
    found = evalsmeta.read(str(tmp_path))
    assert found.problems == ()
    assert "is not there" in found.case("x").broken


@pytest.mark.parametrize("evals", [None, {}, "x", [None, 1]])
def test_evals_that_are_none_are_a_problem(tmp_path, evals):
    build.write(tmp_path / "evals_meta.json", json.dumps({"skill_name": ["x"], "evals": evals}))
    found = evalsmeta.read(str(tmp_path))
    assert found.problems
    assert (found.skill, found.cases) == ("", {})
    assert found.case("x").broken == f"{tmp_path}/evals_meta.json: has no eval 'x'"


def test_a_lone_surrogate_is_a_text_like_any_other(tmp_path):
    _, case = only(tmp_path, id="a\ud83d", assertions=['The output contains "\ud83d"'])
    assert (case.id, case.broken) == ("a\ud83d", "")
