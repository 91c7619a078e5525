"""One trial in the HTML report: its checks, answer, transcript and changed files.

Everything in it is somebody else's text: it is escaped, and cut where it would not end. Owns those
limits; what is cut is said, with the place where the rest is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from skilleval.model import Check, Delta, Event, FileChange, Outcome, State, Status, Verdict
from skilleval.sinks import view as views
from skilleval.stats.arms import Row

SIGNS: Mapping[Status, str] = {"pass": "✓", "fail": "✗", "skip": "○", "error": "!"}
WORDS: Mapping[Status, str] = {
    "pass": "passed",
    "fail": "failed",
    "skip": "skipped",
    "error": "error",
}
EVENTS = 300
LEAST_OF_EVENT = 800
FILES = 100
DIFF_LINES = 4000


def inside(row: Row, outcome: Outcome, room: int, place: str) -> Iterator[str]:
    """What a trial's row opens to. `outcome` is the whole one; `room` is about how many characters
    of evidence are shown, and `place` the folder that has the rest."""
    yield from facts(outcome)
    yield from check_table(row.case.checks, row.result.verdicts, room // 8)
    if outcome.output:
        yield f"<h4>Answer</h4>{block(outcome.output, room // 4, place)}"
    yield from transcript(outcome.events, room // 2, place)
    yield from changes(outcome, room // 4, place)
    if outcome.stderr.strip():
        shown = block(outcome.stderr, room // 8, place)
        yield f"<details><summary>Messages of the program (stderr)</summary>{shown}</details>"


def text(value: str) -> str:
    """Anybody's text as HTML text."""
    return escape(views.plain(value))


def one_line(value: str, limit: int = 0) -> str:
    """Anybody's text as HTML text on one line."""
    return escape(views.line(value, limit))


def chip(status: Status, label: str = "") -> str:
    """A coloured sign with its word, or `label` in its place."""
    return (
        f'<span class="chip {status}"><span aria-hidden="true">{SIGNS[status]}</span> '
        f"{escape(label or WORDS[status])}</span>"
    )


def block(value: str, limit: int, place: str) -> str:
    """A text in full, as it was written, up to `limit` characters: then it says so."""
    return f"<pre>{text(value[:limit])}</pre>{_cut_note(len(value) - limit, place)}"


def _cut_note(missing: int, place: str) -> str:
    if missing <= 0:
        return ""
    where = f"; the rest is in {one_line(place)}" if place else ""
    return f'<p class="soft">Cut here, {missing:,} characters more{where}.</p>'


def facts(outcome: Outcome) -> Iterator[str]:
    """What happened to the trial besides its answer, a line each."""
    if outcome.error:
        kind, words = views.cause(outcome)
        yield f"<p>{chip('error', views.line(kind, 60))} {text(words[:2000])}</p>"
    if outcome.timed_out:
        yield "<p>The time ran out before the agent ended.</p>"
    if outcome.exit_code:
        yield f"<p>Exit code {outcome.exit_code}.</p>"
    if outcome.skills is not None:
        names = ", ".join(map(one_line, outcome.skills)) or "none"
        yield f'<p class="soft">Skills that the agent could see: {names}</p>'
    for note in outcome.notes[:20]:
        yield f'<p class="soft">{one_line(note, 500)}</p>'


