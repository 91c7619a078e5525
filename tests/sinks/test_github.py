"""The step summary and the annotations of a job on GitHub."""

import re

import pytest
import recorded
from sinks_view import view

from skilleval.sinks import github, markdown

LARGE = recorded.SUITE._replace(
    cases=tuple(recorded.CASES[0]._replace(id=f"case-{number}") for number in range(400))
)


def test_a_summary_keeps_its_limit_and_says_that_it_was_cut():
    text = github.summary([view(3, LARGE)])
    assert 900_000 < len(text.encode()) <= github.SUMMARY_LIMIT_BYTES
    assert text.endswith(github.CUT)
    assert text[: -len(github.CUT)].endswith("\n")


def test_a_small_summary_is_whole():
    assert github.CUT not in github.summary([view()])


def test_a_summary_without_room_is_empty():
    assert github.summary([view()], 0) == ""
    assert github.summary([view()], -5) == ""


def test_annotations_are_ten_of_each_kind_at_most():
    doubtful = view(3, LARGE)._replace(problems=tuple(f"doubt {n}" for n in range(50)))
    levels = re.findall(r"^::(error|warning) ", github.commands([doubtful]), re.MULTILINE)
    assert (levels.count("error"), levels.count("warning")) == (10, 10)


def test_what_the_baseline_fails_is_no_annotation():
    assert "without_skill" not in github.commands([view()])


def test_an_annotation_is_one_line_that_nobody_can_leave():
    for line in github.commands([view()]).splitlines():
        assert re.fullmatch(r"::(?:error|warning) (?:[a-z]+=[^:,]*,?)+::[^\n]*", line)


def test_properties_and_data_are_escaped():
    suite = recorded.SUITE._replace(
        cases=(recorded.CASES[3]._replace(id="hostile a:b,c%d", source="evals/x:y.json"),)
    )
    first = github.commands([view(1, suite)]).splitlines()[0]
    assert first.startswith(
        "::error file=evals/x%3Ay.json,title=hostile a%3Ab%2Cc%25d%3A claude-code/with_skill::"
    )
    assert "%0A" not in first
    assert "%250A" in first  # the agent's own %0A is no line break


@pytest.mark.parametrize("text", ["::error::x", "a\n \t::x", "a\r::x", "see ##[error]x"])
def test_a_command_is_seen_wherever_the_runner_looks(text):
    assert github.has_command(text)


def test_no_markdown_of_ours_holds_a_command_whatever_agents_wrote():
    shown = markdown.render(view(), evidence=True)
    assert "error::forged" in shown
    assert not github.has_command(shown)


def test_a_fenced_text_obeys_nothing():
    assert github.fenced("::error::forged\n", "t0ken") == (
        "::stop-commands::t0ken\n::error::forged\n::t0ken::\n"
    )
