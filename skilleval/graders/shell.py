"""Which programs a shell command starts, as far as its text tells. Owns that reading; runs nothing.

Follows `&&`, pipes, subshells, `bash -c "…"` and the programs that only start others (`sudo`,
`npx`, `uv run`, `python -m`). What a here-document holds or `echo` prints is no command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

_OPERATORS = "();<>|&\n`"
_HEREDOC = re.compile(r"(?<!<)<<-?\s*(['\"]?)(\w+)\1")
# a word, of which parts may be quoted; a run of operators; or what makes a line unreadable
_LEXEMES = re.compile(
    r"""((?>(?:\\.|'[^']*+'|"(?>(?:\\.|[^"\\])*)"|[^\s();<>|&`'"\\])+))"""
    r"""|([();<>|&`\n]++)|[ \t\r\f\v]++|(.)""",
    re.DOTALL,
)
_PARTS = re.compile(r"""'([^']*+)'|"((?>(?:\\.|[^"\\])*))"|\\(.)|[^'"\\]++""", re.DOTALL)
_ESCAPED = re.compile(r"""\\(["\\$`])""")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}"})
_KEYWORDS |= {"time", "exec", "command", "builtin"}
# what only starts the program after it, with the words that may come between
_STARTERS = (
    ("sudo",),
    ("env",),
    ("nohup",),
    ("nice",),
    ("xargs",),
    ("timeout",),
    ("npx",),
    ("bunx",),
    ("uvx",),
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("hatch", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "dlx"),
    ("npm", "exec"),
    ("python", "-m"),
    ("coverage", "run"),
    ("deno", "run"),
    ("go", "run"),
)
# what runs a script that it is given; any other program only reads it, or writes it
_RUNNERS = _SHELLS | {"python", "pypy", "node", "tsx", "ts-node", "deno", "bun", "ruby", "perl"}
_RUNNERS |= {"php", "lua", "Rscript", "julia", "java", "groovy", "pwsh", "tclsh", "awk"}
_RUNNERS |= {"pytest", "bats", "source", "."}
_SAME = {"nodejs": "node", "py": "python"}
# what may stand between a program and its subcommand: `npm run test`, `docker compose up`
_BETWEEN = {"npm": {"run", "run-script"}, "yarn": {"run"}, "pnpm": {"run"}, "bun": {"run"}}
_MOST = 200  # segments of one command line that are looked at
_DEEPEST = 4


def segments(command: str | Sequence[str]) -> list[list[str]]:
    """The simple commands of a command line or argv, each as its words. Never raises."""
    if not isinstance(command, str):
        return _unwrapped([str(word) for word in command], _DEEPEST)
    return list(islice(_segments(command, _DEEPEST), _MOST))


def _segments(text: str, depth: int) -> Iterator[list[str]]:
    text = _without_heredocs(text.replace("\\\n", " "))
    segment: list[str] = []
    for word, is_operator in _split(text):
        if is_operator:
            if segment:
                yield from _unwrapped(segment, depth)
            # what follows < or > is a file
            segment = ["<"] if set(word) & {"<", ">"} and "(" not in word else []
        else:
            segment.append(word)


