"""The report on suites as text for a terminal."""

import recorded
from sinks_view import view

from skilleval.sinks import suites


def test_a_trial_is_a_line_in_the_words_of_the_seed():
    text = suites.render(view())
    assert "\neval-explicit-invoke\n  claude-code/with_skill/run-1: 3/3 passed (100.0%)\n" in text
    assert "  claude-code/with_skill/run-2: 2/3 passed (66.7%)\n" in text
    assert "  codex/with_skill/run-2: error: infrastructure: HTTP 429: too many requests\n" in text
    assert "[FAIL]" not in text


def test_a_single_run_has_no_number():
    assert "  codex/with_skill: 3/3 passed (100.0%)\n" in suites.render(view(1))


def test_evidence_shows_every_check_that_did_not_pass():
    text = suites.render(view(), evidence=True)
    assert "    [FAIL] The breaking change is mentioned | prominently — not found;" in text
    assert "    [SKIPPED] The agent only answered the question — the judge gave no answer\n" in text


def test_markup_of_other_tools_is_plain_text_here():
    assert "[/b] [red]x[/red]" in suites.render(view(), evidence=True)


def test_only_failures_leaves_out_what_passed():
    text = suites.render(view(), failures_only=True)
    assert "claude-code/with_skill/run-1: 3/3" not in text
    assert "claude-code/with_skill/run-2: 2/3" in text


def test_no_text_of_an_agent_begins_a_line_or_steers_the_terminal():
    text = suites.render(view(), evidence=True)
    assert "\x1b" not in text
    assert "\x00" not in text
    assert not [line for line in text.splitlines() if line.lstrip().startswith(("::", "##["))]


def test_colour_only_when_asked():
    assert "\x1b[31m[FAIL]\x1b[0m" in suites.render(view(), evidence=True, colour=True)


def test_doubts_are_said():
    shown = view()._replace(problems=("trial.json: is damaged; left out",))
    assert "\ndoubts:\n  trial.json: is damaged; left out\n" in suites.render(shown)


def test_a_table_is_as_wide_as_its_cells():
    rows = [("A", "B"), ("long cell", "x")]
    assert suites.table(rows) == ["A          B", "---------  -", "long cell  x"]


def test_a_run_without_a_baseline_has_no_differences():
    suite = recorded.SUITE._replace(arms=recorded.ARMS[:1])
    assert "against" not in suites.render(view(1, suite))
