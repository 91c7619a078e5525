"""What a job on GitHub shows of a run: the step summary, and annotations.

Owns their limits and escapes (spec/services/formats). It writes no file: `announcement` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from skilleval.sinks import markdown
from skilleval.sinks import view as views
from skilleval.sinks.view import View

# GitHub drops a whole summary of more than 1 MiB
SUMMARY_LIMIT_BYTES = 1_000_000
# of each kind, GitHub shows ten in a step
ANNOTATIONS = 10
CUT = "\n*Cut here: a summary may have 1 MB. The run folder has the rest.*\n"


def summary(runs: Sequence[View], room: int = SUMMARY_LIMIT_BYTES) -> str:
    """The Markdown of the runs with the evidence, in at most `room` bytes; whole lines of it."""
    room -= len(CUT.encode())
    kept: list[str] = []
    for line in _lines(runs) if room >= 0 else ():
        room -= len(line.encode())
        if room < 0:
            return "".join([*kept, CUT])
        kept.append(line)
    return "".join(kept)


def _lines(runs: Iterable[View]) -> Iterator[str]:
    for view in runs:
        for block in markdown.blocks(view, evidence=True, failures_only=True):
            yield from block.splitlines(keepends=True)


def commands(runs: Sequence[View]) -> str:
    """A workflow command for each check that an arm with the skill failed, and for each doubt."""
    errors = [_command("error", *found) for view in runs for found in _failures(view)]
    doubts = [text for view in runs for text in (*view.comparison.alarms, *view.problems)]
    warnings = [_command("warning", "", "skilleval", text) for text in doubts]
    return "".join(errors[:ANNOTATIONS] + warnings[:ANNOTATIONS])


def _failures(view: View) -> Iterator[tuple[str, str, str]]:
    """File, title and message of each."""
    repeated = views.is_repeated(view)
    for case in views.by_case(view):
        for side, row in case.rows:
            if not side.arm.with_skill:
                continue
            source = row.case.source or view.report.suite.path
            title = f"{row.case.id}: {views.trial_label(side, row, repeated=repeated)}"
            if row.state == "errored":
                yield source, title, views.tally(row)
                continue
            for check, verdict in views.checked(row):
                if verdict.status == "fail":
                    yield source, title, f"{check.text} — {views.line(verdict.reason, 300)}"


def _command(level: str, file: str, title: str, message: str) -> str:
    place = f"file={_property(file)}," if file else ""
    return f"::{level} {place}title={_property(title)}::{_data(views.line(message))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(views.line(text)).replace(":", "%3A").replace(",", "%2C")


def has_command(text: str) -> bool:
    """Could the runner obey a part of it? `::` begins a line for that, `##[` stands anywhere."""
    return "##[" in text or any(line.lstrip().startswith("::") for line in text.splitlines())


def fenced(text: str, token: str) -> str:
    """Text for the log of a job, in which no line is taken for a workflow command.

    `token` is a random word that nobody can know beforehand.
    """
    return f"::stop-commands::{token}\n{text.rstrip(chr(10))}\n::{token}::\n"
