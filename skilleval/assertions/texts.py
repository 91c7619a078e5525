"""Reads assertions about what a text contains, or whether it is JSON. Owns their words."""

from __future__ import annotations

from collections.abc import Sequence

from skilleval.assertions.clause import COMMON, Prefix, prefix, unknown
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import NEGATIONS, Token, is_file, word_set

_CONTAINS = word_set("contain contains contained containing include includes included")
_CONTAINS |= {"including"}
_LACKS = word_set("lack lacks lacked omit omits omitted")
_WITHIN = word_set("appear appears appeared present found occur occurs occurred")
_OUTPUT = word_set("output answer response reply text result final")
_FILLERS = word_set(
    "word words string phrase text texts following literal exact somewhere number value"
)
_FILLERS |= word_set(
    "both either neither nor and or , of one any file contents content the named called"
)
_IN = word_set("in inside within")
# after a text, they say more of it or of something else, and it has to be there all the same
_NARROWING = word_set("with at under and but , ; ( — that which whose")
_BEFORE_IN = word_set("is are was were be does do did should must not never") | _WITHIN
_JSON = word_set("valid invalid well-formed parseable parsable parse parses parsed as json")
_TYPES = {"object": "object", "array": "array", "list": "array", "string": "string"}
_TYPES |= {"number": "number", "boolean": "boolean"}


def read_contains(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = [token.word for token in tokens]
    if not any(token.is_name for token in tokens):
        return ""
    verb = next((n for n, word in enumerate(words) if word in _CONTAINS | _LACKS), -1)
    within = next((n for n, word in enumerate(words) if word in _WITHIN | _IN), -1)
    if verb >= 0 and not (verb and {*words[:verb]} & {"is", "are", "was", "were"}):
        return _active(tokens, verb)
    position = max(verb, within)
    if position < 1 or not {*words[position:]} & _IN:
        return ""
    if words[position] in _IN and not {*words[:position]} & _BEFORE_IN:
        return ""
    return _passive(tokens, position)


def _active(tokens: Sequence[Token], verb: int) -> Rule | str:
    """`The output [does not] contain "x" [and "y"] [in file z]`."""
    subject, where = _subject(tokens[:verb])
    if not subject:
        return "what should contain it is neither the output nor a named file"
    rest, place = _place(tokens[verb + 1 :])
    if place and where:
        return "it names two places"
    found = prefix(rest, COMMON | _FILLERS)
    lacks = tokens[verb].word in _LACKS
    before = sum(token.word in NEGATIONS for token in tokens[:verb])
    return _contains(found, before + lacks, where or place)


def _subject(tokens: Sequence[Token]) -> tuple[bool, str]:
    """Is it said of the output or of one file, and of which file?"""
    found = prefix(tokens, COMMON | _OUTPUT | {"file", "contents", "content", "of", "message"})
    names, words = found.names, found.words
    if found.tail or len(names) > 1 or found.quantities:
        return False, ""
    if names:
        known = is_file(names[0]) or "file" in words
        return known and not words & _OUTPUT - {"text"}, names[0]
    is_message = "message" in words and bool(words & {"final", "agent", "assistant"})
    if not words - NEGATIONS:
        return False, ""
    return bool(words & _OUTPUT - {"final"}) or is_message, ""


def _place(tokens: Sequence[Token]) -> tuple[Sequence[Token], str]:
    """Without `in file X` or `in the output` at the end; and that file."""
    for start in range(len(tokens) - 1, 0, -1):
        if tokens[start].word in _IN:
            subject, where = _subject(tokens[start + 1 :])
            return (tokens[:start], where) if subject else (tokens, "")
    return tokens, ""


def _passive(tokens: Sequence[Token], verb: int) -> Rule | str:
    """`"x" [and "y"] [do not] appear in the output`."""
    rest, place = _place([Token("is"), *tokens[verb:]])
    if len(rest) != 1 + (tokens[verb].word not in _IN):
        return "where it should appear is neither the output nor a named file"
    found = prefix(tokens[:verb], COMMON | _FILLERS)
    if found.tail:
        return unknown(found)
    return _contains(found, 0, place, passive=True)


def _contains(
    found: Prefix, denials_before: int, where: str, *, passive: bool = False
) -> Rule | str:
    """The rule on the texts that stand in `found`; the denials before them belong to the verb."""
    denials, words = found.denials + denials_before, found.words
    quantity = next(iter(found.quantities), None)
    any_name = bool({"or", "either", "any"} & words) or ("one" in words and "of" in words)
    if quantity == (">=", 1):
        any_name, quantity = any_name or "of" in words, None
    if not found.names:
        return "it quotes no text to look for" if not found.tail else unknown(found)
    if quantity:
        return "it counts texts"
    if found.tail and (any_name or denials or found.tail[0].word not in _NARROWING):
        return unknown(found)
    if not found.is_open:
        return unknown(found)
    if denials and (denials > 1 or not _denies_each(found, denials_before, passive)):
        return "it denies one thing and claims another, or several together"
    if {"or", "and"} <= words:
        return "it joins its texts in several ways"
    return Rule(
        "contains",
        negated=denials == 1,
        names=found.names,
        where=where,
        any_name=any_name and len(found.names) > 1,
        partial=bool(found.tail),
    )


def _denies_each(found: Prefix, denials_before: int, passive: bool) -> bool:
    """Is it clear that every text is denied?"""
    if len(found.names) == 1:
        return bool(denials_before) or passive or found.denied_first
    if passive:
        return found.denies_each and "both" not in found.words
    joined = bool({"or", "nor"} & found.words) and not {"and", "both"} & found.words
    return joined and (bool(denials_before) or found.denied_first)


def read_json(tokens: Sequence[Token]) -> Rule | str:
    """`The output is valid JSON`; `report.json is not a valid JSON object`."""
    words = {token.word for token in tokens}
    last_is_json = tokens[-1].word in {"json", *_TYPES} and bool(words & {"is", "are"})
    if "json" not in words or not (words & (_JSON - {"json", "as"}) or last_is_json):
        return ""
    known = COMMON | _OUTPUT | _JSON | _TYPES.keys() | {"can", "be", "file", "document", "in", "of"}
    known |= {"content", "contents", "return", "returns", "returned", "named", "called"}
    if any(token.is_name for token in tokens):  # of an output, it may be a part
        known |= {"contains", "contain", "holds"}
    found = prefix(tokens, known)
    if "json" not in found.words or (found.tail and not found.is_open):
        return "it says more of JSON than that it is valid"
    denials = found.denials + ("invalid" in found.words)
    if denials > 1 or found.quantities or len(found.names) > 1:
        return "it denies twice, or speaks of several documents"
    if denials and found.tail:
        return "it denies one thing and claims another"
    names = found.names
    if names and not is_file(names[0]):
        return "it names something that is no file"
    returned = found.words & {"return", "returns", "returned"} and found.words & {"agent", "it"}
    if not names and not (found.words & _OUTPUT or returned):
        return "it does not say what should be JSON"
    kinds = tuple(_TYPES[word] for word in _TYPES if word in found.words)
    return Rule(
        "json",
        negated=denials == 1,
        where=names[0] if names else "",
        events=kinds[:1],
        partial=bool(found.tail),
    )
