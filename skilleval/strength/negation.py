"""The opposite of an English sentence, by one small change. Owns the rules; knows no Markdown.

Plain pattern rules, not grammar: a result may read badly, but it says the opposite. A sentence that
no rule fits, or one in another language, has no opposite here.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_VERBS = (
    "add allow apply ask assert build call catch change check close commit compare configure copy"
    " create declare define delete disable do drop enable ensure escape export fetch fix follow"
    " give handle ignore import include install invoke keep leave let limit list log make mark"
    " merge move name open parse pass patch pick pin prefer print pull push put quote raise read"
    " rebase record release remove rename replace report require reset resolve restore retry"
    " return revert review run save say send set show skip sort split start state stop store"
    " switch tag take tell test treat trust try turn update upgrade use validate verify wait wrap"
    " write"
)
_THIRD_PERSON = (
    "need require mean fail belong contain give keep use return work depend stay become follow"
    " exist cause expect accept reject hold include ignore support allow prevent"
)


class Change(NamedTuple):
    """Replace `sentence[start:end]` by `new`."""

    start: int
    end: int
    new: str


def opposite(sentence: str) -> Change | None:
    """The change that turns a sentence into its opposite, None if no rule fits.

    An existing denial is taken away ("never X" becomes "X"), else one is put in ("is not", "do not
    use"). The leftmost place counts: the main clause tends to come first.
    """
    best: tuple[int, int, re.Match[str], str] | None = None
    for order, (pattern, template) in enumerate(_rules()):
        found = pattern.search(sentence)
        if found and (best is None or (found.start(), order) < best[:2]):
            best = (found.start(), order, found, template)
    if best is None:
        return None
    *_, found, template = best
    return Change(found.start(), found.end(), _in_case_of(found[0], found.expand(template)))


def _in_case_of(old: str, new: str) -> str:
    if len(old) > 1 and old.isupper():
        return new.upper()
    if not old[0].isupper():
        return new
    # of one word ("Use") the template repeats the capital inside: "do not Use"
    return new[:1].upper() + (new[1:].lower() if old.isalpha() else new[1:])


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns with the template of their replacement; the first of several at one place wins."""
    verbs, third = _VERBS.replace(" ", "|"), _THIRD_PERSON.replace(" ", "|")
    denied = "is|are|was|were|do|does|did|has|have|had|must|should|could|would|will|may|might|need"
    # "May" with a capital is a month
    asserted = "is|are|was|were|am|must|should|shall|could|would|will|might|(?-i:may)"
    rules = (
        (rf"\b({denied})(?:\s+not|n['’]t)\b", r"\1"),
        (r"\bcan(?:not|\s+not|['’]t)\b", "can"),
        (r"\bwon['’]t\b", "will"),
        (r"\bnever\s+(\w+)", r"\1"),
        (r"\bno\s+longer\b", "still"),
        (r"\bno\s+(?=\w)", "some "),
        (r"\bnot\s+(?=\S)", ""),
        (r"\bno(thing|body)\b", r"some\1"),
        (r"\bwithout\b", "with"),
        (r"\balways\b", "never"),
        (r"^avoid\b", "prefer"),
        (rf"(?<![-\w])({asserted})\b(?!-)", r"\1 not"),
        (r"(?<![-\w])can\b(?!-)", "cannot"),
        (r"\b(?:it|that|there|we|you|they)['’](?:s|re)\b", r"\g<0> not"),
        (r"\b(has|have|had)(?=\s+(?:\w+ed|been|gone|done|made|got|\w+en)\b)", r"\1 not"),
        (
            rf"(?:^|(?<=[,;:]\s)|(?<=\bthen\s)|(?<=\bwe\s)|(?<=\byou\s)|(?<=\bI\s))"
            rf"({verbs})(?=\s+[^\s\d])",
            r"do not \1",
        ),
        (rf"\b({third})s\b(?!-)", r"does not \1"),
    )
    return tuple((re.compile(pattern, re.IGNORECASE), template) for pattern, template in rules)
