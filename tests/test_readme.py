"""Every console block of README.md is run, and prints what README.md says it prints.

A block begins with ```console and is run in its own fresh copy of the checkout. A line `$ …` is a
command for bash; lines `> …` after it continue it. What follows is its output, stdout and stderr as
they come: `…` alone on a line stands for any lines, and a last line `[exit N]` for the exit code,
which else is 0. A block that begins with ```console no-run is left alone.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from checkout import ROOT

ANY_LINES = "…"
SAMPLE = """# Title

```console
$ first --flag
one
…
[exit 3]
$ cat <<'END'
> text
>
> END
text

```

```python
$ not a console
```
```console no-run
$ rm -rf /
```
"""


class Command(NamedTuple):
    """One command of a block, the lines it has to print, and its exit code."""

    text: str
    output: list[str]
    exit_code: int


class Block(NamedTuple):
    """The commands of a console block; `line` is that of its fence in the file, from 1."""

    line: int
    commands: list[Command]


def blocks(text: str) -> list[Block]:
    """The console blocks of a Markdown text that are to be run."""
    found = []
    for match in re.finditer(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(line, commands(match[1].splitlines())))
    return found


def commands(lines: list[str]) -> list[Command]:
    found: list[Command] = []
    for line in lines:
        if line.startswith("$ "):
            found.append(Command(line[2:], [], 0))
            continue
        assert found, f"a console block starts with a command, `$ …`, and not with {line!r}"
        text, output, _ = found[-1]
        if (line == ">" or line.startswith("> ")) and not output:
            found[-1] = Command(f"{text}\n{line[2:]}", [], 0)
        elif code := re.fullmatch(r"\[exit (\d+)\]", line):
            found[-1] = Command(text, output, int(code[1]))
        else:
            output.append(line)
    return found


def matches(expected: list[str], actual: list[str]) -> bool:
    """Are the lines the expected ones, where `…` is any number of lines?"""
    pattern = "".join(
        r"(.*\n)*" if line == ANY_LINES else re.escape(f"{line}\n") for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def run(command: Command, folder: Path) -> tuple[int, list[str]]:
    """Runs a command as a reader would, with this interpreter as `python3` and `python`."""
    done = subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder,
        env=environment(folder.parent / "bin", folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout.splitlines()


def environment(programs: Path, folder: Path) -> dict[str, str]:
    programs.mkdir(exist_ok=True)
    for name in ("python3", "python"):
        executable(programs / name, f'exec "{sys.executable}" "$@"')
    for name in ("skilleval", "skill-eval"):  # what an installation puts on the PATH
        executable(programs / name, f'PYTHONPATH="{folder}" exec python3 -m skilleval "$@"')
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder.parent), "LC_ALL": "C.UTF-8", "COLUMNS": "80"}


def executable(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def readme() -> str:
    path = ROOT / "README.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.parametrize("block", blocks(readme()), ids=lambda block: f"line {block.line}")
def test_readme_block_prints_what_it_says(block, checkout):
    for command in block.commands:
        code, output = run(command, checkout)
        if not matches(command.output, output) or code != command.exit_code:
            assert [*output, f"[exit {code}]"] == [*command.output, f"[exit {command.exit_code}]"]


def test_readme_has_blocks_that_run_its_first_command():
    run_first = [command.text for block in blocks(readme()) for command in block.commands]
    assert any(text.startswith("python3 scripts/run-evals.py") for text in run_first)


def test_block_is_read_into_commands_with_output_and_exit_code():
    [block] = blocks(SAMPLE)
    assert block.line == 3
    assert block.commands == [
        Command("first --flag", ["one", "…"], 3),
        Command("cat <<'END'\ntext\n\nEND", ["text", ""], 0),
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["a.c"], ["abc"], False),
        (["a"], ["a "], False),
        (["…"], [], True),
        (["a", "…", "d"], ["a", "b", "c", "d"], True),
        (["a", "…", "d"], ["a", "d"], True),
        (["a", "…", "d"], ["a", "b"], False),
        (["a…"], ["ab"], False),
    ],
)
def test_output_matches_line_by_line(expected, actual, same):
    assert matches(expected, actual) == same


def test_command_runs_in_the_copy_with_this_interpreter(checkout):
    show = "import os, sys; print(os.getcwd(), *sys.version_info[:2])"
    code, output = run(Command(f'python3 -c "{show}"; echo no >&2; exit 4', [], 0), checkout)
    assert code == 4
    assert output == [f"{checkout} {sys.version_info[0]} {sys.version_info[1]}", "no"]


def test_installed_command_is_the_one_of_the_copy(checkout):
    (checkout / "skilleval" / "__init__.py").write_text('__version__ = "9.9"\n')
    assert run(Command("skilleval --version", [], 0), checkout) == (0, ["skilleval 9.9"])
