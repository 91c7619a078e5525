"""What came of a run of a suite: written to its folder, printed, announced. Owns the exit code.

Nothing of it is needed before the agents work: `run_suites` imports it meanwhile.
"""

from __future__ import annotations

import argparse

from skilleval import announcement, console, execution, gates, writing
from skilleval.model import Report
from skilleval.reading import textfile
from skilleval.runfolder import cleaning
from skilleval.sinks import benchmark, suites, view
from skilleval.tools import Tools
from skilleval.trial import workspace


def report(ended: execution.Ended, arguments: argparse.Namespace, tools: Tools) -> int:
    """Writes and prints what came of the run, and returns the exit code."""
    found, folder, kept = ended
    seen = view.of(found.suites[0])
    files = benchmark.files(seen.comparison, seen.report, found.meta)
    if folder:
        try:
            for name, document in files.items():
                folder.write(name, document)
        except OSError as error:  # a full disk must not cost the results
            console.note(f"warning: {folder.folder}/benchmark.json: {textfile.reason(error)}")
        if not arguments.quiet:
            console.note(f"results: {folder.folder}")
    if workspace.is_kept(tools.environ) and not (arguments.cleanup or arguments.quiet):
        for line in view.kept(seen):
            console.note(line)
    if arguments.json:
        console.write(writing.pieces(files["benchmark.json"]))
    else:
        text = suites.render(seen, colour=console.colours())
        console.write(announcement.shown(text, tools.environ))
    announcement.announce([seen], tools.environ)
    if arguments.cleanup and folder:
        _clean(folder.folder, tools)
    if not kept or _is_cut(found):
        return gates.NOT_MEASURED
    return gates.exit_code(found.gates, found.summary)


def _clean(folder: str, tools: Tools) -> None:
    """Removes what the run's manifest lists, as `cleanup` does (seed 002); the flag is the yes."""
    found = cleaning.leftovers(folder, tools)
    with writing.guarded(folder):
        problems = cleaning.remove(found, tools)
    for warning in found.refused:
        console.note(f"warning: {warning}")
    for problem in problems:
        console.note(f"error: {problem}")
    if found.texts:
        console.note(f"cleanup: removed {len(found.texts) - len(problems)} of {len(found.texts)}")


def _is_cut(report: Report) -> bool:
    """Did the budget keep any trial from its start or its end?"""
    return any(r.outcome.failure == "budget" for suite in report.suites for r in suite.results)
