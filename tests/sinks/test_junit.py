"""The report on suites as JUnit XML."""

from xml.etree import ElementTree

import recorded
from sinks_view import CRASHED, REFUSED, one, view

from skilleval.model import Check, Outcome, Result, Suite, Trial, Verdict
from skilleval.sinks import junit


def parsed(*runs):
    return ElementTree.fromstring(junit.render(runs or [view()]).encode())


def cases(root, suite, kind):
    return [case for case in root[suite].iter("testcase") if case.find(kind) is not None]


def test_hostile_text_leaves_valid_xml():
    root = parsed()
    failure = next(f for f in root.iter("failure") if "</script>" in f.text)
    assert "red link \\x00\\x0b \\u202egnp.exe" in failure.text
    assert "\n::error::forged\n" in failure.text


def test_every_arm_is_a_suite_and_every_check_a_case():
    root = parsed()
    assert [suite.get("name") for suite in root] == [
        f"write-release-notes: {agent}/{side}_skill"
        for agent in ("claude-code", "codex")
        for side in ("with", "without")
    ]
    checks = sum(len(case.checks) for case in recorded.CASES)
    assert root[0].get("tests") == str(3 * (checks + len(recorded.CASES)))


def test_counts_are_those_of_the_cases_and_add_up():
    root = parsed()
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts = [len(cases(root, place, tag)) for place in range(len(root))]
        assert [int(suite.get(name)) for suite in root] == counts
        assert int(root.get(name)) == sum(counts)
    assert float(root.get("time")) == sum(float(suite.get("time")) for suite in root)


def test_what_the_baseline_does_not_pass_is_no_failure():
    root = parsed()
    assert cases(root, 1, "failure") == []
    messages = [case.find("skipped").get("message") for case in cases(root, 1, "skipped")]
    assert any(message.startswith("not met without the skill: not found") for message in messages)


def test_a_failed_trial_is_one_error_and_its_checks_are_skipped():
    root = parsed()
    [error] = cases(root, 2, "error")
    assert (error.get("name"), error.find("error").get("type")) == ("agent run", "infrastructure")
    assert error.find("error").get("message") == (
        "error: infrastructure: HTTP 429: too many requests"
    )
    same = [case for case in root[2] if case.get("classname") == error.get("classname")]
    assert [case.find("skipped").get("message") for case in same[1:]] == [
        "the agent run failed"
    ] * 2


def test_a_check_that_a_judge_could_not_decide_is_an_error():
    check = Check("1", "x", "judge")
    suite = Suite("s", "p", (recorded.CASES[1]._replace(checks=(check,)),), arms=recorded.ARMS[:1])
    verdict = Verdict("1", "error", None, "HTTP 500", "llm")
    found = [Result(Trial("natural", recorded.ARMS[0].name), Outcome("ok"), (verdict,))]
    root = parsed(view(suite=suite, results=found))
    [case] = cases(root, 0, "error")
    assert case.get("name") == "x"


def test_a_trial_that_was_not_started_is_skipped_with_the_reason():
    root = parsed(one(REFUSED, "skip"))
    messages = [case.find("skipped").get("message") for case in root.iter("testcase")]
    assert messages == ["budget: 0.05 of 0.04 USD are spent"] * 3
    assert (root.get("tests"), root.get("skipped")) == ("3", "3")


def test_a_crash_that_was_graded_is_told_by_the_agent_run():
    [run, *checks] = parsed(one(CRASHED)).iter("testcase")
    assert run.find("system-out").text.splitlines() == [
        f"exit 7: {junit.GRADED}",
        "agent: exit status 7: <b>boom</b>",
    ]
    assert [list(case) for case in checks] == [[], []]


def test_every_case_says_where_its_fixture_is_and_how_long_the_agent_ran():
    root = parsed()
    assert {case.get("file") for case in root.iter("testcase")} == {recorded.SUITE.path}
    run = next(root.iter("testcase"))
    assert (run.get("name"), run.get("time")) == ("agent run", "17.500")


def test_a_timestamp_has_no_zone():
    root = parsed(view()._replace(meta={"timestamp": "2031-02-03T04:05:06Z"}))
    assert root[0].get("timestamp") == "2031-02-03T04:05:06"
