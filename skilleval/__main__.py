"""`python -m skilleval`: the command line."""

import sys

from skilleval.cli import main

if __name__ == "__main__":
    sys.exit(main())
