"""Reads assertions about the commands that an agent ran and the skills that it used."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from skilleval.assertions.clause import AUXILIARIES, COMMON, Prefix, prefix, unknown
from skilleval.assertions.rule import Rule
from skilleval.assertions.sentence import NEGATIONS, Token, is_file, is_folder, word_set

_RAN = word_set("ran run runs running execute executes executed executing")
# what is called need be no command: it may be a tool of the agent, or a function
_CALLED = word_set("invoke invokes invoked invoking call calls called calling")
_RUN = _RAN | _CALLED
_USED = word_set("use uses used using")
_SKILL = word_set("trigger triggers triggered activate activates activated load loads")
_SKILL |= word_set("loaded invoke invokes invoked fire fires fired") | _USED
_NOUNS = frozenset({"skill", "skills"})
_PASSIVE = word_set("is are was were be been being get gets got")
_BESIDE = word_set("the a an named called :")
# programs that a sentence may name without quoting them
PROGRAMS = word_set(
    "npm git python python3 cargo go yarn pnpm bun deno node npx pip pip3 uv uvx poetry pytest tox"
    " nox ruff mypy black flake8 pylint eslint prettier tsc jest vitest mocha make cmake ctest gcc"
    " clang mvn gradle dotnet javac java ruby bundle rake rspec php composer docker podman kubectl"
    " helm terraform ansible aws gcloud az gh glab curl wget jq sed awk grep rg find ls cat bash sh"
    " zsh sqlite3 psql mysql shellcheck swift rustc ffmpeg pandoc"
)
_BEFORE_VERB = word_set("should must shall will did does to")  # `it should go and run them`
# of these, `ran the X tests` means `X test`
_WITH_TEST = word_set("npm cargo go yarn pnpm bun deno dotnet make mvn gradle swift")
# subcommands that a sentence may name after their program
_SUBCOMMANDS = word_set(
    "install test tests build lint add commit push pull fetch clone status diff log checkout merge"
    " rebase stash tag reset init run format fmt check clippy vet mod publish audit ci start exec"
    " ps images compose apply plan pr"
)
_THEN = word_set("then followed")
_ORDER = _THEN | {"before", "after"}
# they say when something was run, if not in a sentence that says before what
_PLACED = word_set("first finally")
_FILLERS = word_set("file command commands script scripts shell tool cli via , and or")


def read(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause, or why it is none; "" for a clause about something else."""
    words = {token.word for token in tokens}
    if words & _NOUNS and words & _SKILL and not _is_by_skill(tokens):
        return _skill(tokens)
    if not words & (_RUN | _USED):
        return ""
    if words & _ORDER and (found := _in_order(tokens)):
        return found
    names = [token.name for token in tokens if token.is_name]
    rule = _quoted(tokens) if names else _bare(tokens)
    if isinstance(rule, str) or not words & _PLACED:
        return rule
    return "it denies when it was run" if rule.negated else rule._replace(partial=True)


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
    left = [token for token in tokens[:place] if token.word not in _PLACED]
    while left and left[-1].word in (",", "and"):
        left.pop()
    right = [token for token in tokens[place + 1 :] if token.word not in COMMON | {"by"} | _RUN]
    if not right or not left:
        return ""
    first, second = read(left), read([Token("ran"), *right])
    if isinstance(first, str) or isinstance(second, str):
        return ""
    if not all(
        rule.names and rule == Rule("command", names=rule.names)
        for rule in (second, first._replace(events=()))
    ):
        return "what is in order, or not, has to be commands that were run"
    both = (second, first) if words[place] == "after" else (first, second)
    listed = {"and"} & {token.word for token in (*left, *right)} or words[place] not in _THEN
    if not listed or first.events or len(first.names) == len(second.names) == 1:
        return Rule("command", names=both[0].names + both[1].names, events=("in_order",))
    # `ran A and B before C` says nothing of A and B
    pairs = [(a, b) for a in both[0].names for b in both[1].names]
    return Rule("all", parts=tuple(Rule("command", names=p, events=("in_order",)) for p in pairs))


def _quoted(tokens: Sequence[Token]) -> Rule | str:
    found = prefix(tokens, COMMON | _RUN | _USED | _FILLERS | PROGRAMS | {"either", "first"})
    if found.tail and (not found.is_open or found.denials or not found.words & _RUN):
        return unknown(found)
    if not found.names or found.denials > 1 or len(found.quantities) > 1:
        return "it names no command, or denies twice"
    names = _with_program(found)
    if not names or any(a.word == "to" and b.is_name for a, b in pairwise(found.known)):
        return "it is not clear which of its words are the command"
    files = found.words & _CALLED
    commands = all(_is_command(name) or (files and is_file(name)) for name in found.names)
    if not found.words & _RAN and ("tool" in found.words or not commands):
        return "what was used or called need not be a command"
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
    known = COMMON | _RUN | _FILLERS | PROGRAMS | _SUBCOMMANDS
    found = prefix(tokens, known | {"first"})
    nothing = found.denials == 1 and not found.tail and not found.quantities
    if nothing and found.words & {"command", "commands"} and not found.words & PROGRAMS:
        return Rule("command", negated=True)
    if not found.words & _RUN or not found.words & PROGRAMS:
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
    start = programs[0] if len(programs) == 1 else 0
    if len(programs) != 1 or (start and words[start - 1] in _BEFORE_VERB):
        return ""
    if "without" in words[start:]:
        return ""
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
    if not _is_beside_skill(found.known):
        return "it names something that need not be a skill"
    return Rule("skill", negated=found.denials == 1, names=found.names)


def _is_beside_skill(known: Sequence[Token]) -> bool:
    """Is what it names the skill: `the skill "pdf"`, and not `used the skill to run "make"`?"""
    words = [*(token.word or "name" for token in known), ""]
    for place in (n for n, word in enumerate(words) if word == "name"):
        before = [word for word in words[:place] if word not in AUXILIARIES | _BESIDE]
        if words[place + 1] not in _NOUNS and before[-1:] not in (["skill"], ["skills"]):
            return False
    return True


def _is_by_skill(tokens: Sequence[Token]) -> bool:
    """Does the skill itself use something: `the skill uses "git log"`? The agent does it, then."""
    words = [token.word for token in tokens if token.word not in NEGATIONS]
    start = next((n + 1 for n, word in enumerate(words) if word in _NOUNS), len(words))
    while start < len(words) and words[start] in AUXILIARIES - _PASSIVE:
        start += 1
    verb, *rest = words[start:] or [""]
    return verb in _SKILL and "" in rest  # a name has no word


def _named(tokens: Sequence[Token]) -> list[Token]:
    """With the word beside `skill` as its name, where it has a hyphen: `the pdf-tools skill`."""
    words = ["", *(token.word for token in tokens), ""]
    return [
        Token("", token.name)
        if "-" in token.word and "skill" in (words[number], words[number + 2])
        else token
        for number, token in enumerate(tokens)
    ]
