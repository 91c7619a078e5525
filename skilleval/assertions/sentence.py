"""An English sentence as words, quoted names, numbers and marks. Owns the splitting, no meaning.

Contractions are written out, `pull request` is one word, `no more than two` one number. A name is
what stands between quotation marks of any style, or looks like a file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


NEGATIONS = frozenset({"not", "no", "never", "without", "none", "nothing", "neither", "nor"})
NEGATIONS |= {"avoid", "avoids", "avoided", "avoiding", "refrain", "refrained", "refrains"}
MARKS = frozenset(",;:.!?()[]{}—–-&…")

_QUOTED = re.compile(
    r"(?P<tick>`{1,3})(?P<code>.+?)(?P=tick)"
    r'|"(?P<straight>[^"]*)"'
    r"|“(?P<curly>[^“”]*)”"
    r"|„(?P<low>[^„“”]*)[“”]"
    r"|[«‹](?P<angle>[^«»‹›]*)[»›]"
    r"|(?<!\w)'(?P<single>(?!\s).+?)(?<!\s)'(?!\w)"
    r"|(?<!\w)‘(?P<curly_single>.+?)’(?!\w)",
    re.DOTALL,
)
_EXTENSION = r"\.[A-Za-z][A-Za-z0-9]{0,9}"
_FILE = re.compile(
    rf"(?:[.~]{{0,2}}/)?(?:[\w@+.-]+/)*(?:[\w@+-][\w@+.-]*{_EXTENSION}|\.[A-Za-z][\w.-]+)"
)
_FOLDER = re.compile(r"(?:[.~]{0,2}/)?(?:[\w@+.-]+/)+|(?:[.~]{1,2})?/[\w@+./-]+")
_NO_FILE = re.compile(r"(?i)e\.g|i\.e|etc|vs|[A-Z][a-z]+\.js|(?:https?|ssh|git|file)://.*")
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
    ("no", "longer"): "no-longer",
    ("other", "than"): "except",
    ("apart", "from"): "except",
    ("aside", "from"): "except",
    ("as", "well", "as"): "and",
    ("at", "all"): "",
    ("not", "even"): "not",
}
_ALIASES = {"besides": "except", "mr": "pr", "mrs": "prs", "plus": "and", "&": "and"}
# words with a slash that are two words, and no path
_ALTERNATIVES = word_set("and/or pr/mr mr/pr w/o n/a yes/no")
_NAMING = frozenset({"named", "called"})
_NUMBERS = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
_NUMBERS |= {"single": 1, "once": 1, "twice": 2, "thrice": 3}
# the words before a number, longest first, with the sense that they give it and what to add to it
_BEFORE = (
    (("a", "minimum", "of"), ">=", 0),
    (("a", "maximum", "of"), "<=", 0),
    (("no", "fewer", "than"), ">=", 0),
    (("no", "less", "than"), ">=", 0),
    (("not", "fewer", "than"), ">=", 0),
    (("not", "less", "than"), ">=", 0),
    (("no", "more", "than"), "<=", 0),
    (("not", "more", "than"), "<=", 0),
    (("at", "least"), ">=", 0),
    (("at", "most"), "<=", 0),
    (("up", "to"), "<=", 0),
    (("more", "than"), ">=", 1),
    (("fewer", "than"), "<=", -1),
    (("less", "than"), "<=", -1),
    (("exactly",), "==", 0),
    (("precisely",), "==", 0),
    (("only",), "==", 0),
    (("just",), "==", 0),
    (("a",), "==", 0),
)
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
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    tokens = list(_merged(list(_tokens(text))))
    while tokens and tokens[-1].word in MARKS and tokens[-1].word not in "?)":
        tokens.pop()
    return tuple(tokens)


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
    for part in re.split(r"[\s/]+", word.removesuffix("'s").removesuffix("'")):
        if part:
            yield Token(_ALIASES.get(part, part), chunk)


def _merged(tokens: list[Token]) -> Iterator[Token]:
    position = 0
    while position < len(tokens):
        length, token = _quantity(tokens, position)
        if not token:
            length, token = _merge(tokens, position)
        if token and position and tokens[position - 1].word in _NAMING and token.name:
            token = Token("", token.name)  # `a branch named release` quotes nothing
        if token and (token.word or token.name or token.quantity):
            yield token
        position += length


def _merge(tokens: Sequence[Token], position: int) -> tuple[int, Token]:
    for words, merged in _MERGED.items():
        if _starts(tokens, position, words):
            return len(words), Token(merged)
    return 1, tokens[position]


def _starts(tokens: Sequence[Token], position: int, words: Sequence[str]) -> bool:
    part = tokens[position : position + len(words)]
    return [token.word for token in part] == list(words)


def _quantity(tokens: Sequence[Token], position: int) -> tuple[int, Token | None]:
    """How many tokens make a number here, and the number: `at least two` is one token."""
    for words, op, more in _BEFORE:
        if _starts(tokens, position, words):
            number = _number(tokens, position + len(words))
            if number is not None and (
                words != ("a",) or _starts(tokens, position + 1, ["single"])
            ):
                return _counted(tokens, position, len(words) + 1, (op, number + more))
    if _starts(tokens, position, ["not", "a", "single"]):
        return 3, Token("no")
    number = _number(tokens, position)
    if number is None:
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
    """`zero` is a denial; `three times` is a number like any other."""
    length += _starts(tokens, position + length, ["times"])
    return length, Token("no") if quantity == ("==", 0) else Token("", "", quantity)


def _number(tokens: Sequence[Token], position: int) -> int | None:
    if position >= len(tokens):
        return None
    word = tokens[position].word
    digits = word.removesuffix("+")
    if digits.isdecimal() and digits.isascii() and len(digits) < 7:
        return int(digits)
    return _NUMBERS.get(word)
