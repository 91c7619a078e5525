"""The report on suites as one HTML file: no script, nothing loaded, light and dark.

A policy in the page forbids every script and request, so that not even a mistake in our escaping
could start one. The pieces come one after another: one trial's evidence is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from skilleval.errors import SuiteError
from skilleval.model import Case, Status
from skilleval.sinks import svg, trialpage
from skilleval.sinks import view as views
from skilleval.sinks.stylesheet import CSS
from skilleval.sinks.trialpage import one_line, text
from skilleval.sinks.view import CaseRows, View
from skilleval.stats.arms import ArmStatistics, Row, Side
from skilleval.stats.deltas import Delta

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# characters of evidence in a whole page, and of one trial at least and at most
ROOM, LEAST, MOST = 24_000_000, 8_000, 400_000
# of the columns of `view.arm_table` after the first, those about how often
RATES = 4
HEADING = ' scope="col"'


def pages(runs: Sequence[View], *, failures_only: bool = False) -> Iterator[str]:
    """The document, piece by piece. `failures_only` leaves out the trials that passed."""
    title = ", ".join(views.line(view.title) for view in runs)
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
    )
    for number, view in enumerate(runs, 1):
        yield from _run(view, f"r{number}", failures_only=failures_only)
    yield "</main>\n</body>\n</html>\n"


def _run(view: View, anchor: str, *, failures_only: bool) -> Iterator[str]:
    yield f'<article id="{anchor}">\n<header><h1>{one_line(view.title)}</h1>\n'
    yield f'<p>{one_line(views.counts_line(view))}</p>\n<p class="soft">'
    rules = "; ".join((views.rules_line(view.report.suite.rules), *views.gate_lines(view)))
    yield f"Here, {one_line(rules)}."
    yield f" Files: {one_line(view.folder)}</p></header>\n" if view.folder else "</p></header>\n"
    yield from _cards(view)
    yield from _doubts(view)
    yield from _arms(view)
    cases = views.by_case(view)
    yield from _overview(view, cases, anchor)
    yield from _list("Use of the skill", views.triggering(view))
    yield from _list("Checks to look at", views.findings(view))
    yield from _list("Models that answered", views.models(view))
    yield "<h2>Evidence</h2>\n"
    room = min(MOST, max(LEAST, ROOM // max(1, len(view.report.results))))
    for number, rows in enumerate(cases, 1):
        yield from _case(view, rows, f"{anchor}c{number}", room, failures_only=failures_only)
    yield "</article>\n"


def _cards(view: View) -> Iterator[str]:
    """Is it better with the skill? One answer for each agent."""
    if view.comparison.deltas:
        yield '<h2>With the skill against without it</h2>\n<div class="cards">'
        for delta in view.comparison.deltas:
            yield _card(delta)
        yield "</div>\n"


def _card(delta: Delta) -> str:
    effect = delta.effect
    first, *rest = views.verdict_lines(delta)
    words = views.delta_line(delta).removeprefix(f"{delta.label}: ")
    picture = svg.effect_bar(effect.effect, effect.interval, f"{delta.label}: {words}")
    detail = "".join(f'<p class="soft">{one_line(line)}</p>' for line in (effect.reason, *rest))
    return (
        f'<section class="card {effect.verdict.split()[0]}">'
        f'<span class="effect">{views.signed_percent(effect.effect)}</span>'
        f"<h3>{one_line(delta.label)}</h3>"
        f'<p class="verdict">{one_line(first.removesuffix(f": {effect.reason}"))}</p>{picture}'
        f"<p>{one_line(words)}</p>{detail}</section>\n"
    )


def _doubts(view: View) -> Iterator[str]:
    doubts = [*view.comparison.alarms, *view.problems]
    if doubts:
        items = "".join(f"<li>{one_line(line)}</li>" for line in doubts)
        yield f'<section class="doubts"><h2>Doubts</h2><ul>{items}</ul></section>\n'


def _list(heading: str, lines: Iterator[str]) -> Iterator[str]:
    items = "".join(f"<li>{one_line(line)}</li>" for line in lines)
    if items:
        yield f"<h2>{heading}</h2>\n<ul>{items}</ul>\n"


def _arms(view: View) -> Iterator[str]:
    """How often, then at what cost: one table of all figures would be too wide for a page."""
    arms = view.comparison.arms
    rows = views.arm_table(arms)
    pictures = ["Pass rate with its interval", *map(_picture, arms)]
    yield "<h2>Pass rates</h2>\n"
    yield from _figures([row[: RATES + 1] for row in rows], pictures)
    yield "<h2>Repeats, time and cost</h2>\n"
    yield from _figures([(row[0], *row[RATES + 1 :]) for row in rows])


def _figures(rows: Sequence[Sequence[str]], pictures: Sequence[str] = ()) -> Iterator[str]:
    """A table of numbers, its first row the heading; the pictures stand in a second column."""
    yield '<div class="scroll"><table>\n'
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        picture = f"<td>{pictures[number]}</td>" if pictures and number else ""
        if pictures and not number:
            picture = f'<th scope="col">{escape(pictures[0])}</th>'
        cells = "".join(
            f'<{tag} class="number"{"" if number else HEADING}>{escape(cell)}</{tag}>'
            for cell in row[1:]
        )
        first = f'<th scope="{"row" if number else "col"}">{one_line(row[0])}</th>'
        yield f"{'' if number else '<thead>'}<tr>{first}{picture}{cells}</tr>"
        yield "\n" if number else "</thead><tbody>\n"
    yield "</tbody></table></div>\n"


def _picture(arm: ArmStatistics) -> str:
    mean, interval = views.percent(arm.pass_rate.mean), views.interval(arm.pass_rate_interval)
    title = f"{arm.name}: pass rate {mean}, 95% interval {interval}"
    return svg.rate_bar(arm.pass_rate.mean, arm.pass_rate_interval, title)


def _overview(view: View, cases: Sequence[CaseRows], anchor: str) -> Iterator[str]:
    """A row for each case, a column for each arm, a link for each trial."""
    names = dict.fromkeys(side.name for rows in cases for side, _ in rows.rows)
    yield '<h2>Cases</h2>\n<div class="scroll"><table><thead><tr><th scope="col">Case</th>'
    yield "".join(f'<th scope="col">{one_line(name)}</th>' for name in names)
    yield "</tr></thead><tbody>\n"
    for number, rows in enumerate(cases, 1):
        cells = dict.fromkeys(names, "")
        for position, (side, row) in enumerate(rows.rows, 1):
            link = f"#{anchor}c{number}t{position}"
            cells[side.name] += f"{_link(row, link)} "
        case = rows.rows[0][1].case
        yield f'<tr><th scope="row"><a href="#{anchor}c{number}">{one_line(rows.case_id)}</a>'
        yield f"{_tags(case)}</th>{''.join(f'<td>{cell}</td>' for cell in cells.values())}</tr>\n"
    yield "</tbody></table></div>\n"


def _link(row: Row, target: str) -> str:
    status = status_of(row)
    words = f"run {row.result.trial.repeat}: {views.tally(row)}"
    return (
        f'<a class="chip {status}" href="{target}" title="{one_line(words)}">'
        f"{trialpage.SIGNS[status]} {escape(_points(row))}</a>"
    )


def _points(row: Row) -> str:
    if row.state == "errored":
        return "error"
    if row.result.outcome.refused:
        return "not started"
    statuses = [verdict.status for verdict in row.result.verdicts]
    passed, failed = statuses.count("pass"), statuses.count("fail")
    parts = [f"{passed}/{passed + failed}"]
    undecided: tuple[Status, ...] = ("skip", "error")
    parts += [f"{trialpage.SIGNS[s]}{statuses.count(s)}" for s in undecided if s in statuses]
    return " ".join(filter(None, (*parts, views.mark(row))))


def status_of(row: Row) -> Status:
    """The status of a trial as a whole."""
    if row.state == "graded":
        return "pass" if row.score.passed else "fail"
    return "error" if row.state == "errored" else "skip"


def _tags(case: Case) -> str:
    tags = [] if case.should_trigger else ["negative control"]
    tags += ["names the skill"] if case.annotations.get("force") else []
    return "".join(f'<span class="tag">{tag}</span>' for tag in tags)


def _case(
    view: View, rows: CaseRows, anchor: str, room: int, *, failures_only: bool
) -> Iterator[str]:
    case = rows.rows[0][1].case
    yield f'<section class="case" id="{anchor}"><header><h3>{one_line(case.id)}{_tags(case)}</h3>'
    yield '</header>\n<div class="body">'
    if case.prompt:
        yield f"<h4>Prompt</h4>{trialpage.block(case.prompt, LEAST, view.report.suite.path)}"
    if case.expected:
        yield f'<h4>Expected</h4><p class="expected">{text(case.expected[:LEAST])}</p>'
    yield f"<h4>Trials</h4>{'' if rows.rows else 'none'}"
    for position, (side, row) in enumerate(rows.rows, 1):
        if views.is_shown(row, failures_only=failures_only):
            yield from _trial(view, side, row, f"{anchor}t{position}", room)
    yield "</div></section>\n"


def _trial(view: View, side: Side, row: Row, anchor: str, room: int) -> Iterator[str]:
    outcome = row.result.outcome
    label = views.trial_label(side, row, repeated=views.is_repeated(view))
    figures = [views.tally(row)]
    figures += [f"{outcome.seconds:.1f} s"] if outcome.seconds is not None else []
    figures += [f"{outcome.usage.cost_usd:.4f} USD"] if outcome.usage.cost_usd is not None else []
    yield f'<details class="trial"><summary>{trialpage.chip(status_of(row))} '
    yield f'<strong>{one_line(label)}</strong> <span class="soft">'
    yield f'{one_line(", ".join(figures))}</span></summary>\n<div class="inside" id="{anchor}">'
    try:
        result = view.whole(row.result)
        yield from trialpage.inside(row, result.outcome, room, view.place(result.trial))
    except SuiteError as error:
        yield f"<p>{one_line(str(error))}</p>"
    yield "</div></details>\n"
