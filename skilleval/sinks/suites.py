"""The report on suites as text for a terminal (seed 002's `report`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilleval.model import Status
from skilleval.sinks import view as views
from skilleval.sinks.view import View
from skilleval.stats.arms import Row, Side

EVIDENCE_LIMIT = 500
_COLOURS: dict[Status, str] = {"fail": "\x1b[31m", "skip": "\x1b[33m", "error": "\x1b[35m"}
_PLAIN = "\x1b[0m"


def render(
    view: View, *, evidence: bool = False, failures_only: bool = False, colour: bool = False
) -> str:
    """Arms, differences and how sure they are, then every trial.

    `evidence` adds each check that did not pass with the reason, and what else happened where the
    agent did not end well; `failures_only` leaves out the trials that passed and ended well.
    """
    lines = [views.line(view.title), views.counts_line(view)]
    lines += [views.rules_line(view.report.suite.rules), *views.gate_lines(view), ""]
    lines += table(views.arm_table(view.comparison.arms))
    lines += _section("with the skill against without it:", _deltas(view))
    lines += _section("use of the skill:", views.triggering(view))
    lines += _section("checks to look at:", views.findings(view))
    lines += _section("models that answered:", views.models(view))
    lines += _section("doubts:", [*view.comparison.alarms, *view.problems])
    for rows in views.by_case(view):
        shown = [pair for pair in rows.rows if views.is_shown(pair[1], failures_only=failures_only)]
        if shown:
            lines += ["", f"eval-{views.line(rows.case_id)}"]
            for side, row in shown:
                lines += _trial(view, side, row, evidence=evidence, colour=colour)
    return "\n".join(lines) + "\n"


def _section(heading: str, lines: Iterator[str] | Sequence[str]) -> list[str]:
    found = [f"  {views.line(text) if text[:1] != ' ' else text}" for text in lines]
    return ["", heading, *found] if found else []


def _deltas(view: View) -> Iterator[str]:
    for delta in view.comparison.deltas:
        yield views.delta_line(delta)
        for text in views.verdict_lines(delta):
            yield f"  {text}"


def _trial(view: View, side: Side, row: Row, *, evidence: bool, colour: bool) -> Iterator[str]:
    label = views.trial_label(side, row, repeated=views.is_repeated(view))
    yield f"  {views.line(label)}: {views.tally(row)}"
    for note in views.remarks(row) if evidence else ():
        yield f"    [{views.mark(row)}] {note}"
    for check, verdict in views.open_points(row) if evidence else ():
        mark = f"[{views.MARKS[verdict.status]}]"
        if colour:
            mark = f"{_COLOURS[verdict.status]}{mark}{_PLAIN}"
        reason = views.line(verdict.reason, EVIDENCE_LIMIT)
        yield f"    {mark} {views.line(check.text)}{' — ' if reason else ''}{reason}"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, the columns wide enough for all of them; the first is the heading."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
