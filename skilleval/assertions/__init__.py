"""Understands assertions: each is classified once, when its suite is loaded (seed 002).

Owns how the claims of one sentence belong together, and the check that comes of it. The words of
each kind are in the modules beside this one: each has readers that take a clause and give its
`Rule`, a reason why it is none, or "" if it is about something else.

A rule has to account for every word before its claim is complete, else the judge decides: a false
verdict costs more than a question. Where the sentence goes on after a complete claim ("a branch was
created and its name is short"), the rule can fail the assertion, and a judge decides the rest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from skilleval.assertions import (
    checkout,
    commands,
    files,
    force,
    git,
    keys,
    measures,
    messages,
    pulls,
    sentence,
    texts,
)
from skilleval.assertions.clause import (
    AGENT,
    AUXILIARIES,
    COMMON,
    CREATED,
    EXISTS,
    OPENED,
    is_of_others,
)
from skilleval.assertions.rule import INVERTED, Judge, Rule, from_params, to_params
from skilleval.assertions.sentence import NEGATIONS, Token, word_set
from skilleval.model import Check

__all__ = ["Judge", "Rule", "check", "classify", "explain", "from_params"]

_READERS: tuple[Callable[[Sequence[Token]], Rule | str], ...] = (
    measures.read,
    keys.read,
    texts.read_json,
    texts.read_contains,
    force.read,
    commands.read,
    checkout.read,
    messages.read,
    pulls.read,
    git.read,
    files.read,
)
_JOINTS = frozenset({",", ";", ".", "and", "but", "or", "nor", "then", "without", "&"})
_KEPT = frozenset({"nor", "without"})  # joints that deny what follows
_BARE_VERBS = word_set("contains includes mentions starts begins ends equals is has was does not")
_ITEMS = COMMON | NEGATIONS | word_set("branch branches commit commits pr prs file files")
_UNDERSTOOD = tuple(
    (preposition, article, noun)
    for preposition, nouns in (
        ("by", ("agent", "assistant", "model", "skill")),
        ("during", ("run", "session", "task")),
        ("after", ("run", "session", "task")),
        ("in", ("run", "session")),
    )
    for article in ("the", "this")
    for noun in nouns
)
_FINITE = word_set("is are was were has have exists contains includes")
_MOST_TOKENS = 2000  # a sentence of more is none
_CONDITIONS = word_set("if unless when whenever whether ? otherwise instead except until once")


def classify(text: str, skills: Sequence[str] = ()) -> Rule | Judge:
    """The rule that decides an assertion, or why only a judge can. Never raises.

    `skills` are names that stand beside `skill` without quotation marks: `the demo skill`.
    """
    return _classified(text, tuple(skills))


@functools.lru_cache(maxsize=256)  # many cases of a suite ask for the same
def _classified(text: str, skills: tuple[str, ...]) -> Rule | Judge:
    try:
        tokens = sentence.read(text)
    except sentence.Unreadable as error:
        return Judge(str(error))
    if reason := _refusal(tokens):
        return Judge(reason)
    plain = list(_without_agent(commands.with_skill_names(tokens, skills)))
    found = [_understood(each) for each in sentence.bounds(plain) or [plain]]
    rules = [each for each in found if isinstance(each, Rule)]
    if len(rules) < len(found) or len(found) == 1:
        return next((each for each in found if isinstance(each, Judge)), found[0])
    return Rule("all", parts=tuple(rules), partial=any(rule.partial for rule in rules))


def _refusal(tokens: Sequence[Token]) -> str:
    """Why no rule decides a sentence, whatever it is about; "" if one may."""
    words = {token.word for token in tokens}
    if not tokens:
        return "it has no words"
    if len(tokens) > _MOST_TOKENS:
        return "it is too long for a rule"
    if "?" in words:
        return "it is a question"
    if [token.word for token in tokens[-2:]] == ["or", "not"]:
        return "it may be so, or not"
    if "some" in words and words & NEGATIONS:
        return "it denies something of some, not of all"
    return "it says what somebody else than the agent does" if is_of_others(tokens) else ""


def _understood(tokens: Sequence[Token]) -> Rule | Judge:
    whole = _clause(tokens)
    if isinstance(whole, Rule) and whole.kind in INVERTED and _is_bare_noun(tokens):
        return Judge("it makes no claim")
    if isinstance(whole, Rule) and not whole.partial:
        return whole
    several = _several(tokens)
    if several:
        return several
    if isinstance(whole, Rule):
        return whole
    return Judge(whole or "no rule knows what it is about")


def _is_bare_noun(tokens: Sequence[Token]) -> bool:
    """Is it no more than `a commit`, which neither counts nor denies?"""
    claims = any(token.word in NEGATIONS or token.quantity for token in tokens)
    return _is_item(tokens) and not claims and "there" not in {token.word for token in tokens}


def _without_agent(tokens: Sequence[Token]) -> Sequence[Token]:
    """Without `by the agent` and `during the run`, which say what is understood anyway."""
    words = [token.word for token in tokens]
    for phrase in (each for each in _UNDERSTOOD if each[0] in words):
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
    rule = classify(text, skills)
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
    if "both" in words and not words & NEGATIONS:
        tokens = [token for token in tokens if token.word != "both"]
    pieces, joints = _split(tokens)
    if len(pieces) < 2:
        return None
    rules = [_clause(piece) for piece in _with_subjects(pieces)]
    found = [rule for rule in rules if isinstance(rule, Rule) and not rule.partial]
    if len(found) < len(rules):
        return None
    items = list(map(_is_item, pieces))
    if any(items) and not all(items) and not words & (CREATED | EXISTS | OPENED):
        return None  # what a verb of another piece says of an item need not be that it is new
    if "then" in joints and not all(rule.kind in INVERTED for rule in found):
        return None  # nothing stored tells in which order it happened
    if found[0].negated and "without" in joints:
        return None  # "not A without B" denies neither
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
            pieces.append([token] if token.word in _KEPT else [])
        else:
            pieces[-1].append(token)
    return [piece for piece in pieces if piece], joints


def _with_subjects(pieces: Sequence[list[Token]]) -> Iterator[Sequence[Token]]:
    """In `a.md exists and contains "x"`, a piece that starts with its verb is about a.md, too.

    So is one that denies a text: `the output contains "x" and does not contain "y"`.
    """
    subject = texts.subject_of(pieces[0])
    for number, piece in enumerate(pieces):
        is_bare = bool(number) and piece[0].word in _BARE_VERBS
        names_file = any(map(texts.is_path, piece)) and not texts.says_content(piece)
        yield [*subject, *piece] if is_bare and not names_file else piece


def _denied(
    rules: Sequence[Rule], pieces: Sequence[Sequence[Token]], joints: set[str]
) -> list[Rule]:
    """The rules of a sentence that starts with a denial; [] if it is not clear how far that goes.

    "No branch or commit was created" denies both; "did not create a branch and commit" may not.
    """
    # the verb comes last: "no branches or commits were made"; but not in "no PR, but a commit was"
    shared = _is_item(pieces[0]) and "but" not in joints
    listed = (shared or all(map(_is_item, pieces[1:]))) and "but" not in joints
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
    return bool({*words} & _FINITE or {*words[:2]} & (AGENT | texts.OUTPUT))
