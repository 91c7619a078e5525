"""Checks that the max_score values of every evals/*/criteria.json add up to 100 (seed 000)."""

from __future__ import annotations

import argparse
import os

from skilleval import console
from skilleval.formats import scenario

EXAMPLES = """examples:
  check-eval-weights.py                  every skill below skills/
  check-eval-weights.py skills/my-skill  one skill

exit codes: 0 all add up (or there are none); 1 one does not; 2 no such folder
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The folder to look in, and files of it, as pre-commit passes them."""
    parser.add_argument(
        "paths",
        metavar="DIR",
        nargs="*",
        default=["skills"],
        help="folder to look in, or a criteria.json (default: skills)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints a line for each checklist that does not add up."""
    files: list[str] = []
    for path in arguments.paths:
        files += [path] if os.path.isfile(path) else scenario.criteria_files(path)
    lines = [
        f"FAIL: {os.path.dirname(path) or os.curdir} — {problem}"
        for path in sorted(set(files))
        if (problem := scenario.weights_problem(path))
    ]
    console.write(
        "\n".join(lines) or f"all weights sum to {scenario.FULL_MARKS} ({len(set(files))} checked)"
    )
    return 1 if lines else 0
