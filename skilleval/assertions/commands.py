"""Reads assertions about the commands that an agent ran and the skills that it used."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import COMMON, Prefix, prefix, unknown
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import Token, is_file, is_folder, word_set

_RAN = word_set("ran run runs running execute executes executed executing")
_RAN |= word_set("invoke invokes invoked invoking call calls called calling")
_USED = word_set("use uses used using")
_SKILL = word_set("trigger triggers triggered activate activates activated load loads")
_SKILL |= word_set("loaded invoke invokes invoked fire fires fired") | _USED
# programs that a sentence may name without quoting them
PROGRAMS = word_set(
    "npm git python python3 cargo go yarn pnpm bun deno node npx pip pip3 uv uvx poetry pytest tox"
    " nox ruff mypy black flake8 pylint eslint prettier tsc jest vitest mocha make cmake ctest gcc"
    " clang mvn gradle dotnet javac java ruby bundle rake rspec php composer docker podman kubectl"
    " helm terraform ansible aws gcloud az gh glab curl wget jq sed awk grep rg find ls cat bash sh"
    " zsh sqlite3 psql mysql shellcheck swift rustc ffmpeg pandoc"
)
# of these, `ran the X tests` means `X test`
_WITH_TEST = word_set("npm cargo go yarn pnpm bun deno dotnet make mvn gradle swift")
# subcommands that a sentence may name after their program
_SUBCOMMANDS = word_set(
    "install test tests build lint add commit push pull fetch clone status diff log checkout merge"
    " rebase stash tag reset init run format fmt check clippy vet mod publish audit ci start exec"
    " ps images compose apply plan pr"
)
_ORDER = word_set("before after then followed")
_FILLERS = word_set("file command commands script scripts shell tool cli via , and or")


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = {token.word for token in tokens}
    if words & {"skill", "skills"} and words & _SKILL:
        return _skill(tokens)
    if not words & (_RAN | _USED):
        return ""
    if words & _ORDER and (found := _in_order(tokens)):
        return found
    names = [token.name for token in tokens if token.is_name]
    return _quoted(tokens) if names else _bare(tokens)


def with_skill_names(tokens: Sequence[Token], skills: Sequence[str]) -> Sequence[Token]:
    """With the words that are names of skills as such, where they stand beside `skill`."""
    known = {name.lower() for name in skills}
    words = ["", *(token.word for token in tokens), ""]
    return [
        Token("", token.name)
        if token.word in known and "skill" in (words[n], words[n + 2])
        else token
        for n, token in enumerate(tokens)
    ]


def _in_order(tokens: Sequence[Token]) -> Rule | str:
    """`Ran A before B`; `ran B after running A`; `ran A and then B`. "" for no such sentence."""
    words = [token.word for token in tokens]
    place = max(number for number, word in enumerate(words) if word in _ORDER)
    left = list(tokens[:place])
    while left and left[-1].word in (",", "and"):
        left.pop()
    right = [token for token in tokens[place + 1 :] if token.word not in COMMON | {"by"} | _RAN]
    if not right or not left:
        return ""
    first, second = read(left), read([Token("ran"), *right])
    if isinstance(first, str) or isinstance(second, str):
        return ""
    both = (second, first) if words[place] == "after" else (first, second)
    if any(not _is_single(rule) for rule in (second, first._replace(events=()))):
        return "what is in order, or not, has to be single commands"
    names = tuple(name for rule in both for name in rule.names)
    return Rule("command", names=names, events=("in_order",))


def _is_single(rule: Rule) -> bool:
    plain = rule == Rule("command", names=rule.names)
    return plain and bool(rule.names)


def _quoted(tokens: Sequence[Token]) -> Rule | str:
    found = prefix(tokens, COMMON | _RAN | _USED | _FILLERS | PROGRAMS | {"either", "first"})
    if found.tail and (not found.is_open or found.denials or not found.words & _RAN):
        return unknown(found)
    if not found.names or found.denials > 1 or len(found.quantities) > 1:
        return "it names no command, or denies twice"
    names = _with_program(found)
    if not names:
        return "it is not clear which of its words are the command"
    used = not found.words & _RAN
    if used and ("tool" in found.words or not all(map(_is_command, found.names))):
        return "what was used need not be a command"
    several = len(found.names) > 1
    any_name = several and bool({"or", "either"} & found.words)
    if several and ({"and", "or"} <= found.words or found.quantities):
        return "it joins its commands in several ways"
    if found.denials and not found.denies_each:
        return "it denies several commands, together or each"
    negated, quantity = found.claim
    if negated and (quantity or "successfully" in found.words):
        return "it denies a number, or a success"
    return Rule(
        "command",
        negated,
        quantity,
        names,
        any_name=any_name and not negated,
        partial=bool(found.tail) or "successfully" in found.words,
    )


def _with_program(found: Prefix) -> tuple[str, ...]:
    """The commands that are named; of `python scripts/check.py`, where nothing is quoted, both."""
    if not found.words & PROGRAMS:
        return found.names
    pairs = [(a, b) for a, b in pairwise(found.known) if a.word in PROGRAMS]
    if len(pairs) != 1 or len(found.names) != 1 or not pairs[0][1].is_name:
        return ()
    program, script = pairs[0]
    return (f"{program.word} {script.name}",) if is_file(script.name) else ()


def _is_command(name: str) -> bool:
    first = name.split()[0]
    return first in PROGRAMS or first.startswith("./") or (" " in name and is_file(first))


def _bare(tokens: Sequence[Token]) -> Rule | str:
    """`The agent ran npm install`; `pytest was not run`."""
    known = COMMON | _RAN | _FILLERS | PROGRAMS | _SUBCOMMANDS
    found = prefix(tokens, known | {"first"})
    nothing = found.denials == 1 and not found.tail and not found.quantities
    if nothing and found.words & {"command", "commands"} and not found.words & PROGRAMS:
        return Rule("command", negated=True)
    if not found.words & _RAN or not found.words & PROGRAMS:
        return "" if found.tail else "it names no program that a rule knows"
    if found.tail and (not found.is_open or found.denials):
        return unknown(found)
    negated, quantity = found.claim
    limited = bool(quantity) or "successfully" in found.words
    if found.denials > 1 or len(found.quantities) > 1 or (negated and limited):
        return "it denies twice, a number or a success"
    command = _command([token.word for token in found.known])
    if not command:
        return "it is not clear which of its words are the command"
    partial = bool(found.tail) or "successfully" in found.words
    return Rule("command", negated, quantity, (command,), partial=partial)


def _command(words: list[str]) -> str:
    """The program with its subcommand; "" if there are several programs or loose words."""
    programs = [n for n, word in enumerate(words) if word in PROGRAMS]
    if len(programs) != 1:
        return ""
    start = programs[0]
    rest = [word for word in words[start + 1 :] if word in _SUBCOMMANDS and word not in _RAN]
    loose = [word for word in words[:start] if word in _SUBCOMMANDS and word not in _RAN]
    if loose or len(rest) > 1:
        return ""
    if rest == ["tests"]:
        return f"{words[start]} test" if words[start] in _WITH_TEST else ""
    return " ".join([words[start], *rest])


def _skill(tokens: Sequence[Token]) -> Rule | str:
    """`The skill was not triggered`; `the agent used the "pdf" skill`."""
    found = prefix(_named(tokens), COMMON | _SKILL | {"skill", "named", "called"})
    if found.tail or found.denials > 1 or found.quantities or len(found.names) > 1:
        return "it says more of the skill than that it was used"
    if any(is_file(name) or is_folder(name) for name in found.names):
        return "it names a file of the skill"
    return Rule("skill", negated=found.denials == 1, names=found.names)


def _named(tokens: Sequence[Token]) -> list[Token]:
    """With the word beside `skill` as its name, where it has a hyphen: `the pdf-tools skill`."""
    words = ["", *(token.word for token in tokens), ""]
    return [
        Token("", token.name)
        if "-" in token.word and "skill" in (words[number], words[number + 2])
        else token
        for number, token in enumerate(tokens)
    ]
