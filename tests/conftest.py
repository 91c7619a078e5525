"""Fixtures that more than one test file uses, and the rules for tests of real components.

Everything in tests/real is marked `real`: it needs a component that a machine may lack. Such a test
runs when SKILLEVAL_REAL=1 says that all of them are there, and then a skip is a failure; or when
`-m real` asks for it, and then it may skip.
"""

from __future__ import annotations

import os
from pathlib import Path

import checkout as checkout_files
import pytest

REAL = Path(__file__).parent / "real"
REQUIRED = os.environ.get("SKILLEVAL_REAL") == "1"


@pytest.fixture
def checkout(tmp_path):
    """A fresh copy of this checkout."""
    return checkout_files.copy(tmp_path / "checkout")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Marks the tests in tests/real, and skips them unless somebody asked for them."""
    asked = REQUIRED or "real" in (config.option.markexpr or "")
    for item in items:
        if REAL in item.path.parents:
            item.add_marker("real")
            if not asked:
                reason = "needs a real component: `pytest -m real`, or SKILLEVAL_REAL=1 (.ci/run)"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Where every component has to be there, a test that skips itself has failed."""
    report = yield
    if REQUIRED and item.get_closest_marker("real"):
        _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """The same for a whole file that skips itself while it is imported."""
    report = yield
    if REQUIRED and REAL in collector.path.parents:
        _forbid_skip(report)
    return report


def _forbid_skip(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason}\nSKILLEVAL_REAL=1: a test of a real component may not skip"
