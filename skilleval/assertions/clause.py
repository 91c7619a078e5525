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
# who or what is not the agent; and what it does, in forms that are no passive voice
_PERSONS = word_set("user human developer reviewer maintainer")
_OTHERS = _PERSONS | word_set("script command tool program function hook pipeline")
_ACTS = word_set("create creates write writes wrote generate generates produce produces save saves")
_ACTS |= word_set("modify modifies edit edits update updates delete deletes remove removes")
_ACTS |= word_set("add adds run runs ran execute executes invoke invokes call calls commit commits")
_ACTS |= word_set("push pushes open opens make makes print prints")
_ACTED = word_set("created generated produced saved modified edited updated deleted removed added")
_ACTED |= word_set("executed invoked called committed pushed opened made printed triggered used")
_PREPOSITIONS = word_set("with from for on in into at under via to as of against targeting")
_MANNERS = _PREPOSITIONS | AUXILIARIES | NEGATIONS | word_set("and but or then before after first")
_MANNERS |= word_set("successfully again only")
COMMON = AGENT | AUXILIARIES | _ARTICLES | _ADVERBS | {"there", "to", ":"}
CREATED = word_set("create creates created creating make makes made making")
CREATED |= word_set("add adds added adding")
EXISTS = word_set("exist exists existed appear appears appeared present")
OPENED = word_set("open opens opened opening raise raises raised raising file filed")
OPENED |= word_set("submit submits submitted submitting")
# what may follow a complete claim and only narrow it
_TAILS = _PREPOSITIONS | word_set("using containing describing that which whose and but , ; ( —")
_TAILS -= {"of"}
# what belongs to the words after it
_LEADING = _PREPOSITIONS | _ARTICLES | word_set("and but or nor ,")
_JOINING = _ARTICLES | {"", "and", "or", "nor", ",", "file", "both", "either"}
# with one of these, what precedes may not be claimed at all
BLOCKERS = NEGATIONS | word_set(
    "if unless when whenever whether until till except otherwise instead either or before already"
    " previously earlier only rather than user human asked ? once every least most deleted removed"
    " another other different elsewhere fork submodule merged reverted closed undone reset amended"
    " squashed dropped"
)


def is_of_others(tokens: Sequence[Token]) -> bool:
    """Does it say what a script or a user does, and not the agent: `the script creates a file`?"""
    for start, token in enumerate(tokens):
        if token.word not in _OTHERS:
            continue
        position, helped = start + 1, False
        while position < len(tokens) and (
            tokens[position].is_name
            or tokens[position].word in AUXILIARIES | NEGATIONS | {"would", "can", "could"}
        ):
            helped = helped or not tokens[position].is_name
            position += 1
        verb = tokens[position].word if position < len(tokens) else ""
        acts = verb in _ACTS or (verb in _ACTED and not helped)
        if acts and (token.word in _PERSONS or _has_object(tokens[position + 1 :])):
            return True
    return False


def _has_object(tokens: Sequence[Token]) -> bool:
    """Does it start with what is done something to, as in `runs npm`, and not in `ran twice`?"""
    if not tokens:
        return False
    if tokens[0].quantity:
        return len(tokens) > 1
    return tokens[0].is_name or tokens[0].word not in _MANNERS - _ARTICLES


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
    def claim(self) -> tuple[bool, tuple[str, int] | None]:
        """Is it denied, and the number it asks for: "not more than one" is "at most one"."""
        quantity = next(iter(self.quantities), None)
        if self.denials != 1 or not quantity or quantity[0] == "==":
            return self.denials == 1, quantity
        return False, (("<=", quantity[1] - 1) if quantity[0] == ">=" else (">=", quantity[1] + 1))

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
    def denies_all_of(self) -> bool:
        """Does it start with `none of`, which denies each of the names, however they are joined?"""
        words = [token.word for token in self.known]
        return self.denied_first and "none" in words

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