def check_table(checks: Iterable[Check], verdicts: Iterable[Verdict], limit: int) -> Iterator[str]:
    """A row for each check: status, text, and why."""
    rows = "".join(_check_row(*pair, limit) for pair in zip(checks, verdicts, strict=True))
    if rows:
        yield (
            '<div class="scroll"><table><thead><tr><th scope="col">Status</th>'
            '<th scope="col">Check and evidence</th><th scope="col">Graded by</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )


def _check_row(check: Check, verdict: Verdict, limit: int) -> str:
    reason = f'<div class="reason">{text(verdict.reason[:limit])}</div>' if verdict.reason else ""
    return (
        f'<tr><td class="nowrap">{chip(verdict.status)}</td>'
        f'<th scope="row">{text(check.text)}{reason}</th>'
        f'<td class="soft nowrap">{one_line(verdict.method or check.grader, 40)}</td></tr>'
    )


def transcript(events: tuple[Event, ...], limit: int, place: str) -> Iterator[str]:
    """What the agent said and did, in order."""
    if not events:
        return
    shown = events[: max(10, min(EVENTS, limit // LEAST_OF_EVENT))]
    each = max(LEAST_OF_EVENT, limit // len(shown)) // 2  # its input and its output
    items = "".join(_event(event, each) for event in shown)
    more = len(events) - len(shown)
    note = f'<p class="soft">{more:,} more events are in {one_line(place)}.</p>' if more > 0 else ""
    yield (
        f"<details><summary>Transcript ({len(events):,} events)</summary>"
        f'<ol class="transcript">{items}</ol>{note}</details>'
    )


def _event(event: Event, limit: int) -> str:
    kind = "failed" if event.failed else event.kind
    words = {"text": "said", "call": "called", "skill": "used the skill", "denied": "was refused"}
    nested = " in a sub-agent" if event.parent else ""
    failed = " (failed)" if event.failed else ""
    name = f" <strong>{one_line(event.name, 120)}</strong>" if event.name else ""
    parts = [f'<li class="{kind}"><span class="soft">{words.get(event.kind, event.kind)}']
    parts.append(f"{nested}</span>{name}{failed}")
    if event.input:
        parts.append(block(_values(event.input), limit, ""))
    if event.output:
        parts.append(block(event.output, limit, ""))
    return "".join([*parts, "</li>"])


def _values(found: Mapping[str, Any]) -> str:
    """The inputs of a call: a single one as it is, several with their names."""
    import json

    shown = {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in found.items()
    }
    if len(shown) == 1:
        return next(iter(shown.values()))
    return "\n".join(f"{key}: {value}" for key, value in shown.items())


def changes(outcome: Outcome, limit: int, place: str) -> Iterator[str]:
    """The files that the agent changed, each with its difference, and what changed in git."""
    delta = outcome.delta
    if delta is None:
        return
    count = len(delta.added) + len(delta.modified) + len(delta.deleted)
    if count:
        body = "".join(_files(delta, outcome.before, limit, place))
        yield f"<details><summary>Changed files ({count:,})</summary>{body}</details>"
    rows = "".join(_git_row(key, value) for key, value in delta.git.items() if value)
    if rows:
        yield f"<details><summary>Changes in git</summary><table>{rows}</table></details>"


def _git_row(name: str, value: Any) -> str:
    import json

    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f'<tr><th scope="row">{one_line(name)}</th><td>{one_line(shown, 1000)}</td></tr>'


def _files(delta: Delta, before: State | None, limit: int, place: str) -> Iterator[str]:
    old = {file.change.path: file.change for file in before.files or ()} if before else {}
    changed: list[tuple[str, FileChange | None, FileChange]] = []
    changed += [("added", None, change) for change in delta.added]
    changed += [("modified", old.get(change.path), change) for change in delta.modified]
    changed += [("deleted", old.get(path), FileChange(path, 0)) for path in delta.deleted]
    each = max(1000, limit // max(1, min(len(changed), FILES)))
    for word, was, change in changed[:FILES]:
        yield f'<h4>{one_line(change.path)} <span class="tag">{word}</span></h4>'
        yield _difference(word, was, change, each) + _note(change)
    if len(changed) > FILES:
        yield f'<p class="soft">{len(changed) - FILES:,} more files: {one_line(place)}.</p>'


def _note(change: FileChange) -> str:
    if not change.note:
        return ""
    size = f", {change.size:,} bytes in all" if change.note in ("cut", "not kept", "binary") else ""
    return f'<p class="soft">{one_line(change.note)}{size}</p>'


def _difference(word: str, was: FileChange | None, change: FileChange, limit: int) -> str:
    """The lines that came and went; the new text alone where the old one is not known."""
    from difflib import unified_diff

    known = was is not None and not was.note
    if word == "modified" and not known:
        shown = f"<pre>{text(change.content[:limit])}</pre>" if change.content else ""
        return f'<p class="soft">The content before is not known; this is the new one.</p>{shown}'
    old = was.content.splitlines() if was and known else []
    new = change.content.splitlines()
    if not old and not new:
        return ""
    if len(old) + len(new) > DIFF_LINES:
        return f"<pre>{text(change.content[:limit])}</pre>"
    lines = list(unified_diff(old, new, n=3, lineterm=""))[2:]
    return f'<pre class="diff">{"".join(_diff_lines(lines, limit))}</pre>'


def _diff_lines(lines: list[str], limit: int) -> Iterator[str]:
    kinds = {"+": "add", "-": "cut", "@": "at"}
    for line in lines:
        kind = kinds.get(line[:1])
        shown = text(line[:limit])
        shown = f'<span class="{kind}">{shown}</span>' if kind else f"{shown}\n"
        limit -= len(shown)
        if limit < 0:
            yield "…"
            return
        yield shown
