"""What our commands cost, against a bare loop or a bare interpreter. Owns the benchmarks.

A figure is a ratio of CPU time (user and system, of whole processes, as the kernel counts it), so
that it means the same on a fast and on a slow machine; each has a floor that it must not exceed.
For developers: `scripts/bench.py`. Nothing else imports this, and it needs a POSIX system.

To add a benchmark: write a function `(folder, sizes) -> figures`, and name it in `BENCHMARKS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from skilleval import console
from skilleval.errors import SkillevalError, UsageError

EXAMPLES = """examples:
  bench.py                     every benchmark
  bench.py fixtures --json     one of them, with its medians
  bench.py --check             exit with 1 when a figure is over its floor

exit codes: 0 measured; 1 with --check: over a floor; 2 usage error; 3 could not measure
"""
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUN_EVALS = os.path.join(ROOT, "scripts", "run-evals.py")
IDLE = (sys.executable, "-c", "pass")
# what a plain script for the same fixtures would be: the cost that we compare with
BARE_LOOP = """\
import json
import sys
from pathlib import Path

passed = total = 0
for path in sorted(Path(sys.argv[1]).glob("skills/*/evals/tasks.json")):
    for task in json.loads(path.read_text(encoding="utf-8"))["tasks"]:
        answer = (path.parent / "examples" / f"{task['id']}.md").read_text(encoding="utf-8")
        checks = [text in answer for text in task["must_include"]]
        checks += [text not in answer for text in task["must_not_include"]]
        passed += sum(checks)
        total += len(checks)
print(f"{passed}/{total} checks")
sys.exit(passed != total)
"""


class Size(NamedTuple):
    """How many fixtures to make: skills, tasks for each, checks for each task."""

    skills: int
    tasks: int
    checks: int

    @property
    def total(self) -> int:
        return self.skills * self.tasks * self.checks


class Sizes(NamedTuple):
    """What the benchmarks work on, and how often (`pairs`, after a first run that warms up)."""

    pairs: int = 11
    fixtures: Size = Size(50, 20, 4)
    small: Size = Size(50, 20, 10)
    large: Size = Size(125, 40, 20)
    validate: Size = Size(200, 2, 4)


SIZES = Sizes()


class Cost(NamedTuple):
    """What one process took. `peak_mb` is never below the peak of the process that started it."""

    cpu_s: float
    wall_s: float
    peak_mb: float


class Figure(NamedTuple):
    """One measured value and its floor: the most that it may be. `unit` is `ratio` or `peak_mb`."""

    name: str
    value: float
    floor: float
    n: int
    unit: str = "ratio"
    medians: Mapping[str, float] = {}

    @property
    def ok(self) -> bool:
        return self.value <= self.floor


def fixtures(folder: str, sizes: Sizes) -> list[Figure]:
    """Scoring the worked examples of many skills, against the bare loop over the same files."""
    write_skills(folder, sizes.fixtures)
    loop = os.path.join(folder, "bare_loop.py")
    _write(loop, BARE_LOOP)
    ours = (sys.executable, RUN_EVALS, "--root", folder)
    costs = paired(ours, (sys.executable, loop, folder), sizes.pairs)
    peak = max(cost.peak_mb for cost, _ in costs)
    return [
        _ratio("fixtures", costs, 1.5),
        Figure("fixtures-peak", peak, 25.0, sizes.pairs, "peak_mb"),
    ]


def scaling(folder: str, sizes: Sizes) -> list[Figure]:
    """The cost of a check among many, against its cost among few: more skills, tasks and checks."""
    commands = []
    for size in (sizes.large, sizes.small):
        root = os.path.join(folder, str(size.total))
        write_skills(root, size)
        commands.append((sys.executable, RUN_EVALS, "--root", root))
    costs = paired(commands[0], commands[1], sizes.pairs)
    return [_ratio("scaling", costs, 1.3, work=sizes.large.total / sizes.small.total)]


def help_text(folder: str, sizes: Sizes) -> list[Figure]:
    """`skilleval --help`, against an interpreter that does nothing."""
    return [_ratio("help", paired(_skilleval("--help"), IDLE, sizes.pairs), 1.8)]


def validate(folder: str, sizes: Sizes) -> list[Figure]:
    """Validating many skills, as a commit hook does, against an interpreter that does nothing."""
    write_skills(folder, sizes.validate)
    ours = _skilleval("validate", os.path.join(folder, "skills"))
    return [_ratio("validate", paired(ours, IDLE, sizes.pairs), 4.0)]


BENCHMARKS: dict[str, Callable[[str, Sizes], list[Figure]]] = {
    "fixtures": fixtures,
    "scaling": scaling,
    "help": help_text,
    "validate": validate,
}


def main(arguments: Sequence[str] | None = None, sizes: Sizes = SIZES) -> int:
    """Measures, prints a line for each figure, or JSON, and returns the exit code."""
    parsed = _parse(arguments)
    try:
        figures = [figure for name in _chosen(parsed.names) for figure in measured(name, sizes)]
    except SkillevalError as error:
        console.note(f"error: {error}")
        return error.exit_code
    console.write(as_json(figures) if parsed.json else as_lines(figures))
    return exit_code(figures, parsed.check)


def exit_code(figures: Sequence[Figure], check: bool) -> int:
    """1 if the floors are to be checked and a figure is over its own, else 0."""
    return 1 if check and not all(figure.ok for figure in figures) else 0


def _parse(arguments: Sequence[str] | None) -> Any:
    import argparse

    parser = argparse.ArgumentParser(
        prog="bench.py",
        description="Measures what commands cost: ratios against floors, one line each.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help="an object by figure name")
    parser.add_argument("--check", action="store_true", help="exit with 1 when over a floor")
    return parser.parse_args(arguments)


def _chosen(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in BENCHMARKS:
            raise UsageError(f"unknown benchmark {name!r}; choose from: {', '.join(BENCHMARKS)}")
    return list(dict.fromkeys(names)) or list(BENCHMARKS)


def measured(name: str, sizes: Sizes) -> list[Figure]:
    """Runs one benchmark in a temporary folder. Raises `SkillevalError` if a command fails."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="skilleval-bench-") as folder:
        return BENCHMARKS[name](folder, sizes)


