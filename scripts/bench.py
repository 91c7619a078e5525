#!/usr/bin/env python3
"""Measures what commands cost, against floors. See --help."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir))

from skilleval.bench import main

if __name__ == "__main__":
    sys.exit(main())
