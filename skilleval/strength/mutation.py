"""Mutants of a Markdown answer: what it looks like with one thing wrong. Owns the operators.

Each operator makes a mistake that a reader would call one: a line or a section is missing, a name
is another one, a sentence says the opposite, the end is cut off. A line without a letter or digit
(a rule, a table's separator, a fence) is left alone: no check should have to care for it. Pure;
whether anybody notices is `strength`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from skilleval.lint import wording
from skilleval.reading import markdown
from skilleval.reading.markdown import Line
from skilleval.strength import negation

LIMIT_PER_OPERATOR = 25


class Mutant(NamedTuple):
    """A text with one thing wrong. `line` is where, 1-based (0 unknown); `description` says what.

    `description` is made of the text itself: data, to be quoted by whoever shows it.
    """

    operator: str
    line: int
    description: str
    text: str


class Edit(NamedTuple):
    """A mutant to be made: cheap, so that a long text can have many and only a sample is made."""

    line: int
    description: str
    change: Callable[[str], str]


def mutants(
    text: str, seed: int = 0, limit_per_operator: int = LIMIT_PER_OPERATOR
) -> Iterator[Mutant]:
    """The mutants of a text, by operator and in text order; the same for the same seed, always.

    None equals the text or another one. Of an operator with more than `limit_per_operator` edits,
    the seed chooses which are made; it has no other influence.
    """
    lines, seen = markdown.lines(text), {text}
    for operator, edits in OPERATORS.items():
        found = _sampled(list(edits(text, lines)), limit_per_operator, f"{seed} {operator}")
        for edit in found:
            mutated = edit.change(text)
            if mutated not in seen:
                seen.add(mutated)
                yield Mutant(operator, edit.line, edit.description, mutated)


def _sampled(edits: list[Edit], limit: int, seed: str) -> list[Edit]:
    if len(edits) <= limit:
        return edits
    from random import Random

    chosen = Random(seed).sample(range(len(edits)), limit)
    return [edits[position] for position in sorted(chosen)]


def _replaced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _dropped_lines(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    for line in lines:
        if line.kind in ("prose", "heading", "code") and line.text.strip():
            change = partial(_replaced, start=line.start, end=line.end, new="")
            yield Edit(line.number, _one_line(line.text), change)


def _dropped_sections(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Each heading with all below it up to one of its level or higher, and each fenced block."""
    for first, last in sorted((*_headed(lines), *_fenced(lines))):
        begin, end = lines[first], lines[last]
        shown = begin.text if begin.kind == "heading" else text[begin.start : end.end]
        change = partial(_replaced, start=begin.start, end=end.end, new="")
        yield Edit(begin.number, _one_line(shown), change)


