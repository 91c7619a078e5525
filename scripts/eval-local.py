#!/usr/bin/env python3
"""Runs scenario folders from a bare checkout. See --help."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir))

from skilleval.cli import main  # the checkout has to be on the path first

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]], program="eval-local.py"))
