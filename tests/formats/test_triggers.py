"""The reading of eval_queries.json: each query a case with one check, whether the skill was used."""

import json

import build
import pytest
from evidence import outcome

from skilleval import engine
from skilleval.errors import SuiteError
from skilleval.formats import of, triggers
from skilleval.model import Event
from skilleval.tools import Tools

YES = {"query": "Make a PDF", "should_trigger": True}
NO = {"query": "What is a PDF?", "should_trigger": False}


def write(tmp_path, raw, place="demo/evals/eval_queries.json"):
    text = raw if isinstance(raw, (str, bytes)) else json.dumps(raw)
    build.write(tmp_path / "demo/SKILL.md", "---\nname: pdf-tools\ndescription: d\n---\nx\n")
    return str(build.write(tmp_path / place, text))


def test_each_query_is_a_case(tmp_path):
    suite = triggers.load(write(tmp_path, [YES, NO]))
    assert [(c.id, c.prompt, c.should_trigger) for c in suite.cases] == [
        ("query-1", "Make a PDF", True),
        ("query-2", "What is a PDF?", False),
    ]
    assert (suite.name, suite.skill, suite.meta["skill"]) == (
        "demo",
        "demo",
        str(tmp_path / "demo"),
    )
    assert suite.meta["runs"] == 3


def graded(case, events, **fields):
    came = outcome(events=events, **fields)
    [found] = engine.grade(case, came, triggers.RULES, Tools()).verdicts
    return found.status


@pytest.mark.parametrize("name", ["demo", "pdf-tools", "plugin:demo"])
def test_a_use_by_any_of_its_names_is_a_trigger(tmp_path, name):
    wanted, unwanted = triggers.load(write(tmp_path, [YES, NO])).cases
    events = (Event("call", "shell", {"command": "ls"}), Event("skill", name))
    assert graded(wanted, events) == "pass"
    assert graded(unwanted, events) == "fail"


def test_another_skill_is_no_trigger(tmp_path):
    wanted, unwanted = triggers.load(write(tmp_path, [YES, NO])).cases
    assert graded(wanted, (Event("skill", "other"),)) == "fail"
    assert graded(unwanted, (Event("skill", "other"),)) == "pass"


def test_a_timeout_or_no_events_is_no_decision_against_the_skill(tmp_path):
    _, unwanted = triggers.load(write(tmp_path, [YES, NO])).cases
    assert graded(unwanted, (Event("text", output="x"),), timed_out=True) == "skip"
    assert graded(unwanted, ()) == "skip"


def test_a_list_is_found_by_its_file_and_by_its_skill(tmp_path):
    path = write(tmp_path, [YES])
    assert of(path) is triggers
    assert of(str(tmp_path / "demo")) is triggers
    assert triggers.load(str(tmp_path / "demo")).path == path


def test_a_list_may_lie_beside_the_manifest(tmp_path):
    path = write(tmp_path, [YES], "demo/eval_queries.json")
    assert triggers.load(str(tmp_path / "demo")).path == path


def test_a_list_elsewhere_is_told_its_skill(tmp_path):
    path = write(tmp_path, [YES], "lists/eval_queries.json")
    with pytest.raises(SuiteError, match="lies in no skill"):
        triggers.load(path)
    assert triggers.load(path, skill=str(tmp_path / "demo")).name == "demo"


BROKEN = {
    "object": ({}, "must be a list of queries, not an object"),
    "empty": ([], "has no queries"),
    "no json": ("[", "invalid JSON"),
    "text": (["x"], "query 1: must be an object, not text"),
    "no query": ([{"should_trigger": True}], "query 1: has no query"),
    "blank": ([{"query": " ", "should_trigger": True}], "query 1: has no query"),
    "nul": ([{**YES, "query": "a\0"}], "query 1: query has a NUL as character 2, which no program can"),
    "number": ([{"query": 1, "should_trigger": True}], "query 1: query must be text, not a whole number"),
    "no flag": ([{"query": "x"}], "query 1: should_trigger must be true or false, not null"),
    "flag text": ([{"query": "x", "should_trigger": "no"}], "should_trigger must be true or false, not text"),
    "typo": ([{**YES, "shuold_trigger": 1}], "unknown key 'shuold_trigger' (did you mean 'should_trigger'?)"),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "message"), BROKEN.values(), ids=BROKEN)
def test_a_mistake_is_named_with_its_place(tmp_path, raw, message):
    path = write(tmp_path, raw)
    [problem] = triggers.problems(path)
    assert message in f"{problem.where}: {problem.message}"
    assert problem.rule == "E20"
    with pytest.raises(SuiteError):
        triggers.load(path)


def test_the_same_query_twice_is_a_warning_and_two_cases(tmp_path):
    path = write(tmp_path, [YES, YES])
    [problem] = triggers.problems(path)
    assert (problem.rule, problem.level) == ("E21", "warning")
    assert len(triggers.load(path).cases) == 2


def test_strict_wants_enough_of_both_kinds(tmp_path):
    path = write(tmp_path, [{**YES, "query": f"q{n}"} for n in range(8)])
    assert triggers.problems(path) == []
    [problem] = triggers.problems(path, strict=True)
    assert problem.message.startswith("0 queries should not trigger; 8 or more")
