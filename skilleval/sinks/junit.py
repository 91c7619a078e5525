"""The report on suites as JUnit XML, for the test tabs of CI systems (spec/services/formats).

A test suite is an arm, a test case a check of a trial, and each trial has one more, `agent run`,
with its time. What the arm without the skill does not pass is skipped and not failed: nobody broke
it. Failure = the check is not met; error = the agent or the judge gave no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skilleval.model import Verdict
from skilleval.sinks import view as views
from skilleval.sinks.view import View
from skilleval.stats.arms import Row, Side, sides

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

RUN = "agent run"
MESSAGE_LIMIT = 300
GRADED = "the checks are graded by what the agent did until then"


def render(runs: Sequence[View]) -> str:
    """One document for all runs; valid XML 1.0 whatever the texts hold."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", name="skilleval")
    for view in runs:
        for side in sides(view.report):
            root.append(_suite(view, side))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", _seconds(sum(float(suite.get("time", "0")) for suite in root)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(view: View, side: Side) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    suite = Element("testsuite", name=views.line(f"{view.title}: {side.name}"))
    if timestamp := str(view.meta.get("timestamp") or ""):
        suite.set("timestamp", views.line(timestamp.removesuffix("Z")))
    properties = SubElement(suite, "properties")
    for key, value in (("agent", side.arm.agent), ("model", side.arm.model)):
        SubElement(properties, "property", name=key, value=views.line(value))
    for row in side.rows:
        _trial(suite, view, side, row)
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(test.find(tag) is not None for test in tests)))
    suite.set("time", _seconds(sum(row.result.outcome.seconds or 0 for row in side.rows)))
    return suite


def _trial(suite: Element, view: View, side: Side, row: Row) -> None:
    from xml.etree.ElementTree import SubElement

    label = views.trial_label(side, row, repeated=views.is_repeated(view))
    place = {
        "classname": views.line(f"{view.report.suite.name}.{row.case.id}.{label}"),
        "file": views.line(row.case.source or view.report.suite.path),
    }
    seconds = _seconds(row.result.outcome.seconds or 0)
    run = SubElement(suite, "testcase", {"name": RUN, "time": seconds, **place})
    if row.state == "errored":
        SubElement(run, "error", message=views.line(views.tally(row)), type=_kind(row))
    elif row.result.outcome.refused:
        SubElement(run, "skipped", message=views.failure(row.result))
    elif how := views.mark(row):
        SubElement(run, "system-out").text = "\n".join((f"{how}: {GRADED}", *views.remarks(row)))
    for check, verdict in views.checked(row):
        test = SubElement(suite, "testcase", {"name": views.line(check.text), "time": "0", **place})
        if row.state == "errored":
            SubElement(test, "skipped", message="the agent run failed")
        else:
            _verdict(test, verdict, baseline=not side.arm.with_skill)


def _kind(row: Row) -> str:
    return row.result.outcome.failure or "agent"


def _verdict(test: Element, verdict: Verdict, *, baseline: bool) -> None:
    from xml.etree.ElementTree import SubElement

    if verdict.status == "pass":
        return
    message = views.line(verdict.reason, MESSAGE_LIMIT)
    if verdict.status == "skip" or baseline:
        seen = {"fail": "not met without the skill", "error": "not decided"}.get(verdict.status)
        SubElement(test, "skipped", message=f"{seen}: {message}" if seen else message)
        return
    tag = {"fail": "failure", "error": "error"}[verdict.status]
    SubElement(test, tag, message=message, type=views.line(verdict.method)).text = views.plain(
        verdict.reason
    )


def _seconds(value: float) -> str:
    return f"{value:.3f}"
