"""The report on suites as Markdown: nothing that an agent wrote is markup in it."""

import re

import pytest
import recorded
from sinks_view import view

from skilleval.sinks import markdown


def unescaped(text, sign):
    return re.findall(rf"(?<!\\)(?:\\\\)*{re.escape(sign)}", text)


def test_every_row_of_a_table_has_as_many_cells_as_its_heading():
    for table in re.findall(r"(?:^\|.*\n)+", markdown.render(view(), evidence=True), re.MULTILINE):
        assert len({len(unescaped(line, "|")) for line in table.splitlines()}) == 1


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a | b", "a \\| b"),
        ("line\nbreak", "line break"),
        ("`code` *b* _i_ # [x](y)", "\\`code\\` \\*b\\* \\_i\\_ \\# \\[x\\](y)"),
        ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
        ("back\\|slash", "back\\\\\\|slash"),
        ("@octocat, a@b.c", "@<!-- -->octocat, a@b.c"),
        ("$x$ ~y~", "\\$x\\$ \\~y\\~"),
        ("\x1b[31mred\x00", "red\\\\x00"),
    ],
)
def test_a_cell_is_nothing_but_text(text, want):
    assert markdown.cell(text) == want


def test_hostile_text_makes_no_tag_mention_or_heading():
    text = markdown.render(view(), evidence=True)
    assert "<" not in text.replace("<!-- -->", "")
    assert not re.search(r"(?<!\w)@\w", text)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert all(re.match(r"#{2,4} \w", heading) for heading in headings)


def test_trials_are_rows_with_their_counts():
    text = markdown.render(view())
    assert "| explicit-invoke | claude-code/with\\_skill/run-2 | ❌ 2/3 passed (66.7%) |\n" in text
    assert "| natural | codex/with\\_skill/run-2 | ⚠️ error: infrastructure: HTTP 429" in text


def test_evidence_is_there_only_when_asked():
    assert "⏭️ **SKIPPED** The agent only answered the question" in markdown.render(
        view(), evidence=True
    )
    assert "**SKIPPED**" not in markdown.render(view())


def test_only_failures_of_a_run_that_passed_show_nothing():
    suite = recorded.SUITE._replace(cases=recorded.CASES[:1], arms=recorded.ARMS[2:3])
    assert "No trial to show." in markdown.render(view(1, suite), failures_only=True)