def as_lines(figures: Sequence[Figure]) -> str:
    """`name  value  floor  ok|over`, aligned."""
    width = max(len(figure.name) for figure in figures)
    return "\n".join(
        f"{figure.name:<{width}}  {figure.value:6.2f}  {figure.unit:<7}  floor {figure.floor:<5g}"
        f"  {'ok' if figure.ok else 'over'}"
        for figure in figures
    )


def as_json(figures: Sequence[Figure]) -> str:
    """One object: figure name -> its value under its unit, floor, ok, n and medians in ms."""
    import json

    return json.dumps(
        {
            figure.name: {
                figure.unit: round(figure.value, 3),
                "floor": figure.floor,
                "ok": figure.ok,
                "n": figure.n,
                **{key: round(value, 2) for key, value in figure.medians.items()},
            }
            for figure in figures
        },
        indent=2,
    )


def paired(ours: Sequence[str], theirs: Sequence[str], pairs: int) -> list[tuple[Cost, Cost]]:
    """Costs of two commands in turn (A B A B …), so that a busy moment of the machine hits both.

    Each runs once before, for the bytecode and file caches. Raises `SkillevalError` if one fails.
    """
    measure(ours), measure(theirs)
    return [(measure(ours), measure(theirs)) for _ in range(pairs)]


def measure(command: Sequence[str]) -> Cost:
    """Runs a command, its output dropped. Raises `SkillevalError` unless it exits with 0."""
    import time

    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    environ = {**os.environ, "PYTHONPATH": ROOT, "PYTHONHASHSEED": "0"}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else every start would compile everything
    started = time.perf_counter()
    child = os.posix_spawn(command[0], [*command], environ, file_actions=silent)
    # not subprocess: only wait4 tells what this one child used
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    if code := os.waitstatus_to_exitcode(status):
        raise SkillevalError(f"{' '.join(command)}: exit code {code}, so there is nothing to time")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return Cost(used.ru_utime + used.ru_stime, seconds, used.ru_maxrss * unit / 1e6)


def _ratio(
    name: str, costs: Sequence[tuple[Cost, Cost]], floor: float, work: float = 1.0
) -> Figure:
    value = median([ours.cpu_s / theirs.cpu_s for ours, theirs in costs]) / work
    medians = {
        "median_ms": median([ours.cpu_s for ours, _ in costs]) * 1000,
        "against_median_ms": median([theirs.cpu_s for _, theirs in costs]) * 1000,
        "wall_median_ms": median([ours.wall_s for ours, _ in costs]) * 1000,
    }
    return Figure(name, value, floor, len(costs), medians=medians)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _skilleval(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "skilleval", *arguments)


def write_skills(root: str, size: Size) -> None:
    """Makes `root`/skills with that many valid skills, every worked example of which passes.

    Of the checks of a task one in four forbids a text; the others demand one.
    """
    for number in range(size.skills):
        name = f"skill-{number:04}"
        folder = os.path.join(root, "skills", name)
        tasks = [_task(number, position, size.checks) for position in range(size.tasks)]
        calls = [call for task in tasks for call in task["must_include"]]
        _write(os.path.join(folder, "SKILL.md"), _SKILL.format(name=name, number=number))
        _write(os.path.join(folder, "references", "calls.md"), _listed("Calls", calls))
        _write(os.path.join(folder, "evals", "tasks.json"), _as_fixture(name, tasks))
        for task in tasks:
            example = os.path.join(folder, "evals", "examples", f"{task['id']}.md")
            _write(example, _listed(_PROSE, task["must_include"]))


_SKILL = """---
name: {name}
description: Prepares payloads for the queue {number}. Use when a payload has to be queued.
---
# Queue {number}

Build the payload, hand it to the right call, and wait for its receipt.
The calls are listed in [the reference](references/calls.md).
"""
_PROSE = "I looked at the queue first, because its state decides which of the calls is safe.\n" * 8


def _task(skill: int, position: int, checks: int) -> dict[str, Any]:
    forbidden = checks // 4
    name = f"{skill}_{position}"
    return {
        "id": f"queue-payload-{position:03}",
        "prompt": f"Queue the payload number {position} and tell me how you did it.",
        "must_include": [f"enqueue_{name}_{i}(payload)" for i in range(checks - forbidden)],
        "must_not_include": [f"discard_{name}_{i}(payload)" for i in range(forbidden)],
    }


def _listed(text: str, calls: Sequence[str]) -> str:
    return f"{text}\n\n" + "".join(f"- `{call}`\n" for call in calls)


def _as_fixture(name: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    import json

    return json.dumps({"skill": name, "tasks": tasks}, indent=2) + "\n"


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
