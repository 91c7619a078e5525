"""Understands assertions: each is classified once, when its suite is loaded (seed 002).

Owns how the claims of one sentence belong together, and the check that comes of it. The words of
each kind are in the modules beside this one: each has readers that take a clause and give its
`Rule`, a reason why it is none, or "" if it is about something else.

A rule has to account for every word before its claim is complete, else the judge decides: a false
verdict costs more than a question. Where the sentence goes on after a complete claim ("a branch was
created and its name is short"), the rule can fail the assertion, and a judge decides the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from skilleval.assertions import commands, files, git, sentence, texts
from skilleval.assertions.clause import AGENT, AUXILIARIES, COMMON, CREATED, EXISTS, OPENED
from skilleval.assertions.rule import INVERTED, Judge, Rule, from_params, to_params
from skilleval.assertions.sentence import NEGATIONS, Token, word_set
from skilleval.model import Check

__all__ = ["Judge", "Rule", "check", "classify", "explain", "from_params"]

_READERS: tuple[Callable[[Sequence[Token]], Rule | str], ...] = (
    texts.read_json,
    texts.read_contains,
    commands.read,
    git.read,
    files.read,
)
_JOINTS = frozenset({",", ";", ".", "and", "but", "or", "nor", "then", "&"})
_BARE_VERBS = word_set("contains includes is has was does")
_ITEMS = COMMON | NEGATIONS | word_set("branch branches commit commits pr prs file files")
_UNDERSTOOD = tuple(
    (preposition, article, noun)
    for preposition, nouns in (
        ("by", ("agent", "assistant", "model", "skill")),
        ("during", ("run", "session", "task")),
        ("in", ("run", "session")),
    )
    for article in ("the", "this")
    for noun in nouns
)
_CONDITIONS = word_set("if unless when whenever whether ? otherwise instead except until")


def classify(text: str) -> Rule | Judge:
    """The rule that decides an assertion, or why only a judge can. Never raises."""
    tokens: Sequence[Token]
    try:
        tokens = sentence.read(text)
    except sentence.Unreadable as error:
        return Judge(str(error))
    if not tokens:
        return Judge("it has no words")
    if any(token.word == "?" for token in tokens):
        return Judge("it is a question")
    tokens = _without_agent(tokens)
    whole = _clause(tokens)
    if isinstance(whole, Rule) and not whole.partial:
        return whole
    several = _several(tokens)
    if several:
        return several
    if isinstance(whole, Rule):
        return whole
    return Judge(whole or "no rule knows what it is about")


def _without_agent(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without `by the agent` and `during the run`, which say what is understood anyway."""
    words = [token.word for token in tokens]
    for phrase in _UNDERSTOOD:
        for start in range(len(words) - len(phrase), 0, -1):
            if tuple(words[start : start + len(phrase)]) == phrase:
                return [*tokens[:start], *tokens[start + len(phrase) :]]
    return tokens


def check(number: int, text: str, should_trigger: bool, skills: Sequence[str] = ()) -> Check:
    """The check of a case's assertion, `number` from 1. `skills` are the names of "the skill".

    Its params are the rule's fields, and for the judge a `description`. `negate` is set where a
    negative control turns its sense around: on claims about branches, commits, pushes and pull
    requests that do not deny already. Such a check passes only if nothing of the kind appeared,
    whatever number the sentence asks for (seed 002, "How grading works").
    """
    rule = classify(text)
    params: dict[str, object] = {"description": text}
    if isinstance(rule, Judge):
        return Check(f"assertion/{number}", text, "judge", {**params, "why": rule.reason})
    if rule.kind == "skill" and not rule.names:
        rule = rule._replace(names=tuple(skills), any_name=True)
    params |= to_params(rule) | {"fallback": "judge"}
    negate = not should_trigger and _is_inverted(rule)
    return Check(f"assertion/{number}", text, rule.grader, params, negate=negate)


