"""Removes what runs left behind: branches, pull requests and folders that their manifests list.

Nothing of those is removed that cleanup.json of a run does not list, and no folder without our
marker. What killed runs left on this machine (programs, temporary folders, containers) goes first,
without a question, as it does at the start of each run.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence

from skilleval import console, execution
from skilleval.errors import UsageError
from skilleval.plaintext import counted
from skilleval.process import find_executable
from skilleval.runfolder import cleaning, lock, runs
from skilleval.sandboxes import docker
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
        "-w",
        "--workspace",
        metavar="DIR",
        default=execution.WORKSPACE,
        help=f"default: {execution.WORKSPACE}",
    )
    which.add_argument("-i", "--iteration", metavar="DIR", help="one run folder")
    parser.add_argument("-y", "--yes", action="store_true", help="remove without asking")


def run(arguments: argparse.Namespace) -> int:
    """Lists what is to be removed, asks, and removes it."""
    tools = Tools()
    folders = runs.iterations(arguments.iteration or arguments.workspace)
    execution.sweep([name for name in docker.ENGINES if find_executable(name)], tools)
    found = [cleaning.leftovers(folder, tools) for folder in folders]
    for each in found:
        for line in each.refused:
            console.note(f"warning: {line}")
    with contextlib.ExitStack() as locks:
        wanted = [each for each in found if each.texts and _is_over(each.folder, locks)]
        return _cleaned(wanted, arguments, tools, len(folders))


def _is_over(folder: str, locks: contextlib.ExitStack) -> bool:
    """Does nobody write this run any more? Then nobody will until the locks are released."""
    try:
        locks.enter_context(lock.held(folder))
    except UsageError as error:
        console.note(f"warning: left alone: {error}")
        return False
    return True


def _cleaned(
    wanted: Sequence[cleaning.Leftovers], arguments: argparse.Namespace, tools: Tools, runs: int
) -> int:
    if not wanted:
        console.write(f"nothing to clean up in {counted(runs, 'run')}")
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
