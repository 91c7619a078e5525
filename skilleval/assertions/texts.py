"""Reads assertions about what a text contains or is, and whether it is JSON. Owns their words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import COMMON, Prefix, prefix, unknown
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import NEGATIONS, Token, is_file, is_folder, word_set

_TESTS = {
    "has": "contain contains contained containing include includes included including",
    "mentions": "mention mentions mentioned mentioning",
    "starts": "start starts started starting begin begins began beginning",
    "ends": "end ends ended ending",
    "is": "equal equals equaled",
}
_EVENT_OF = {word: event for event, words in _TESTS.items() for word in words.split()}
_LACKS = word_set("lack lacks lacked omit omits omitted exclude excludes excluded")
_WITHIN = word_set("appear appears appeared present found occur occurs occurred")
OUTPUT = word_set("output answer response reply text result final")
_BE = word_set("is are was were be")
# of these, `is "x"` need not say what they are word for word
_GIVEN = word_set("answer response reply result")
_PLACES = word_set("workspace repository repo project folder directory")
_FILES = word_set("file files document documents")
_FILLERS = word_set(
    "word words string phrase text texts following literal exact somewhere number value"
)
_FILLERS |= word_set(
    "both either neither nor and or , of one any all file contents content the named called"
)
_SUBJECTS = word_set("file contents content of message still now")
_IN = word_set("in inside within")
# the text has to be there as it is, or as words of its own: `10` is no number in `2010`
_MARKS = {"exact": "exact", "literal": "exact", "word": "word", "words": "word"}
_MARKS |= {"number": "word", "value": "word"}
# after a text, they say more of it or of something else, and it has to be there all the same
_NARROWING = word_set("with at under and but , ; ( — that which whose")
_BEFORE_IN = word_set("is are was were be does do did should must not never") | _WITHIN
_JSON = word_set("valid invalid well-formed parseable parsable parse parses parsed as json")
_JSON |= word_set("strict strictly syntactically still")
_TYPES = {"object": "object", "array": "array", "list": "array", "string": "string"}
_TYPES |= {"number": "number", "boolean": "boolean"}


def is_path(token: Token) -> bool:
    """Is it a name, and that of a file or a folder?"""
    return token.is_name and (is_file(token.name) or is_folder(token.name))


def names_of(tokens: Sequence[Token]) -> list[str]:
    return [token.name for token in tokens if token.is_name]


def says_content(tokens: Sequence[Token]) -> bool:
    """Does it say what a text contains?"""
    return any(token.word in _EVENT_OF or token.word in _LACKS for token in tokens)


def subject_of(tokens: Sequence[Token]) -> list[Token]:
    """What a clause is about, for one after it that does not say so: the output, or one name."""
    for token, following in zip(tokens, [*tokens[1:], Token("")], strict=True):
        if token.word in OUTPUT - {"text"} and following.word not in _FILES:
            return [Token("output")]
        if is_path(token):
            break
    verb = next((n for n, token in enumerate(tokens) if n and says_content([token])), len(tokens))
    places = [number for number, token in enumerate(tokens[:verb]) if token.is_name]
    if len(places) != 1:
        return []
    noun = places[0] > 0 and tokens[places[0] - 1].word in _FILES | _PLACES | {"branch"}
    return list(tokens[places[0] - noun : places[0] + 1])


def read_contains(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = [token.word for token in tokens]
    if not any(token.is_name for token in tokens):
        return ""
    verb = next((n for n, word in enumerate(words) if word in _EVENT_OF or word in _LACKS), -1)
    within = next((n for n, word in enumerate(words) if word in _WITHIN | _IN), -1)
    if verb >= 0 and not (verb and {*words[:verb]} & _BE):
        return _active(tokens, verb)
    position = max(verb, within)
    if position < 1 or not {*words[position:]} & _IN:
        return _equality(tokens)
    if words[position] in _IN and not {*words[:position]} & _BEFORE_IN:
        return ""
    return _passive(tokens, position)


def _active(tokens: Sequence[Token], verb: int) -> Rule | str:
    """`The output [does not] contain "x" [and "y"] [in file z]`."""
    event = _EVENT_OF.get(tokens[verb].word, "has")
    subject, where = _subject(tokens[:verb])
    if not subject:
        if event == "has" and (held := _held(tokens, verb)):
            return held
        return "what should contain it is neither the output nor a named file"
    rest, place = _place(tokens[verb + 1 :])
    if place and where:
        return "it names two places"
    lacks = tokens[verb].word in _LACKS
    before = sum(token.word in NEGATIONS for token in tokens[:verb])
    if event in ("has", "mentions"):
        found = prefix(rest, COMMON | _FILLERS)
        return _tested(_contains(found, before + lacks, where or place), event)
    if event != "is" and (not rest or rest[0].word != "with"):
        return "it does not say with what"
    return _edge(rest, before, where or place, event)


def _tested(rule: Rule | str, event: str) -> Rule | str:
    if isinstance(rule, str) or event == "has":
        return rule
    if rule.partial:
        return "it says how it is mentioned"
    return rule._replace(events=(event, *rule.events))


def _edge(tokens: Sequence[Token], denials: int, where: str, event: str) -> Rule | str:
    """What a text is, or starts or ends with: one of the texts that follow."""
    known = COMMON | {"with", "exactly", "equal", "or", "either", "the", "text", "string", "line"}
    found = prefix(tokens, (known | {"word", "phrase", "literal"}) - {"line"})
    any_name = len(found.names) > 1
    if found.tail or not found.names or found.quantities:
        return unknown(found) if found.tail else "it quotes no text to compare"
    if denials + found.denials > 1 or (any_name and "or" not in found.words):
        return "it denies twice, or asks for several beginnings"
    negated = denials + found.denials == 1
    events = (event, "word") if "word" in found.words and event != "is" else (event,)
    return Rule("contains", negated, None, found.names, where, events, any_name and not negated)


def _equality(tokens: Sequence[Token]) -> Rule | str:
    """`The output is "x"`; `the content of z is exactly "x"`."""
    words = [token.word for token in tokens]
    verb = next((n for n, word in enumerate(words) if word in _BE), -1)
    if verb < 1:
        return ""
    before = {*words[:verb]}
    subject, where = _subject(tokens[:verb])
    is_exact = bool({"exactly", "equal"} & {*words[verb:]})
    is_literal = bool(before & {"content", "contents"} if where else not before & _GIVEN)
    if not subject or not (is_exact or is_literal):
        return ""
    return _edge(tokens[verb + 1 :], len(before & NEGATIONS), where, "is")


def _held(tokens: Sequence[Token], verb: int) -> Rule | None:
    """`docs/ contains a.md`; `the workspace does not contain a file named "notes"`."""
    before = prefix(tokens[:verb], COMMON | _PLACES)
    after = prefix(tokens[verb + 1 :], COMMON | _FILES | {"named", "called", "and", "both", ","})
    folder = before.names[0] if len(before.names) == 1 else ""
    if before.tail or after.tail or len(before.names) > 1 or not after.names:
        return None
    if not (before.words & _PLACES or is_folder(folder)) or before.quantities or after.quantities:
        return None
    if not (after.words & _FILES or all(map(is_file, after.names))):
        return None
    denials = before.denials + after.denials
    if denials > 1 or (denials and len(after.names) > 1):
        return None
    return Rule("file", denials == 1, None, after.names, folder, ("exists",))


def _subject(tokens: Sequence[Token]) -> tuple[bool, str]:
    """Is it said of the output or of one file, and of which file?"""
    found = prefix(tokens, COMMON | OUTPUT | _SUBJECTS)
    names, words = found.names, found.words
    if found.tail or len(names) > 1 or found.quantities:
        return False, ""
    if names:
        known = is_file(names[0]) or "file" in words
        return known and not words & OUTPUT - {"text"}, names[0]
    if {"file", "git"} & words:
        return False, ""
    is_message = "message" in words and bool(words & {"final", "agent", "assistant"})
    if not words - NEGATIONS:
        return False, ""
    return bool(words & OUTPUT - {"final"}) or is_message, ""


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
    if quantity or len(found.quantities) > 1:
        return "it counts texts"
    if any(a.word in ("content", "contents") and b.word == "of" for a, b in pairwise(found.known)):
        return "it means what a file holds, not its name"
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
        events=tuple(sorted({_MARKS[word] for word in words if word in _MARKS})),
        any_name=any_name and len(found.names) > 1,
        partial=bool(found.tail),
    )


def _denies_each(found: Prefix, denials_before: int, passive: bool) -> bool:
    """Is it clear that every text is denied?"""
    if found.denies_all_of:
        return True
    if len(found.names) == 1:
        return bool(denials_before) or passive or found.denied_first
    if passive:
        return found.denies_each and not {"both", "all"} & found.words
    joined = bool({"or", "nor"} & found.words) and not {"and", "both", "all"} & found.words
    return joined and (bool(denials_before) or found.denied_first)


def read_json(tokens: Sequence[Token]) -> Rule | str:
    """`The output is valid JSON`; `report.json is not a valid JSON object`."""
    words = {token.word for token in tokens}
    last_is_json = tokens[-1].word in {"json", *_TYPES} and bool(words & {"is", "are"})
    if "json" not in words or not (words & (_JSON - {"json", "as"}) or last_is_json):
        return ""
    known = COMMON | OUTPUT | _JSON | _TYPES.keys() | {"can", "be", "file", "document", "in", "of"}
    known |= {"content", "contents", "return", "returns", "returned", "named", "called"}
    known |= word_set("files documents and both all ,") if len(names_of(tokens)) > 1 else set()
    if any(token.is_name for token in tokens):  # of an output, it may be a part
        known |= {"contains", "contain", "holds"}
    found = prefix(tokens, known)
    if "json" not in found.words or (found.tail and not found.is_open):
        return "it says more of JSON than that it is valid"
    denials = found.denials + ("invalid" in found.words)
    several = len(found.names) > 1 and not denials and not found.tail
    if denials > 1 or found.quantities or (len(found.names) > 1 and not several):
        return "it denies twice, or speaks of several documents"
    if denials and found.tail:
        return "it denies one thing and claims another"
    names = found.names
    if not all(map(is_file, names)):
        return "it names something that is no file"
    returned = found.words & {"return", "returns", "returned"} and found.words & {"agent", "it"}
    if not names and not (found.words & OUTPUT or returned):
        return "it does not say what should be JSON"
    kinds = tuple(_TYPES[word] for word in _TYPES if word in found.words)
    rules = [
        Rule("json", denials == 1, where=name, events=kinds[:1], partial=bool(found.tail))
        for name in names or ("",)
    ]
    return rules[0] if len(rules) == 1 else Rule("all", parts=tuple(rules))
