"""What a needle looks like: code, an act, a number, a pattern, plain English. Decides no rule.

Heuristics over English and over code, tuned on needles that people write; a warning built on one
can always be allowed. Patterns are compiled, and the lists of words loaded, at first use: most
needles are code, which their operators tell.
"""

from __future__ import annotations

import re

_CODE = r"""
    [_={}<>\[\]\\`*^|~]                     # operators and brackets that prose has no use for
  | \w\( | \(\)                             # a call; "(PII)" after a space is prose
  | (?:^|[\s,(])--?[A-Za-z] | --- | \w-$    # a flag, a banner, a prefix of keys
  | :: | -> | && | \w:\S | \w:$ | ^:\s?\w   # a separator, a field, a type
  | ;\S | ;$                                # the end of a statement
  | [A-Za-z_]\.[A-Za-z_]\w | (?:^|\s)\.[A-Za-z]   # a member, a file name, a domain
  | (?:^|\s)(?:\.{0,2}|~)/\w | /\w+/        # a path
  | (?:^|\W)[@$]\w | ^[#!]\w | %[sd]        # a decorator, a variable, a selector, a format
"""
# those of them that are in no word of prose, whatever else a needle holds
_OPERATORS = frozenset("={}<>[]\\`*^|~")
_SHORT_FORMS = {"m": "am", "re": "are", "ll": "will", "ve": "have", "d": "would", "s": "is"}
_CLIPPED = {"can": "can", "won": "will", "shan": "shall"}
_CLAUSE_LENGTH = 5
_UNITS = "ms|s|m|h|d|[kMGT]i?B|kb|mb|gb|KB|k|x|px|em|rem|pt|st|nd|rd|th|am|pm"


def is_code(needle: str) -> bool:
    """Does it look like code: a call, a member, a flag, a path, an assignment, camelCase …?

    Product names and English compounds that only look so (`GitHub`, `read-only`) are prose.
    """
    if not _OPERATORS.isdisjoint(needle) or ("_" in needle and ".js" not in needle):
        return True
    words = re.split(r"[\s,()\"']+", needle)
    for word in filter(_is_prose_word, words):
        needle = needle.replace(word, "")
    if re.search(_CODE, needle, re.VERBOSE):
        return True
    return any(_is_code_word(word) for word in words if not _is_prose_word(word))


def _is_prose_word(word: str) -> bool:
    from skilleval.lint.vocabulary import NAMES, SLASHED

    lower = word.strip(".!?;").lower()
    # Title.js is a product, moment.js a file
    return lower in NAMES or lower in SLASHED or re.fullmatch(r"[A-Z]\w*\.js", word) is not None


def _is_code_word(word: str) -> bool:
    from skilleval.lint.vocabulary import COMPOUND_FIRST, COMPOUND_LATER

    if re.search(r"[a-z][A-Z]", word) or re.fullmatch(r"[a-z]+/[a-z.+-]+", word):
        return True
    parts = word.strip(".:;").lower().split("-")
    if len(parts) < 2 or not (parts[0].isalpha() and parts[-1].isalpha()):
        return False
    return parts[0] not in COMPOUND_FIRST and not COMPOUND_LATER.intersection(parts[1:])


def is_act(needle: str) -> bool:
    """Does it say or do something that a denial would word otherwise? English only.

    "I have an SLA" turns into "I do not have an SLA": a subject with its verb, or an auxiliary
    with a word on either side, does not survive the denial. "have an SLA" and "use eval here" do.
    """
    from skilleval.lint.vocabulary import NEGATIONS

    words = _words(needle)
    if len(words) > 1 and NEGATIONS.intersection(words[:2]):
        return True  # a denial itself: nobody denies it once more
    if needle.rstrip().endswith("!"):
        return True  # an exclamation: "Certainly!"
    if len(words) < 3:
        return False
    if len(words) >= _CLAUSE_LENGTH or words[:2] in (["as", "an"], ["as", "a"]):
        return True  # a whole clause: a denial does not repeat it word for word
    return any(_joins_verb(words, position) for position in range(len(words)))


def _joins_verb(words: list[str], position: int) -> bool:
    from skilleval.lint.vocabulary import AUXILIARIES, SUBJECTS

    word = words[position]
    if word in SUBJECTS:
        return position + 1 < len(words)
    return word in AUXILIARIES


def _words(needle: str) -> list[str]:
    """Lower-case words, short forms written out: "I'm sorry" has three, "don't" has two."""
    from skilleval.lint.vocabulary import SHORTENED

    words: list[str] = []
    for word in re.findall(r"\w+(?:['’]\w+)?", needle.lower()):
        stem, _, ending = word.replace("’", "'").partition("'")
        if ending == "t" and stem.endswith("n"):
            words += [_CLIPPED.get(stem, stem[:-1]), "not"]
        elif ending in _SHORT_FORMS and stem in SHORTENED:
            words += [stem, _SHORT_FORMS[ending]]
        else:
            words.append(word)
    return words


def is_foreign(needle: str) -> bool:
    """Has it letters beyond ASCII? Then the English heuristics have nothing to say about it."""
    return not needle.isascii() and any(c.isalpha() and not c.isascii() for c in needle)


def open_number(needle: str) -> str:
    """The number at an edge of the needle that a longer number would contain; "" if none.

    Digits that belong to a name (`sha256`, `S3`, `UTF-8`, `2FA`), long numbers at the end of a
    phrase (`RFC 9110`) and HTTP statuses (`status 404`) do not grow, and are left alone.
    """
    if found := re.match(rf"\d+(?!\w)|\d+(?=(?:{_UNITS})\b)", needle):
        return found[0]
    found = re.search(r"\d+$", needle)
    return _open_end(needle[: found.start()], found[0]) if found else ""


def _open_end(before: str, number: str) -> str:
    if re.search(r"(?:^|[^A-Za-z])[vV]$", before):
        return number
    named = re.search(r"[A-Za-z]$|[A-Za-z]-$", before)
    status = re.search(r"(?i)(?:http|status|code|error|response)\W{1,3}$", before)
    if named or len(number) > 3 or (status and len(number) == 3):
        return ""
    return number


def is_pattern(needle: str) -> bool:
    """Does it look like a regular expression? (`java.util.*` at an end does not.)"""
    return (
        re.search(
            r"(?<!\w)\.[*+]|\.[*+](?!;?$)|\\[bdswBDSW](?![A-Za-z])|\[\^|\(\?[a-zA-Z:=!<]|^\^.+\$$",
            needle,
        )
        is not None
    )


def is_plain_english(needle: str) -> bool:
    """Is it lower-case words and nothing else? (A capital makes it a name.)"""
    return re.fullmatch(r"[A-Z]?[a-z]{2,}(?:[ '-][a-z]+)*", needle) is not None and (
        needle[0].islower() or " " in needle
    )
