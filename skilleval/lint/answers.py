"""The rules over whole tasks and whole answers, and what a task allows.

Owns F03, F06, F07, F09, W16, W20, W21 and W23 of spec/fixtures sections 5 and 6, and where a skill
shows bad code. A check passes when `graders.text.holds` says so, here as at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from skilleval.formats.fields import nearest
from skilleval.graders.text import holds
from skilleval.lint import occurrence
from skilleval.lint.fixture import Finding, Fixture, FixtureTask

_BAD = (
    r"(?i)\b(?:bad|wrong|avoid|don['’]?t|do not|never|incorrect|anti-?patterns?|unsafe|insecure"
    r"|not this|deprecated|forbidden)\b|^\W*before\W*$|❌|🚫|✗|✘"
)


def of_task(task: FixtureTask, fixture: Fixture, *, strict: bool) -> Iterator[Finding]:
    """What is wrong with a task as a whole, in the order of the rule ids."""
    if fixture.examples.get(task.id) is None:
        yield _no_example(task, fixture)
    if not task.must_include:
        yield _nothing_demanded(task)
    yield from contradictions(task)
    text = fixture.counterexamples.get(task.id)
    if text is not None and passes(task, text):
        yield Finding(
            "F09",
            "error",
            f"counterexamples/{task.id}.md passes every check, and has to fail at least one",
        )
    if task.must_include:
        yield from echoed(task)
        if strict:
            yield from copied(task, fixture)


def _no_example(task: FixtureTask, fixture: Fixture) -> Finding:
    if why := fixture.unreadable.get(task.id):
        return Finding("F03", "error", f"examples/{task.id}.md cannot be read: {why}")
    message = f"has no worked example: write examples/{task.id}.md, an answer that passes"
    return Finding("F03", "error", message)


def passes(task: FixtureTask, text: str) -> bool:
    """Does the text pass all checks of the task? A task without any passes nothing."""
    if not (task.must_include or task.must_not_include):
        return False
    return all(holds(needle, False, text) for needle in task.must_include) and all(
        holds(needle, True, text) for needle in task.must_not_include
    )


def _nothing_demanded(task: FixtureTask) -> Finding:
    if not task.must_not_include:
        return Finding("F06", "error", "has no checks: add a text to must_include")
    return Finding(
        "F06", "error", "has no must_include text, so that an empty answer passes: add one"
    )


def contradictions(task: FixtureTask) -> Iterator[Finding]:
    """F07: needles that count twice, or that no answer can satisfy together."""
    include, exclude = task.must_include, task.must_not_include
    for key, texts in (("must_include", include), ("must_not_include", exclude)):
        if len(set(texts)) < len(texts):
            for text in dict.fromkeys(text for text in texts if texts.count(text) > 1):
                yield Finding("F07", "error", f"{key} has {text!r} twice; it would count twice")
    for forbidden in dict.fromkeys(exclude):
        for demanded in dict.fromkeys(include):
            if forbidden and forbidden in demanded:
                yield _contradiction(forbidden, demanded)


def _contradiction(forbidden: str, demanded: str) -> Finding:
    if forbidden == demanded:
        return Finding("F07", "error", f"{forbidden!r} is in both lists, a contradiction")
    return Finding(
        "F07",
        "error",
        f"must_not_include {forbidden!r} is inside must_include {demanded!r}, a contradiction:"
        " no answer can pass both",
    )


def echoed(task: FixtureTask) -> Iterator[Finding]:
    """W16 and the prompt's half of W20: what an answer gets for repeating the question.

    The empty answer, the other half, passes exactly when F06 says so.
    """
    prompt = task.prompt
    found = [text for text in task.must_include if text in prompt]
    if not found:
        return
    if len(found) < len(task.must_include):
        for text in dict.fromkeys(found):
            yield Finding(
                "W16", "warning", f"must_include {text!r} is in the prompt: repeating it passes"
            )
        return
    names = ", ".join(map(repr, dict.fromkeys(found)))
    yield Finding(
        "W16", "error", f"every must_include text is in the prompt ({names}): demand what is not"
    )
    if passes(task, prompt):
        yield Finding("W20", "error", "the prompt itself passes every check")


def copied(task: FixtureTask, fixture: Fixture) -> Iterator[Finding]:
    """The strict half of W20, and W21: answers made for something else that pass."""
    if fixture.skill_text and passes(task, fixture.skill_text):
        yield Finding(
            "W20", "warning", "a copy of SKILL.md passes every check: forbid something that it says"
        )
    others = [
        f"examples/{name}.md"
        for name, text in fixture.examples.items()
        if name != task.id and text is not None and passes(task, text)
    ]
    if others:
        yield Finding(
            "W21",
            "warning",
            f"{', '.join(sorted(others))} passes too: demand what is particular here",
        )


def of_files(fixture: Fixture) -> Iterator[tuple[str, Finding]]:
    """The files that belong to no task, each with its place."""
    ids = [task.id for task in fixture.tasks]
    for name in fixture.orphans:
        yield (
            f"example {name}",
            Finding(
                "F03",
                "warning",
                f"orphan: examples/{name}.md belongs to no task{nearest(name, ids)}",
            ),
        )
    for name in sorted(set(fixture.counterexamples).difference(ids)):
        yield (
            f"counterexample {name}",
            Finding(
                "F09",
                "warning",
                f"orphan: counterexamples/{name}.md belongs to no task{nearest(name, ids)}",
            ),
        )


def is_silenceable(finding: Finding) -> bool:
    """May a task allow it? Every W, error or not, and F warnings; never an F error."""
    return finding.rule.startswith("W") or finding.level == "warning"


def allowed(task: FixtureTask, findings: Iterable[Finding], *, strict: bool) -> Iterator[Finding]:
    """The findings that the task's `allow` leaves, and W23 for what is wrong with `allow` itself.

    Only a strict run has tried every rule, so only that can say that an entry silences nothing.
    """
    silenced = set()
    for finding in findings:
        if finding.rule in task.allow and is_silenceable(finding):
            silenced.add(finding.rule)
        else:
            yield finding
    for rule in sorted(task.allow - silenced):
        if message := _misplaced(rule, strict):
            yield Finding("W23", "warning", message)


def _misplaced(rule: str, strict: bool) -> str:
    from skilleval.lint.rules import RULES

    # F08 warns of a line break in a needle; every other F rule of a task is an error
    silenceable = ("F08", *(name for name in RULES if name.startswith("W")))
    if rule not in RULES:
        from difflib import get_close_matches

        close = get_close_matches(rule.upper(), silenceable, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(silenceable)}"
        return f"allow names {rule!r}, which is no rule ({hint})"
    if rule not in silenceable:
        return f"allow names {rule}, an error that cannot be silenced"
    return f"allow names {rule}, which has nothing to silence here" if strict else ""


def line_outside_bad_code(needle: str, corpus: str) -> str | None:
    """The first line with the needle that is not in a code block labelled as bad, else None.

    The label is a word like "wrong" or "avoid" on the line before the block, in its info string,
    or on its first line.
    """
    if needle not in corpus:
        return None
    if "\n" in needle:
        return needle.split("\n", 1)[0]
    for line, bad in _lines(corpus):
        if needle in line and not bad:
            return occurrence.shortened(line)
    return None


def _lines(corpus: str) -> Iterator[tuple[str, bool]]:
    """The lines that are no fence, each with whether it is in a block labelled as bad."""
    from skilleval.reading import markdown

    label, fenced, bad, first = "", False, False, False
    for kind, line in ((each.kind, each.text.strip()) for each in markdown.lines(corpus)):
        if kind == "fence":
            fenced = first = not fenced
            bad = fenced and (_is_bad(label) or _is_bad(line))
            label = label if fenced else ""
        else:
            bad = bad or (first and _is_bad(line))
            first = False
            yield line, bad
            label = line if line and not fenced else label


def _is_bad(line: str) -> bool:
    return re.search(_BAD, line) is not None
