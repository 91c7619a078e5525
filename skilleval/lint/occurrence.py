"""How a needle occurs in a text: alone, inside a longer word, or almost. Decides no rule.

Whether a check passes is `graders.text.holds` and nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
# what typographers, phones and word processors write instead of the character on the key
TYPOGRAPHIC = {
    **dict.fromkeys("‘’‚‛′", "'"),
    **dict.fromkeys("“”„‟″", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f", " "),
    **dict.fromkeys("\u00ad\u200b\u2060\ufeff", ""),
    "…": "...",
}
_ASCII = str.maketrans(TYPOGRAPHIC)
_UNEMPHASISED = str.maketrans("", "", "*_`")
_STEM_LENGTH = 7
# a "word" can be a megabyte of base64: nobody needs to see more of it than this on either side
_HOST_REACH = 40
_LONGEST_LINE = 70


def stands_alone(needle: str, text: str) -> bool:
    """Does the needle occur at least once with no letter, digit or underscore at its word edges?

    An edge of the needle that is itself no such character is always free (spec: `bounded`).
    """
    head, tail = needle[0] in WORD, needle[-1] in WORD
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        free = not (head and start and text[start - 1] in WORD)
        if free and not (tail and end < len(text) and text[end] in WORD):
            return True
        start = text.find(needle, start + 1)
    return False


def longer_words(needle: str, text: str) -> Iterator[str]:
    """The longer words (with the whole needle) of which the needle is only a part, in order."""
    head, tail = needle[0] in WORD, needle[-1] in WORD
    start = text.find(needle)
    while start >= 0:
        left, end = start, start + len(needle)
        right = end
        while head and left and start - left < _HOST_REACH and text[left - 1] in WORD:
            left -= 1
        while tail and right < len(text) and right - end < _HOST_REACH and text[right] in WORD:
            right += 1
        if (left, right) != (start, end):
            yield text[left:right]
        start = text.find(needle, start + 1)


def is_stem_of(needle: str, word: str) -> bool:
    """Is the word the needle with an English ending, the needle long enough to carry the sense?

    A stem (`responsibilit`, `duplicat`) is how a check accepts every form of a word on purpose,
    while `view` in `viewer` is an accident: seven letters are where the two part.
    """
    from skilleval.lint.vocabulary import ENDINGS

    letters = re.search(r"[a-z]*$", needle)
    long = letters is not None and len(letters[0]) >= _STEM_LENGTH
    return long and word.startswith(needle) and word[len(needle) :] in ENDINGS


def is_form_of(needle: str, word: str) -> bool:
    """Is the word a plural or a tense of the needle, or the needle a stem of it?"""
    from skilleval.lint.vocabulary import SIMPLE_ENDINGS

    simple = word.startswith(needle) and word[len(needle) :] in SIMPLE_ENDINGS
    return (simple and len(needle) >= 4) or is_stem_of(needle, word)


def ascii_form(text: str) -> str:
    """The text with quotes, dashes and spaces as keyboards have them."""
    return text.translate(_ASCII)


def split_form(needle: str, text: str) -> str:
    """How the text splits the words of the needle: "across a line break", … or ""."""
    words = needle.split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    while found and found[0] == needle:
        found = re.compile(r"\s+".join(map(re.escape, words))).search(text, found.end())
    if found:
        return "across a line break" if "\n" in found[0] else "with other spacing"
    return _emphasised(words, text)


def _emphasised(words: list[str], text: str) -> str:
    # a mark between two words, or inside one: **auto tag** release, `auto` tag release
    gap = r"[*_`]*\s+[*_`]*"
    for found in re.finditer(gap.join(map(re.escape, words)), text) if len(words) > 1 else ():
        if found[0].translate(_UNEMPHASISED) != found[0]:
            return "with emphasis inside it"
    return ""


def near_miss(needle: str, text: str) -> str:
    """How the text has the needle after all, as a clause for a message; "" if it has not.

    Needles are compared as they are; this only tells a person why one that "is there" is not.
    """
    if needle.casefold() in text.casefold():
        return f"with other case: {_as_written(needle, text)!r}"
    if split := split_form(needle, text):
        return split
    if ascii_form(needle) in ascii_form(text):
        return "with other quotes, dashes or spaces"
    if not any(map(str.isalnum, needle)):
        return ""  # of marks like `.*` nothing telling is left without emphasis
    if needle.translate(_UNEMPHASISED) in text.translate(_UNEMPHASISED):
        return "with emphasis inside it"
    if _bare(needle) in _bare(text):
        return "if case, spacing, quotes and emphasis are ignored"
    return ""


def _as_written(needle: str, text: str) -> str:
    lower = text.lower()
    start = lower.find(needle.lower()) if len(lower) == len(text) else -1
    return text[start : start + len(needle)] if start >= 0 else needle


def _bare(text: str) -> str:
    return " ".join(ascii_form(text).translate(_UNEMPHASISED).casefold().split())


def line_with(needle: str, text: str) -> str:
    """The first line of the text that has the needle's first line, shortened."""
    start = text.find(needle)
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    return shortened(text[begin : end if end >= 0 else len(text)].strip())


def shortened(line: str) -> str:
    """A line as a message can quote it."""
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
