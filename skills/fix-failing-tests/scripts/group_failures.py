#!/usr/bin/env python3
"""Group the failures of JUnit XML reports by their cause; print them as JSON, largest group first.

Owns the grouping: same exception, same message after numbers, addresses, paths and quoted values
are levelled. Owns no diagnosis. It reads the reports and changes nothing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

EPILOG = """\
examples:
  python -m pytest --junitxml=report.xml; group_failures.py report.xml
  group_failures.py target/surefire-reports/TEST-*.xml

exit status:
  0  tests ran and none failed
  1  at least one failure or error
  2  nothing was decided: wrong usage, unreadable report, no test ran
"""

LEVEL = (
    (re.compile(r"0x[0-9a-fA-F]+"), "<address>"),
    (re.compile(r"(?:/[\w.@-]+){2,}"), "<path>"),
    (re.compile(r"'[^']*'|\"[^\"]*\""), "<value>"),
    (re.compile(r"\d+(?:\.\d+)?"), "<n>"),
)


class Failure(NamedTuple):
    """A test that did not pass. `kind` is `failure` (an assertion) or `error` (anything else)."""

    test: str
    kind: str
    message: str
    type: str

    @property
    def signature(self) -> str:
        text = self.message
        for pattern, word in LEVEL:
            text = pattern.sub(word, text)
        return f"{self.type}: {text}" if self.type and self.type not in text else text


def first_line(text: str | None) -> str:
    return next((line.strip() for line in (text or "").splitlines() if line.strip()), "")


def failures_of(case: ElementTree.Element) -> list[Failure]:
    test = f"{case.get('classname', '')}::{case.get('name', '')}".removeprefix("::")
    return [
        Failure(
            test,
            child.tag,
            first_line(child.get("message")) or first_line(child.text),
            child.get("type", ""),
        )
        for child in case
        if child.tag in ("failure", "error")
    ]


def summarize(cases: list[ElementTree.Element]) -> dict[str, Any]:
    """Counts of tests (not of XML elements), and the groups with their tests in report order."""
    groups: dict[str, list[Failure]] = {}
    bad = 0
    for case in cases:
        failures = failures_of(case)
        bad += bool(failures)
        for failure in failures:
            groups.setdefault(failure.signature, []).append(failure)
    skipped = sum(case.find("skipped") is not None for case in cases)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return {
        "tests": len(cases),
        "failed": bad,
        "skipped": skipped,
        "groups": [group(signature, failures) for signature, failures in ordered],
    }


def group(signature: str, failures: list[Failure]) -> dict[str, Any]:
    return {
        "signature": signature,
        "kind": failures[0].kind,
        "count": len(failures),
        "first_message": failures[0].message,
        "tests": [failure.test for failure in failures],
    }


def read_cases(paths: Iterable[Path]) -> list[ElementTree.Element]:
    """Every `testcase`, at any depth: tools nest `testsuite` elements freely."""
    return [case for path in paths for case in ElementTree.parse(path).iter("testcase")]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else "",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("report", nargs="+", type=Path, help="a JUnit XML file")
    args = parser.parse_args(argv)
    try:
        summary = summarize(read_cases(args.report))
    except (OSError, ElementTree.ParseError) as problem:
        print(f"group_failures: {problem}", file=sys.stderr)
        return 2
    if summary["tests"] == summary["skipped"]:
        print("group_failures: no test ran: that is not a pass", file=sys.stderr)
        return 2
    print(json.dumps(summary, indent=2, ensure_ascii=False))
    return 1 if summary["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
