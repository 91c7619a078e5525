"""Shows the results of runs: rates, what the skill changes and how sure that is, and the evidence.

RUN is a run folder, the workspace of a skill, or the folder of workspaces. Also reads the run
folders of other tools with the same layout.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence

from skilleval import aggregate, announcement, console, writing
from skilleval.errors import SkillevalError, UsageError
from skilleval.execution import WORKSPACE
from skilleval.gates import NOT_MEASURED
from skilleval.reading import textfile
from skilleval.runfolder import runs
from skilleval.sinks import view as views
from skilleval.sinks.view import View

EXAMPLES = """examples:
  skilleval report                                            all runs below eval-workspace
  skilleval report --workspace eval-workspace/x-workspace --show-evidence
  skilleval report eval-workspace/x-workspace/iteration-2 --format html --output report.html
  skilleval report --iteration 2 --format junit > junit.xml

On GitHub, the step summary and annotations are written too ($GITHUB_STEP_SUMMARY,
$GITHUB_ACTIONS). The HTML page is one file without scripts; nothing is loaded from anywhere.
exit codes: 0 shown; 2 usage error, or no such run; 3 there is no result to show
"""
FORMATS = ("table", "markdown", "html", "junit", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Which runs, and how they are shown."""
    parser.add_argument("run_folder", metavar="RUN", nargs="?", help=f"default: {WORKSPACE}")
    parser.add_argument("-w", "--workspace", metavar="DIR", help="the same, as seed 002 spells it")
    parser.add_argument("-i", "--iteration", type=int, metavar="N", help="only this one")
    parser.add_argument("-f", "--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--json", action="store_const", dest="format", const="json")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it there, and say so")
    parser.add_argument(
        "--show-evidence", action="store_true", help="why each check that did not pass did not"
    )
    parser.add_argument("--failures-only", action="store_true", help="leave out what passed")


def run(arguments: argparse.Namespace) -> int:
    """Shows the runs, and returns the exit code."""
    found = list(_views(_folders(arguments)))
    if not found:
        return NOT_MEASURED
    text = rendered(found, arguments)
    if arguments.output:
        _write(arguments.output, text)
    elif isinstance(text, str) and arguments.format in ("table", "markdown"):
        console.write(announcement.shown(text, os.environ))
    else:  # for machines: a fence would break it
        console.write(text)
    announcement.announce(found, os.environ)
    return 0


def _folders(arguments: argparse.Namespace) -> tuple[str, ...]:
    if arguments.run_folder and arguments.workspace:
        raise UsageError("RUN and --workspace say the same; give one of them")
    workspace = arguments.run_folder or arguments.workspace or WORKSPACE
    if arguments.iteration is not None:
        return (runs.iteration(workspace, arguments.iteration),)
    return runs.iterations(workspace)


def _views(folders: Sequence[str]) -> Iterator[View]:
    """A view of each run; one without results is said and left out."""
    for folder in folders:
        try:
            found = of_folder(folder)
        except SkillevalError as error:
            console.note(f"warning: {error}")
            continue
        if found.report.results:
            yield found
        else:
            for problem in found.problems:
                console.note(f"warning: {problem}")
            console.note(f"warning: {folder}: holds no result yet")


def of_folder(folder: str) -> View:
    """What a run folder holds. Raises `SkillevalError` if it cannot be read."""
    stored = runs.load(folder)
    found = runs.results(stored)
    report = aggregate.report(stored.suite, found.results)
    return views.of(report, f"{stored.suite.name}, {stored.name}")._replace(
        folder=folder,
        problems=found.problems,
        planned=stored.planned,
        whole=lambda result: runs.whole(stored, result.trial),
        place=lambda trial: os.path.relpath(stored.trials[trial], folder),
        meta=stored.meta,
    )


def rendered(found: Sequence[View], arguments: argparse.Namespace) -> str | Iterator[str]:
    """The report in the format that was asked for; what may be long comes in pieces."""
    form, failures = arguments.format, arguments.failures_only
    if form == "html":
        from skilleval.sinks import html

        return html.pages(found, failures_only=failures)
    if form == "junit":
        from skilleval.sinks import junit

        return junit.render(found)
    if form == "json":
        return _json(found)
    if form == "markdown":
        from skilleval.sinks import markdown

        shown = [
            markdown.render(view, evidence=arguments.show_evidence, failures_only=failures)
            for view in found
        ]
    else:
        from skilleval.sinks import suites

        shown = [
            suites.render(
                view,
                evidence=arguments.show_evidence,
                failures_only=failures,
                colour=console.colours() and not arguments.output,
            )
            for view in found
        ]
    return "\n".join(shown)


def _json(found: Sequence[View]) -> Iterator[str]:
    from skilleval.sinks import benchmark

    rows = writing.Rows(
        lambda: (
            {
                "run": view.folder,
                "problems": view.problems,
                **benchmark.document(view.comparison, view.report, view.meta),
            }
            for view in found
        )
    )
    return writing.pieces({"runs": rows})


def _write(path: str, text: str | Iterator[str]) -> None:
    try:
        writing.write_text(path, text)
    except OSError as error:
        raise SkillevalError(f"{path}: cannot be written: {textfile.reason(error)}") from None
    console.write(f"wrote {path}")