def explain(check: Check) -> str:
    """One line on who decides a check that `check` made, and how."""
    if check.grader == "judge":
        return Judge(str(check.params.get("why", ""))).explain
    text = from_params(check.params).explain
    return f"{text}; turned around: it must not have happened" if check.negate else text


def _is_inverted(rule: Rule) -> bool:
    if rule.parts:
        return any(map(_is_inverted, rule.parts))
    return rule.kind in INVERTED and not rule.negated


def _clause(tokens: Sequence[Token]) -> Rule | str:
    """The rule of a clause by the first reader that has one, else the first reason given."""
    reasons = []
    for read in _READERS:
        found = read(tokens)
        if isinstance(found, Rule):
            return found
        reasons.append(found)
    return next(filter(None, reasons), "")


def _several(tokens: Sequence[Token]) -> Rule | None:
    """The claims of a sentence that joins several, each complete; None if one is not clear."""
    words = {token.word for token in tokens}
    if words & _CONDITIONS:
        return None
    pieces, joints = _split(tokens)
    if len(pieces) < 2:
        return None
    rules = [_clause(piece) for piece in _with_subjects(pieces)]
    found = [rule for rule in rules if isinstance(rule, Rule) and not rule.partial]
    if len(found) < len(rules) or len({rule.grader for rule in found}) > 1:
        return None
    items = list(map(_is_item, pieces))
    if any(items) and not all(items) and not words & (CREATED | EXISTS | OPENED):
        return None  # what a verb of another piece says of an item need not be that it is new
    parts = _denied(found, pieces, joints) if found[0].negated else found
    if not parts or (joints & {"or", "nor"} and not found[0].negated):
        return None
    return Rule("all", parts=tuple(parts))


def _split(tokens: Sequence[Token]) -> tuple[list[list[Token]], set[str]]:
    pieces: list[list[Token]] = [[]]
    joints = set()
    for token in tokens:
        if token.word in _JOINTS:
            joints.add(token.word)
            pieces.append([token] if token.word == "nor" else [])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece], joints


def _with_subjects(pieces: Sequence[list[Token]]) -> Iterator[Sequence[Token]]:
    """In `a.md exists and contains "x"`, a piece that starts with its verb is about a.md, too."""
    names = [token for token in pieces[0] if token.is_name]
    words = {token.word for token in pieces[0]}
    subject = names if len(names) == 1 else [Token("output")] if "output" in words else []
    for number, piece in enumerate(pieces):
        is_bare = number and piece[0].word in _BARE_VERBS
        yield [*subject, *piece] if is_bare and subject else piece


def _denied(
    rules: Sequence[Rule], pieces: Sequence[Sequence[Token]], joints: set[str]
) -> list[Rule]:
    """The rules of a sentence that starts with a denial; [] if it is not clear how far that goes.

    "No branch or commit was created" denies both; "did not create a branch and commit" may not.
    """
    shared = _is_item(pieces[0])  # the verb comes last: "no branches or commits were made"
    listed = shared or all(map(_is_item, pieces[1:]))
    spreads = listed and any(token.word == "no" for token in pieces[0])
    denied = [rules[0]]
    for rule, piece in zip(rules[1:], pieces[1:], strict=True):
        whole = _has_subject(piece) and not shared
        if joints & {"or", "nor"}:
            if whole or (rule.negated and piece[0].word != "nor"):
                return []
            denied.append(rule._replace(negated=True))
        elif rule.negated or spreads:
            denied.append(rule._replace(negated=True))
        elif whole:
            denied.append(rule)
        else:
            return []
    return denied


def _is_item(piece: Sequence[Token]) -> bool:
    """Is it a mere piece of a list, as `a commit`?"""
    words = {token.word for token in piece if token.word}
    return words <= _ITEMS and not words & AUXILIARIES and not any(token.is_name for token in piece)


def _has_subject(piece: Sequence[Token]) -> bool:
    words = [token.word for token in piece]
    return bool({*words} & {"is", "are", "was", "were", "has", "have"} or {*words[:2]} & AGENT)
