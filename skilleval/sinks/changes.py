"""Two runs side by side: as text, as Markdown, and as JSON in the keys of seed 002's original."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from skilleval.sinks import markdown, suites
from skilleval.sinks import view as views
from skilleval.stats.arms import ArmStatistics
from skilleval.stats.changes import ArmChange, Changes, CheckChange

ABSENT = "-"


def render(found: Changes, names: tuple[str, str]) -> str:
    """A table of the configurations, then which checks fail more or less often."""
    lines = suites.table(_rows(found, names))
    for heading, rest in _sections(found):
        lines += ["", heading, *(f"  {text}" for text in rest)]
    return "\n".join(lines) + "\n"


def as_markdown(found: Changes, names: tuple[str, str]) -> str:
    """The same as Markdown."""
    sections = (part for each in _sections(found) for part in markdown.section(*each))
    return markdown.table(_rows(found, names)) + "".join(sections)


def _rows(found: Changes, names: tuple[str, str]) -> list[tuple[str, ...]]:
    headings = ("Configuration", *map(views.line, names), "Change", "Over the same cases")
    return [headings, *(_row(arm) for arm in found.arms)]


def _row(arm: ArmChange) -> tuple[str, ...]:
    means = [each.pass_rate.mean if each else None for each in (arm.before, arm.after)]
    change = ABSENT
    if means[0] is not None and means[1] is not None:
        change = views.signed_percent(means[1] - means[0])
    return (_shown(arm), *map(_rate, (arm.before, arm.after)), change, _paired(arm))


def _shown(arm: ArmChange) -> str:
    """The configuration as every report calls it; its own name is a key of benchmark.json."""
    statistics = arm.after or arm.before
    return statistics.name if statistics else arm.name


def _rate(arm: ArmStatistics | None) -> str:
    if arm is None or not arm.trials:
        return ABSENT
    return f"{views.percent(arm.pass_rate.mean)} ({arm.graded}/{arm.trials})"


def _paired(arm: ArmChange) -> str:
    if arm.delta is None or not arm.delta.effect.pairs:
        return ABSENT
    effect, controls = arm.delta.effect, arm.delta.controls
    rest = f"; negative controls {views.signed_percent(controls.effect)}" if controls else ""
    return f"{views.signed_percent(effect.effect)}, n={effect.pairs}: {effect.text}{rest}"


def _sections(found: Changes) -> Iterator[tuple[str, list[str]]]:
    names = {arm.name: _shown(arm) for arm in found.arms}
    sections = {
        "checks that fail more or less often": [
            _check(row, names[row.name]) for row in found.checks
        ],
        "cases with another prompt or other checks": list(map(views.line, found.edited)),
        "cases only in the later run": list(map(views.line, found.added)),
        "cases only in the earlier run": list(map(views.line, found.removed)),
    }
    yield from ((heading, lines) for heading, lines in sections.items() if lines)


def _check(row: CheckChange, name: str) -> str:
    place = f"{name}: {views.line(row.case_id)}: {views.line(row.text, 120)}"
    return (
        f"failed {row.before_failed}/{row.before_n}, now {row.after_failed}/{row.after_n}: {place}"
    )


def document(found: Changes, workspace: str, names: tuple[str, str]) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "workspace": workspace,
        "iteration_a": names[0],
        "iteration_b": names[1],
        "rows": [_values(arm) for arm in found.arms],
        "checks": [row._asdict() for row in found.checks],
        "cases_edited": list(found.edited),
        "cases_added": list(found.added),
        "cases_removed": list(found.removed),
    }


def _values(arm: ArmChange) -> dict[str, Any]:
    a, b, delta = arm.before, arm.after, arm.delta
    rate_a, rate_b = a and a.pass_rate.mean, b and b.pass_rate.mean
    return {
        "configuration": arm.name,
        "pass_rate_a": rate_a,
        "pass_rate_b": rate_b,
        "pass_rate_delta": None if rate_a is None or rate_b is None else rate_b - rate_a,
        "full_pass_a": a and a.full_pass_rate,
        "full_pass_b": b and b.full_pass_rate,
        "pass_at_k_a": a and a.any_of_k,
        "pass_at_k_b": b and b.any_of_k,
        "time_delta": delta and delta.seconds,
        "tokens_delta": delta and delta.tokens,
        "cost_delta": delta and delta.cost_usd,
        "paired": delta and delta.effect._asdict(),
    }


def as_json(found: Changes, workspace: str, names: tuple[str, str]) -> str:
    """The document as text."""
    return json.dumps(document(found, workspace, names), indent=2) + "\n"
