"""Which programs a shell command starts, as far as its text tells. Owns that reading; runs nothing.

Follows `&&`, pipes, subshells, substitutions, `bash -c "…"`, what a shell is fed, and the programs
that only start others (`starters`). What `cat` is fed or `echo` prints is no command; where neither
can be said, the text is told apart as loose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from skilleval.graders import starters

_OPERATORS = "();<>|&\n`"
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(?:(['\"])(\w[\w.-]*)\1|(\\?)(\w[\w.-]*))")
# a comment; a word, of which parts may be quoted; a run of operators; what makes a line unreadable
_LEXEMES = re.compile(
    r"""(?<![^\s;|&()`])\#[^\n]*+"""
    r"""|((?>(?:\\.|'[^']*+'|"(?>(?:\\.|[^"\\])*)"|[^\s();<>|&`'"\\])+))"""
    r"""|([();<>|&`\n]++)|[ \t\r\f\v]++|(.)""",
    re.DOTALL,
)
_PARTS = re.compile(r"""'([^']*+)'|"((?>(?:\\.|[^"\\])*))"|\\(.)|[^'"\\]++""", re.DOTALL)
_SUBSTITUTION = re.compile(r"\$\((?!\()")
_VERSION = re.compile(r"(?<=[\w-])@(?:latest|next|[\d^~][\w.-]*)$")
_ESCAPED = re.compile(r"""\\(["\\$`])""")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}"})
_BEFORE = frozenset({"time", "exec", "command", "builtin"})  # these may have options
_SAME = {"nodejs": "node", "py": "python"}
_MOST = 200  # segments of one command line that are looked at
_DEEPEST = 4
Bodies = Mapping[str, tuple[str, bool]]


class Written(NamedTuple):
    """A text that a command line writes to a file, which may be run later."""

    path: str
    text: str


Item = list[str] | str | Written


class Line(NamedTuple):
    """What a command line starts: simple commands, each as its words, and what may hold more.

    `loose` are texts of which nobody can say whether they are commands: what a program is given
    that may start another one, or what lies behind the limits of this reading.
    """

    segments: list[list[str]]
    loose: list[str]
    written: list[Written]


def read(command: str | Sequence[str]) -> Line:
    """The reading of a command line or argv. Never raises."""
    if isinstance(command, str):
        items = _items(command, _DEEPEST)
    else:
        command = [str(word) for word in command]
        items = _simple(command, "", _DEEPEST)
    line = Line([], [], [])
    for item in items:
        if max(len(each) for each in line) == _MOST:
            line.loose.append(command if isinstance(command, str) else " ".join(command))
            break
        if isinstance(item, Written):
            line.written.append(item)
        elif not isinstance(item, str):
            line.segments.append(item)
        elif item.strip():
            line.loose.append(item)
    return line


def segments(command: str | Sequence[str]) -> list[list[str]]:
    """The simple commands of a command line or argv, each as its words. Never raises."""
    return read(command).segments


def _items(text: str, depth: int, known: Bodies | None = None) -> Iterator[Item]:
    """The simple commands of a text, what they write, and (as texts) what may hold more of them."""
    text, own = _without_heredocs(text.replace("\\\n", " "), depth)
    bodies = {**(known or {}), **own}
    piped = ""
    for each in _parsed(text, bodies):
        if isinstance(each, str):
            yield from _items(each, depth - 1, bodies) if depth else [each]
            continue
        fed = each.fed or piped
        yield from _simple(each.words, fed, depth)
        printed = starters.printed(each.words, fed)
        for path in (*each.targets, *(each.words[1:] if each.words[:1] == ["tee"] else ())):
            yield Written(path, printed)
        piped = printed if each.is_piped else ""


class _Parsed(NamedTuple):
    """A simple command: what its input is said to be, the files of its output, is it piped?"""

    words: list[str]
    fed: str
    targets: list[str]
    is_piped: bool


def _parsed(text: str, bodies: Bodies) -> Iterator[_Parsed | str]:
    """The simple commands of a text, and as texts the commands within their words."""
    words: list[str] = []
    targets: list[str] = []
    fed = redirect = ""
    for kind, word in _split(text):
        if kind == "text":
            yield word
        elif kind == "operator" and {"<", ">"} & {*word} and "(" not in word:
            redirect = word
        elif kind == "operator":
            yield _Parsed(words, fed, targets, word.strip() in ("|", "|&"))
            words, targets, fed, redirect = [], [], "", ""
        elif redirect:
            if "<<<" in redirect:
                fed = word
            elif "<<" in redirect:
                fed, expands = bodies.get(word, ("", False))
                yield from _substituted(fed) if expands else ()
            elif ">" in redirect:
                targets.append(word)
            redirect = ""
        else:
            words.append(word)


