"""The prompt of a scenario: the skill, its task, its inputs (seed 000). Owns its bytes.

The order of the parts, what separates them and what is left out is that of spec/scenarios section
5, for runs with and without a sandbox alike. It does not own how a prompt reaches an agent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from skilleval.errors import SkillevalError
from skilleval.reading import markdown, textfile
from skilleval.skill import FOLDERS, INPUTS, MANIFEST, TASK

# in references/ itself only: credits are of no use to an agent
LEFT_OUT = {"references": "ACKNOWLEDGMENTS.md"}


class Unreadable(SkillevalError):
    """A file without which there is no prompt. The message names it and says why."""


class File(NamedTuple):
    """A file below a folder: `name` is its path from there, with forward slashes."""

    name: str
    path: str


def of_skill(folder: str) -> str:
    """SKILL.md, then each file of references/, scripts/ and assets/ behind a line with its name.

    A link is followed only to a file of the skill itself; what cannot be read is left out. Raises
    `Unreadable` for SKILL.md.
    """
    parts = [_required(os.path.join(folder, MANIFEST), folder)]
    for name in FOLDERS:
        for file in files(os.path.join(folder, name)):
            if file.name != LEFT_OUT.get(name):
                text = _text(file.path, folder)
                parts += [] if text is None else [f"--- {_label(file.name)} ---\n{text}"]
    return "\n\n".join(parts)


def of_scenario(skill_part: str, scenario: str, skill: str) -> str:
    """The whole prompt: the skill's part, task.md, and each file of inputs/ as a code block.

    `scenario` and `skill` are folders. Raises `Unreadable` for task.md.
    """
    parts = [skill_part, task(scenario, skill)]
    for file in files(os.path.join(scenario, INPUTS)):
        text = _text(file.path, skill)
        parts += [] if text is None else [_block(file.name, text)]
    return "\n\n".join(parts)


def task(scenario: str, skill: str) -> str:
    """The text of task.md. Raises `Unreadable`."""
    return _required(os.path.join(scenario, TASK), skill)


def files(folder: str) -> list[File]:
    """Everything below a folder that is no folder, hidden or not, sorted by the bytes of its path.

    Links to folders are not walked into: a loop of them has no end.
    """
    found = [] if os.path.islink(folder) else list(_below(folder, ""))
    return sorted(found, key=lambda file: os.fsencode(file.name))


def _below(folder: str, prefix: str) -> Iterator[File]:
    try:
        with os.scandir(folder) as listing:
            entries = [(e.name, e.is_dir(follow_symlinks=False), e.path) for e in listing]
    except OSError:
        return
    for name, is_folder, path in entries:
        if is_folder:
            yield from _below(path, f"{prefix}{name}/")
        else:
            yield File(f"{prefix}{name}", path)


def is_text(data: bytes) -> bool:
    """Can the bytes be part of a prompt? A NUL can be in no argument of a program."""
    return b"\0" not in data


def _required(path: str, within: str) -> str:
    name = os.path.basename(path)
    try:
        data = textfile.read_bytes(path, within=within)
    except FileNotFoundError:
        raise Unreadable(f"reading {name}: no such file") from None
    except OSError as error:
        raise Unreadable(f"reading {name}: {textfile.reason(error)}") from None
    if not is_text(data):
        raise Unreadable(f"reading {name}: is binary, not text")
    return _decoded(data)


def _text(path: str, within: str) -> str | None:
    """The text of a file, or a line in place of a binary one; None if it cannot be read."""
    try:
        data = textfile.read_bytes(path, within=within)
    except OSError:
        return None
    return _decoded(data) if is_text(data) else f"(binary file, {len(data)} bytes, not shown)"


def _decoded(data: bytes) -> str:
    """As it is: a prompt keeps line ends and byte order mark."""
    return data.decode("utf-8", "replace")


def _block(name: str, text: str) -> str:
    """A code block, its fence longer than any run of backticks in the text."""
    fence, body = markdown.fence(text), text.rstrip("\n")
    return f"{fence}{_label(name)}\n{body}\n{fence}"


def _label(name: str) -> str:
    """A path as one line of valid text: a file's name may hold any byte."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "?" for character in text)


def left_out(folder: str, within: str) -> list[str]:
    """The files below a folder that no prompt can have, as sorted names; "." for the folder itself.

    They are links that leave `within`, links to folders, pipes, and what may not be read.
    """
    if os.path.islink(folder) or (os.path.lexists(folder) and not os.path.isdir(folder)):
        return ["."]
    return [file.name for file in files(folder) if _text(file.path, within) is None]
