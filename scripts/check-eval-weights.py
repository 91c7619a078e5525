#!/usr/bin/env python3
"""Do the weights of every checklist sum to 100? From a bare checkout. See --help."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir))

from skilleval.cli import main  # the checkout has to be on the path first

if __name__ == "__main__":
    sys.exit(main(["check-eval-weights", *sys.argv[1:]], program="check-eval-weights.py"))
