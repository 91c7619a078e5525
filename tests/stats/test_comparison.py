"""The whole comparison of a run, and its alarms."""

import pytest
import trials
from trials import IDLE, USED, WITH, WITHOUT

from skilleval.model import Arm
from skilleval.runfolder import serial
from skilleval.stats.comparison import compare


def alarms(words, **changes):
    return compare(trials.report(words, **changes)).alarms


def test_a_sound_run_raises_no_alarm():
    rows = [trials.result("a", WITH, 1, "p", events=USED), trials.result("a", WITHOUT, 1, "f")]
    assert alarms({}, cases=[trials.case("a")], results=rows) == ()


def test_each_agent_is_compared_with_itself():
    other = (Arm("claude-code-with_skill", "claude-code"), Arm("b", "claude-code", "", False))
    found = compare(trials.report({"a": ("p", "f", "f", "p")}, arms=(WITH, WITHOUT, *other)))
    effects = [(delta.label, delta.effect.effect) for delta in found.deltas]
    assert effects == [("codex", 1.0), ("claude-code", -1.0)]


def test_models_of_one_agent_are_not_compared_with_each_other():
    arms = tuple(arm._replace(name=arm.name + m, model=m) for m in "xy" for arm in (WITH, WITHOUT))
    found = compare(trials.report({"a": ("p", "f", "p", "p")}, arms=arms))
    effects = [(delta.label, delta.effect.effect) for delta in found.deltas]
    assert effects == [("codex@x", 1.0), ("codex@y", 0.0)]


def test_without_a_baseline_there_is_no_difference():
    found = compare(trials.report({"a": ("p",)}, arms=(WITH,)))
    assert (found.deltas, found.checks, len(found.arms)) == ((), (), 1)


def test_negative_controls_are_reported_apart():
    control = trials.case("n", should_trigger=False)
    found = compare(trials.report({"a": ("p", "f"), "n": ("f", "p")}, cases=[control]))
    assert [arm.pass_rate.mean for arm in found.arms] == [0.5, 0.5]
    assert [arm.pass_rate.mean for arm in found.controls] == [0.0, 1.0]


def test_without_negative_controls_there_is_nothing_of_them():
    assert compare(trials.report({"a": ("p", "f")})).controls == ()


def test_trials_that_all_timed_out_make_the_instrument_suspect():
    found = alarms({"a": ("timeout timeout", "timeout timeout")})
    assert "instrument suspect: codex/with_skill: all 2 trials timed out" in found
    assert "instrument suspect: codex/without_skill: all 2 trials timed out" in found


@pytest.mark.parametrize("word", ["p", "s"], ids=["graded", "undecided"])
def test_trials_that_all_timed_out_are_told_whatever_came_of_them(word):
    rows = [
        trials.result("a", WITH, n, word, events=IDLE, timed_out=True, failure="timeout")
        for n in (1, 2)
    ]
    found = alarms({}, arms=(WITH,), cases=[trials.case("a")], results=rows)
    graded = "; 2 graded by what was there" if word == "p" else ""
    assert f"instrument suspect: codex/with_skill: all 2 trials timed out{graded}" in found


CRASH = {"exit_code": 7, "failure": "agent", "events": USED}
LATE = {"exit_code": None, "failure": "timeout", "timed_out": True, "events": USED}


@pytest.mark.parametrize(
    ("endings", "told"),
    [
        (
            (CRASH, CRASH, CRASH),
            "instrument suspect: codex/with_skill: 3 of 3 graded trials did not end well"
            " (3 x exit 7): graded by what was done until then",
        ),
        (
            ({"events": USED}, CRASH, LATE),
            "codex/with_skill: 2 of 3 graded trials did not end well (1 x exit 7, 1 x timed out):"
            " graded by what was done until then",
        ),
        (({"events": USED}, {"events": USED, "exit_code": 0}), ""),
    ],
    ids=["all", "some", "none"],
)
def test_trials_that_failed_and_were_graded_are_told(endings, told):
    rows = [trials.result("a", WITH, n, "p", **how) for n, how in enumerate(endings, 1)]
    found = alarms({}, arms=(WITH,), cases=[trials.case("a")], results=rows)
    assert [each for each in found if "graded" in each] == ([told] if told else [])


def test_an_arm_of_which_nothing_was_started_is_told_with_the_reason():
    found = alarms({"a": ("budget budget", "p p")})
    assert "codex/with_skill: no trial was started: budget" in found


def test_recall_that_nobody_knows_makes_the_instrument_suspect():
    cases = [trials.case("a"), trials.case("n", should_trigger=False)]
    rows = [
        trials.result("a", WITH, 1, "s", events=IDLE, timed_out=True),
        trials.result("n", WITH, 1, "p", events=IDLE),
    ]
    [found] = alarms({}, arms=(WITH,), cases=cases, results=rows)
    assert found == (
        "instrument suspect: codex/with_skill: recall is unknown: of 1 trial that should use the "
        "skill none was seen to, or came to its end and told what it did"
    )


def test_trials_that_the_budget_refused_raise_no_doubt_about_the_skill():
    found = alarms({"a": ("p budget",)}, arms=(WITH,))
    assert not [each for each in found if "recall is unknown" in each or "event" in each]


def test_trials_that_all_failed_make_the_instrument_suspect():
    found = alarms({"a": ("infrastructure timeout", "p p")})
    assert "instrument suspect: codex/with_skill: all 2 trials failed" in found


def test_trials_that_nobody_graded_are_told():
    found = alarms({"a": ("s", "p")})
    assert "codex/with_skill: no check was decided in the only trial" in found