def _headed(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    open_sections: list[int] = []
    for position, line in enumerate(lines):
        if line.kind == "heading":
            while open_sections and lines[open_sections[-1]].level >= line.level:
                yield open_sections.pop(), position - 1
            open_sections.append(position)
    for first in open_sections:
        yield first, len(lines) - 1


def _fenced(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    first = -1
    for position, line in enumerate(lines):
        if line.kind == "fence":
            if first >= 0:
                yield first, position
            first = -1 if first >= 0 else position
    if first >= 0:
        yield first, len(lines) - 1


_CODE_SPAN = re.compile(r"``.+?``|`[^`\n]+`")
_TOKEN = re.compile(
    r"""
    (?<![\w-])--[A-Za-z][\w-]*\w                # --force
    | (?<=[\s`"'(\[])-[A-Za-z]\b(?!-)           # -f
    | (?<!\w)[@$]?\w(?:\w|(?:->|[@$./:-])+(?=\w))*  # a name with all its parts
    """,
    re.VERBOSE,
)
# a name stands alone when it is not a part of a longer word or of a word with hyphens
_BEFORE, _AFTER = r"(?<!\w)(?<!\w-)(?<!--)", r"(?!\w)(?!-\w)"


def _swapped_identifiers(text: str, lines: Sequence[Line]) -> list[Edit]:
    """Each name of code becomes another of its sort, or a misspelt one, wherever it stands."""
    first_lines: dict[str, int] = {}
    for line in lines:
        if line.kind in ("prose", "heading", "code"):
            for name in _identifiers(line):
                first_lines.setdefault(name, line.number)
    sorts: dict[str, list[str]] = {}
    edits: list[Edit] = []
    for name in first_lines:
        sorts.setdefault(_sort(name), []).append(name)
    for names in sorts.values():
        for position, name in enumerate(names):
            new = _another(names, position)
            change = partial(_renamed, old=name, new=new)
            edits.append(Edit(first_lines[name], f"{name} -> {new}", change))
    return sorted(edits, key=lambda edit: edit.line)


def _identifiers(line: Line) -> Iterator[str]:
    spans = () if line.kind == "code" else _CODE_SPAN.finditer(line.text)
    quoted = {span[0].strip("` ") for span in spans}
    for found in _TOKEN.finditer(line.text):
        name, called = found[0], line.text[found.end() : found.end() + 1] == "("
        if name in quoted or (called and not line.text.startswith("(s)", found.end())):
            yield name
        elif line.kind != "code" and name[0] == name[-1] == "_" != name[:2]:
            continue  # _emphasis_, not a name
        elif wording.is_code(name):
            yield name


def _sort(name: str) -> str:
    if name.startswith("-"):
        return "flag"
    return "path" if re.search(r"/|\.[a-z]\w{0,4}$", name) else "name"


def _another(names: Sequence[str], position: int) -> str:
    """The next of the names that is no longer form of the one there, else that one misspelt."""
    name = names[position]
    for step in range(1, len(names)):
        other = names[(position + step) % len(names)]
        if name not in other:
            return other
    return _misspelt(name)


def _misspelt(name: str) -> str:
    """The name with two letters near its middle in the wrong order, or with another last letter."""
    middle = len(name) // 2
    for left in sorted(range(len(name) - 1), key=lambda place: abs(place + 1 - middle)):
        pair = name[left : left + 2]
        if pair.isalpha() and pair[0] != pair[1]:
            return name[:left] + pair[::-1] + name[left + 2 :]
    return name[:-1] + ("x" if name[-1] != "x" else "y")


def _renamed(text: str, old: str, new: str) -> str:
    return re.sub(_BEFORE + re.escape(old) + _AFTER, lambda _: new, text)


# where one statement ends and the next may begin; a cell of a table is one of its own
_SENTENCE_END = re.compile(r"[.!?;:][*_\"')\]]*\s+|\|\s*")
_LEAD = re.compile(r"(?:[\s>*_\"'(|+-]|\d+[.)]\s|\[[ xX]\])*")
_NO_PROSE = re.compile(r"``.+?``|`[^`\n]+`|https?://\S+|<[^<>\s]+>")


def _negated_sentences(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """Each sentence of prose turned into its opposite, where English gives a simple one."""
    for paragraph in _paragraphs(lines):
        start = paragraph[0].start
        shown = text[start : paragraph[-1].end]
        words = _NO_PROSE.sub(lambda found: "\0" * len(found[0]), shown)
        number, counted = paragraph[0].number, 0
        for begin, end in _sentences(words):
            change = negation.opposite(words[begin:end])
            if change is None:
                continue
            at, until = begin + change.start, begin + change.end
            number, counted = number + shown.count("\n", counted, at), at
            what = f"{shown[at:until].strip()} -> {change.new.strip() or 'nothing'}"
            sentence = shown[begin:at] + change.new + shown[until:end]
            edit = partial(_replaced, start=start + at, end=start + until, new=change.new)
            yield Edit(number, _one_line(f"{what}: {sentence}"), edit)


def _paragraphs(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Runs of prose lines; an item of a list and a row of a table begin a new one."""
    paragraph: list[Line] = []
    for line in lines:
        begins = markdown.LIST_ITEM.match(line.text) or line.text.lstrip().startswith("|")
        if paragraph and (line.kind != "prose" or begins):
            yield paragraph
            paragraph = []
        if line.kind == "prose":
            paragraph.append(line)
    if paragraph:
        yield paragraph


def _sentences(words: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for end in (*_SENTENCE_END.finditer(words), None):
        lead = _LEAD.match(words, begin)
        first = lead.end() if lead else begin
        stop = end.end() if end else len(words)
        if first < stop:
            yield first, stop
        begin = stop


def _truncated(text: str, lines: Sequence[Line]) -> Iterator[Edit]:
    """The first quarter, half and three quarters of the lines that are not blank."""
    content = [line for line in lines if line.kind != "blank"]
    for kept in dict.fromkeys(len(content) * quarters // 4 for quarters in (1, 2, 3)):
        if kept:
            change = partial(_replaced, start=content[kept - 1].end, end=len(text), new="")
            what = f"cut after {kept} of {len(content)} lines"
            yield Edit(content[kept].number, what, change)


OPERATORS: dict[str, Callable[[str, Sequence[Line]], Iterable[Edit]]] = {
    "drop-line": _dropped_lines,
    "drop-section": _dropped_sections,
    "swap-identifier": _swapped_identifiers,
    "negate-sentence": _negated_sentences,
    "truncate": _truncated,
}
