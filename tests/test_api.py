"""The library, as README shows it."""

import subprocess
import sys

import build
import pytest

import skilleval
from skilleval.errors import UsageError


def test_a_folder_of_answers_is_scored_from_python(tmp_path):
    suite = skilleval.load(build.skill(tmp_path))
    build.write(tmp_path / "answers" / "t1.md", "apiCall( but bad =")
    report = skilleval.run(suite, answers=tmp_path / "answers")
    assert float(report.summary.score) == 0.5
    assert [v.status for v in report.suites[0].results[0].verdicts] == ["pass", "fail"]


def test_run_without_answers_scores_the_examples(tmp_path):
    report = skilleval.run(skilleval.load(build.skill(tmp_path)))
    assert report.passed
    assert report.summary.score == 1


def test_grade_takes_the_text_of_an_answer(tmp_path):
    suite = skilleval.load(build.skill(tmp_path))
    assert [v.status for v in skilleval.grade(suite.cases[0], "apiCall(")] == ["pass", "pass"]


def test_validate_gives_the_problems(tmp_path):
    build.skill(tmp_path, examples={"t1": "no"})
    assert [p.rule for p in skilleval.validate(tmp_path)] == ["F04"]


def test_a_path_that_is_no_fixture_names_what_would_be(tmp_path):
    build.write(tmp_path / "x.json", "{}")
    with pytest.raises(UsageError, match=r"x\.json: not a fixture file.*evals/tasks\.json"):
        skilleval.load(tmp_path / "x.json")


def test_importing_the_library_loads_none_of_it():
    program = "import sys, skilleval; print([m for m in sys.modules if m.startswith('skilleval.')])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=build.ROOT, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        skilleval.lod  # noqa: B018


@pytest.mark.parametrize("name", ["gone", "file"])
def test_answers_that_are_no_folder_are_a_usage_error(tmp_path, name):
    suite = skilleval.load(build.skill(tmp_path))
    build.write(tmp_path / "file", "x")
    with pytest.raises(UsageError, match=name):
        skilleval.run(suite, answers=tmp_path / name)
