"""What a run of a suite would start, for `--dry-run`: as text, and as JSON for every format.

Owns the words and the fields; which trials there are, `plan` says.
"""

from __future__ import annotations

from skilleval import judging, plan, writing
from skilleval.model import Suite
from skilleval.plaintext import counted
from skilleval.redaction import redact
from skilleval.stats.arms import names


def render(suite: Suite, repeats: int) -> str:
    """The arms, the number of agent runs, and what a judge is asked."""
    arms_of = zip(names(suite.arms), suite.arms, strict=True)
    rows = [f"  {name}: {arm.model or 'its own model'}" for name, arm in arms_of]
    count = counted(plan.count(suite, repeats=repeats), "agent run")
    cases, arms = counted(len(suite.cases), "case"), counted(len(suite.arms), "arm")
    asked = counted(judging.asked(suite), "assertion")
    judge = f"judge {suite.judge['model']}" if suite.judge else "no judge"
    return "\n".join(
        [
            suite.path,
            *rows,
            f"{cases} x {arms} x {repeats} = {count}",
            f"for the judge: {asked} of the cases ({judge})",
        ]
    )


def document(suite: Suite, repeats: int) -> str:
    """The same as JSON, with the cases. A model of null is the agent's own; so is no judge null.

    A case has the `agent` that it needs whatever the arm says, and why it is `broken`, if it is.
    """
    cases = [
        {
            "id": case.id,
            "checks": len(case.checks),
            "judged": sum(check.grader == "judge" for check in case.checks),
            "agent": case.agent or None,
            "broken": case.broken or None,
        }
        for case in suite.cases
    ]
    arms = [
        {
            "name": arm.name,
            "agent": arm.agent,
            "model": arm.model or None,
            "with_skill": arm.with_skill,
        }
        for arm in suite.arms
    ]
    judge = {
        "model": suite.judge.get("model") or None,
        "base_url": redact(str(suite.judge.get("base_url") or ""), ()) or None,
    }
    return writing.as_json(
        {
            "suite": suite.path,
            "skill": suite.skill or None,
            "cases": cases,
            "arms": arms,
            "repeats": repeats,
            "trials": plan.count(suite, repeats=repeats),
            "judge": judge if suite.judge else None,
        }
    )
