"""The scalars of YAML 1.2: plain, quoted and block text. Owns their extent and their meaning.

It does not own collections, anchors or the source's name: that is `yamlread`. Each rule takes the
text, the place where the scalar starts and `parent`, the column of the collection around it (-1 at
the top; every line of the scalar is indented deeper), and returns the value and the place behind
it, or raises `Refused`. Values are those of the core schema, so `yes`, `on`, `1_000` and
`2026-11-30` are text. Sections in comments are those of https://yaml.org/spec/1.2.2/.

The text begins with an added line end and ends with a line end and "\\0": no rule meets an edge.
"""

from __future__ import annotations

import re
from typing import NoReturn

Scalar = bool | int | float | str | None

# int() of the interpreter refuses more digits than this (it would be quadratic): we say it first
MOST_DIGITS = 4300

# `++`, `*+` and `?+` never give back what they took, so that no pattern is worse than linear.
# Groups are atomic, `(?>(?:…)*)`, and never possessive: Python 3.11.2, which Debian 12 has, gives
# back too little when the last round of a possessive group fails.
NAME = r"[^ \t\n,\[\]{}]++"
_WORD = r"(?:[^ \t\n\0:#]|:(?![ \t\n]))(?>(?:[^ \t\n:]++|:(?![ \t\n]))*)"
_WORDS = rf"{_WORD}(?>(?:[ \t]++{_WORD})*)"
PLAIN = rf"(?:(?=[-?:][^ \t\n])|(?![-?:,\[\]{{}}#&*!|>'\"%@`])){_WORDS}"
_MORE = rf"[ \t]*+(\n(?>(?:[ \t]*+\n)*))( *+)[ \t]*+({_WORDS})"


def _inside_flow(pattern: str) -> str:
    """The same pattern inside `[ ]` and `{ }`, where these and commas end plain text too."""
    pattern = pattern.replace(r"[^ \t\n:]", r"[^ \t\n:,\[\]{}]").replace(
        r"[^ \t\n\0:#]", r"[^ \t\n\0:#,\[\]{}]"
    )
    return pattern.replace(r"(?![ \t\n])", r"(?![ \t\n,\[\]{}])").replace(
        r"(?=[-?:][^ \t\n])", r"(?=[-?:][^ \t\n,\[\]{}])"
    )


# Patterns that are strings are compiled where a document needs them (`re` keeps them): every
# program that reads a SKILL.md pays for the import.
_PLAIN_IN_FLOW, _MORE_IN_FLOW = _inside_flow(PLAIN), _inside_flow(_MORE)
_QUOTED = r"(?s)\"((?>(?:[^\"\\]++|\\.)*))\"|'((?>(?:[^']++|'')*))'"
_CONTINUED = r"\n( *+)[ \t]*+(?=[^ \t\n])"
_HEADER = r"([|>])([-+]?[1-9]?|[1-9][-+])[ \t]*+(?>(?:(?<=[ \t])#[^\n]*+)?)(?=\n)"
_BLANK_LINES = r"(?>(?: *+\n)*)( *+)"
_NUMBER = (
    r"(?P<int>[-+]?[0-9]+)|(?P<octal>0o[0-7]+)|(?P<hex>0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
)
# Folding takes the white space around a line end with it, but an escaped blank stays: that one
# has an alternative of its own. The look-behind keeps long runs of blanks linear.
_FOLD = r"(?<![ \t])[ \t]*+\n[ \t\n]*+"
_ESCAPE = rf"""(?x)
    \\(?: (?P<pair>u[dD][89abAB][0-9a-fA-F]{{2}}\\u[dD][c-fC-F][0-9a-fA-F]{{2}})
        | (?P<code>x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}})
        | (?P<joined>\n[ \t\n]*+)
        | (?P<blank>[ \t])(?>(?P<after>[ \t]*+\n[ \t\n]*+)?)
        | (?P<letter>.) )
    | (?P<fold>{_FOLD})"""

