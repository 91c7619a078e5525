"""A new skill with its first suite."""

import json

import build
import pytest

from skilleval import scaffold, validation
from skilleval.errors import UsageError
from skilleval.formats import evals


@pytest.mark.parametrize("name", ["summarise-minutes", "2048", "null", "true", "1e3", "a" * 64])
def test_what_is_written_has_nothing_wrong_with_it(tmp_path, name):
    scaffold.write(name, str(tmp_path))
    assert validation.problems(str(tmp_path / name), strict=True) == []


def test_the_suite_has_a_positive_case_that_forces_nothing_and_a_negative_control(tmp_path):
    scaffold.write("summarise-minutes", str(tmp_path))
    suite = evals.load(str(tmp_path / "summarise-minutes"))
    shape = [(c.id, c.should_trigger, c.annotations["force"]) for c in suite.cases]
    assert shape == [
        ("natural-trigger", True, False),
        ("negative-control", False, False),
    ]


def test_a_first_run_needs_no_judge(tmp_path):
    scaffold.write("summarise-minutes", str(tmp_path))
    suite = evals.load(str(tmp_path / "summarise-minutes"))
    assert {route.grader for route in evals.routes(suite)} <= {"state", "trace"}


def test_nothing_is_overwritten(tmp_path):
    path = build.write(tmp_path / "x1" / "evals" / "evals.json", "mine")
    written = scaffold.write("x1", str(tmp_path))
    assert written.kept == (str(path),)
    assert path.read_text() == "mine"
    assert (tmp_path / "x1" / "SKILL.md").exists()


def test_a_dangling_link_is_not_written_through(tmp_path):
    (tmp_path / "x1").mkdir()
    (tmp_path / "x1" / "SKILL.md").symlink_to(tmp_path / "elsewhere")
    scaffold.write("x1", str(tmp_path))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "a/b", "/x", "a\\b", "A", "a b", "a--b", "-a", "a-", "é", "a_b"),
        *("a\nb", "x: y", "con", "nul", "a" * 65, "a\x00"),
    ],
)
def test_a_name_that_no_skill_may_have_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be the name of a skill"):
        scaffold.write(name, str(tmp_path / "in"))
    assert list(tmp_path.iterdir()) == []


def test_the_suite_is_json_that_people_can_edit(tmp_path):
    scaffold.write("x1", str(tmp_path))
    text = (tmp_path / "x1" / "evals" / "evals.json").read_text()
    assert json.dumps(json.loads(text), indent=2) + "\n" == text