def _without_heredocs(text: str, depth: int) -> tuple[str, Bodies]:
    """A command line with a name in place of each here-document, and by it what that holds.

    With it stands whether what it holds is expanded. One that has no end is none.
    """
    if "<<" not in text:
        return text, {}
    lines = text.split("\n")
    ends: dict[str, list[int]] = {}
    for number in range(len(lines) - 1, -1, -1):
        ends.setdefault(lines[number].strip(), []).append(number)  # the next one comes last
    kept: list[str] = []
    bodies: dict[str, tuple[str, bool]] = {}
    number = 0
    while number < len(lines):
        line, number = lines[number], number + 1
        found = _HEREDOC.search(line)
        places = ends.get(found[2] or found[4], []) if found else []
        while places and places[-1] < number:
            places.pop()
        if found and places:
            name = f"\0{depth}.{len(bodies)}"
            bodies[name] = ("\n".join(lines[number : places[-1]]), not (found[1] or found[3]))
            number = places[-1] + 1
            line = f"{line[: found.start()]}<<{name}{line[found.end() :]}"
        elif found:
            line = line[: found.start()] + line[found.end() :]
        kept.append(line)
    return "\n".join(kept), bodies


def _split(text: str) -> Iterator[tuple[str, str]]:
    """The words of a command line and its operators, each with its kind; a line end comes last.

    A `text` is what is substituted within a word: it comes before that word. The number of a
    stream, as in `2>`, is none of the words.
    """
    for found in _LEXEMES.finditer(text):
        word, operators, broken = found.groups()
        if broken:  # a quotation mark without a partner: the rest is read word by word
            rest = re.split(r"([();<>|&\n`]+)|\s+", text[found.start() :])
            parts = [part.strip("'\"") for part in rest if part]
            yield from (("word" if p.strip(_OPERATORS) else "operator", p) for p in parts if p)
            break
        if word:
            for part in _PARTS.finditer(word):
                yield from (("text", inner) for inner in _substituted(part[2] or ""))
            if not (word.isdecimal() and text[found.end() : found.end() + 1] in ("<", ">")):
                yield "word", _unquoted(word)
        elif operators:
            yield "operator", operators
    yield "operator", "\n"


def _substituted(text: str) -> Iterator[str]:
    """The commands whose output is put into a text in double quotes; one without an end, too."""
    if "`" in text:
        yield from text.split("`")[1::2]
    found = _SUBSTITUTION.search(text)
    while found:
        depth, end = 1, found.end()
        while end < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[found.end() : end if depth else end - 1]
        found = _SUBSTITUTION.search(text, end)  # those within it are its own


def _unquoted(word: str) -> str:
    if not {"'", '"', "\\"} & set(word):
        return word
    return "".join(map(_literal, _PARTS.finditer(word)))


def _literal(part: re.Match[str]) -> str:
    """What a part of a word says, without its quotation marks or its backslash."""
    if part[2] is not None:
        return _ESCAPED.sub(r"\1", part[2])
    return next((each for each in (part[1], part[3]) if each is not None), part[0])


def _simple(words: list[str], fed: str, depth: int) -> Iterator[Item]:
    """A simple command and those that it starts. `fed` is what it reads from its input."""
    if words and words[0].startswith("#"):
        return
    while words and (words[0] in _KEYWORDS | _BEFORE or _ASSIGNMENT.fullmatch(words[0])):
        first, *words = words
        if first == "command" and words[:1] in (["-v"], ["-V"]):  # it only asks where one is
            yield [first, *words]
            return
        if first not in _KEYWORDS | _BEFORE:
            yield first.partition("=")[2]
        while first in _BEFORE and words and words[0].startswith("-"):
            words = words[1:]
    if words:
        words = [program(words[0]), *words[1:]]
        yield words
        yield from _inside(words, fed, depth)


def _inside(words: list[str], fed: str, depth: int) -> Iterator[Item]:
    """What a command starts beside itself, and the texts it is given that may be commands."""
    named = [program(words[0].rpartition("/")[2]), *words[1:]]
    started = starters.started(named) if depth else None
    if depth and named[0] in SHELLS:
        yield from _of_shell(named, fed, depth)
    elif started:
        inner, is_text = started
        if is_text or (inner and re.search(r"\s", inner[0])):
            yield from _items(" ".join(inner), depth - 1)
            yield fed
        elif inner:
            yield inner[0] if ":" in inner[0] else ""
            yield from _simple(inner, fed, depth - 1)
        else:
            yield fed
    elif not starters.takes_data(named):
        yield " ".join(words[1:])
        yield fed


def _of_shell(words: list[str], fed: str, depth: int) -> Iterator[Item]:
    """The commands of `bash -c "…"`, or those that a shell reads from its input."""
    for flag, script in pairwise(words):
        if re.fullmatch("-[a-z]*c", flag):
            yield from _items(script, depth - 1)
            return
    if "-s" in words or all(word.startswith(("-", "+")) for word in words[1:]):
        yield from _items(fed, depth - 1)
    else:
        yield " ".join(words[1:])
        yield fed


def program(word: str) -> str:
    """The name of a program: `/usr/bin/python3.11` is `python`, `jest@29` is `jest`."""
    if word.startswith("./"):
        return word
    name = word.rpartition("/")[2] if word.startswith("/") else word
    name = re.sub(r"^(python|pip)\d[\d.]*$", r"\1", name)
    name = _VERSION.sub("", name).removesuffix(".exe")
    return _SAME.get(name, name)
