"""What our commands cost, against a bare loop or a bare interpreter. Owns the benchmarks.

A figure is a ratio of CPU time (user and system, of whole processes, as the kernel counts it), so
that it means the same on a fast and on a slow machine; each has a floor that it must not exceed.
Where things happen at once, it is one of time that has passed, and a busy machine shows in it.
For developers: `scripts/bench.py`. Nothing else imports this, and it needs a POSIX system.

To add a benchmark: write a function `(folder, sizes) -> figures`, and name it in `BENCHMARKS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from skilleval import console
from skilleval.bench.workloads import (
    BARE_LOOP,
    BARE_TRIALS,
    Size,
    write_file,
    write_scenarios,
    write_skills,
    write_suite,
)
from skilleval.errors import SkillevalError, UsageError

EXAMPLES = """examples:
  bench.py                     every benchmark
  bench.py fixtures --json     one of them, with its medians
  bench.py --check             exit with 1 when a figure is over its floor

exit codes: 0 measured; 1 with --check: over a floor; 2 usage error; 3 could not measure
"""
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUN_EVALS = os.path.join(ROOT, "scripts", "run-evals.py")
IDLE = (sys.executable, "-c", "pass")


class Sizes(NamedTuple):
    """What the benchmarks work on, and how often (`pairs`, after a first run that warms up)."""

    pairs: int = 11
    fixtures: Size = Size(50, 20, 4)
    small: Size = Size(50, 20, 10)
    large: Size = Size(125, 40, 20)
    validate: Size = Size(200, 2, 4)
    trials: int = 100
    at_once: int = 50
    agent_s: float = 1.0


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
    write_file(loop, BARE_LOOP)
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


def trials(folder: str, sizes: Sizes) -> list[Figure]:
    """Trials of an agent that does nothing, against a bare loop over the same workspace."""
    path = write_suite(folder, sizes.trials)
    loop = os.path.join(folder, "bare_trials.py")
    write_file(loop, BARE_TRIALS)
    fixtures = os.path.join(os.path.dirname(path), "files")
    ours = _skilleval("run", path, "--agent", "command", "--agent-command", "true", "--quiet")
    ours += ("--no-baseline", "--workspace", os.path.join(folder, "runs"))
    bare = (sys.executable, loop, fixtures, str(sizes.trials))
    return [_ratio("trials", paired(ours, bare, max(1, sizes.pairs // 3)), 2.0)]


def rounds(folder: str, sizes: Sizes) -> list[Figure]:
    """The time that trials of an agent that only waits take at once, against ideal rounds of it."""
    path = write_suite(folder, sizes.trials)
    agent = ("--agent", "command", "--agent-command", "sleep", str(sizes.agent_s), "--quiet")
    ours = _skilleval("run", path, *agent, "--concurrency", str(sizes.at_once), "--no-baseline")
    ours += ("--workspace", os.path.join(folder, "runs"))
    ideal_s = -(-sizes.trials // sizes.at_once) * sizes.agent_s
    measure(ours)
    walls = [measure(ours).wall_s for _ in range(max(1, sizes.pairs // 3))]
    medians = {"wall_median_ms": median(walls) * 1000, "against_median_ms": ideal_s * 1000}
    return [Figure("rounds", median(walls) / ideal_s, 1.2, len(walls), medians=medians)]


def judges(folder: str, sizes: Sizes) -> list[Figure]:
    """The time that six scenarios with a slow judge take at once, against that of one."""
    skill = write_scenarios(folder, 6)
    runs = ("--quiet", "--workspace", os.path.join(folder, "runs"), "--concurrency", "6")
    environ = {"PATH": os.pathsep.join((folder, os.environ["PATH"]))}
    six = _skilleval("run", skill, *runs)
    one = _skilleval("run", os.path.join(skill, "evals", "scenario-0"), *runs)
    costs = paired(six, one, max(1, sizes.pairs // 3), environ)
    value = median([ours.wall_s / theirs.wall_s for ours, theirs in costs])
    return [Figure("judges", value, 1.6, len(costs))]


BENCHMARKS: dict[str, Callable[[str, Sizes], list[Figure]]] = {
    "fixtures": fixtures,
    "scaling": scaling,
    "help": help_text,
    "validate": validate,
    "trials": trials,
    "rounds": rounds,
    "judges": judges,
}


def main(arguments: Sequence[str] | None = None, sizes: Sizes = SIZES) -> int:
    """Measures, prints a line for each figure, or JSON, and returns the exit code."""
    parsed = _parse(arguments)
    try:
        figures = [figure for name in _chosen(parsed.names) for figure in measured(name, sizes)]
    except SkillevalError as error:
        console.note(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        console.note("interrupted")
        return 130
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


def paired(
    ours: Sequence[str],
    theirs: Sequence[str],
    pairs: int,
    environ: Mapping[str, str] | None = None,
) -> list[tuple[Cost, Cost]]:
    """Costs of two commands in turn (A B A B …), so that a busy moment of the machine hits both.

    Each runs once before, for the bytecode and file caches. Raises `SkillevalError` if one fails.
    """
    measure(ours, environ), measure(theirs, environ)
    return [(measure(ours, environ), measure(theirs, environ)) for _ in range(pairs)]


def measure(command: Sequence[str], environ: Mapping[str, str] | None = None) -> Cost:
    """Runs a command, its output dropped. Raises `SkillevalError` unless it exits with 0."""
    import time

    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    environ = {**os.environ, "PYTHONPATH": ROOT, "PYTHONHASHSEED": "0", **(environ or {})}
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


def _skilleval(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "skilleval", *arguments)
