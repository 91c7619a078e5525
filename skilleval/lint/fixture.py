"""The nouns of fixture linting. Owns their shapes; owns no rule and reads no file.

All texts are as `textfile.decode` gives them: byte order mark dropped, CRLF read as LF.
The annotations are values, not text: `model` says why.
"""

from collections.abc import Mapping
from typing import NamedTuple

from skilleval.model import EMPTY, Level


class FixtureTask(NamedTuple):
    """A task of a tasks.json. `allow`: rule ids its author has accepted; `line` 0 = unknown."""

    id: str
    prompt: str
    must_include: tuple[str, ...] = ()
    must_not_include: tuple[str, ...] = ()
    allow: frozenset[str] = frozenset()
    line: int = 0


class Fixture(NamedTuple):
    """A tasks.json with everything that its tasks are judged against.

    `corpus` is the text of skill, rule and references, `skill_text` that of SKILL.md alone;
    `corpus_known` is False when there is no skill at all, so that nothing is judged by its text.
    `examples` maps task ids to worked examples (None or absent: none that can be read),
    `unreadable` those that are there to why they cannot be read; `orphans` are the names of example
    files without a task, `counterexamples` maps task ids to answers that have to fail.
    """

    path: str
    tasks: tuple[FixtureTask, ...]
    corpus: str = ""
    skill_text: str = ""
    examples: Mapping[str, str | None] = EMPTY
    orphans: tuple[str, ...] = ()
    counterexamples: Mapping[str, str] = EMPTY
    corpus_known: bool = True
    unreadable: Mapping[str, str] = EMPTY


class Needle(NamedTuple):
    """One text of a task's lists, where it stands. `negate`: it is one of must_not_include."""

    text: str
    negate: bool
    task: FixtureTask
    fixture: Fixture

    @property
    def named(self) -> str:
        """The needle as the messages call it."""
        return f"{'must_not_include' if self.negate else 'must_include'} {self.text!r}"


class Finding(NamedTuple):
    """What a rule has to say, before it is known whether the task allows it."""

    rule: str
    level: Level
    message: str
