"""The project's test command; leaves the result in test-results.txt.

python3 run_tests.py              everything
python3 run_tests.py test_x.py    one file
"""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True


def main() -> int:
    pattern = sys.argv[1] if len(sys.argv) > 1 else "test_*.py"
    suite = unittest.defaultTestLoader.discover("tests", pattern)
    result = unittest.TextTestRunner().run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped) + len(result.expectedFailures)
    passed = result.testsRun - failed - skipped
    line = f"{pattern}: {passed} passed, {failed} failed, {skipped} skipped\n"
    Path("test-results.txt").write_text(line, encoding="utf-8")
    print(line, end="")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    raise SystemExit(main())
