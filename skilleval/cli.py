"""The command line. Owns the table of commands and the exit codes of what goes wrong.

A command is a module in `commands/` with `configure(parser)` and `run(arguments) -> exit code`. It
is imported when it is called: `--help` reads this table and loads nothing else.
"""

from __future__ import annotations

import gc
import os
import sys

from skilleval import __version__, console
from skilleval.errors import SkillevalError

TYPE_CHECKING = False  # `typing` itself costs 2 ms, which `--help` need not pay
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "run-evals": ("skilleval.commands.run_evals", "score worked examples, or answers, of fixtures"),
    "validate": ("skilleval.commands.validate", "check fixtures and skills; report every problem"),
    "run": ("skilleval.commands.run", "run agents on a suite, grade what they did, and report"),
    "versions": ("skilleval.commands.versions", "build versions.json from the newest reports"),
    "schema": ("skilleval.commands.schema", "print the JSON Schema of a file format"),
    "report": ("skilleval.commands.report", "show the results of runs, with the evidence"),
    "compare": ("skilleval.commands.compare", "show two runs of a suite side by side"),
    "grade": ("skilleval.commands.grade", "grade a run again from what is stored of it"),
    "list": ("skilleval.commands.list_suites", "list suites and skills below a folder"),
    "init": ("skilleval.commands.init", "make a new skill with its first suite"),
    "cleanup": ("skilleval.commands.cleanup", "remove what runs left outside of their folders"),
    "check-eval-weights": ("skilleval.commands.check_eval_weights", "do the weights sum to 100?"),
}
USAGE, BUG, INTERRUPTED = 2, 70, 130
DEFAULT_WIDTH = 78


def main(arguments: Sequence[str] | None = None, program: str = "skilleval") -> int:
    """Runs one command and returns its exit code. Raises nothing."""
    console.prepare()
    # a command makes many small objects that live until it ends: looking for garbage among them,
    # while it works and again at exit, is a tenth of its time
    gc.set_threshold(100_000, 50, 50)
    try:
        return _dispatch(list(sys.argv[1:] if arguments is None else arguments), program)
    except SkillevalError as error:
        console.note(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        console.note("interrupted")
        return INTERRUPTED
    except Exception:  # the last resort: our own bug, told as one
        import traceback

        console.note(traceback.format_exc() + f"this is a bug in skilleval {__version__}")
        return BUG
    finally:
        gc.freeze()


def _dispatch(arguments: list[str], program: str) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        console.write(_overview())
        return 0
    if arguments[0] in ("-V", "-v", "--version"):
        console.write(f"skilleval {__version__}")
        return 0
    name = arguments[0]
    if name not in COMMANDS:
        return _unknown(name)
    return _command(name, arguments[1:], program)


def _command(name: str, arguments: list[str], program: str) -> int:
    import argparse
    from functools import partial
    from importlib import import_module

    command = import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(
        prog=f"{program} {name}" if program == "skilleval" else program,
        description=command.__doc__,
        epilog=command.EXAMPLES,
        # with a width of its own it does not load `shutil` to ask the terminal for one
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=_width()),
        allow_abbrev=False,
    )
    command.configure(parser)
    try:
        parsed = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed its message already
        return stop.code if isinstance(stop.code, int) else USAGE
    parsed.command_line = _typed(name, arguments)
    return int(command.run(parsed))


def _typed(name: str, given: list[str]) -> list[str]:
    """The command line as somebody typed it, to be typed again with more at its end."""
    if given != sys.argv[len(sys.argv) - len(given) :]:  # it is a program that calls us
        return ["skilleval", name, *given]
    before = sys.orig_argv[: len(sys.orig_argv) - len(given)]
    folder, script = os.path.split(sys.argv[0])
    if sys.argv[0] in before and folder in os.environ.get("PATH", "").split(os.pathsep):
        # installed: the interpreter in front of it is its first line's
        return [script, *before[before.index(sys.argv[0]) + 1 :], *given]
    return [*before, *given]


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    try:
        known = int(columns) if columns.isdecimal() else os.get_terminal_size(1).columns
    except OSError:  # stdout is no terminal
        known = 0
    return max(known, 40) - 2 if known else DEFAULT_WIDTH


def _overview() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    return f"""skilleval {__version__}: does an agent skill work, and how sure are we?

usage: skilleval COMMAND [...]

commands:
{rows}

`skilleval COMMAND --help` shows a command's options with examples.

exit codes: 0 at or above the gate; 1 below it, or invalid fixtures; 2 usage error;
3 could not measure; 70 a bug of ours; 130 interrupted
"""


def _unknown(name: str) -> int:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of: {', '.join(COMMANDS)}"
    console.note(f"error: unknown command {name!r}; {hint}")
    return USAGE
