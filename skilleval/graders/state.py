"""Grades by what changed: files, git, and what the agent said at the end (seed 002).

Decides from the outcome alone, so that stored trials can be graded again without their workspace.
What that cannot tell is left undecided: a skip by the method `undecided`, and never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.assertions.rule import INVERTED, Rule, from_params
from skilleval.graders import repository, workfiles
from skilleval.graders.finding import Finding, together, verdict
from skilleval.model import Check, Evidence, Graded, Outcome
from skilleval.tools import Tools


def grade(checks: Sequence[Check], evidence: Evidence, tools: Tools) -> Graded:
    """A verdict on each check by the rule in its params (see `assertions.check`)."""
    verdicts = []
    for check in checks:
        rule = from_params(check.params)
        finding = decide(rule, check.negate, evidence.outcome)
        # a denial of the whole sentence needs no more than that its beginning does not hold
        verdicts.append(verdict(check, finding, partial=rule.partial and not check.negate))
    return Graded(tuple(verdicts))


def decide(rule: Rule, inverted: bool, outcome: Outcome) -> Finding:
    """The finding on a rule. `inverted`: nothing may have appeared of what it is about."""
    if rule.kind == "all":
        return together([decide(part, inverted, outcome) for part in rule.parts])
    if rule.kind in INVERTED:
        return repository.decide(rule, rule.negated or inverted, outcome)
    if rule.kind == "contains":
        return workfiles.decide_contains(rule, outcome)
    if rule.kind == "json":
        return workfiles.decide_json(rule, outcome)
    return workfiles.decide_file(rule, outcome)
