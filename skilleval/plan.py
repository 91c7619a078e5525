"""Which trials a suite needs. Pure: owns the order and the selection, starts nothing."""

from __future__ import annotations

from skilleval.model import Suite, Trial


def trials(suite: Suite, *, repeats: int = 1) -> tuple[Trial, ...]:
    """Case x arm x repeat, in the order of the files: cases outermost, repeats innermost."""
    return tuple(
        Trial(case.id, arm.name, repeat)
        for case in suite.cases
        for arm in suite.arms
        for repeat in range(1, repeats + 1)
    )
