"""What all formats share: typed fields, and how a problem finds its place."""

import pytest

from skilleval.errors import SuiteError
from skilleval.formats import fields
from skilleval.model import Problem


def test_first_error_is_raised_with_its_line_and_place():
    problems = [
        Problem("f", 1, "eval a", "E14", "warning", "is there twice"),
        Problem("f", 3, "eval b", "E02", "error", "has no id"),
        Problem("f", 4, "eval c", "E02", "error", "has no id"),
    ]
    with pytest.raises(SuiteError) as caught:
        fields.refuse(problems)
    assert str(caught.value) == "f:3: eval b: has no id"


def test_place_of_an_error_has_only_the_parts_that_are_known():
    for line, where, said in (
        (3, "", "f:3: bad"),
        (0, "eval b", "f:eval b: bad"),
        (0, "", "f: bad"),
    ):
        with pytest.raises(SuiteError) as caught:
            fields.refuse([Problem("f", line, where, "E01", "error", "bad")])
        assert str(caught.value) == said


def test_warnings_refuse_nothing():
    fields.refuse([Problem("f", 1, "", "E14", "warning", "is there twice")])


@pytest.mark.parametrize(
    ("error", "line"), [(SuiteError("f", "7", "bad"), 7), (SuiteError("f", "", "bad"), 0)]
)
def test_refused_file_is_a_problem_at_the_same_line(error, line):
    assert fields.problem_of(error, "E01") == Problem("f", line, "", "E01", "error", "bad")


@pytest.mark.parametrize(
    ("identifier", "line"), [("a", 2), ("7", 3), ("b.c", 4), ("bxc", 0), ("", 0), ("x", 0)]
)
def test_line_of_an_id_is_where_it_is_written(identifier, line):
    text = '[\n{"id": "a"},\n{"id" : 7},\n{"id": "b.c"}]'
    assert fields.line_of_id(identifier, text) == line
