"""Limits that a summary must keep. Owns the comparison and the exit code it leads to."""

from __future__ import annotations

from collections.abc import Iterable

from skilleval.model import Gate, Summary

PASSED, BELOW, NOT_MEASURED = 0, 1, 3


def failed(gates: Iterable[Gate], summary: Summary) -> tuple[Gate, ...]:
    """The gates that the summary does not keep. A figure that is unknown keeps no gate."""
    return tuple(gate for gate in gates if not _kept(gate, getattr(summary, gate.metric)))


def _kept(gate: Gate, value: float | None) -> bool:
    if value is None:
        return False
    return bool(value >= gate.limit if gate.op == ">=" else value <= gate.limit)


def exit_code(gates: Iterable[Gate], summary: Summary) -> int:
    """0 at or above every gate, 1 below one, 3 when nothing was measured at all."""
    if summary.score is None:
        return NOT_MEASURED
    return BELOW if failed(gates, summary) else PASSED
