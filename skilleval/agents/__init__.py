"""Agents: each turns a case into an outcome. Owns the contract and the table of names.

An agent is a module; it may start a program, ask an endpoint, or read an answer that exists.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Protocol, cast

from skilleval.errors import UsageError
from skilleval.model import Arm, Case, Outcome, Suite
from skilleval.tools import Tools

AGENTS = {
    "answers": "skilleval.agents.answers",
    "claude-code": "skilleval.agents.claude_code",
    "codex": "skilleval.agents.codex",
    "command": "skilleval.agents.command",
    "fake": "skilleval.agents.fake",
    "http": "skilleval.agents.http",
    "kiro": "skilleval.agents.kiro",
    "opencode": "skilleval.agents.opencode",
}


class Agent(Protocol):
    """Runs one case in one arm, and says beforehand why it could not run a suite here.

    `OPTIONS` are those options of a suite's arm that it heeds and others do not; None if it runs no
    suites, in a workspace with a skill installed or without. With `max_budget_usd` it
    keeps to that, or says what a trial has cost, so that a budget of the run can count it.
    """

    @property
    def OPTIONS(self) -> frozenset[str] | None: ...

    def run(self, case: Case, arm: Arm, tools: Tools) -> Outcome: ...

    def preflight(self, suite: Suite, tools: Tools) -> tuple[str, ...]: ...


@cache
def get(name: str) -> Agent:
    """The agent of that name. Raises `UsageError` listing the names there are."""
    if name not in AGENTS:
        raise UsageError(f"unknown agent {name!r}; choose one of: {', '.join(sorted(AGENTS))}")
    return cast(Agent, import_module(AGENTS[name]))


def of_suites(option: str = "") -> tuple[str, ...]:
    """The names of the agents that run suites, and heed that option of an arm; sorted."""
    known = {name: get(name).OPTIONS for name in sorted(AGENTS)}
    return tuple(n for n, own in known.items() if own is not None and (not option or option in own))
