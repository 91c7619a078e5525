"""Makes a new skill with its first suite: SKILL.md, evals/evals.json, evals/files/.

Files that are there already stay as they are.
"""

from __future__ import annotations

import argparse
import os

from skilleval import console, scaffold, writing
from skilleval.errors import UsageError

EXAMPLES = """examples:
  skilleval init my-skill                    in the current folder
  skilleval init my-skill --output skills    in another
  skilleval validate my-skill                what is next

exit codes: 0 written; 2 usage error, or everything is there already; 3 a file cannot be written
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The name of the skill, and where it goes."""
    parser.add_argument("name", metavar="NAME", help="lowercase letters, digits, single hyphens")
    parser.add_argument("-o", "--output", metavar="DIR", default=".", help="default: .")


def run(arguments: argparse.Namespace) -> int:
    """Writes the files, and says which."""
    with writing.guarded(os.path.join(arguments.output, arguments.name)):
        written = scaffold.write(arguments.name, arguments.output)
    for path in written.kept:
        console.note(f"kept {path}: it is there already")
    if not written.new:
        raise UsageError(f"{arguments.name}: everything is there already; nothing was written")
    console.write("\n".join(f"wrote {path}" for path in written.new))
    return 0
