"""The report on suites as GitHub-flavoured Markdown, to paste into a pull request or a blog post.

Everything that a case, an agent or a judge wrote is escaped: it cannot end a cell, make a link, a
mention or a heading, or close the fence around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skilleval.model import Status
from skilleval.sinks import view as views
from skilleval.sinks.view import View
from skilleval.stats.arms import Row, Side

EVIDENCE_LIMIT = 500
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_MENTION = re.compile(r"(?<!\w)@(?=\w)")
_SIGNS: dict[Status, str] = {"pass": "✅", "fail": "❌", "skip": "⏭️", "error": "⚠️"}


def render(view: View, *, evidence: bool = False, failures_only: bool = False) -> str:
    """The arms, what the skill changes, and every trial. See `suites.render` for the options."""
    return "".join(blocks(view, evidence=evidence, failures_only=failures_only))


def blocks(view: View, *, evidence: bool = False, failures_only: bool = False) -> Iterator[str]:
    """The same in pieces that each end with a blank line, the important ones first."""
    yield f"## {cell(view.title)}\n\n"
    rules = cell("; ".join((views.rules_line(view.report.suite.rules), *views.gate_lines(view))))
    yield f"{cell(views.counts_line(view))}. Here, {rules}.\n\n"
    yield table(views.arm_table(view.comparison.arms))
    yield from section("The skill against no skill", _deltas(view))
    yield from section("Doubts", [*view.comparison.alarms, *view.problems])
    yield from section("Use of the skill", views.triggering(view))
    yield from section("Checks to look at", views.findings(view))
    yield from section("Models that answered", views.models(view))
    yield _matrix(view, failures_only=failures_only)
    if evidence:
        yield from _evidence(view)


def section(heading: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    """A heading and a list of the lines; nothing if there are none."""
    found = "".join(f"- {cell(text)}\n" for text in lines)
    if found:
        yield f"### {heading}\n\n{found}\n"


def _deltas(view: View) -> Iterator[str]:
    for delta in view.comparison.deltas:
        yield views.delta_line(delta)
        yield from (f"{delta.label}: {text}" for text in views.verdict_lines(delta))


def _matrix(view: View, *, failures_only: bool) -> str:
    """A row for each trial with its counts."""
    repeated = views.is_repeated(view)
    rows = [("Eval", "Run", "Result")]
    for case in views.by_case(view):
        for side, row in case.rows:
            if views.is_shown(row, failures_only=failures_only):
                label = views.trial_label(side, row, repeated=repeated)
                rows.append((case.case_id, label, f"{_sign(row)} {views.tally(row)}"))
    return table(rows) if len(rows) > 1 else "No trial to show.\n\n"


def _sign(row: Row) -> str:
    if row.state == "errored":
        return _SIGNS["error"]
    if row.state == "skipped":
        return _SIGNS["skip"]
    return _SIGNS["pass" if row.score.passed else "fail"]


def _evidence(view: View) -> Iterator[str]:
    """Every check that did not pass, with the reason, and how an agent ended that did not well."""
    repeated = views.is_repeated(view)
    for case in views.by_case(view):
        for side, row in case.rows:
            lines = "".join(_reasons(row))
            if lines:
                yield f"#### {cell(case.case_id)}: {cell(_label(side, row, repeated))}\n\n{lines}\n"


def _label(side: Side, row: Row, repeated: bool) -> str:
    return views.trial_label(side, row, repeated=repeated)


def _reasons(row: Row) -> Iterator[str]:
    for note in views.remarks(row):
        yield f"- {_SIGNS['error']} **{cell(views.mark(row))}** {cell(note)}\n"
    for check, verdict in views.open_points(row):
        reason = views.line(verdict.reason, EVIDENCE_LIMIT)
        mark = f"{_SIGNS[verdict.status]} **{views.MARKS[verdict.status]}**"
        yield f"- {mark} {cell(check.text)}{f' — {cell(reason)}' if reason else ''}\n"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is the heading, and a blank line."""
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows]
    lines.insert(1, f"|{' --- |' * len(rows[0])}")
    return "\n".join(lines) + "\n\n"


def cell(text: str) -> str:
    """Text on one line that is nothing but text: no markup, no HTML, no mention of a user."""
    escaped = _MARKUP.sub(r"\\\1", views.line(text).replace("&", "&amp;"))
    # &lt; and not \<: some renderers look for HTML before they look for backslashes
    escaped = escaped.replace("\\<", "&lt;").replace("\\>", "&gt;")
    return _MENTION.sub("@<!-- -->", escaped)
