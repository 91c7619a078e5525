"""What the readers of all kinds share: a clause read from the left as far as its words are known.

Owns the words that carry no claim, and the rule for what may follow a claim that is understood. A
word that nobody knows before the claim is complete makes the clause unreadable: it may change it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from skilleval.assertions.sentence import NEGATIONS, Token, word_set

AGENT = word_set("agent assistant model claude codex opencode it they skill run session")
AUXILIARIES = word_set("is are was were be been being has have had do does did get gets")
AUXILIARIES |= word_set("got should must shall will")
_ARTICLES = word_set("the a an any some this these its their")
_ADVERBS = word_set("new newly fresh git successfully actually also finally ever really")
COMMON = AGENT | AUXILIARIES | _ARTICLES | _ADVERBS | {"there", "to", ":"}
CREATED = word_set("create creates created creating make makes made making")
CREATED |= word_set("add adds added adding")
EXISTS = word_set("exist exists existed appear appears appeared present")
OPENED = word_set("open opens opened opening raise raises raised raising file filed")
OPENED |= word_set("submit submits submitted submitting")
# what may follow a complete claim and only narrow it
_PREPOSITIONS = word_set("with from for on in into at under via to as of against targeting")
_TAILS = _PREPOSITIONS | word_set("using containing describing that which whose and but , ; ( —")
_TAILS -= {"of"}
# what belongs to the words after it
_LEADING = _PREPOSITIONS | _ARTICLES | word_set("and but or nor ,")
_JOINING = _ARTICLES | {"", "and", "or", "nor", ",", "file", "both", "either"}
# with one of these, what precedes may not be claimed at all
BLOCKERS = NEGATIONS | word_set(
    "if unless when whenever whether until till except otherwise instead either or before already"
    " previously earlier only rather than user human asked ? once every least most deleted removed"
    " merged reverted closed undone reset amended squashed dropped"
)


class Prefix(NamedTuple):
    """The known beginning of a clause, and its rest."""

    known: tuple[Token, ...]
    tail: tuple[Token, ...]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(token.word for token in self.known if token.word)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(token.name for token in self.known if token.is_name)

    @property
    def quantities(self) -> tuple[tuple[str, int], ...]:
        return tuple(token.quantity for token in self.known if token.quantity)

    @property
    def denials(self) -> int:
        """How often it is negated; `neither … nor` is once."""
        words = [token.word for token in self.known if token.word in NEGATIONS]
        return len(words) - ("nor" in words and len(words) > 1)

    @property
    def denied_first(self) -> bool:
        """Does a denial stand before every name: `no "x"`, and not `"x" and not "y"`?"""
        for token in self.known:
            if token.is_name:
                return False
            if token.word in NEGATIONS:
                return True
        return False

    @property
    def denies_each(self) -> bool:
        """Is it clear that a denial is of each name? "Not A and B" and "A or B is not" are open."""
        places = [number for number, token in enumerate(self.known) if token.is_name]
        if len(places) < 2:
            return True
        between = {token.word for token in self.known[places[0] : places[-1]]}
        if not between <= _JOINING:
            return False
        return self.denied_first is bool({"or", "nor"} & self.words)

    @property
    def is_open(self) -> bool:
        """May the rest be left to a judge, while a claim about the beginning still stands?"""
        if not self.tail:
            return True
        rest = {token.word for token in self.tail}
        return self.tail[0].word in _TAILS and not rest & BLOCKERS and not self._quantity_in_tail

    @property
    def _quantity_in_tail(self) -> bool:
        return any(token.quantity for token in self.tail)


def prefix(tokens: Sequence[Token], known: Collection[str]) -> Prefix:
    """The clause, cut before the first word that is neither known nor a negation.

    A preposition, article or conjunction before it belongs to what is cut off.
    """
    for position, token in enumerate(tokens):
        if token.word and token.word not in known and token.word not in NEGATIONS:
            while position and tokens[position - 1].word in _LEADING:
                position -= 1
            return Prefix(tuple(tokens[:position]), tuple(tokens[position:]))
    return Prefix(tuple(tokens), ())


def unknown(found: Prefix) -> str:
    """Why a clause is not read to its end."""
    if not found.tail:
        return "it makes no claim that a rule knows"
    if found.tail[0].word in _TAILS and found.known:
        return f"what follows {found.tail[0].word!r} may change its meaning"
    token = next((each for each in found.tail if each.word not in _ARTICLES), found.tail[0])
    return f"no rule knows {(token.word or token.name or 'a number')!r} here"
