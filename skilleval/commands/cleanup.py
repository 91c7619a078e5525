"""Removes what runs left behind: branches, pull requests and folders that their manifests list.

Nothing is removed that cleanup.json of a run does not list, and no folder without our marker.
"""

from __future__ import annotations

import argparse
import sys

from skilleval import console
from skilleval.errors import UsageError
from skilleval.execution import WORKSPACE
from skilleval.runfolder import cleaning, runs
from skilleval.tools import Tools

EXAMPLES = """examples:
  skilleval cleanup                                          all runs below eval-workspace
  skilleval cleanup --workspace eval-workspace --yes         without a question
  skilleval cleanup --iteration eval-workspace/x-workspace/iteration-2

exit codes: 0 all is removed, or there was nothing; 1 something could not be; 2 usage error, or
nobody is there to answer the question; 130 interrupted
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Which runs, and whether to ask."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-w", "--workspace", metavar="DIR", default=WORKSPACE, help=f"default: {WORKSPACE}"
    )
    which.add_argument("-i", "--iteration", metavar="DIR", help="one run folder")
    parser.add_argument("-y", "--yes", action="store_true", help="remove without asking")


def run(arguments: argparse.Namespace) -> int:
    """Lists what is to be removed, asks, and removes it."""
    tools = Tools()
    folders = runs.iterations(arguments.iteration or arguments.workspace)
    found = [cleaning.leftovers(folder, tools) for folder in folders]
    for each in found:
        for line in each.refused:
            console.note(f"warning: {line}")
    wanted = [each for each in found if each.texts]
    if not wanted:
        console.write(f"nothing to clean up in {len(folders)} runs")
        return 0
    for each in wanted:
        console.write("\n".join([each.folder, *(f"  {text}" for text in each.texts)]))
    if not (arguments.yes or _agreed()):
        console.write("nothing was removed")
        return 0
    problems = [problem for each in wanted for problem in cleaning.remove(each, tools)]
    for problem in problems:
        console.note(f"error: {problem}")
    done = sum(len(each.texts) for each in wanted) - len(problems)
    console.write(f"removed {done} of {done + len(problems)}")
    return 1 if problems else 0


def _agreed() -> bool:
    """Asks; raises `UsageError` where nobody can answer."""
    if not sys.stdin.isatty():
        raise UsageError("nobody is there to say yes; add --yes to remove all of this")
    console.note("remove all of this? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
