import json
import random

import pytest

from skilleval import __version__
from skilleval.lint.rules import RULES
from skilleval.model import Problem
from skilleval.sinks import sarif

PATH = "skills/a/evals/tasks.json"
DENIAL = Problem(PATH, 7, "task t1", "W13", "warning", "also fails a denial")
NOWHERE = Problem(PATH, 7, "task t1", "F05", "error", "is nowhere")


def run_of(*problems):
    return json.loads(sarif.render(problems, RULES))["runs"][0]


def result_of(problem):
    return run_of(problem)["results"][0]


def location_of(problem):
    return result_of(problem)["locations"][0]["physicalLocation"]


def test_document_names_its_version_and_tool():
    document = json.loads(sarif.render([DENIAL], RULES))
    driver = document["runs"][0]["tool"]["driver"]
    assert document["version"] == "2.1.0"
    assert document["$schema"] == "https://json.schemastore.org/sarif-2.1.0.json"
    assert (driver["name"], driver["version"]) == ("skilleval", __version__)


def test_no_problems_is_a_run_without_results():
    run = run_of()
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


def test_rules_are_sorted_and_results_point_at_them():
    run = run_of(DENIAL, NOWHERE, DENIAL._replace(line=9))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["F05", "W13"]
    assert rules[0]["shortDescription"] == {"text": RULES["F05"]}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_rule_has_the_worst_level_of_its_results():
    orphan = NOWHERE._replace(rule="F03", level="warning")
    rules = run_of(orphan, orphan._replace(level="error"), DENIAL)["tool"]["driver"]["rules"]
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == ["error", "warning"]


def test_result_has_the_level_and_place_of_its_problem():
    result = result_of(DENIAL)
    assert result["level"] == "warning"
    assert result["message"] == {"text": "task t1: also fails a denial"}
    logical = result["locations"][0]["logicalLocations"]
    assert logical == [{"fullyQualifiedName": "task t1"}]


def test_unknown_rule_is_described_by_its_id():
    rules = run_of(DENIAL._replace(rule="X99"))["tool"]["driver"]["rules"]
    assert rules[0]["shortDescription"] == {"text": "X99"}


def test_known_line_becomes_a_region():
    assert location_of(DENIAL._replace(line=1))["region"] == {"startLine": 1}


def test_unknown_line_is_shown_at_the_first():
    assert location_of(DENIAL._replace(line=0))["region"] == {"startLine": 1}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("skills/a/SKILL.md", "skills/a/SKILL.md"),
        ("./skills/a/SKILL.md", "skills/a/SKILL.md"),
        ("skills\\a\\SKILL.md", "skills/a/SKILL.md"),
        ("my skills/50%/a#b?c", "my%20skills/50%25/a%23b%3Fc"),
        ("skills/é", "skills/%C3%A9"),
        ("c:x/y", "c%3Ax/y"),
        ("skills/\udcff", "skills/%FF"),
    ],
)
def test_relative_path_is_a_percent_encoded_uri(path, uri):
    artifact = location_of(DENIAL._replace(path=path))["artifactLocation"]
    assert artifact == {"uri": uri, "uriBaseId": "%SRCROOT%"}


@pytest.mark.parametrize(
    ("path", "uri"),
    [("/home/a b/x.md", "file:///home/a%20b/x.md"), ("C:\\a b\\x.md", "file:///C:/a%20b/x.md")],
)
def test_absolute_path_has_no_base(path, uri):
    assert location_of(DENIAL._replace(path=path))["artifactLocation"] == {"uri": uri}


def test_same_problems_in_any_order_are_the_same_document():
    problems = [DENIAL, NOWHERE, DENIAL._replace(line=2), NOWHERE._replace(path="b")]
    expected = sarif.render(problems, RULES)
    for seed in range(5):
        random.Random(seed).shuffle(problems)
        assert sarif.render(problems, RULES) == expected


def test_fingerprint_stays_when_the_line_moves():
    fingerprints = [result_of(DENIAL._replace(line=n))["partialFingerprints"] for n in (1, 99)]
    assert fingerprints[0] == fingerprints[1]


def test_fingerprints_of_different_problems_differ():
    others = [DENIAL._replace(where="task t2"), DENIAL._replace(message="x"), DENIAL, DENIAL]
    prints = {r["partialFingerprints"]["skilleval/v1"] for r in run_of(*others)["results"]}
    assert len(prints) == 4


def test_lone_surrogate_does_not_reach_the_document():
    text = sarif.render([DENIAL._replace(message="bad \udcff", where="\udcff")], RULES)
    assert "\\udc" not in text
    assert json.loads(text)["runs"][0]["results"][0]["message"]["text"] == "?: bad ?"
