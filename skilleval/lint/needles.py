"""The rules over one needle, and the whole of fixture linting: `problems`.

Owns F04, F05, F08, W10 to W15, W17 to W19 and W22 of spec/fixtures sections 5 and 6; `answers`
owns the rules over whole tasks and whole answers. Whether a check passes is decided by
`graders.text.holds`, the same as at run time. What F01 and F02 say is up to the reader of the file.

By default: all F rules, W10, W12, W13, W14, W16, and W20 for the prompt. The others are strict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from skilleval.graders.text import holds
from skilleval.lint import answers, occurrence, wording
from skilleval.lint.fixture import Finding, Fixture, FixtureTask, Needle
from skilleval.model import Problem

__all__ = ["Fixture", "FixtureTask", "problems"]

Rule = Callable[[Needle], Finding | None]


def problems(fixture: Fixture, *, strict: bool) -> Iterator[Problem]:
    """Everything wrong with the tasks of a fixture, in their order; `strict` adds the quiet rules.

    A task's `allow` silences its warnings and W errors, never an F error. Pure; never raises.
    """
    for task in fixture.tasks:
        findings = [
            *answers.of_task(task, fixture, strict=strict),
            *_of_needles(task, fixture, strict),
        ]
        if task.allow:
            findings = list(answers.allowed(task, findings, strict=strict))
        for finding in findings:
            yield Problem(fixture.path, task.line, f"task {task.id}", *finding)
    for where, finding in answers.of_files(fixture):
        yield Problem(fixture.path, 0, where, *finding)


def _of_needles(task: FixtureTask, fixture: Fixture, strict: bool) -> Iterator[Finding]:
    include_rules = INCLUDE + STRICT_INCLUDE if strict else INCLUDE
    exclude_rules = EXCLUDE + STRICT_EXCLUDE if strict else EXCLUDE
    for texts, negate, rules in (
        (task.must_include, False, include_rules),
        (task.must_not_include, True, exclude_rules),
    ):
        # a needle listed twice is one defect (F07), not every other one twice
        for text in dict.fromkeys(texts):
            needle = Needle(text, negate, task, fixture)
            if not text.isprintable() or text != text.strip() or not text:
                yield from malformed(needle)
                if not text.strip():
                    continue
            for rule in rules:
                if finding := rule(needle):
                    yield finding


def malformed(needle: Needle) -> Iterator[Finding]:
    """F08: a text that is empty or that its author cannot have meant as it is written."""
    text = needle.text
    if not text.strip():
        yield Finding(
            "F08", "error", f"{needle.named} is empty; nearly every answer has it: remove it"
        )
        return
    if text != text.strip():
        yield Finding(
            "F08", "error", f"{needle.named} has whitespace at an edge: write {text.strip()!r}"
        )
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text):
        yield Finding(
            "F08", "error", f"{needle.named} has a control character (CRLF is read as \\n)"
        )
    elif "\n" in text.strip():
        yield Finding(
            "F08", "warning", f"{needle.named} has a line break: make it one text for each line"
        )


def example_fails(needle: Needle) -> Finding | None:
    """F04: the worked example of the task fails this check."""
    text = needle.fixture.examples.get(needle.task.id)
    if text is None or holds(needle.text, needle.negate, text):
        return None
    example = f"examples/{needle.task.id}.md"
    if needle.negate:
        line = occurrence.line_with(needle.text, text)
        return Finding("F04", "error", f"{example} fails: {needle.named} is present: {line!r}")
    hint = occurrence.near_miss(needle.text, text)
    found = f" (it is there {hint})" if hint else ""
    return Finding("F04", "error", f"{example} fails: {needle.named} is missing{found}")


def without_source(needle: Needle) -> Finding | None:
    """F05: nothing that the agent is given has this text, so that no answer can be asked for it."""
    fixture, text = needle.fixture, needle.text
    if text in fixture.corpus or not fixture.corpus_known:
        return None
    found = ""
    if hint := occurrence.near_miss(text, fixture.corpus):
        found = f" (it is there {hint})"
    elif wording.is_pattern(text):
        found = " (it looks like a regular expression; texts are compared as they are)"
    return Finding(
        "F05", "error", f"{needle.named} is nowhere in the skill, its rule or its references{found}"
    )


def accidental_source(needle: Needle) -> Finding | None:
    """W10: the skill has the text only by accident, inside another word."""
    text, corpus = needle.text, needle.fixture.corpus
    if not needle.fixture.corpus_known or occurrence.stands_alone(text, corpus):
        return None
    if text not in corpus:
        return None  # said by F05
    words = list(dict.fromkeys(occurrence.longer_words(text, corpus)))
    if any(occurrence.is_stem_of(text, word) for word in words):
        return None
    return Finding(
        "W10",
        "error",
        f"{needle.named} is in the skill only inside another word, {words[0]!r}:"
        " demand the word that the skill teaches",
    )


def inside_longer_word(needle: Needle) -> Finding | None:
    """W11: longer words contain the text, so that it is found where nobody wrote it."""
    text = needle.text
    if len(text) < 5 and text.isascii() and text.isalpha() and text.islower():
        return Finding(
            "W11", "warning", f"{needle.named} is short; longer words have it too: add a neighbour"
        )
    for place, searched in _searched(needle):
        for word in occurrence.longer_words(text, searched):
            if not occurrence.is_form_of(text, word):
                return Finding("W11", "warning", f"{needle.named} is inside {word!r} in {place}")
    return None


def _searched(needle: Needle) -> Iterator[tuple[str, str]]:
    yield "the prompt", needle.task.prompt
    # a demanded text that the skill has only inside other words is W10's
    if needle.negate or occurrence.stands_alone(needle.text, needle.fixture.corpus):
        yield "the skill", needle.fixture.corpus
    for name, example in needle.fixture.examples.items():
        if name != needle.task.id and example:
            yield f"examples/{name}.md", example


def open_number(needle: Needle) -> Finding | None:
    """W12: `66` is in 1966, `0 critical` in `10 critical`."""
    text = needle.text
    if not (text[0].isdigit() or text[-1].isdigit()):
        return None
    number = wording.open_number(text)
    if not number:
        return None
    longer = f"1{text}" if text.startswith(number) else f"{text}0"
    return Finding(
        "W12",
        "warning",
        f"{needle.named} is in a longer number too, such as {longer!r}: add what stands beside it",
    )


def denied(needle: Needle) -> Finding | None:
    """W13: an answer that denies the text ("no N", "never N", "instead of N") fails as well."""
    text = needle.text
    if wording.is_code(text) or wording.is_act(text) or wording.is_foreign(text):
        return None
    return Finding(
        "W13",
        "warning",
        f'{needle.named} also fails a denial, such as "no {text}" or "do not use {text}":'
        " forbid code, or what a wrong answer would say in three words or more",
    )


def in_prompt(needle: Needle) -> Finding | None:
    """W14: an answer that repeats the question fails."""
    if needle.text not in needle.task.prompt:
        return None
    line = occurrence.line_with(needle.text, needle.task.prompt)
    return Finding(
        "W14",
        "error",
        f"{needle.named} is in the prompt ({line!r}): an answer that repeats the question fails",
    )


def taught(needle: Needle) -> Finding | None:
    """W15: the skill says the text itself, so that an answer that explains it fails."""
    line = answers.line_outside_bad_code(needle.text, needle.fixture.corpus)
    if line is None:
        return None
    return Finding(
        "W15",
        "warning",
        f"{needle.named} is what the skill says: {line!r}; an answer that explains it fails",
    )


def plain_english(needle: Needle) -> Finding | None:
    """W17: an answer may say the same in another form; offers the stem of the skill's forms."""
    text, corpus = needle.text, needle.fixture.corpus
    if spelled_out := _spelled_out(text, corpus):
        return Finding(
            "W17",
            "warning",
            f"{needle.named} is short for {spelled_out!r}, which an answer may write instead",
        )
    if not wording.is_plain_english(text) or _is_named_in_code(text, corpus):
        return None
    forms = _forms(text, corpus)
    advice = f": the skill also has {forms[1]!r}, so demand {forms[0]!r}" if forms else ""
    return Finding(
        "W17",
        "warning",
        f"{needle.named} is plain English; an answer may word it otherwise{advice}",
    )


