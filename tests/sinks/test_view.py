"""Words and numbers that all reports share."""

from fractions import Fraction

import pytest
import recorded
from sinks_view import CRASHED, REFUSED, one, view

from skilleval import aggregate
from skilleval.model import Gate, Outcome, Result, Rules, Trial, Verdict
from skilleval.sinks import html, markdown, suites
from skilleval.sinks import view as views
from skilleval.stats.arms import sides
from skilleval.stats.estimators import Interval, Spread


def row_of(result, case=recorded.CASES[2]):
    suite = recorded.SUITE._replace(cases=(case,), arms=recorded.ARMS[:1])
    return sides(aggregate.report(suite, [result]))[0].rows[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        (0, "0.0%"),
        (1, "100.0%"),
        (2 / 3, "66.7%"),
        (0.9999, "99.99%"),
        (0.99999, "99.999%"),
        (0.0001, "0.01%"),
    ],
)
def test_only_a_perfect_rate_reads_100_percent(value, text):
    assert views.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "n/a"), (0.125, "+12.5%"), (-0.5, "-50.0%"), (-1e-18, "+0.0%"), (0, "+0.0%")],
)
def test_a_difference_has_its_sign_and_nothing_is_no_minus(value, text):
    assert views.signed_percent(value) == text


def test_a_spread_of_one_number_has_no_deviation():
    assert views.spread(Spread(1, 2.0, None)) == "2.0"
    assert views.spread(Spread(2, 2.0, 0.5), 2) == "2.00 +/- 0.50"
    assert views.spread(Spread(0, None, None)) == "n/a"


def test_an_interval_is_shown_as_whole_percentages():
    assert views.interval(Interval(0.621, 0.98)) == "62% to 98%"
    assert views.interval(None) == "n/a"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b(B\x1bcx", "x"),
        ("\x9b31mx", "\\x9b31mx"),
        ("a\x00b\x0b", "a\\x00b\\x0b"),
        ("a\r\nb\rc\td", "a\nb\nc\td"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud83d \ufffe", "\\ud83d \\ufffe"),
        ("é 😀 \u200d ok", "é 😀 \u200d ok"),
    ],
)
def test_a_text_cannot_steer_what_shows_it(raw, text):
    assert views.plain(raw) == text


def test_a_line_is_one_line_of_at_most_so_many_characters():
    assert views.line("a\n  b\tc") == "a b c"
    assert views.line("x" * 50, 10) == "x" * 9 + "…"
    assert views.line("x" * 10, 10) == "x" * 10


def test_figures_of_repeats_are_shown_only_where_there_are_any():
    assert "pass@k" not in views.arm_table(view(1).comparison.arms)[0]
    assert "pass^k" in views.arm_table(view(3).comparison.arms)[0]


def test_every_row_of_the_arm_table_has_a_cell_for_each_heading():
    rows = views.arm_table(view().comparison.arms)
    assert {len(row) for row in rows} == {len(rows[0])}
    assert [row[0] for row in rows[1:]] == [
        "claude-code/with_skill",
        "claude-code/without_skill",
        "codex/with_skill",
        "codex/without_skill",
    ]


def test_a_delta_is_worded_as_the_seed_does():
    [first, *_] = view().comparison.deltas
    assert views.delta_line(first) == (
        "claude-code: pass rate +57.4%, time +4.0s, tokens +0, cost +0.0000 USD"
    )


def test_a_difference_that_rounds_to_nothing_is_no_minus():
    [first, *_] = view().comparison.deltas
    tiny = first._replace(seconds=-0.04, tokens=-0.4, cost_usd=-0.00001)
    assert views.delta_line(tiny).endswith("time +0.0s, tokens +0, cost +0.0000 USD")


def test_a_verdict_says_how_many_cases_it_stands_on():
    lines = list(views.verdict_lines(view().comparison.deltas[0]))
    assert lines[0].startswith("underpowered (need about 4 more cases that differ): 2 better")
    assert lines[1].endswith("over 3 paired cases")
    assert lines[3] == "negative controls: 100.0% with the skill, 100.0% without (1 paired)"


def test_a_single_pair_is_a_case():
    small = recorded.SUITE._replace(cases=recorded.CASES[:1], arms=recorded.ARMS[:2])
    lines = list(views.verdict_lines(view(1, small).comparison.deltas[0]))
    assert lines[1].endswith("over 1 paired case")


def test_the_counts_say_what_is_missing():
    assert views.counts_line(view()) == "4 cases, 48 trials: 46 graded, 2 failed to run"
    assert views.counts_line(one(REFUSED, "skip")) == (
        "1 case, 1 trial: 0 graded, 1 not started: budget"
    )
    unfinished = view(1)._replace(planned=48)
    assert "16 trials of 48 planned (the run is not finished): 16 graded" in views.counts_line(
        unfinished
    )


@pytest.mark.parametrize(
    ("score", "limit", "text"),
    [
        (Fraction(2, 3), Fraction(667, 1000), "the score 66.67% is below the threshold of 66.7%"),
        (Fraction(2, 3), Fraction(2, 3), "the score 66.7% keeps the threshold of 66.6666666667%"),
        (1, Fraction(4, 5), "the score 100.0% keeps the threshold of 80%"),
    ],
)
def test_a_threshold_is_shown_with_the_score_that_it_is_for(score, limit, text):
    found = view().report
    suite = found.suite._replace(gates=(Gate("score", ">=", limit),))
    summary = found.summary._replace(score=score)
    gated = view()._replace(report=found._replace(suite=suite, summary=summary))
    assert list(views.gate_lines(gated)) == [text]
    assert text in suites.render(gated)
    assert text.replace("_", "") in markdown.render(gated)
    assert text in "".join(html.pages([gated]))


