"""Of what kind an attempt failed, and what several add up to."""

import pytest

from skilleval.model import Usage
from skilleval.process import Completed
from skilleval.trial import attempts
from skilleval.trial.attempts import Attempt
from skilleval.trial.transcript import Transcript

ENDED = Completed(exit_code=0)
LATE = Completed(timed_out=True, error="x: timed out after 1 s")


@pytest.mark.parametrize(
    ("done", "told", "failure", "error"),
    [
        (ENDED, Transcript(), "", ""),
        (ENDED, Transcript(failure="agent", error="gave up"), "agent", "gave up"),
        (
            Completed(exit_code=2, stderr="bad flag\n"),
            Transcript(),
            "agent",
            "exit code 2: bad flag",
        ),
        (Completed(exit_code=2, stdout="why"), Transcript(), "agent", "exit code 2: why"),
        (Completed(exit_code=-9), Transcript(), "agent", "exit code -9"),
        (LATE, Transcript(), "timeout", "x: timed out after 1 s"),
        (LATE, Transcript(failure="agent", error="no result"), "timeout", "x: timed out after 1 s"),
        (LATE, Transcript(failure="infrastructure", error="429"), "infrastructure", "429"),
        (Completed(overflow=True, error="x: wrote more"), Transcript(), "agent", "x: wrote more"),
        (Completed(stopped=True, error="x: stopped"), Transcript(), "infrastructure", "x: stopped"),
        (
            Completed(not_found=True, error="cannot start 'x'"),
            Transcript(failure="agent", error="no result"),
            "infrastructure",
            "cannot start 'x'",
        ),
        (Completed(exit_code=1), Transcript(failure="budget"), "budget", "budget"),
    ],
)
def test_failure_is_told_by_kind(done, told, failure, error):
    assert Attempt(done, told).failure == (failure, error)


@pytest.mark.parametrize(
    ("done", "failure", "repeated"),
    [
        (ENDED, "", False),
        (ENDED, "agent", True),
        (ENDED, "infrastructure", True),
        (LATE, "", True),
        (ENDED, "permission", False),
        (ENDED, "budget", False),
        (Completed(not_found=True), "", False),
        (Completed(stopped=True), "", False),
    ],
)
def test_attempt_is_repeated_where_that_may_help(done, failure, repeated):
    assert Attempt(done, Transcript(failure=failure)).may_be_repeated is repeated


def test_error_text_is_one_line_of_the_end():
    failed = Attempt(
        Completed(exit_code=1, stderr="first\n" + "x" * 3000 + "\n\x1b[31mlast\n"), Transcript()
    )
    assert failed.failure[1].endswith(" last")
    assert len(failed.failure[1]) < 600


def told(*usages):
    return [Attempt(ENDED, Transcript(usage=usage)) for usage in usages]


def test_usage_of_one_attempt_is_its_own():
    assert attempts.usage(told(Usage(1, cost_source="cli"))) == Usage(1, cost_source="cli")


def test_usages_are_added():
    both = told(Usage(1, 2, 3, 0.25, "cli"), Usage(10, 20, None, 0.5, "cli"))
    assert attempts.usage(both) == Usage(11, 22, 3, 0.75, "cli")
    assert list(attempts.uncounted(both)) == []


def test_what_nobody_told_stays_unknown():
    assert attempts.usage(told(Usage(), Usage())) == Usage()
    assert list(attempts.uncounted(told(Usage(), Usage()))) == []


def test_attempt_that_told_nothing_is_named():
    assert attempts.usage(told(Usage(), Usage(0, 5))) == Usage(0, 5)
    [note] = attempts.uncounted(told(Usage(), Usage(0, 5)))
    assert note == "tokens of attempt 1 unknown, and not in the sum"


def test_listing_is_the_last_that_there_is():
    lists = [("a",), ("b",), None]
    assert attempts.listed([Attempt(ENDED, Transcript(skills=each)) for each in lists]) == ("b",)
    assert attempts.listed([Attempt(ENDED, Transcript())]) is None


@pytest.mark.parametrize("whole", [True, False])
def test_whether_the_last_attempt_is_whole_is_kept(whole):
    first = Attempt(ENDED, Transcript())
    last = Attempt(ENDED, Transcript(output_whole=whole, events_whole=whole))
    found = attempts.outcome([first, last])
    assert (found.output_whole, found.events_whole) == (whole, whole)
