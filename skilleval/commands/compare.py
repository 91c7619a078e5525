"""Two runs of a suite side by side: what is better since the skill was edited, and how sure.

A and B are numbers of iterations in the workspace, or run folders.
"""

from __future__ import annotations

import argparse
import os

from skilleval import aggregate, announcement, console
from skilleval.errors import UsageError
from skilleval.execution import WORKSPACE
from skilleval.model import SuiteReport
from skilleval.runfolder import runs
from skilleval.sinks import changes as sink
from skilleval.stats.changes import changes

EXAMPLES = """examples:
  skilleval compare --workspace eval-workspace/x-workspace 1 2
  skilleval compare old/iteration-3 new/iteration-1 --format markdown

`Change` is the difference of the two pass rates, over whatever each run graded. `Over the same
cases` pairs the cases and checks that both decided, and says what the difference proves.
exit codes: 0 shown; 2 usage error, or no such run
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Which two, and how they are shown."""
    parser.add_argument("a", metavar="A", help="the earlier run: a number, or a run folder")
    parser.add_argument("b", metavar="B", help="the later run")
    parser.add_argument("-w", "--workspace", metavar="DIR", help=f"default: {WORKSPACE}")
    parser.add_argument(
        "-f",
        "--format",
        choices=("table", "markdown", "json"),
        default="table",
        help="default: table",
    )
    parser.add_argument("--json", action="store_const", dest="format", const="json")


def run(arguments: argparse.Namespace) -> int:
    """Shows the comparison."""
    workspace = arguments.workspace or WORKSPACE
    folders = [_folder(workspace, each) for each in (arguments.a, arguments.b)]
    names = (_name(folders[0], folders[1]), _name(folders[1], folders[0]))
    found = changes(*map(_report, folders))
    if arguments.format == "json":
        console.write(sink.as_json(found, workspace, names))
        return 0
    render = sink.as_markdown if arguments.format == "markdown" else sink.render
    console.write(announcement.shown(render(found, names), os.environ))
    return 0


def _folder(workspace: str, wanted: str) -> str:
    if wanted.isascii() and wanted.isdigit():
        return runs.iteration(workspace, int(wanted))
    found = runs.iterations(wanted)
    if len(found) > 1:
        raise UsageError(f"{wanted}: holds {len(found)} runs; name one of: {', '.join(found)}")
    return found[0]


def _name(folder: str, other: str) -> str:
    """The short name of a run, the long one where the other has the same."""
    name = os.path.basename(os.path.abspath(folder))
    return folder if name == os.path.basename(os.path.abspath(other)) else name


def _report(folder: str) -> SuiteReport:
    stored = runs.load(folder)
    found = runs.results(stored)
    for problem in found.problems:
        console.note(f"warning: {problem}")
    return aggregate.report(stored.suite, found.results)