def _without_heredocs(text: str) -> str:
    """A command line without what its here-documents hold; one that has no end is none."""
    if "<<" not in text:
        return text
    lines = text.split("\n")
    ends: dict[str, list[int]] = {}
    for number in range(len(lines) - 1, -1, -1):
        ends.setdefault(lines[number].strip(), []).append(number)  # the next one comes last
    kept: list[str] = []
    number = 0
    while number < len(lines):
        found = _HEREDOC.search(lines[number])
        kept.append(_HEREDOC.sub("", lines[number], count=1) if found else lines[number])
        places = ends.get(found[2], []) if found else []
        while places and places[-1] <= number:
            places.pop()
        number = places[-1] + 1 if places else number + 1
    return "\n".join(kept)


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a command line and (with True) its operators, a line end the last of them."""
    for found in _LEXEMES.finditer(text):
        word, operators, broken = found.groups()
        if broken:  # a quotation mark without a partner: the rest is read word by word
            rest = re.split(r"([();<>|&\n`]+)|\s+", text[found.start() :])
            parts = [part.strip("'\"") for part in rest if part]
            yield from ((part, not part.strip(_OPERATORS)) for part in parts if part)
            break
        if word:
            yield _unquoted(word), False
        elif operators:
            yield operators, True
    yield "\n", True


def _unquoted(word: str) -> str:
    if not {"'", '"', "\\"} & set(word):
        return word
    return "".join(map(_literal, _PARTS.finditer(word)))


def _literal(part: re.Match[str]) -> str:
    """What a part of a word says, without its quotation marks or its backslash."""
    if part[2] is not None:
        return _ESCAPED.sub(r"\1", part[2])
    return next((each for each in (part[1], part[3]) if each is not None), part[0])


def _unwrapped(words: list[str], depth: int) -> list[list[str]]:
    """The command, and those that it starts."""
    if words and words[0].startswith(("<", "#")):
        return []
    while words and (words[0] in _KEYWORDS or _ASSIGNMENT.fullmatch(words[0])):
        words = words[1:]
    if not words:
        return []
    words = [program(words[0]), *words[1:]]
    found = [words]
    if depth and words[0] in _SHELLS:
        for flag, script in pairwise(words):
            if re.fullmatch("-[a-z]*c", flag):
                return [words, *_segments(script, depth - 1)]
    inner = _started(words) if depth else []
    return found + (_unwrapped(inner, depth - 1) if inner else [])


def _started(words: list[str]) -> list[str]:
    """The command that a starter starts: `sudo -u x npm test` is `npm test`, too."""
    named = (program(words[0].rpartition("/")[2]), *words[1:])
    for starter in _STARTERS:
        if named[: len(starter)] == starter:
            rest = words[len(starter) :]
            while rest and (rest[0].startswith("-") or re.fullmatch(r"\d+[smh]?", rest[0])):
                rest = rest[1:]
            return rest
    return []


def program(word: str) -> str:
    """The name of a program: `/usr/bin/python3.11` is `python`, `./check.sh` itself."""
    if word.startswith("./"):
        return word
    name = word.rpartition("/")[2] if word.startswith("/") else word
    name = re.sub(r"^(python|pip)\d[\d.]*$", r"\1", name)
    return _SAME.get(name, name)


def runs(words: Sequence[str], segment: Sequence[str]) -> bool:
    """Is the command of these words in a segment, perhaps with more options and arguments?

    A script may be started by another program: `check.py` is in `python scripts/check.py`.
    """
    wanted = [program(words[0]), *words[1:]]
    if _is(wanted[0], segment[0]):
        return _follow(wanted[1:], segment[1:], _BETWEEN.get(segment[0], set()))
    is_script = "." in wanted[0] or "/" in wanted[0]
    if not is_script or program(segment[0].rpartition("/")[2]) not in _RUNNERS:
        return False
    script = next((n for n, word in enumerate(segment[1:], 1) if _is(wanted[0], word)), 0)
    starts = script and all(word.startswith("-") for word in segment[1:script])
    return bool(starts) and _follow(wanted[1:], segment[script + 1 :], set())


def _is(wanted: str, word: str) -> bool:
    wanted, word = wanted.removeprefix("./"), word.removeprefix("./")
    return word == wanted or word.endswith(f"/{wanted}")


def _follow(wanted: Sequence[str], words: Sequence[str], between: set[str]) -> bool:
    """Do the wanted words come in this order, with nothing but options before or between them?

    Short options may stand anywhere, and long ones anywhere behind the first word that is none.
    """
    flags = {letter for word in words if _is_cluster(word) for letter in word[1:]}
    position, after_option, is_subcommand = 0, False, False
    for each in wanted:
        if _is_cluster(each):
            if not set(each[1:]) <= flags:
                return False
            continue
        if each.startswith("--") and is_subcommand:
            if each not in words[position:]:
                return False
            continue
        while position < len(words) and not _is(each, words[position]):
            word = words[position]
            if not (word.startswith("-") or after_option or word in between):
                return False
            after_option = word.startswith("-") and "=" not in word
            position += 1
        if position == len(words):
            return False
        position, after_option = position + 1, False
        is_subcommand = is_subcommand or not each.startswith("-")
    return True


def _is_cluster(word: str) -> bool:
    """Short options in one word, as `-rf`."""
    return re.fullmatch(r"-[A-Za-z]{1,4}", word) is not None