def _spelled_out(text: str, corpus: str) -> str:
    if not re.fullmatch(r"[A-Z]{3,6}", text):
        return ""
    initials = r"[\s-]+".join(rf"{letter}[a-z]+" for letter in text.lower())
    found = re.search(rf"\b{initials}\b", corpus, re.IGNORECASE)
    return found[0] if found else ""


def _is_named_in_code(text: str, corpus: str) -> bool:
    name = re.escape(text)
    return re.search(rf"""["'`.]{name}["'`]|\b{name}\s?[:=(]""", corpus) is not None


def _forms(text: str, corpus: str) -> tuple[str, str] | None:
    """The stem of the needle's last word and another form of it in the corpus."""
    word = text.rsplit(" ", 1)[-1]
    root = word[: max(5, len(word) - 4)]
    for other in re.findall(rf"\b{re.escape(root)}[a-z]+\b", corpus):
        shared = len(root)
        while word[:shared] == other[:shared] and shared <= len(word):
            shared += 1
        if shared <= len(word):
            return text.removesuffix(word) + word[: shared - 1], other
    return None


def split_elsewhere(needle: Needle) -> Finding | None:
    """W18: a formatter or an emphasis splits the words, and then the check does not see them."""
    if " " not in needle.text:
        return None
    if needle.negate:
        text = needle.fixture.examples.get(needle.task.id) or ""
        place = f"examples/{needle.task.id}.md, which passes only by that"
    else:
        text, place = needle.fixture.corpus, "the skill; an answer may do so too"
    if needle.negate == (needle.text in text):
        return None  # said by F04 or F05
    split = occurrence.split_form(needle.text, text)
    return Finding("W18", "warning", f"{needle.named} is {split} in {place}") if split else None


def typographic(needle: Needle) -> Finding | None:
    """W19: curly quotes, dashes and hard spaces, which models and editors write either way."""
    text = needle.text
    if text.isascii() or not any(character in occurrence.TYPOGRAPHIC for character in text):
        return None
    plain = occurrence.ascii_form(text)
    known = ", which the skill has" if plain in needle.fixture.corpus else ""
    return Finding(
        "W19",
        "warning",
        f"{needle.named} has typographic or invisible characters ({text!a}); the form on a keyboard"
        f" is {plain!r}{known}",
    )


def pattern(needle: Needle) -> Finding | None:
    """W22: a regular expression, which would be compared letter by letter."""
    if not wording.is_pattern(needle.text) or needle.text in needle.fixture.corpus:
        return None
    return Finding(
        "W22",
        "warning",
        f"{needle.named} looks like a regular expression; texts are compared as they are",
    )


INCLUDE: tuple[Rule, ...] = (example_fails, without_source, accidental_source, open_number)
EXCLUDE: tuple[Rule, ...] = (example_fails, open_number, denied, in_prompt)
STRICT_INCLUDE: tuple[Rule, ...] = (
    inside_longer_word,
    plain_english,
    split_elsewhere,
    typographic,
    pattern,
)
STRICT_EXCLUDE: tuple[Rule, ...] = (
    inside_longer_word,
    taught,
    split_elsewhere,
    typographic,
    pattern,
)
