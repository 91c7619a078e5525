"""The rules for scenario folders, C03 to C15; C01, C02 and C12 are the reader's."""

import json

import build
import pytest

from skilleval.formats import criteria
from skilleval.lint import scenario
from skilleval.lint.rules import RULES

GOOD = [
    {"name": "a", "description": "The header has a colon", "max_score": 60},
    {"name": "b", "description": "The file exists", "max_score": 40},
]


def problems(tmp_path, checklist=GOOD, *, skill="git-commit", task="Do it.", options="{}", **more):
    raw = (
        checklist if isinstance(checklist, str) else json.dumps({"checklist": checklist}, indent=1)
    )
    build.write(tmp_path / "criteria.json", raw)
    build.write(tmp_path / "scenario.json", options)
    folder = str(tmp_path)
    text = scenario.ScenarioText(
        folder, skill, criteria.read_checklist(folder), criteria.read_options(folder), task, **more
    )
    return list(scenario.problems(text))


def rules(found):
    return [(problem.rule, problem.level) for problem in found]


def changed(**fields):
    return [GOOD[0] | fields, GOOD[1]]


def test_a_good_scenario_has_no_problem(tmp_path):
    assert problems(tmp_path) == []


@pytest.mark.parametrize("rule", [f"C{number:02}" for number in range(1, 16)])
def test_every_rule_has_its_line(rule):
    assert RULES[rule]


@pytest.mark.parametrize(
    ("key", "near"),
    [("desciption", "description"), ("Max_Score", "max_score"), ("maxscore", "max_score")],
)
def test_a_key_near_a_known_one_warns(tmp_path, key, near):
    [problem] = problems(tmp_path, changed(**{key: 1}))
    assert rules([problem]) == [("C03", "warning")]
    assert problem.message == f"unknown key {key!r} is ignored (did you mean {near!r}?)"
    assert problem.where == "criterion 1"


def test_other_unknown_keys_are_ignored(tmp_path):
    options = '{"include": ["./inputs"], "owner": "me"}'
    assert problems(tmp_path, changed(note="x"), options=options) == []


def test_a_key_of_scenario_json_near_a_known_one_warns(tmp_path):
    [problem] = problems(tmp_path, options='{"sandbx": false}')
    assert problem.path.endswith("scenario.json")
    assert "did you mean 'sandbox'?" in problem.message


def test_weights_that_do_not_sum_to_100_warn(tmp_path):
    [problem] = problems(tmp_path, changed(max_score=59))
    assert rules([problem]) == [("C04", "warning")]
    assert problem.message == "sum=99 (expected 100)"


@pytest.mark.parametrize("raw", ["{}", '{"checklist": []}'])
def test_an_empty_checklist_is_an_error(tmp_path, raw):
    assert rules(problems(tmp_path, raw)) == [("C05", "error")]


def test_a_name_used_twice_warns_at_the_second(tmp_path):
    [problem] = problems(tmp_path, changed(name="b"))
    assert rules([problem]) == [("C06", "warning")]
    assert problem.where == "criterion 2"


@pytest.mark.parametrize("fields", [{"name": " "}, {"name": None}, {"description": ""}])
def test_a_criterion_without_name_or_description_warns(tmp_path, fields):
    assert rules(problems(tmp_path, changed(**fields))) == [("C07", "warning")]


def test_a_weight_of_zero_warns_and_a_negative_one_is_an_error(tmp_path):
    zero = [*GOOD, {"name": "c", "description": "d", "max_score": 0}]
    assert rules(problems(tmp_path, zero)) == [("C08", "warning")]
    negative = [*changed(max_score=70), {"name": "c", "description": "d", "max_score": -10}]
    assert rules(problems(tmp_path, negative)) == [("C08", "error")]


@pytest.mark.parametrize("task", ["", " \n"])
def test_a_blank_task_is_an_error(tmp_path, task):
    assert rules(problems(tmp_path, task=task)) == [("C09", "error")]


def test_a_task_that_cannot_be_read_is_an_error_that_says_why(tmp_path):
    [problem] = problems(tmp_path, task=None, task_problem="reading task.md: no such file")
    assert (problem.rule, problem.message) == ("C09", "reading task.md: no such file")


@pytest.mark.parametrize(
    ("skill", "task"),
    [
        ("git-commit", "Use git-commit for it."),
        ("git-commit", "Use `Git-Commit`."),
        ("review", "Use the review skill."),
        ("review", "Use the skill 'review'."),
        ("review", "Run /review now."),
        ("review", "See `review`."),
    ],
)
def test_a_task_that_names_the_skill_warns(tmp_path, skill, task):
    [problem] = problems(tmp_path, skill=skill, task=f"First.\n{task}")
    assert rules([problem]) == [("C10", "warning")]
    assert problem.line == 2


@pytest.mark.parametrize(
    ("skill", "task"),
    [
        ("git-commit", "Make a git commit."),
        ("git-commit", "Use my-git-commit-hook."),
        ("review", "Please review src/review/a.py; a review of it is due."),
    ],
)
def test_a_task_that_only_uses_the_words_does_not(tmp_path, skill, task):
    assert problems(tmp_path, skill=skill, task=task) == []


@pytest.mark.parametrize("text", ["inputs/a.diff", "`./inputs/`", "(inputs/docs/adr)"])
def test_speaking_of_the_inputs_folder_warns(tmp_path, text):
    [problem] = problems(tmp_path, task=f"Read {text}.")
    assert rules([problem]) == [("C11", "warning")]
    [problem] = problems(tmp_path, changed(description=f"It read {text}"))
    assert (problem.rule, problem.where) == ("C11", "criterion 1")


def test_the_path_to_write_is_told_whole_and_without_the_full_stop(tmp_path):
    [problem] = problems(tmp_path, task="Read inputs/docs/adr/1.md.")
    assert problem.message.endswith("write 'docs/adr/1.md'")


@pytest.mark.parametrize("text", ["the inputs / outputs", "my/inputs/x", "inputs only"])
def test_other_inputs_do_not_warn(tmp_path, text):
    assert problems(tmp_path, task=text) == []


def test_a_broken_checklist_is_told_once(tmp_path):
    assert rules(problems(tmp_path, "{")) == [("C01", "error")]


def test_a_criterion_has_its_line(tmp_path):
    [problem] = problems(tmp_path, [GOOD[0], GOOD[1] | {"description": ""}])
    assert problem.line == 9


def test_a_long_prompt_names_the_backend_that_can_have_it(tmp_path):
    size = {"prompt_bytes": 11, "longest_bytes": 10}
    assert "--backend http" not in problems(tmp_path, **size)[0].message
    [problem] = problems(tmp_path, options='{"sandbox": false}', **size)
    assert rules([problem]) == [("C15", "warning")]
    assert "--backend http" in problem.message


def test_a_folder_that_is_left_out_is_named_itself():
    assert [p.path for p in scenario.left_out("s/inputs", [".", "a"])] == ["s/inputs", "s/inputs/a"]
