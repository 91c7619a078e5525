"""Lists the suites and skills below a folder, and which belong together."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from skilleval import console, inventory, writing
from skilleval.errors import UsageError
from skilleval.inventory import FoundSuite, Inventory
from skilleval.plaintext import one_line
from skilleval.sinks.suites import table

EXAMPLES = """examples:
  skilleval list                     below the current folder
  skilleval list --root skills       below another
  skilleval list --json              for machines

Pairing: `paired` lies in its skill; `external-suite` is elsewhere and names a skill that is there;
`missing-skill` names none that is there; `missing-evals` is a skill without a suite.
exit codes: 0 listed; 2 no such folder
"""
UNKNOWN = "-"


def configure(parser: argparse.ArgumentParser) -> None:
    """Where to look."""
    parser.add_argument("-r", "--root", metavar="DIR", default=".", help="default: .")
    parser.add_argument("--json", action="store_true", help="the same for machines")


def run(arguments: argparse.Namespace) -> int:
    """Prints both lists."""
    if not os.path.isdir(arguments.root):
        raise UsageError(f"{arguments.root}: no such folder")
    found = inventory.take(arguments.root)
    if arguments.json:
        suites = [suite._asdict() for suite in found.suites]
        console.write(
            writing.as_json({"suites": suites, "skills": [s._asdict() for s in found.skills]})
        )
        return 0
    console.write("\n".join(_lines(found)))
    return 0


def _lines(found: Inventory) -> Iterator[str]:
    if found.suites:
        headings = ("SUITE", "FORMAT", "SKILL", "CASES", "PAIRING")
        yield from table([headings, *map(_row, found.suites)])
    else:
        yield "no suites; `skilleval init NAME` makes one"
    if found.skills:
        rows = [(one_line(s.name), one_line(s.path), s.pairing) for s in found.skills]
        yield from ["", *table([("SKILL", "FOLDER", "PAIRING"), *rows])]
    else:
        yield from ["", "no skills (folders with a SKILL.md)"]


def _row(suite: FoundSuite) -> tuple[str, ...]:
    cases = UNKNOWN if suite.cases is None else str(suite.cases)
    if suite.problem:
        cases = "(unparseable)"
    name = one_line(suite.skill) or UNKNOWN
    return (one_line(suite.path), suite.format, name, cases, suite.pairing)
