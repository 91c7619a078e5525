"""Builds versions.json from a repository: versions, descriptions, and the newest benchmarks.

For each model the newest report counts, and only if it is about the current version (seed 000).
"""

from __future__ import annotations

import argparse
import os

from skilleval import console, versions, writing
from skilleval.tools import Tools

EXAMPLES = """examples:
  versions.py                       write web/static/versions.json
  versions.py --out versions.json   write another file

exit codes: 0 written; 2 usage error; 3 the file cannot be written
"""
DEFAULT = os.path.join("web", "static", "versions.json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Where to read and where to write."""
    parser.add_argument("--root", metavar="DIR", default=".", help="the repository (default: .)")
    parser.add_argument(
        "--out", metavar="PATH", default=None, help=f"default: {DEFAULT} below the repository"
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the file, then prints its path and what is in it."""
    text = versions.render(versions.build(arguments.root, Tools()))
    path = arguments.out or os.path.join(arguments.root, DEFAULT)
    with writing.guarded(path):
        writing.write_text(path, text)
    console.write(f"Wrote {path}\n{text}")
    return 0
