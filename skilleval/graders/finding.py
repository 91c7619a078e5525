"""What a rule found in stored evidence. Owns the noun, the counting, and the way to a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skilleval.graders import UNDECIDED
from skilleval.model import Check, Verdict

METHOD = "deterministic"
_SHOWN = 8


class Finding(NamedTuple):
    """Does the claim hold, and what was seen? None: the stored evidence cannot tell.

    `judged`: may a judge decide then? It may not where what it is shown could only mislead it.
    """

    holds: bool | None
    evidence: str
    judged: bool = True


def verdict(check: Check, finding: Finding, *, partial: bool = False) -> Verdict:
    """A pass, a fail, or a skip by the method `undecided`, which leaves the check to a judge.

    A skip by the rule's own method stays one. `partial`: the check says more than the rule has
    seen, so that nothing has passed yet.
    """
    if finding.holds is None and not finding.judged:
        return Verdict(check.id, "skip", None, finding.evidence, METHOD, check.weight)
    if finding.holds is None or (finding.holds and partial):
        reason = finding.evidence
        if finding.holds:
            reason = f"so far it holds: {reason}; the rest of the assertion needs a judge"
        return Verdict(check.id, "skip", None, reason, UNDECIDED, check.weight)
    if finding.holds:
        return Verdict(check.id, "pass", 1, finding.evidence, METHOD, check.weight)
    return Verdict(check.id, "fail", 0, finding.evidence, METHOD, check.weight)


def is_apart(name: str, text: str) -> bool:
    """Is a text in another one as words of its own, and not as a part of longer ones?"""
    before = r"(?<!\w)" if re.match(r"\w", name) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", name) else ""
    return re.search(f"{before}{re.escape(name)}{after}", text) is not None


def compare(count: int, quantity: tuple[str, int] | None) -> bool:
    """Is it that many? Without a quantity: at least one."""
    op, number = quantity or (">=", 1)
    if op == "==":
        return count == number
    return count >= number if op == ">=" else count <= number


def compare_part(count: int, quantity: tuple[str, int] | None) -> bool | None:
    """Is it that many, where there may be more than were counted? None: it depends on those."""
    op, number = quantity or (">=", 1)
    if op == ">=":
        return True if count >= number else None
    return False if count > number else None


def wanted(quantity: tuple[str, int] | None) -> str:
    """A quantity in words."""
    op, number = quantity or (">=", 1)
    return {"==": "exactly", ">=": "at least", "<=": "at most"}[op] + f" {number}"


def listed(names: Iterable[object]) -> str:
    """Names for a sentence, the first few of many; `none` of none."""
    shown = [repr(str(name)) for name in names]
    if not shown:
        return "none"
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


def together(findings: Sequence[Finding]) -> Finding:
    """Several claims of one sentence: one that does not hold decides, then one nobody knows."""
    for holds in (False, None):
        found = [finding for finding in findings if finding.holds is holds]
        if found:
            evidence = "; ".join(finding.evidence for finding in found)
            return Finding(holds, evidence, all(finding.judged for finding in found))
    return Finding(True, "; ".join(finding.evidence for finding in findings))