_BASES = {"int": 10, "octal": 8, "hex": 16}
_WORD_VALUES: dict[str, Scalar] = {
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_LETTERS = {
    **{"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"},
    **{"e": "\x1b", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0"},
    **{"L": "\u2028", "P": "\u2029"},
}
QUOTE_IT = "quote it if it is text"
TABBED = "a tab in the indentation: indent with spaces"
KEY_IS_COLLECTION = "lists and mappings as keys are not supported: quote the key"
_NO_STARTS = {
    **dict.fromkeys("@`%,]}", "text cannot start with {!r}: quote it"),
    **dict.fromkeys("[{", KEY_IS_COLLECTION),
    **dict.fromkeys("|>", f"after {{!r}} only '-', '+' or 1 to 9 may stand; {QUOTE_IT}"),
    "!": f"tags are not supported: remove the tag; {QUOTE_IT}",
    "&": f"an anchor '&' needs a name; {QUOTE_IT}",
    "*": f"an alias '*' needs the name of an anchor; {QUOTE_IT}",
    "?": f"'? ' keys are not supported: write 'key: value'; {QUOTE_IT}",
    ":": f"the key before ':' is missing; {QUOTE_IT}",
    "-": f"a list cannot start here: put '- ' on a line of its own, below the key; {QUOTE_IT}",
    "#": "a comment needs a blank before its '#'",
}


class Refused(ValueError):
    """Text that we do not read. `pos` is the place in the text that was given to the rule."""

    def __init__(self, pos: int, message: str) -> None:
        super().__init__(message)
        self.pos, self.message = pos, message


def refuse_start(text: str, pos: int) -> NoReturn:
    """No node can start at `pos`: say why."""
    if text[pos] == "-" and text[pos - 1] == "\t":
        raise Refused(pos, TABBED)
    raise Refused(pos, _NO_STARTS[text[pos]].format(text[pos]))


def scalar(text: str, start: int, parent: int, in_flow: bool) -> tuple[Scalar, int]:
    """Plain or quoted text."""
    if text[start] in "\"'":
        return quoted(text, start, parent)
    return plain(text, start, parent, in_flow)


# -- plain (7.3.3, 10.3.2) ------------------------------------------------------------------------


def plain(text: str, start: int, parent: int, in_flow: bool) -> tuple[Scalar, int]:
    """Text without quotes, which may go on over lines, and what it stands for."""
    if not in_flow and text[start].isalnum() and (value := _simple_line(text, start)):
        end = start + len(value)
    else:
        found = re.compile(_PLAIN_IN_FLOW if in_flow else PLAIN).match(text, start)
        if not found:
            refuse_start(text, start)
        value, end = found.group(), found.end()
    # most lines need no second look: the next one starts at column 0, so it is not deeper
    if text[end] != "\n" or parent < 0 or text[end + 1] in " \t\n":
        parts, match = [value], re.compile(_MORE_IN_FLOW if in_flow else _MORE).match
        while (found := match(text, end)) and found.end(2) - found.start(2) > parent:
            parts += "\n" * (found.group(1).count("\n") - 1) or " ", found.group(3)
            end = found.end()
        value = "".join(parts)
    return resolve(value, start), end


def _simple_line(text: str, start: int) -> str:
    """The rest of a line without any ':' or '#': all of it is plain, and ten times as fast to find.

    "" for another line, of which only the pattern knows where the text ends.
    """
    line = text[start : text.index("\n", start)]
    return "" if ":" in line or "#" in line else line.rstrip(" \t")


def resolve(value: str, start: int) -> Scalar:
    """The value of plain text by the core schema. `start` is its place, for the error."""
    if value[0] in "+-.0123456789":
        number = re.compile(_NUMBER).fullmatch(value)
        if number:
            kind = str(number.lastgroup)
            if kind == "float":
                return float(value)
            if len(value) > MOST_DIGITS:
                raise Refused(start, f"a number of {len(value)} digits; {QUOTE_IT}")
            return int(value, _BASES[kind])
    return _WORD_VALUES.get(value, value)


# -- quoted (5.7, 6.5, 7.3.1, 7.3.2) --------------------------------------------------------------


def quoted(text: str, start: int, parent: int) -> tuple[str, int]:
    """Text in single or double quotes."""
    found = re.compile(_QUOTED).match(text, start)
    if not found:
        raise Refused(start, f"the quote {text[start]} is never closed")
    end = found.end()
    if "\n" in found.group():
        for line in re.compile(_CONTINUED).finditer(text, start, end):
            if line.end(1) - line.start(1) <= parent:
                message = (
                    f"the quoted text of line {text.count(chr(10), 0, start)} goes on here: indent "
                    "this line deeper than the key (PyYAML does not insist), or close the quote"
                )
                raise Refused(line.end(), message)
    if found.group(1) is None:
        return unquote_single(found.group(2)), end
    return unquote_double(found.group(1), start + 1), end


def unquote_single(body: str) -> str:
    """The text between single quotes: `''` is a quote, line ends fold."""
    if "\n" in body:
        body = re.sub(_FOLD, lambda found: _folded(found.group()), body)
    return body.replace("''", "'")


def unquote_double(body: str, start: int) -> str:
    """The text between double quotes: escapes and folding. `start` is its place, for the error."""
    if "\\" not in body and "\n" not in body:
        return body
    try:
        return re.sub(_ESCAPE, _unescaped, body)
    except Refused as refused:
        raise Refused(start + refused.pos, refused.message) from None


def _folded(breaks: str) -> str:
    return "\n" * (breaks.count("\n") - 1) or " "


def _unescaped(found: re.Match[str]) -> str:
    kind, text = found.lastgroup, found.group()
    if kind == "fold":
        return _folded(text)
    if kind == "joined":
        return "\n" * (text.count("\n") - 1)
    if kind == "blank":
        return text[1]
    if kind == "after":
        return text[1] + _folded(text)
    if kind == "pair":  # json.dumps writes characters beyond U+FFFF as two surrogates
        return chr(0x10000 + (int(text[3:6], 16) - 0x800 << 10) + int(text[9:], 16) - 0xC00)
    if kind == "code":
        code = int(text[2:], 16)
        if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
            raise Refused(found.start(), f"{text} is no character: write another escape")
        return chr(code)
    if text[1] not in _LETTERS:
        fix = f"write \\{text} for a backslash, or use single quotes"
        raise Refused(found.start(), f"unknown escape {text}: {fix}")
    return _LETTERS[text[1]]


# -- block (8.1) ----------------------------------------------------------------------------------


def block(text: str, start: int, parent: int, unended: bool) -> tuple[str, int]:
    """The text of a `|` or `>` block.

    `unended` says that the text had no final line end of its own: a block that goes up to there
    gets none either. The block ends before the line end of its last line, as if on that line.
    """
    header = re.compile(_HEADER).match(text, start)
    if not header:
        refuse_start(text, start)
    style, marks = header.groups()
    pos = header.end() + 1
    digit, chomping = marks.strip("-+"), marks.strip("123456789")
    indent = max(parent, 0) + int(digit) if digit else _block_indent(text, pos, parent)
    lines, prefix = [], " " * indent
    while text[pos] != "\0":
        end = text.index("\n", pos)
        if text.startswith(prefix, pos):
            lines.append(text[pos + indent : end])
        elif text[pos:end].strip(" "):
            break
        else:
            lines.append("")
        pos = end + 1
    # a last line of blanks only counts as a line, as the official suite has it (L24T)
    unended = unended and text[pos] == "\0" and bool(lines) and bool(lines[-1].strip(" \t"))
    return _chomped(lines, style, chomping, unended), pos - 1


def _block_indent(text: str, start: int, parent: int) -> int:
    """The column of the first line with text (8.1.1.1)."""
    found = re.compile(_BLANK_LINES).match(text, start)
    assert found is not None  # it matches nothing, too
    end, column = found.end(), found.end() - found.start(1)
    blanks = max(map(len, text[start : found.start(1)].split("\n")))
    if text[end] == "\0" or column <= parent:
        if text[end] == "\t":
            raise Refused(end, TABBED)
        return max(blanks, parent + 1)
    if blanks > column:
        raise Refused(end, "a blank line above has more spaces than this first line of the text")
    return column


def _chomped(lines: list[str], style: str, chomping: str, unended: bool) -> str:
    content = len(lines)
    while content and not lines[content - 1]:
        content -= 1
    body = "\n".join(lines[:content]) if style == "|" else _fold_lines(lines[:content])
    breaks = len(lines) - content + bool(content) - unended
    if chomping == "+":
        return body + "\n" * breaks
    return body + "\n" if content and breaks and not chomping else body


def _fold_lines(lines: list[str]) -> str:
    """Join lines by blanks; blank lines, and lines that are indented further, keep their breaks."""
    parts: list[str] = []
    breaks, was_deeper = 0, False
    for line in lines:
        if not line:
            breaks += 1
            continue
        deeper = line[0] in " \t"
        if not parts:
            parts.append("\n" * breaks)
        elif deeper or was_deeper:
            parts.append("\n" * (breaks + 1))
        else:
            parts.append("\n" * breaks or " ")
        parts.append(line)
        breaks, was_deeper = 0, deeper
    return "".join(parts)