def test_without_a_threshold_there_is_nothing_to_keep():
    assert list(views.gate_lines(view())) == []


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (
            Rules(errored="skip"),
            "a trial passes with all of its graded points; skipped checks and errors are left out",
        ),
        (
            Rules(case_passes=0.8, unanswered="fail", errored="skip"),
            "a trial passes with 80% of its graded points; skipped checks count as failed,"
            " errors are left out",
        ),
    ],
)
def test_the_rule_that_decided_is_said(rules, text):
    assert views.rules_line(rules) == text


def test_a_tally_counts_what_was_skipped():
    verdicts = (Verdict("3", "pass", 1.0), Verdict("4", "skip", None, "no key"))
    result = Result(Trial("negative-control", recorded.ARMS[0].name), Outcome("ok"), verdicts)
    assert views.tally(row_of(result)) == "1/2 passed (100.0%, 1 skipped)"


def test_a_tally_counts_errors_of_the_judge_apart():
    statuses = ("error", "skip", "error")
    verdicts = tuple(Verdict(str(n), status, None) for n, status in enumerate(statuses))
    case = recorded.CASES[0]
    result = Result(Trial(case.id, recorded.ARMS[0].name), Outcome("ok"), verdicts)
    assert views.tally(row_of(result, case)) == "0/3 passed (not graded, 1 skipped, 2 errors)"


@pytest.mark.parametrize(
    ("ending", "mark"),
    [
        ({"exit_code": 7, "failure": "agent"}, ", exit 7"),
        ({"exit_code": 7}, ", exit 7"),
        ({"exit_code": -9, "failure": "agent"}, ", killed by signal 9"),
        ({"failure": "timeout", "timed_out": True}, ", timed out"),
        ({"exit_code": 0, "failure": "agent"}, ", ended with an error"),
        ({"exit_code": 0}, ""),
    ],
)
def test_a_tally_says_how_an_agent_ended_that_did_not_end_well(ending, mark):
    [row] = sides(one(Outcome("ok", **ending)).report)[0].rows
    assert views.tally(row) == f"2/2 passed (100.0%){mark}"


def test_a_trial_that_was_not_started_says_why_and_lists_no_check():
    [row] = sides(one(REFUSED, "skip").report)[0].rows
    assert views.tally(row) == "not started: budget: 0.05 of 0.04 USD are spent"
    assert list(views.open_points(row)) == []


@pytest.mark.parametrize(
    "render",
    [
        suites.render,
        markdown.render,
        lambda found, **flags: "".join(html.pages([found])),
    ],
    ids=["table", "markdown", "html"],
)
def test_every_report_says_that_an_agent_crashed_and_was_graded(render):
    text = render(one(CRASHED), evidence=True, failures_only=True)
    assert "2/2 passed (100.0%), exit 7" in text
    assert "1 of 1 graded trial did not end well (1 x exit 7)" in text
    assert "agent: exit status 7: " in text
    assert "exit 7" not in render(one(CRASHED._replace(exit_code=0, failure="", notes=())))


def test_a_tally_without_a_decision_has_no_rate():
    verdicts = (Verdict("3", "skip", None), Verdict("4", "skip", None))
    result = Result(Trial("negative-control", recorded.ARMS[0].name), Outcome("ok"), verdicts)
    assert views.tally(row_of(result)) == "0/2 passed (not graded, 2 skipped)"


def test_a_failed_trial_says_of_what_kind_and_why():
    verdicts = (Verdict("3", "error", None), Verdict("4", "error", None))
    outcome = Outcome("error", error="HTTP 401\nno key", failure="infrastructure")
    row = row_of(Result(Trial("negative-control", recorded.ARMS[0].name), outcome, verdicts))
    assert views.tally(row) == "error: infrastructure: HTTP 401 no key"
    assert list(views.open_points(row)) == []


@pytest.mark.parametrize(
    ("failure", "error", "shown"),
    [
        ("control", "control broken: x: y", "control broken: x: y"),
        ("contaminated", "contaminated: it read the answers", "contaminated: it read the answers"),
        ("control", "no skill there", "control: no skill there"),
        ("infrastructure", "HTTP 401: infrastructure", "infrastructure: HTTP 401: infrastructure"),
        ("infrastructure", "", "infrastructure"),
        ("", "exit code 1", "agent: exit code 1"),
    ],
)
def test_a_failure_names_its_kind_once(failure, error, shown):
    outcome = Outcome("error", error=error, failure=failure)
    assert views.failure(Result(Trial("a", "m"), outcome, ())) == shown


def test_findings_name_checks_that_tell_nothing():
    found = list(views.findings(view()))
    assert found[0] == (
        "flaky (2/3 with, 0/3 without the skill): claude-code: explicit-invoke: "
        "The breaking change is mentioned | prominently"
    )
    assert any(text.startswith("fails in both (0/3 with") for text in found)


def test_triggering_is_said_for_each_arm_with_events():
    assert next(views.triggering(view())) == (
        "claude-code/with_skill: precision 100.0%, recall 100.0%, F1 100.0% over 3 cases; "
        "used in 3 of 3 trials that were told to"
    )
