"""Typed reading of criteria.json and scenario.json (seed 000; spec/scenarios section 1)."""

import json

import build
import pytest

from skilleval.formats import criteria


def read(tmp_path, raw):
    text = raw if isinstance(raw, (str, bytes)) else json.dumps(raw)
    build.write(tmp_path / "criteria.json", text)
    return criteria.read_checklist(str(tmp_path))


def one(**fields):
    return {"checklist": [{"name": "n", "description": "d", "max_score": 1} | fields]}


def test_a_checklist_keeps_its_order_names_and_points(tmp_path):
    raw = {"checklist": [{"name": "<= 72", "description": "d", "max_score": 15}, {"name": "b"}]}
    found = read(tmp_path, raw)
    checks = [(c.id, c.text, c.params["description"], c.weight) for c in found.checks]
    assert checks == [("criterion/1", "<= 72", "d", 15), ("criterion/2", "b", "", 0)]
    assert (found.broken, found.problems) == ("", ())


def test_unknown_keys_are_ignored_and_null_is_absent(tmp_path):
    found = read(tmp_path, one(note=7, description=None) | {"type": 5, "context": None})
    assert (found.broken, found.context, len(found.checks)) == ("", "", 1)


@pytest.mark.parametrize("score", [0, -5, 10**15])
def test_the_runner_takes_whatever_weights_it_finds(tmp_path, score):
    assert read(tmp_path, one(max_score=score)).checks[0].weight == score


def test_half_of_a_surrogate_pair_becomes_a_character_that_can_be_written(tmp_path):
    found = read(tmp_path, r'{"checklist": [{"name": "a\ud835"}]}')
    assert found.checks[0].text == "a\ufffd"


BROKEN = {
    "empty": ("", "is empty"),
    "cut": ('{"checklist": [', "invalid JSON: "),
    "list": ("[]", "must be an object with a checklist, not a list"),
    "null": ("null", "must be an object with a checklist, not null"),
    "nan": ('{"checklist": [{"max_score": NaN}]}', "NaN is not a JSON value"),
    "latin": (b'{"context": "\xe9"}', "is not UTF-8"),
    "context": ({"context": 5}, "context must be text, not a whole number"),
    "checklist": ({"checklist": {}}, "checklist must be a list of criteria, not an object"),
    "criterion": ({"checklist": ["x"]}, "criterion 1: must be an object, not text"),
    "name": (one(name=5), "criterion 1: name must be text, not a whole number"),
    "description": (one(description=[]), "criterion 1: description must be text, not a list"),
    "float": (one(max_score=12.0), "criterion 1: max_score must be a whole number, not a number"),
    "digits": (one(max_score="12"), "criterion 1: max_score must be a whole number, not text"),
    "bool": (one(max_score=True), "max_score must be a whole number, not true or false"),
    "huge": (one(max_score=10**30), "criterion 1: max_score is out of range"),
}


@pytest.mark.parametrize(("raw", "message"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_used_says_why(tmp_path, raw, message):
    found = read(tmp_path, raw)
    assert found.broken.startswith("parsing criteria.json: ")
    assert message in found.broken
    assert found.checks == ()
    assert {problem.level for problem in found.problems} == {"error"}


def test_every_wrong_field_is_a_problem(tmp_path):
    raw = {"context": 1, "checklist": [7, {"name": 1, "max_score": "x"}]}
    assert len(read(tmp_path, raw).problems) == 4


def test_a_syntax_error_has_its_line(tmp_path):
    found = read(tmp_path, '{\n "checklist": [}\n')
    assert found.problems[0].line == 2
    assert found.broken.endswith("(line 2)")


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_a_file_that_cannot_be_read_is_told_from_one_that_is_wrong(tmp_path, make):
    make(tmp_path / "criteria.json")
    assert criteria.read_checklist(str(tmp_path)).broken.startswith("reading criteria.json: ")


def options(tmp_path, raw):
    build.write(tmp_path / "scenario.json", raw)
    return criteria.read_options(str(tmp_path))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("", "is empty"),
        ("[]", "must be an object, not a list"),
        ('{"sandbox": 0}', "sandbox must be true or false, not a whole number"),
        ('{"network": 5}', "network must be text, not a whole number"),
        ('{"description": ["x"]}', "description must be text, not a list"),
        (b"\xff", "is not UTF-8"),
    ],
)
def test_a_broken_scenario_json_means_the_defaults_and_a_warning(tmp_path, raw, message):
    found = options(tmp_path, raw)
    assert (found.description, found.sandbox, found.network) == ("", True, "")
    [problem] = found.problems
    assert (problem.rule, problem.level) == ("C12", "warning")
    assert problem.message.startswith(message)
    assert problem.message.endswith(
        "the defaults apply: sandboxed, no description, the runner's network"
    )


def test_one_wrong_field_takes_the_others_with_it(tmp_path):
    found = options(tmp_path, '{"description": "d", "sandbox": "false"}')
    assert (found.description, found.sandbox) == ("", True)


def test_a_scenario_json_that_is_a_dangling_link_warns(tmp_path):
    (tmp_path / "scenario.json").symlink_to("nowhere")
    assert len(criteria.read_options(str(tmp_path)).problems) == 1
