"""Substrings in the output: what is found, what is not, and what nobody can know."""

import pytest

from skilleval.graders import text
from skilleval.model import Case, Check, Evidence, Outcome
from skilleval.tools import Tools

OUTPUT = "one two\n[... 900 bytes cut ...]\nnine ten"


def status(needle, negate, *, whole):
    check = Check("c", needle, "text", negate=negate)
    evidence = Evidence(Case("a", "p", (check,)), Outcome("ok", OUTPUT, output_whole=whole))
    [verdict] = text.grade([check], evidence, Tools()).verdicts
    return verdict.status, verdict.score


@pytest.mark.parametrize(
    ("needle", "negate", "found"),
    [
        ("two", False, ("pass", 1)),
        ("nine", True, ("fail", 0)),
        ("three", False, ("skip", None)),
        ("three", True, ("skip", None)),
        ("bytes cut", False, ("skip", None)),
    ],
)
def test_in_an_output_that_was_cut_only_what_is_found_counts(needle, negate, found):
    assert status(needle, negate, whole=False) == found


@pytest.mark.parametrize(
    ("needle", "negate", "found"),
    [
        ("bytes cut", False, ("pass", 1)),
        ("three", False, ("fail", 0)),
        ("three", True, ("pass", 1)),
    ],
)
def test_in_a_whole_output_what_is_not_found_is_not_there(needle, negate, found):
    assert status(needle, negate, whole=True) == found


@pytest.mark.parametrize(
    ("needle", "negate", "found"),
    [
        ("café", False, "skip"),
        ("café", True, "skip"),
        ("tea", False, "pass"),
        ("coffee", False, "fail"),
        ("coffee", True, "pass"),
        ("needle", False, "skip"),
    ],
)
def test_in_an_output_that_is_no_utf8_letters_beyond_ascii_may_be_what_was_lost(
    needle, negate, found
):
    output = "caf\ufffd and tea, n\ufffde\ufffde\ufffdd\ufffdl\ufffde"
    check = Check("c", needle, "text", negate=negate)
    evidence = Evidence(Case("a", "p", (check,)), Outcome("ok", output))
    [verdict] = text.grade([check], evidence, Tools()).verdicts
    assert verdict.status == found
