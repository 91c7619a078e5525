"""Triggering: who should use the skill, who did, and what cannot be known."""

import pytest
import trials
from trials import IDLE, USED

from skilleval.model import Event
from skilleval.stats.activation import LOST, NO_EVENTS, activation, unseen, uses
from skilleval.stats.estimators import wilson


def measured(rows):
    """The activation of (case id, should trigger, a letter per trial: u used, i idle)."""
    found = [
        (trials.case(identifier, should_trigger=should), outcome(letter))
        for identifier, should, letters in rows
        for letter in letters
    ]
    return activation("codex-with_skill", {"demo"}, found)


def outcome(letter):
    return trials.outcome(events=USED if letter == "u" else IDLE)


def test_confusion_matrix_is_over_cases():
    positives = [("a", True, "uuu"), ("b", True, "iii"), ("c", True, "uui")]
    found = measured([*positives, ("d", False, "uuu"), ("e", False, "iii"), ("f", False, "iii")])
    assert (found.true_positives, found.false_negatives) == (2, 1)
    assert (found.false_positives, found.true_negatives) == (1, 2)
    assert (found.precision, found.recall, found.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert found.recall_interval == found.precision_interval == wilson(2 / 3, 3)


@pytest.mark.parametrize(("letters", "triggered"), [("ui", True), ("uii", False), ("u", True)])
def test_a_case_is_triggered_by_half_of_its_trials(letters, triggered):
    assert measured([("a", True, letters)]).cases[0].triggered is triggered


def test_ratios_of_nothing_are_unknown():
    found = measured([("a", False, "i")])
    assert (found.precision, found.recall, found.f1) == (None, None, None)
    assert found.precision_interval is None


def test_a_skill_never_used_has_recall_0_and_no_precision():
    found = measured([("a", True, "i"), ("b", False, "i")])
    assert (found.precision, found.recall, found.f1) == (None, 0.0, 0.0)


def test_a_prompt_that_names_the_skill_shows_no_triggering():
    forced = trials.case("a", annotations={"force": True})
    pairs = [(forced, outcome("u")), (forced, outcome("i")), (trials.case("b"), outcome("i"))]
    found = activation("x", {"demo"}, pairs)
    assert (found.forced, found.forced_seen, found.recall) == (2, 1, 0.0)


def test_without_any_event_the_use_of_the_skill_is_unknown():
    found = activation("x", {"demo"}, [(trials.case("a"), trials.outcome(events=()))])
    assert (found.silent, found.cases, found.recall) == (True, (), None)


@pytest.mark.parametrize("end", [{"timed_out": True}, {"failure": "agent"}, {"events": ()}])
@pytest.mark.parametrize("should", [True, False])
def test_a_trial_that_does_not_tell_is_no_trial_without_the_skill(end, should):
    case = trials.case("a", should_trigger=should)
    late = trials.outcome(**{"events": IDLE, **end})
    found = activation("x", {"demo"}, [(case, late), (trials.case("b"), outcome("i"))])
    assert [row.case_id for row in found.cases] == ["b"]
    assert found.unknown == should


def test_a_use_that_was_seen_counts_whatever_became_of_the_trial():
    late = trials.outcome(events=USED, timed_out=True)
    found = activation("x", {"demo"}, [(trials.case("a"), late)])
    assert (found.recall, found.unknown) == (1.0, 0)


def test_without_trials_nothing_is_silent():
    assert not activation("x", {"demo"}, []).silent


def test_other_tools_before_the_skill_do_not_hide_it():
    events = (Event("call", "Bash"), Event("skill", "other"), Event("skill", "demo", parent="t1"))
    assert uses(trials.outcome(events=events), {"demo"})


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        (Event("skill", "plugin:demo"), True),
        (Event("skill", "demo2"), False),
        (Event("call", "demo"), False),
        (Event("text", output="demo"), False),
    ],
)
def test_only_the_use_of_this_skill_counts(event, wanted):
    assert uses(trials.outcome(events=(event,)), {"demo"}) is wanted


def test_trial_whose_record_lost_a_part_does_not_tell_that_the_skill_was_not_used():
    lost = trials.outcome(events=IDLE)._replace(events_whole=False)
    assert unseen(lost) == LOST
    found = activation("x", {"demo"}, [(trials.case("a"), lost)])
    assert (found.unknown, found.cases) == (1, ())
    used = trials.outcome(events=USED)._replace(events_whole=False)
    assert activation("x", {"demo"}, [(trials.case("a"), used)]).true_positives == 1


def test_an_attempt_that_was_repeated_is_no_record_of_what_was_done():
    assert unseen(trials.outcome(events=(Event("retry", output="attempt 1"),))) == NO_EVENTS
