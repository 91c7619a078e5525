#!/usr/bin/env python3
"""Checks skills and their fixtures from a bare checkout, as the pre-commit hook. See --help."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir))

from skilleval.cli import main

if __name__ == "__main__":
    sys.exit(main(["validate", *sys.argv[1:]], program="validate.py"))
