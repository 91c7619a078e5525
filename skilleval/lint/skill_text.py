"""The nouns of SKILL.md linting, and where a key stands. Owns no rule and reads no file.

The annotations are values, not text: `model` says why.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from skilleval.lint.fixture import Finding


class SkillText(NamedTuple):
    """A SKILL.md and what is around it, as text.

    `text` is decoded but otherwise untouched: byte order mark and line ends as they are, what is
    not UTF-8 as surrogates. `front` is the parsed front matter, None if there is none that can be
    read (then `problem` and `problem_line` are what its reader said); `body_line` is the 1-based
    line where the body starts.
    `directory` is the folder's name, "" if unknown; `files` are the paths of all files of the
    skill, relative to it, with forward slashes.
    """

    path: str
    text: str
    directory: str
    front: Mapping[str, Any] | None
    body_line: int = 1
    files: Collection[str] = ()
    problem: str = ""
    problem_line: int = 0


class Placed(NamedTuple):
    """A finding at a line; 0 when unknown."""

    line: int
    finding: Finding


def line_of(key: str, skill: SkillText) -> int:
    """The 1-based line of a top-level key of the front matter; that of the opening if absent."""
    for number, line in enumerate(skill.text.split("\n", skill.body_line)[: skill.body_line], 1):
        if line.startswith(f"{key}:"):
            return number
    return 1
