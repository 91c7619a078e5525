"""Reads assertions about pull requests: that they are there, from and into which branch.

And how they are titled, and whether they are drafts. What else is said of one, a judge decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilleval.assertions.checkout import with_main
from skilleval.assertions.clause import COMMON, CREATED, EXISTS, OPENED, prefix
from skilleval.assertions.messages import EVENT_OF
from skilleval.assertions.nouns import Noun, claim
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import NEGATIONS, Token, word_set

_PULL_REQUEST = Noun(
    "pull_request",
    frozenset({"pr", "prs"}),
    CREATED | EXISTS | OPENED,
    frozenset({"github"}),
)
_BASES = word_set("against target targets targeting into to onto base")
_NO_MORE = word_set("no-longer still longer")
# over the words of a clause, with N in the place of a name
_TITLED = re.compile(r"(?:(?:that|which) (?:is|was) )?(?:en)?titled N(?!\S)")
_TITLE = re.compile(
    r"(?:(?:with|whose|has|had|having|and) )?(?:(?:a|the|its) )?title "
    r"(?:of (?P<noun>(?:the|a) pr) )?(?:(?:that|which|should|must|be) )*"
    rf"(?P<test>(?:(?:{'|'.join(EVENT_OF)}|with|the|text|word|:) )*)N(?!\S)"
)
# a draft or none; a denial elsewhere belongs to the whole only where the word is an adjective
_DRAFTS = (
    (re.compile(r"(?:non-draft|ready)(?= prs?(?!\S))"), "ready", True),
    (re.compile(r"draft(?= prs?(?!\S))"), "draft", True),
    (re.compile(r"not (?:as )?a draft(?!\S)"), "ready", False),
    (re.compile(r"(?:as a|as|a) draft(?!\S)"), "draft", False),
    (re.compile(r"(?:marked )?(?:as )?ready for review(?!\S)"), "ready", False),
)


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else.

    Of a draft in other words than are known it can only be said that there has to be one.
    """
    words = {token.word for token in tokens}
    if not words & _PULL_REQUEST.nouns or words & {"pushed", "push"}:
        return ""
    kept, title = _without_title(tokens)
    kept, drafts = _without_draft(kept)
    kept, head, base = _without_branches(with_main(kept))
    plain = [token for token in kept if token.word != "draft"]
    rule = claim(plain, _PULL_REQUEST) if base or title or drafts else _based(plain)
    if isinstance(rule, str):
        return rule
    if rule.names:
        return "it names something that is no branch of a pull request"
    unseen = len(plain) < len(kept)
    if unseen and (rule.negated or rule.quantity):
        return "it says of a draft what no rule knows"
    names = (head,) if head else ()
    rule = rule._replace(names=names, where=base or rule.where, events=drafts, title=title)
    return rule._replace(partial=rule.partial or unseen)


def _without_branches(tokens: Sequence[Token]) -> tuple[list[Token], str, str]:
    """Without `from X` and `into Y`; and X and Y, or "" for none."""
    kept: list[Token] = []
    found = {"from": "", "into": ""}
    position = 0
    while position < len(tokens):
        word = tokens[position].word
        way = "into" if word in _BASES else word
        start = _name_at(tokens, position + 1)
        if way in found and start and not found[way]:
            found[way], position = tokens[start].name, start
            if position + 1 < len(tokens) and tokens[position + 1].word == "branch":
                position += 1
            if word == "base" and kept and kept[-1].word in ("with", "and"):
                kept.pop()
        else:
            kept.append(tokens[position])
        position += 1
    return kept, found["from"], found["into"]


def _name_at(tokens: Sequence[Token], position: int) -> int:
    """Where the name of a branch stands, after `the branch` or nothing; 0 if there is none."""
    while position < len(tokens) and tokens[position].word in ("the", "branch", "base"):
        position += 1
    return position if position < len(tokens) and tokens[position].is_name else 0


def _without_title(tokens: Sequence[Token]) -> tuple[Sequence[Token], tuple[str, ...]]:
    """Without `titled "x"` or `whose title contains "x"`; and how the title fits, and the text."""
    for pattern in (_TITLED, _TITLE):
        found, start, end = _search(pattern, tokens)
        if not found or (start and tokens[start - 1].word in NEGATIONS):
            continue
        given = found.groupdict()
        tests = {EVENT_OF[word] for word in (given.get("test") or "").split() if word in EVENT_OF}
        if len(tests - {"is"}) > 1:
            continue
        noun = [Token(word) for word in (given.get("noun") or "").split()]
        title = (next(iter(tests - {"is"}), "is"), tokens[end - 1].name)
        return [*tokens[:start], *noun, *tokens[end:]], title
    return tokens, ()


def _without_draft(tokens: Sequence[Token]) -> tuple[Sequence[Token], tuple[str, ...]]:
    """Without `draft` and `ready for review`, and which of them is said."""
    for pattern, event, is_adjective in _DRAFTS:
        found, start, end = _search(pattern, tokens)
        rest = [*tokens[:start], *tokens[end:]]
        if found and (is_adjective or not {token.word for token in rest} & (NEGATIONS | _NO_MORE)):
            return rest, (event,)
    return tokens, ()


def _search(
    pattern: re.Pattern[str], tokens: Sequence[Token]
) -> tuple[re.Match[str] | None, int, int]:
    """Where a pattern matches the words of a clause: the first token, and the one behind."""
    text = " ".join(token.word or ("N" if token.is_name else "#") for token in tokens)
    found = next(
        (m for m in pattern.finditer(text) if m.start() == 0 or text[m.start() - 1] == " "), None
    )
    if found is None:
        return None, 0, 0
    return found, text[: found.start()].count(" "), text[: found.end()].count(" ") + 1


def _based(tokens: Sequence[Token]) -> Rule | str:
    """`The base branch of the PR is main`."""
    found = prefix(tokens, COMMON | _PULL_REQUEST.nouns | {"base", "target", "branch", "of"})
    if "branch" not in found.words or not found.words & {"base", "target"}:
        return claim(tokens, _PULL_REQUEST)
    if found.tail or len(found.names) != 1 or found.denials or found.quantities:
        return "it says more of the base than what it is"
    return Rule("pull_request", where=found.names[0])
