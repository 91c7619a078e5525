"""Reads assertions that nothing was pushed with force, whatever options say so.

Owns their words; when a command is such a push, `graders.meant` knows.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.assertions.clause import COMMON, prefix
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, word_set

# with a lease it is one with force, too
COMMANDS = ("git push --force", "git push --force-with-lease")
_FORCED = word_set("force-push force-pushes force-pushed force-pushing")
_BESIDE = word_set("make made perform performed happen happened use used anything nothing")


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else.

    That there was one is a claim about the remote, which may have refused it: not one that the
    command was run. That there was none holds if none was tried.
    """
    if not {token.word for token in tokens} & _FORCED:
        return ""
    found = prefix(tokens, COMMON | _FORCED | _BESIDE)
    if found.tail or found.names or found.quantities or found.denials != 1:
        return "of pushes with force, a rule knows only that there was none"
    return Rule("command", negated=True, names=COMMANDS)