def judged(*statuses):
    """A trial on whose checks a judge was to decide."""
    found = trials.result("a", WITH, 1, "p" * len(statuses), events=USED)
    verdicts = tuple(
        verdict._replace(status=status, reason="no answer\nTraceback", method="judge")
        for verdict, status in zip(found.verdicts, statuses, strict=True)
    )
    return found._replace(verdicts=verdicts)


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        (
            ("error", "skip", "error"),
            "instrument suspect: codex/with_skill: the judge failed on all 2 checks put"
            " to it: no answer",
        ),
        (
            ("error", "pass", "fail"),
            "codex/with_skill: the judge failed on 1 of 3 checks put to it: no answer",
        ),
        (("pass", "fail", "skip"), ""),
    ],
)
def test_a_judge_that_failed_is_told(statuses, told):
    case = trials.case("a", len(statuses))
    found = alarms({}, arms=(WITH,), cases=[case], results=[judged(*statuses)])
    assert [each for each in found if "judge" in each] == ([told] if told else [])


def test_recall_0_makes_the_instrument_suspect():
    [found] = alarms({"a": ("p p", "p p"), "b": ("p p", "p p")})
    assert found == (
        "instrument suspect: codex/with_skill: recall is 0: the skill was used in 0 of 2 cases "
        "that should trigger it"
    )


def test_a_skill_that_was_asked_for_and_not_seen_makes_the_instrument_suspect():
    forced = trials.case("a", annotations={"force": True})
    [found] = alarms({"a": ("p", "p")}, cases=[forced])
    assert "the skill was asked for in 1 trial, and its use seen in none" in found


def test_an_agent_that_tells_no_events_is_not_said_to_have_recall_0():
    rows = [trials.result("a", arm, 1, "p", events=()) for arm in (WITH, WITHOUT)]
    [found] = alarms({}, cases=[trials.case("a")], results=rows)
    assert found == (
        "codex/with_skill: no trial recorded an event: whether it used the skill is unknown"
    )


def test_trials_that_timed_out_did_not_decide_against_the_skill():
    rows = [
        trials.result("a", WITH, 1, "p", events=USED),
        trials.result("a", WITH, 2, "timeout", events=IDLE),
        trials.result("a", WITH, 3, "timeout", events=IDLE),
    ]
    found = compare(trials.report({}, cases=[trials.case("a")], results=rows))
    assert (found.activations[0].recall, found.activations[0].cases[0].n) == (1.0, 1)


def test_a_baseline_that_used_the_skill_is_suspect():
    rows = [trials.result("a", arm, 1, "p", events=USED) for arm in (WITH, WITHOUT)]
    found = alarms({}, cases=[trials.case("a")], results=rows)
    assert found == ("control suspect: codex/without_skill: 1 trial used the skill",)


@pytest.mark.parametrize("name", ["demo", "folder", "other-name"])
def test_the_skill_is_known_by_its_name_and_by_its_folder(name):
    arm = WITH._replace(options={"skill": "/skills/folder/", "skill_name": "other-name"})
    event = USED[0]._replace(name=name)
    row = trials.result("a", arm, 1, "p", events=(event,))
    found = compare(trials.report({}, arms=(arm,), cases=[trials.case("a")], results=[row]))
    assert found.activations[0].recall == 1.0


def test_a_different_coverage_of_the_arms_is_told():
    found = alarms({"a": ("p p", "p timeout")})
    assert any("graded 2 of 2 trials with the skill and 1 of 2 without" in each for each in found)


def test_cases_graded_in_one_arm_only_are_named():
    found = alarms({"a": ("p", "p"), "b": ("p", "timeout")})
    assert "codex: graded in one arm only, and in no difference: b" in found


@pytest.mark.parametrize(
    ("asked", "answered", "told"),
    [
        ("haiku", "claude-haiku-4-5-20251001", False),
        ("anthropic/claude-haiku-4-5", "claude-haiku-4-5", False),
        ("us.anthropic.claude-haiku-4-5-v1:0", "claude-haiku-4-5", False),
        ("Sonnet[1m]", "claude-sonnet-4-5", False),
        ("", "claude-haiku-4-5", False),
        ("haiku", "", False),
        ("opus", "claude-haiku-4-5", True),
        ("claude-opus-4-1", "claude-opus-4-5", True),
    ],
)
def test_another_model_than_the_one_asked_for_is_told(asked, answered, told):
    arm = WITH._replace(model=asked)
    row = trials.result("a", arm, 1, "p", events=USED, model=answered)
    found = alarms({}, arms=(arm,), cases=[trials.case("a")], results=[row])
    wanted = f"codex/with_skill: asked for the model {asked}, answered by {answered}"
    assert found == ((wanted,) if told else ())


@pytest.mark.parametrize(("with_", "without", "told"), [("a", "b", 1), ("a", "a", 0), ("a", "", 0)])
def test_arms_that_different_models_answered_are_told(with_, without, told):
    rows = [
        trials.result("a", WITH, 1, "p", events=USED, model=with_),
        trials.result("a", WITHOUT, 1, "f", model=without),
    ]
    found = alarms({}, cases=[trials.case("a")], results=rows)
    assert len(found) == told
    assert all("answered by a with the skill and by b without" in each for each in found)


def test_comparison_can_be_stored():
    found = compare(trials.report({"a": ("p f", "f timeout")}))
    stored = serial.to_json(found)
    assert stored["deltas"][0]["effect"]["verdict"] == "underpowered"
    assert serial.from_json(type(found), stored) == found
