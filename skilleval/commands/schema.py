"""Prints the JSON Schema of a file format, for an editor's completion."""

from __future__ import annotations

import argparse

from skilleval import console

EXAMPLES = """examples:
  skilleval schema evals > evals.schema.json

Then name it in the file: "$schema": "./evals.schema.json"
exit codes: 0 printed; 2 usage error
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The format."""
    parser.add_argument("format", choices=("evals",), help="the format: evals.json of a suite")


def run(arguments: argparse.Namespace) -> int:
    """Prints the schema."""
    from skilleval.formats import evals

    console.write(evals.schema_text().rstrip("\n"))
    return 0
