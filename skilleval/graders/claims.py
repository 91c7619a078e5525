"""Decides any rule from the outcome alone. Owns which module decides which kind, and the verdicts.

Both graders of rules, of what is left and of what was done, come here: one sentence may ask both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilleval.assertions.rule import INVERTED, TRACED, Rule, from_params
from skilleval.graders import activity, checkout, contents, pushes, repository, workfiles
from skilleval.graders.finding import Finding, compare, listed, together, verdict, wanted
from skilleval.model import Check, Evidence, Graded, Outcome

NO_SKILL = "there is no skill to use in this arm"
_DECIDERS = {
    "head": checkout.decide,
    "deleted_branch": checkout.decide,
    "status": checkout.decide,
    "contains": contents.decide,
    "json": contents.decide,
    "key": contents.decide,
    "length": contents.decide,
    "rename": workfiles.decide_rename,
    "file": workfiles.decide_file,
    "folder": workfiles.decide_file,
}


def grade(checks: Sequence[Check], evidence: Evidence) -> Graded:
    """A verdict on each check by the rule in its params (see `assertions.check`)."""
    rules = [from_params(check.params) for check in checks]
    outcome = evidence.outcome
    asked = [leaf for rule in rules for leaf in _leaves(rule) if leaf.kind in (*TRACED, "push")]
    names = {name for leaf in asked for name in leaf.names if leaf.kind == "command"}
    names |= {"git push" for leaf in asked if leaf.kind == "push"}
    record = activity.recorded(outcome, names) if asked else activity.Record(None)
    verdicts = []
    for check, rule in zip(checks, rules, strict=True):
        finding = _decide(rule, check.negate, outcome, record)
        if evidence.arm and not evidence.arm.with_skill and _is_of_skill(rule):
            # else every skill would be an improvement on a control that cannot use it
            finding = Finding(None, NO_SKILL, judged=False)
        # a denial of the whole sentence needs no more than that its beginning does not hold
        verdicts.append(verdict(check, finding, partial=rule.partial and not check.negate))
    return Graded(tuple(verdicts))


def _decide(rule: Rule, inverted: bool, outcome: Outcome, record: activity.Record) -> Finding:
    """The finding on a rule. `inverted`: nothing may have appeared of what it is about."""
    if rule.parts:
        return together([_decide(part, inverted, outcome, record) for part in rule.parts])
    if rule.kind in INVERTED:
        absent = rule.negated or inverted
        found = repository.decide(rule, absent, outcome)
        nothing = rule.kind == "push" and found.holds is absent
        return _unless_untraced(found, rule, outcome, record) if nothing else found
    if rule.kind in TRACED:
        return activity.decide(rule, outcome, record)
    if rule.kind == "exit_code":
        return _exit_code(rule, outcome)
    return _DECIDERS[rule.kind](rule, outcome)


def _unless_untraced(
    found: Finding, rule: Rule, outcome: Outcome, record: activity.Record
) -> Finding:
    """That nothing is known to be pushed, if it was not pushed to where nobody looks."""
    remotes = outcome.git_states[1].get("remote_names", ())
    elsewhere = [
        push.to
        for push in pushes.untraced(record.segments or (), remotes)
        if not (rule.names and push.branches) or {*rule.names} & {*push.branches}
    ]
    if not elsewhere:
        return found
    why = f"a push to {listed(elsewhere)} leaves no trace in the repository"
    return Finding(None, f"{found.evidence}; {why}")


def _is_of_skill(rule: Rule) -> bool:
    return any(leaf.kind == "skill" for leaf in _leaves(rule))


def _leaves(rule: Rule) -> Iterator[Rule]:
    if not rule.parts:
        yield rule
    for part in rule.parts:
        yield from _leaves(part)


def _exit_code(rule: Rule, outcome: Outcome) -> Finding:
    if outcome.exit_code is None:
        return Finding(None, "with what code the agent's program ended is not known")
    seen = f"the agent's program ended with {outcome.exit_code}; asked for {wanted(rule.quantity)}"
    return Finding(compare(outcome.exit_code, rule.quantity) is not rule.negated, seen)
