"""The scenario report: console text, JSON fields and path (seed 000, spec/scenarios 12 to 15)."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from skilleval import aggregate, gates
from skilleval.model import Case, Check, Gate, Outcome, Report, Result, Rules, Suite, Trial, Verdict
from skilleval.sinks import scenarios

DATA = json.loads(
    (Path(__file__).parent.parent / "data" / "cases" / "scenario_reports.json").read_text("utf-8")
)
RULES = Rules(unanswered="fail", errored="fail", no_outcome="zero")
META = {
    "backend": "kiro",
    "agent_model": "m",
    "judge_model": "j",
    "model_label": "",
    "skill_version": "1.0.0",
    "timestamp": "2031-02-03T04:05:06Z",
    "threshold": 95,
}


def scenario(name, rows, description="", outcome=None):
    """A case and its result; a row is (criterion, weight, passed or None, reason)."""
    checks = tuple(
        Check(f"criterion/{i}", row[0], "judge", weight=row[1]) for i, row in enumerate(rows, 1)
    )
    statuses = {True: ("pass", 1), False: ("fail", 0), None: ("skip", None)}
    verdicts = tuple(
        Verdict(check.id, *statuses[row[2]], row[3], "judge", check.weight)
        for check, row in zip(checks, rows, strict=True)
    )
    case = Case(name, "p", checks, annotations={"description": description})
    return case, Result(Trial(name, "m"), outcome or Outcome("ok", "text"), verdicts)


def report(*pairs, meta=META, threshold=95):
    suite = Suite("demo", "skills/demo", tuple(case for case, _ in pairs), RULES)
    found = aggregate.report(suite, [result for _, result in pairs])
    gate = (Gate("score", ">=", Fraction(threshold, 100)),)
    failed = gates.failed(gate, found.summary)
    return Report((found,), found.summary, gate, failed, {**meta, "threshold": threshold})


GOOD = scenario("scenario-a", [("subject", 60, True, "yes"), ("body", 40, True, "")], "Short")
BAD = scenario("scenario-b", [("subject", 60, True, ""), ("body", 40, False, "absent")])


def test_console_shows_criteria_points_and_the_overall_result():
    assert scenarios.render(report(GOOD, BAD)) == (
        "skills/demo\n"
        "  scenario-a: Short\n"
        "    ✓ subject (60/60)\n"
        "    ✓ body (40/40)\n"
        "    Score: 100/100 (100%) PASS\n"
        "  scenario-b: \n"
        "    ✓ subject (60/60)\n"
        "    ✗ body (0/40) — absent\n"
        "    Score: 60/100 (60%) FAIL\n"
        "\n"
        "  Overall: 80% FAIL (threshold: 95%)\n"
    )


def test_colour_marks_pass_and_fail_only_when_asked():
    text = scenarios.render(report(GOOD, BAD), colour=True)
    assert "\x1b[32m✓\x1b[0m subject" in text
    assert "\x1b[31m✗\x1b[0m body" in text
    assert "\x1b" not in scenarios.render(report(GOOD, BAD))


def test_words_of_a_judge_cannot_steer_the_terminal():
    case = scenario("scenario-a", [("a", 1, False, "x\x1b[2J\r\ny")])
    assert "— x y\n" in scenarios.render(report(case))


@pytest.mark.parametrize("case", DATA["scoring"], ids=lambda case: case["name"])
def test_scores_of_the_shared_cases(case):
    said = {v["name"]: v for v in case["verdicts"]}
    rows = [
        (
            name,
            weight,
            said[name]["pass"] if name in said else None,
            said.get(name, {}).get("reason", ""),
        )
        for name, weight in case["criteria"]
    ]
    suite = report(scenario("scenario-a", rows))
    [row] = json.loads(scenarios.document(suite))["scenarios"]
    want = case["want"]
    assert [list(c.values()) for c in row["criteria"]] == want["criteria"]
    assert {key: row[key] for key in ("score", "max_score", "percentage", "pass")} == {
        key: want[key] for key in ("score", "max_score", "percentage", "pass")
    }


@pytest.mark.parametrize("case", [c for c in DATA["overall"] if c["percentages"]], ids=str)
def test_overall_results_of_the_shared_cases(case):
    pairs = []
    for number, percentage in enumerate(case["percentages"]):
        points = round(percentage * 10)
        pairs.append(
            scenario(
                f"scenario-{number}", [("a", points, True, ""), ("b", 1000 - points, False, "")]
            )
        )
    found = report(*pairs, threshold=case["threshold"])
    document = json.loads(scenarios.document(found))
    assert (document["overall_percentage"], document["pass"]) == (case["overall"], case["pass"])


def test_just_below_the_threshold_fails_although_it_is_printed_as_it():
    rows = [("a", 949, True, ""), ("b", 51, False, "")]
    assert "Overall: 95% FAIL (threshold: 95%)" in scenarios.render(report(scenario("s", rows)))


def test_an_errored_scenario_says_why_and_counts_zero():
    want = DATA["errored_scenario"]["want"]
    case, result = scenario("scenario-x", [("a", 100, None, "")], "Short")
    failed = result._replace(
        verdicts=(Verdict("criterion/1", "error", None, "boom", "judge", 100),)
    )
    found = report(GOOD, (case, failed))
    document = json.loads(scenarios.document(found))
    assert document["scenarios"][1] == want
    assert document["overall_percentage"] == 50
    assert (
        "  scenario-x: Short (error: judge: boom)\n    Score: 0/0 (0%) FAIL\n"
        in scenarios.render(found)
    )


def test_a_traceback_stays_out_of_the_report():
    error = 'OSError: boom\n  File "/x/engine.py", line 1, in run\n    return\n'
    pair = scenario("s", [("a", 1, None, "")], outcome=Outcome("error", error=error))
    [row] = json.loads(scenarios.document(report(pair)))["scenarios"]
    assert row["description"] == " (error: OSError: boom)"


def test_an_agent_that_failed_is_the_error():
    pair = scenario(
        "s", [("a", 1, None, "")], outcome=Outcome("error", error="agent completion: no\nmore")
    )
    [row] = json.loads(scenarios.document(report(pair)))["scenarios"]
    assert row["description"] == " (error: agent completion: no more)"


def test_a_scenario_without_criteria_counts_zero():
    found = report(GOOD, scenario("s", []))
    assert json.loads(scenarios.document(found))["overall_percentage"] == 50


def test_json_has_exactly_the_documented_fields_in_their_order():
    keys = DATA["report_keys"]
    text = scenarios.document(report(GOOD, meta={**META, "model_label": "M"}))
    document = json.loads(text)
    assert list(document) == keys["top"]
    assert list(document["config"]) == [key.rstrip("?") for key in keys["config"]]
    assert list(document["scenarios"][0]) == keys["scenario"]
    assert list(document["scenarios"][0]["criteria"][0]) == keys["criterion"]
    assert re.fullmatch(keys["timestamp_re"], document["timestamp"])
    assert "model_label" not in json.loads(scenarios.document(report(GOOD)))["config"]


def test_whole_percentages_are_written_without_a_point():
    text = scenarios.document(report(GOOD, BAD))
    assert '"percentage": 60,' in text
    assert '"overall_percentage": 80,' in text
    assert text.endswith("}\n")


def test_reasons_are_written_as_they_are():
    text = scenarios.document(report(scenario("s", [("é", 1, False, "“no” — <b>")])))
    assert '"reason": "“no” — <b>"' in text


@pytest.mark.parametrize(
    "case", [c for c in DATA["report_path"] if c["want"]], ids=lambda c: c["want"]
)
def test_paths_of_the_shared_cases(case):
    folder = f"{case.get('skill', 'skills/a')}/evals/results/{case.get('model', 'm')}"
    is_folder = case.get("exists") == "dir" or case["output"].endswith("/")
    path = scenarios.report_path(
        folder, f"{case['utc']}Z", output=case["output"], is_folder=is_folder
    )
    assert path == case["want"]


def test_a_model_with_a_slash_has_one_folder():
    assert scenarios.folder_name("vendor/model-1") == "vendor__model-1"
