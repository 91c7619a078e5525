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
    assert "instrument suspect: codex-with_skill: all 2 trials timed out" in found
    assert "instrument suspect: codex-without_skill: all 2 trials timed out" in found


def test_trials_that_all_failed_make_the_instrument_suspect():
    found = alarms({"a": ("infrastructure timeout", "p p")})
    assert "instrument suspect: codex-with_skill: all 2 trials failed" in found


def test_trials_that_nobody_graded_are_told():
    found = alarms({"a": ("s", "p")})
    assert "codex-with_skill: no check was decided in any of its 1 trials" in found


def test_recall_0_makes_the_instrument_suspect():
    [found] = alarms({"a": ("p p", "p p"), "b": ("p p", "p p")})
    assert found == (
        "instrument suspect: codex-with_skill: recall is 0: the skill was used in none of 2 cases "
        "that should trigger it"
    )


def test_a_skill_that_was_asked_for_and_not_seen_makes_the_instrument_suspect():
    forced = trials.case("a", annotations={"force": True})
    [found] = alarms({"a": ("p", "p")}, cases=[forced])
    assert "1 trials were told to use the skill and none was seen to" in found


def test_an_agent_that_tells_no_events_is_not_said_to_have_recall_0():
    rows = [trials.result("a", arm, 1, "p", events=()) for arm in (WITH, WITHOUT)]
    [found] = alarms({}, cases=[trials.case("a")], results=rows)
    assert found == (
        "codex-with_skill: no trial recorded an event: whether it used the skill is unknown"
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
    assert found == ("control suspect: codex-without_skill: 1 trials used the skill",)


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


def test_comparison_can_be_stored():
    found = compare(trials.report({"a": ("p f", "f timeout")}))
    stored = serial.to_json(found)
    assert stored["deltas"][0]["effect"]["verdict"] == "underpowered"
    assert serial.from_json(type(found), stored) == found
