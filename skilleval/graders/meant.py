"""Is a simple command the one that is meant? Owns how the words of both are compared.

Options may have a short form or stand elsewhere, a script may be started by another program. How a
command line falls into simple commands is `shell`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skilleval.graders import starters
from skilleval.graders.shell import SHELLS, program

# what runs a script that it is given; any other program only reads it, or writes it
_RUNNERS = SHELLS | {"python", "pypy", "node", "tsx", "ts-node", "deno", "bun", "ruby", "perl"}
_RUNNERS |= {"php", "lua", "Rscript", "julia", "java", "groovy", "pwsh", "tclsh", "awk"}
_RUNNERS |= {"pytest", "bats", "source", "."}
# what may stand between a program and its subcommand: `npm run test`, `docker compose up`
_BETWEEN = {"npm": {"run", "run-script"}, "yarn": {"run"}, "pnpm": {"run"}, "bun": {"run"}}
_INTERPRETERS = _RUNNERS - {"pytest", "bats"}
_ALIASES = {(name, short): "install" for name in ("npm", "pnpm", "bun") for short in ("i", "add")}
_ALIASES |= {("npm", "t"): "test", ("npm", "tst"): "test", ("cargo", "t"): "test"}
_ALIASES |= {("cargo", "b"): "build", ("cargo", "r"): "run", ("cargo", "c"): "check"}
# long options of a command, and what they are for short
_PUSH = ("git", "push")
_SHORT: Mapping[tuple[str, str], Mapping[str, str]] = {
    _PUSH: {"--force": "-f", "--set-upstream": "-u", "--delete": "-d"},
    ("git", "commit"): {"--all": "-a", "--message": "-m", "--signoff": "-s", "--no-verify": "-n"},
    ("git", "add"): {"--all": "-A", "--update": "-u", "--force": "-f", "--patch": "-p"},
    ("git", "branch"): {"--delete": "-d", "--move": "-m", "--force": "-f", "--all": "-a"},
    ("git", "checkout"): {"--force": "-f"},
    ("git", "clean"): {"--force": "-f"},
    ("git", "fetch"): {"--prune": "-p", "--force": "-f", "--tags": "-t"},
    ("git", "rebase"): {"--interactive": "-i"},
    ("git", "stash"): {"--include-untracked": "-u", "--all": "-a"},
    ("git", "status"): {"--short": "-s", "--branch": "-b"},
    ("git", "tag"): {"--annotate": "-a", "--delete": "-d", "--force": "-f", "--message": "-m"},
    ("npm", "install"): {"--global": "-g", "--save-dev": "-D"},
    ("pip", "install"): {"--requirement": "-r", "--upgrade": "-U", "--editable": "-e"},
    ("pytest", ""): {"--quiet": "-q", "--verbose": "-v", "--exitfirst": "-x"},
    ("rm", ""): {"--recursive": "-r", "-R": "-r", "--force": "-f"},
}
_LEASE = "--force-with-lease"


def runs(words: Sequence[str], segment: Sequence[str]) -> bool:
    """Is the command of these words in a segment, perhaps with more options and arguments?

    A script may be started by another program: `check.py` is in `python scripts/check.py`.
    """
    wanted, segment = _spelt(words, words), _spelt(segment, words)
    if _is(wanted[0], segment[0]):
        return _follow(wanted[1:], segment[1:], _BETWEEN.get(segment[0], set()))
    is_script = "." in wanted[0] or "/" in wanted[0]
    if not is_script or program(segment[0].rpartition("/")[2]) not in _RUNNERS:
        return False
    script = next((n for n, word in enumerate(segment[1:], 1) if _is(wanted[0], word)), 0)
    starts = script and all(word.startswith("-") for word in segment[1:script])
    return bool(starts) and _follow(wanted[1:], segment[script + 1 :], set())


def is_run(path: str, segments: Sequence[Sequence[str]]) -> bool:
    """May one of the simple commands run a file: is it its program, or given to one that could?"""
    name = path.rpartition("/")[2]
    return any(
        _is(name, word)
        for segment in segments
        if name and (_is(name, segment[0]) or not starters.takes_data(segment))
        for word in segment
    )


def may_be(words: Sequence[str], segment: Sequence[str]) -> bool:
    """Has a segment that is not this command all its words, in an order that may mean the same?

    Of a subcommand the order is clear, and so it is of a script: it comes first. A push with a
    lease is one with force, but who forbids the one may want the other.
    """
    wanted, segment = _spelt(words, words), _spelt(segment, words)
    if _LEASE in segment and (segment[0], *wanted[1:2]) == _PUSH:
        segment = [*segment, "-f"]
    is_program = _is(wanted[0], segment[0]) and segment[0] not in _INTERPRETERS
    is_open = any(word.startswith("-") or {".", "/"} & {*word} for word in wanted[1:])
    return is_program and is_open and {*wanted[1:]} <= {*segment[1:]}


def _spelt(words: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Words with the short forms of their options and the long ones of their subcommand.

    Which forms there are depends on the command that is wanted, which may be these words.
    """
    name, *rest = (program(words[0]), *words[1:])
    if rest:
        rest[0] = _ALIASES.get((name, rest[0]), rest[0])
    operands = [word for word in wanted[1:] if not word.startswith("-")]
    subcommand = operands[0] if operands else ""
    forms = _SHORT.get((name, subcommand)) or _SHORT.get((name, ""), {})
    if (name, subcommand) == _PUSH:
        rest = _with_force(rest)
    return [name, *(forms.get(word, word) for word in rest)]


def _with_force(words: Sequence[str]) -> list[str]:
    """The words of a push, where `+main` and `--mirror` are said with the option for force, too.

    What a lease is on is left out.
    """
    found = [_LEASE if word.startswith(f"{_LEASE}=") else word for word in words]
    forced = [word for word in found if word == "--mirror" or re.match(r"\+\S", word)]
    return [word.removeprefix("+") for word in found] + ["-f"] * bool(forced)


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
