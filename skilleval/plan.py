"""Which trials a suite needs. Pure: owns the order and the selection, starts nothing."""

from __future__ import annotations

from collections.abc import Collection

from skilleval.errors import UsageError
from skilleval.model import Suite, Trial

# more than anybody waits for or pays: 1000 cases in two arms, 50 times
MOST_TRIALS = 100_000


def count(suite: Suite, *, repeats: int = 1) -> int:
    """How many trials that makes. Raises `UsageError` for more than one run may have."""
    found = len(suite.cases) * len(suite.arms) * repeats
    if found > MOST_TRIALS:
        raise UsageError(
            f"{len(suite.cases)} cases x {len(suite.arms)} arms x {repeats} runs of each are"
            f" {found} trials, and a run has at most {MOST_TRIALS}: lower --runs, or take a part of"
            " the cases with --case or --shard"
        )
    return found


def trials(suite: Suite, *, repeats: int = 1) -> tuple[Trial, ...]:
    """Case x agent x repeat x arm, in the order of the files (seed 002).

    The trials with and without the skill take turns: a run that ends early has both. Raises
    `UsageError` if there are too many (see `count`).
    """
    count(suite, repeats=repeats)
    agents = dict.fromkeys((arm.agent, arm.model) for arm in suite.arms)
    return tuple(
        Trial(case.id, arm.name, repeat)
        for case in suite.cases
        for agent in agents
        for repeat in range(1, repeats + 1)
        for arm in suite.arms
        if (arm.agent, arm.model) == agent
    )


def selected(suite: Suite, wanted: Collection[str]) -> Suite:
    """The suite with the cases of these ids, all of them for none. Raises `UsageError`."""
    known = [case.id for case in suite.cases]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(f"unknown case {', '.join(unknown)}; there are: {', '.join(known)}")
    return suite._replace(cases=tuple(c for c in suite.cases if not wanted or c.id in wanted))


def shard(suite: Suite, part: str) -> Suite:
    """The suite with every N-th case from the I-th on, for a `part` `I/N`. Raises `UsageError`."""
    number, slash, count = part.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UsageError(f"--shard {part}: write I/N, such as 1/4")
    return suite._replace(cases=suite.cases[int(number) - 1 :: int(count)])


def agents(suite: Suite) -> list[str]:
    """The names of all agents that the trials need, sorted."""
    names = {arm.agent for arm in suite.arms} | {case.agent for case in suite.cases}
    return sorted(names - {""})
