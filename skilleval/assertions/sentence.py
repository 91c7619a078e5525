"""An English sentence as words, quoted names, numbers and marks. Owns the splitting, no meaning.

Contractions are written out, `pull request` is one word, `no more than two` one number. A name is
what stands between quotation marks of any style, or looks like a file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


NEGATIONS = frozenset({"not", "no", "never", "without", "none", "nothing", "neither", "nor"})
NEGATIONS |= {"avoid", "avoids", "avoided", "avoiding", "refrain", "refrained", "refrains"}
_LONGEST = 20_000  # characters; what is longer is no sentence
MARKS = frozenset(",;:.!?()[]{}—–-&…")

_QUOTED = re.compile(
    r"(?P<tick>`{1,3})(?P<code>.+?)(?P=tick)"
    r'|"(?P<straight>[^"]*)"'
    r"|“(?P<curly>[^“”]*)”"
    r"|„(?P<low>[^„“”]*)[“”]"
    r"|[«‹](?P<angle>[^«»‹›]*)[»›]"
    r"|(?<!\w)'(?P<single>(?!\s).{1,1000}?)(?<!\s)'(?!\w)"
    r"|(?<!\w)‘(?P<curly_single>.{1,1000}?)’(?!\w)",
    re.DOTALL,
)
_EXTENSION = r"\.[A-Za-z][A-Za-z0-9]{0,9}"
_FILE = re.compile(
    rf"(?:[.~]{{0,2}}/)?(?:[\w@+.-]+/)*(?:[\w@+-][\w@+.-]*{_EXTENSION}|\.[A-Za-z][\w.-]+)"
)
_FOLDER = re.compile(r"(?:[.~]{0,2}/)?(?:[\w@+.-]+/)+|(?:[.~]{1,2})?/[\w@+./-]+")
_NO_FILE = re.compile(
    r"(?i:e\.g|i\.e|etc|vs|(?:node|vue|next|nuxt|three|express)\.js|(?:https?|ssh|git|file)://.*)"
    r"|[A-Z][a-z]+\.js"
)
_PRODUCT = re.compile(r"[A-Z][a-z]+\.(?:js|io|ai)|\d[\d.]*")
# files that are known by their whole name
_WELL_KNOWN = word_set(
    "Makefile Dockerfile LICENSE README CHANGELOG Gemfile Rakefile Procfile Jenkinsfile"
)
_SHORT = {"can't": "can not", "won't": "will not", "cannot": "can not", "it's": "it is"}
_SHORT |= {"there's": "there is", "that's": "that is", "ain't": "is not"}
_MERGED = {
    ("pull", "request"): "pr",
    ("pull", "requests"): "prs",
    ("merge", "request"): "pr",
    ("merge", "requests"): "prs",
    ("working", "tree"): "workspace",
    ("working", "directory"): "workspace",
    ("force", "push"): "force-push",
    ("force", "pushes"): "force-push",
    ("force", "pushed"): "force-push",
    ("force", "pushing"): "force-push",
    ("no", "longer"): "no-longer",
    ("other", "than"): "except",
    ("apart", "from"): "except",
    ("aside", "from"): "except",
    ("as", "well", "as"): "and",
    ("most", "recent"): "latest",
    ("at", "all"): "",
    ("any", "more"): "",
    ("not", "even"): "not",
}
_ALIASES = {"besides": "except", "mr": "pr", "mrs": "prs", "plus": "and", "&": "and", "anymore": ""}
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_RANGE = re.compile(r"(\d+)[-–](\d+)")
# words with a slash that are two words, and no path
_ALTERNATIVES = word_set("and/or pr/mr mr/pr w/o n/a yes/no")
# `a .md file` is any file of that kind
_KINDS = word_set(".md .json .py .csv .html .txt .js .ts .pdf .sql .xml .toml .log .yaml .yml .sh")
_FILES = word_set("file files document documents script scripts")
_NAMING = frozenset({"named", "called"})
_NO_NAMES = word_set("the a an its by with on from for in to and or")
# before one of these, `once` counts; before any other word it says when: `once it is pushed`
_AFTER_ONCE = MARKS | word_set("and or but in with for before after")
_NUMBERS = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_NUMBERS |= {"twelve": 12, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100}
_NUMBERS |= {"single": 1, "once": 1, "twice": 2, "thrice": 3}
_NUMBERS |= {"couple": 2, "pair": 2}
# these make a number with the article before them, and some take `of` with them
_WITH_ARTICLE = frozenset({"single", "couple", "pair", "hundred"})
_WITH_OF = frozenset({"couple", "pair"})
# the words before a number, longest first, with the sense that they give it and what to add to it
_BEFORE = (
    (("a", "minimum", "of"), ">=", 0),
    (("a", "maximum", "of"), "<=", 0),
    (("no", "fewer", "than"), ">=", 0),
    (("no", "less", "than"), ">=", 0),
    (("not", "fewer", "than"), ">=", 0),
    (("not", "less", "than"), ">=", 0),
    (("no", "more", "than"), "<=", 0),
    (("no", "longer", "than"), "<=", 0),
    (("not", "longer", "than"), "<=", 0),
    (("no", "shorter", "than"), ">=", 0),
    (("not", "more", "than"), "<=", 0),
    (("at", "least"), ">=", 0),
    (("at", "most"), "<=", 0),
    (("up", "to"), "<=", 0),
    (("more", "than"), ">=", 1),
    (("fewer", "than"), "<=", -1),
    (("less", "than"), "<=", -1),
    (("longer", "than"), ">=", 1),
    (("shorter", "than"), "<=", -1),
    (("only", "a"), "==", 0),
    (("just", "a"), "==", 0),
    (("exactly", "a"), "==", 0),
    (("at", "most", "a"), "<=", 0),
    (("at", "least", "a"), ">=", 0),
    (("exceed",), ">=", 1),
    (("exceeds",), ">=", 1),
    (("over",), ">=", 1),
    (("under",), "<=", -1),
    (("below",), "<=", -1),
    (("within",), "<=", 0),
    (("exactly",), "==", 0),
    (("precisely",), "==", 0),
    (("only",), "==", 0),
    (("just",), "==", 0),
    (("a",), "==", 0),
)
_Row = TypeVar("_Row", bound=tuple[Any, ...])


def _by_word(rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    """The rows by the first of their words, in their order."""
    found: dict[str, list[_Row]] = {}
    for row in rows:
        found.setdefault(row[0][0], []).append(row)
    return found


_BEFORE_BY_WORD, _MERGED_BY_WORD = _by_word(_BEFORE), _by_word(_MERGED.items())
_AFTER = {("or", "more"): ">=", ("or", "fewer"): "<=", ("or", "less"): "<="}


class Token(NamedTuple):
    """A `word` in small letters, a mark, or (with an empty `word`) a `name` or a `quantity`.

    The `name` of a word is the word as it was written.
    """

    word: str
    name: str = ""
    quantity: tuple[str, int] | None = None

    @property
    def is_name(self) -> bool:
        return not self.word and self.quantity is None


class Unreadable(ValueError):
    """The sentence cannot be split: its message says why."""


def read(text: str) -> tuple[Token, ...]:
    """The tokens of a sentence, marks at its end left out. Raises `Unreadable`."""
    if len(text) > _LONGEST:
        raise Unreadable(f"it has more than {_LONGEST} characters")
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    tokens = list(_merged(list(_tokens(text))))
    while tokens and tokens[-1].word in MARKS and tokens[-1].word not in "?)":
        tokens.pop()
    return tuple(tokens)


def bounds(tokens: Sequence[Token]) -> list[list[Token]]:
    """A sentence with a range (`between 2 and 4`, `at least 2 and at most 4`) as one for each end.

    [] if there is none.
    """
    for start in range(len(tokens) - 2):
        low, joint, high = tokens[start : start + 3]
        between = start > 0 and tokens[start - 1].word in ("between", "from")
        first = ("==", 0) if between and low.word == "no" else low.quantity
        if not first or not high.quantity or joint.word not in ("and", "to", "but"):
            continue
        ends = [first, high.quantity]
        if {first[0], high.quantity[0]} == {"=="} and first[1] <= high.quantity[1]:
            if not between and joint.word != "to":
                continue
            ends = [(">=", first[1]), ("<=", high.quantity[1])]
        elif {first[0], high.quantity[0]} != {">=", "<="}:
            continue
        beside = [*tokens[: start - between]], [*tokens[start + 3 :]]
        return [[*beside[0], Token("", "", end), *beside[1]] for end in ends if end != (">=", 0)]
    return []


def is_file(name: str) -> bool:
    """Does a name look like that of a file: with an extension, hidden, or well known?"""
    if name in _WELL_KNOWN:
        return True
    return "\n" not in name and bool(_FILE.fullmatch(name)) and not _PRODUCT.fullmatch(name)


def is_folder(name: str) -> bool:
    """Does a name look like that of a folder, or a path without an extension?"""
    return bool(_FOLDER.fullmatch(name)) and not is_file(name)


def _tokens(text: str) -> Iterator[Token]:
    end = 0
    for found in _QUOTED.finditer(text):
        yield from _words(text[end : found.start()])
        name = next(
            (part for key, part in found.groupdict().items() if key != "tick" and part is not None)
        )
        if not name.strip():
            raise Unreadable("it quotes an empty text")
        yield Token("", name)
        end = found.end()
    yield from _words(text[end:])


def _words(text: str) -> Iterator[Token]:
    for stray in '"`“”„«»':
        if stray in text:
            raise Unreadable(f"the quotation mark {stray} has no partner")
    for chunk in text.split():
        yield from _word(chunk)


def _word(chunk: str) -> Iterator[Token]:
    chunk = chunk.strip("*") if chunk.strip("*") else chunk
    while chunk and chunk[0] in "([{…—–":
        yield Token(chunk[0])
        chunk = chunk[1:]
    closing: list[str] = []
    while chunk and chunk[-1] in ".,;:!?)]}…—–" and not chunk.endswith("../"):
        closing.insert(0, chunk[-1])
        chunk = chunk[:-1]
    if chunk:
        yield from _plain(chunk)
    yield from map(Token, closing)


def _plain(chunk: str) -> Iterator[Token]:
    if not _NO_FILE.fullmatch(chunk) and (is_file(chunk) or is_folder(chunk)):
        yield Token("", chunk)
        return
    if "/" in chunk and chunk.lower() not in _ALTERNATIVES and "://" not in chunk:
        yield Token("", chunk)
        return
    word = chunk.lower().replace("’", "'")
    word = _SHORT.get(word, word)
    if word.endswith("n't"):
        word = f"{word[:-3]} not"
    span = _RANGE.fullmatch(word)
    parts = [span[1], "to", span[2]] if span else re.split(r"[\s/]+", word)
    for part in parts:
        part = part.removesuffix("'s").removesuffix("'")
        if _ALIASES.get(part, part):
            yield Token(_ALIASES.get(part, part), chunk)


def _merged(tokens: list[Token]) -> Iterator[Token]:
    position = 0
    while position < len(tokens):
        length, token = _quantity(tokens, position)
        if not token:
            length, token = _merge(tokens, position)
        named = position and tokens[position - 1].word in _NAMING
        if token and named and token.name and token.word not in _NO_NAMES:
            token = Token("", token.name)  # `a branch named release` quotes nothing
        if token and token.name in _KINDS and _is_file_next(tokens, position + length):
            token = Token("", f"*{token.name}")
        if token and (token.word or token.name or token.quantity):
            yield token
        position += length


def _is_file_next(tokens: Sequence[Token], position: int) -> bool:
    return position < len(tokens) and tokens[position].word in _FILES


def _merge(tokens: Sequence[Token], position: int) -> tuple[int, Token]:
    for words, merged in _MERGED_BY_WORD.get(tokens[position].word, ()):
        if _starts(tokens, position, words):
            return len(words), Token(merged)
    if tokens[position].word == "but" and _excepts(tokens, position):
        return 1, Token("except")
    return 1, tokens[position]


def _excepts(tokens: Sequence[Token], position: int) -> bool:
    """Does `but` say what is left out, as in `nothing but a.md` and `no file but a.md`?"""
    before = [token.word for token in tokens[max(0, position - 2) : position]]
    named = position + 1 < len(tokens) and tokens[position + 1].is_name
    return named and (before[-1:] == ["nothing"] or before[:1] == ["no"])


def _starts(tokens: Sequence[Token], position: int, words: Sequence[str]) -> bool:
    part = tokens[position : position + len(words)]
    return [token.word for token in part] == list(words)


def _quantity(tokens: Sequence[Token], position: int) -> tuple[int, Token | None]:
    """How many tokens make a number here, and the number: `at least two` is one token."""
    for words, op, more in _BEFORE_BY_WORD.get(tokens[position].word, ()):
        if _starts(tokens, position, words):
            after = position + len(words)
            number = _number(tokens, after)
            if number is not None and (words[-1] != "a" or tokens[after].word in _WITH_ARTICLE):
                return _counted(tokens, position, len(words) + 1, (op, number + more))
    if _starts(tokens, position, ["not", "a", "single"]):
        return 3, Token("no")
    number = _number(tokens, position)
    if number is None or tokens[position].word in _WITH_ARTICLE - {"single", "hundred"}:
        many = tokens[position].word in ("several", "multiple")
        return 1, Token("", "", (">=", 2)) if many else None
    for words, op in _AFTER.items():
        if _starts(tokens, position + 1, words):
            return _counted(tokens, position, 3, (op, number))
    op = ">=" if tokens[position].word.endswith("+") else "=="
    return _counted(tokens, position, 1, (op, number))


def _counted(
    tokens: Sequence[Token], position: int, length: int, quantity: tuple[str, int]
) -> tuple[int, Token]:
    """`zero` is a denial; `three times` and `a couple of` are numbers like any other."""
    last = tokens[position + length - 1].word
    following = ["of"] if last in _WITH_OF else ["times"]
    length += _starts(tokens, position + length, following)
    return length, Token("no") if quantity == ("==", 0) else Token("", "", quantity)


def _number(tokens: Sequence[Token], position: int) -> int | None:
    if position >= len(tokens):
        return None
    word = tokens[position].word
    digits = word.removesuffix("+")
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    if word == "once" and position + 1 < len(tokens):
        following = tokens[position + 1]
        if position == 0 or (following.word or "name") not in _AFTER_ONCE:
            return None
    if digits.isdecimal() and digits.isascii() and len(digits) < 7:
        return int(digits)
    return _NUMBERS.get(word)
