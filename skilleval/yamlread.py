"""A strict reader of one YAML document. Owns syntax, its errors and their lines; knows no schema.

It reads the part of YAML 1.2 that people write by hand and that PyYAML writes: block and flow
collections, every scalar style (`yamlscalar`), comments, anchors and aliases. What it does not
read it refuses with a line and a fix, never with a guess: tags, `? ` keys, collections as keys,
`<<`, several documents, keys given twice. One thing is laxer than YAML 1.2, because every reader
in use takes it: a closing `]` or `}` may stand at the column of its key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from skilleval import yamlscalar
from skilleval.errors import SuiteError
from skilleval.yamlscalar import KEY_IS_COLLECTION, QUOTE_IT, TABBED, Refused

# a scalar, a list of nodes, or a dict of nodes by scalars
Node = Any

LIMIT_CHARACTERS = 4 * 1024 * 1024
MOST_DEPTH = 100
MOST_ALIASES = 1_000
MOST_ALIASED_CHARACTERS = 1_000_000  # of text that all aliases stand for, nested ones included

_BLANKS = frozenset(" \t\n")
_forbidden = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f]").search
# white space, comments and blank lines; group 1 is the indentation of a line that was reached
_gap = re.compile(
    r"[ \t]*+(?>(?:(?<![^ \t\n])#[^\n]*+)?)(?>(?:\n(?>(?:[ \t]*+(?>(?:#[^\n]*+)?)\n)*)( *+))?)"
).match
_key = re.compile(
    rf"(?>(?:&({yamlscalar.NAME})[ \t]++)?)"
    r"(?:\"((?>(?:[^\"\\\n]++|\\[^\n])*))\"|'((?>(?:[^'\n]++|'')*))'"
    rf"|\*({yamlscalar.NAME})|({yamlscalar.PLAIN}))[ \t]*+:(?=[ \t\n])"
).match
_REFERENCE = rf"[&*]({yamlscalar.NAME})"
_MARKER = r"\n(---|\.\.\.)(?=[ \t\n])"
_COMMENTS = r"(?>(?:\n[ \t]*+(?>(?:#[^\n]*+)?)(?=\n))*)"
_PREAMBLE = (
    rf"{_COMMENTS}(?>(\n%YAML[ \t]+1\.[0-9]+[ \t]*+(?>(?:(?<=[ \t])#[^\n]*+)?)(?=\n))?){_COMMENTS}"
)
# what may follow a document: lines with `...`, blank lines and comments
_REST = r"(?>(?:\n(?>(?:\.\.\.(?=[ \t\n]))?)[ \t]*+(?>(?:(?<![^ \t\n])#[^\n]*+)?)(?=\n))*)"


def load(text: str, source: str = "<yaml>") -> Node:
    """The value of the one document in `text`; None if there is none.

    Mappings are dicts in the order of the text with scalars as keys (`1` is not `"1"`). An alias is
    the very object of its anchor. Raises `SuiteError` with `source` and the line (spec/yaml).
    """
    if len(text) > LIMIT_CHARACTERS:
        raise SuiteError(source, "", f"larger than {LIMIT_CHARACTERS >> 20} MB: split the file")
    reader = _Reader(text)
    try:
        return reader.document()
    except Refused as refused:
        line = reader.line(refused.pos)
        raise SuiteError(source, str(line), refused.message) from None


class _Reader:
    """One document, read by recursive descent: a rule starts at `pos` and moves it behind its node.

    `parent` is the column of the block collection around a node, -1 at the top.
    """

    def __init__(self, text: str) -> None:
        text = text.removeprefix("\ufeff")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.unended = not text.endswith("\n")
        self.text = f"\n{text}\n\0" if self.unended else f"\n{text}\0"
        self.pos = self.depth = self.aliases = self.aliased = 0
        # the innermost open `[` or `{`, and the parent of the outermost
        self.opener = self.flow_parent = -1
        # an anchor's value and its weight in characters, or None while it is being read
        self.anchors: dict[str, tuple[Node, int] | None] = {}

    def fail(self, message: str, pos: int | None = None) -> NoReturn:
        raise Refused(self.pos if pos is None else pos, message)

    def line(self, pos: int) -> int:
        return self.text.count("\n", 0, pos) or 1

    def gap(self) -> tuple[int, int]:
        """The place of the next content, and its column if it is the first of a later line (or -1).

        A tab that follows the indentation of such a line is left for the caller.
        """
        found = _gap(self.text, self.pos)
        assert found is not None  # it matches nothing, too
        end, indent = found.span(1)
        return (found.end(), -1) if end < 0 else (indent, indent - end)

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.fail(f"nested deeper than {MOST_DEPTH} levels")

    def document(self) -> Node:
        text = self.text
        if found := _forbidden(text, 0, len(text) - 1):
            self.fail(f"the character U+{ord(found.group()):04X} is not allowed", found.start())
        if "\n---" in text or "\n..." in text or "\n%" in text:
            self.cut()
        value = self.value(-1, False)
        end, _ = self.gap()
        if self.text[end] != "\0":
            self.refuse_rest(end)
        return value

    def cut(self) -> None:
        """Move behind the `---` of the document and cut the text at its end.

        This needs no parsing: a marker at the start of a line is nowhere content (9.1.2).
        """
        text, find_marker = self.text, re.compile(_MARKER).search
        preamble = re.compile(_PREAMBLE).match(text)
        start = preamble.end() if preamble else 0
        found = find_marker(text, start)
        is_opened = found and found.start() == start and found.group(1) == "---"
        if text.startswith("\n%", start) or (preamble and preamble.group(1) and not is_opened):
            only = "only '%YAML 1.2' may start with '%', once and with '---' after it"
            self.fail(f"{only}; {QUOTE_IT}", start + 1)
        if found and is_opened:
            self.pos = found.end()
            found = find_marker(text, self.pos)
        if found:
            rest = re.compile(_REST).match(text, found.start())
            if rest and rest.end() != len(text) - 2:
                self.fail("a second document begins here: keep one in a file", rest.end() + 1)
            self.text, self.unended = text[: found.start() + 1] + "\0", False

    # -- block nodes --------------------------------------------------------------------------

    def value(self, parent: int, in_list: bool) -> Node:
        """The node after `- `, `key:`, an anchor or `---`; None if there is nothing."""
        text, pos = self.text, self.pos
        end, column = self.gap()
        if column < 0:  # on the same line only an item of a list can be a collection
            compact = in_list and "\t" not in text[pos:end]
            self.pos = end
            return self.node(parent, parent + 1 + end - pos if compact else -1, in_list)
        ended = column <= parent and (in_list or column < parent or not self.at_item(end))
        if ended or text[end] == "\0":
            return None
        if text[end] == "\t":  # before text it separates, before a collection it would indent
            column = -1
            while text[end] in " \t":
                end += 1
        self.pos = end
        return self.node(parent, column, in_list)

    def at_item(self, pos: int) -> bool:
        return self.text[pos] == "-" and self.text[pos + 1] in _BLANKS

    def node(self, parent: int, column: int, in_list: bool) -> Node:
        """The node at `pos`. `column` is -1 where no block collection can start."""
        text, pos = self.text, self.pos
        if column >= 0:
            if self.at_item(pos):
                return self.sequence(column)
            if found := _key(text, pos):
                return self.mapping(column, found)
        char = text[pos]
        if char in "[{":
            self.flow_parent = parent
            return self.flow()
        if char == "&":
            return self.anchored(lambda: self.after_anchor(parent, in_list))
        if char == "*":
            return self.alias()
        if char in "|>":
            block, self.pos = yamlscalar.block(text, pos, parent, self.unended)
            return block
        value, self.pos = yamlscalar.scalar(text, pos, parent, False)
        return value

    def sequence(self, column: int) -> list[Node]:
        self.enter()
        items: list[Node] = []
        while True:
            self.pos += 1
            items.append(self.value(column, True))
            end = self.sibling(column)
            if end < 0 or not self.at_item(end):
                self.depth -= 1
                return items
            self.pos = end

    def mapping(self, column: int, found: re.Match[str]) -> dict[Node, Node]:
        self.enter()
        result: dict[Node, Node] = {}
        while True:
            self.pos = found.start()
            key = self.key(found)
            if key in result:
                self.fail(f"the key {key!r:.60} is given twice: keep one of them", found.start())
            self.pos = found.end()
            result[key] = self.value(column, False)
            end = self.sibling(column)
            if end < 0:
                self.depth -= 1
                return result
            found = _key(self.text, end) or self.refuse_entry(end)

    def sibling(self, column: int) -> int:
        """The place of the next content if it is the next entry of the collection, else -1."""
        end, found = self.gap()
        if found < 0 or self.text[end] == "\t":
            self.refuse_rest(end)
        if found > column:
            self.fail("indented deeper than the entries before it: align it with them", end)
        self.pos = end - found - 1  # before this line, so that nobody passes the gap again
        return -1 if found < column or self.text[end] == "\0" else end

    def key(self, found: re.Match[str]) -> Node:
        anchor, double, single, alias, plain = found.groups()
        start, key = found.start(), plain
        if plain is not None:
            key = yamlscalar.resolve(plain, found.start(5))
        elif double is not None:
            key = yamlscalar.unquote_double(double, found.start(2))
        elif single is not None:
            key = yamlscalar.unquote_single(single)
        elif anchor is not None:
            self.fail(f"the alias *{alias} cannot have an anchor: remove it", start)
        else:
            key = self.alias()
        self.check_key(key, start, found.end(5) if plain else found.end())
        if anchor is not None:
            self.anchors[anchor] = (key, found.end() - start)
        return key

    def check_key(self, key: Node, start: int, end: int) -> None:
        if isinstance(key, list | dict):
            self.fail(KEY_IS_COLLECTION, start)
        if key == "<<" and self.text[end - 1] == "<":  # in quotes it is a key like any other
            self.fail("merge keys '<<' are not supported: write the keys out", start)

    # -- anchors and aliases ------------------------------------------------------------------

    def anchored(self, read: Callable[[], Node]) -> Node:
        name, start, aliased = self.reference(), self.pos, self.aliased
        self.anchors[name] = None
        value = read()
        self.anchors[name] = (value, self.pos - start + self.aliased - aliased)
        return value

    def after_anchor(self, parent: int, in_list: bool) -> Node:
        end, column = self.gap()
        if self.text[end] in "&*" and not _key(self.text, end):
            self.fail("an anchor cannot name an alias or a second anchor: remove one", end)
        if column >= 0:
            return self.value(parent, in_list)
        self.pos = end
        return self.node(parent, -1, in_list)

    def after_anchor_in_flow(self) -> Node:
        if self.flow_gap() in "&*":
            self.fail("an anchor cannot name an alias or a second anchor: remove one")
        return None if self.text[self.pos] == ":" else self.flow_value()

    def alias(self) -> Node:
        start, name = self.pos, self.reference()
        if name not in self.anchors:
            self.fail(f"no anchor &{name} before the alias *{name}; {QUOTE_IT}", start)
        target = self.anchors[name]
        if target is None:
            self.fail(f"the alias *{name} stands inside its own anchor: a value has an end", start)
        value, weight = target
        self.aliases += 1
        self.aliased += weight
        if self.aliases > MOST_ALIASES or self.aliased > MOST_ALIASED_CHARACTERS:
            limit = f"{MOST_ALIASES} aliases, for {MOST_ALIASED_CHARACTERS} characters together"
            self.fail(f"more than {limit}: write the values out", start)
        return value

    def reference(self) -> str:
        if not (found := re.compile(_REFERENCE).match(self.text, self.pos)):
            yamlscalar.refuse_start(self.text, self.pos)
        self.pos = found.end()
        return found.group(1)

    # -- flow collections ---------------------------------------------------------------------

    def flow(self) -> Node:
        self.enter()
        outer, self.opener = self.opener, self.pos
        self.pos += 1
        result = self.flow_list() if self.text[self.opener] == "[" else self.flow_map()
        self.pos += 1
        self.opener = outer
        self.depth -= 1
        return result

    def flow_list(self) -> list[Node]:
        items: list[Node] = []
        while self.flow_gap() != "]":
            start, item, end = self.pos, self.flow_node(), self.pos
            if self.flow_colon():
                self.check_key(item, start, end)
                if "\n" in self.text[start : self.pos]:
                    self.fail("a key in a [ ] list must stand on one line with its ':'")
                item = {item: self.flow_value()}
            items.append(item)
            self.flow_comma("]")
        return items

    def flow_map(self) -> dict[Node, Node]:
        if self.text[self.pos] == "{":
            self.fail('quote templates: "{{ ... }}"')
        result: dict[Node, Node] = {}
        while self.flow_gap() != "}":
            start, key, end = self.pos, self.flow_node(), self.pos
            self.check_key(key, start, end)
            if key in result:
                self.fail(f"the key {key!r:.60} is given twice: keep one of them", start)
            result[key] = self.flow_value() if self.flow_colon() else None
            self.flow_comma("}")
        return result

    def flow_node(self) -> Node:
        char = self.text[self.pos]
        if char in "[{":
            return self.flow()
        if char == "&":
            return self.anchored(self.after_anchor_in_flow)
        if char == "*":
            return self.alias()
        value, self.pos = yamlscalar.scalar(self.text, self.pos, self.flow_parent, True)
        return value

    def flow_value(self) -> Node:
        return None if self.flow_gap() in ",]}" else self.flow_node()

    def flow_gap(self) -> str:
        """Move to the next content and return its first character."""
        text, parent = self.text, self.flow_parent
        end, column = self.gap()
        if column >= 0:
            is_closer = column == parent and text[end] in "]}"
            if text[end] == "\0" or (column <= parent and not is_closer):
                fix = "close it, or indent this line deeper than its key"
                self.fail(f"{self.opened()} is still open here: {fix}", end)
            while text[end] in " \t":
                end += 1
        self.pos = end
        return text[end]

    def flow_colon(self) -> bool:
        """Was the node before here a key? Then move behind its ':'."""
        may_touch = self.text[self.pos - 1] in "\"'"  # a value behind a quoted key, as in JSON
        is_colon = self.flow_gap() == ":"
        if is_colon and (may_touch or self.text[self.pos + 1] in " \t\n,[]{}"):
            self.pos += 1
            return True
        return False

    def flow_comma(self, closer: str) -> None:
        char = self.flow_gap()
        if char == ",":
            self.pos += 1
        elif char != closer:
            fix = "quote text that has , [ ] { } or ': ' in it"
            self.fail(f"expected ',' or {closer!r} after {self.opened()}, not {char!r}; {fix}")

    def opened(self) -> str:
        return f"{self.text[self.opener]!r} of line {self.line(self.opener)}"

    # -- refusals -----------------------------------------------------------------------------

    def refuse_entry(self, pos: int) -> NoReturn:
        """A mapping goes on at `pos` with something that is no `key: value`."""
        if self.at_item(pos):
            self.fail("a list item among keys: indent it below a key", pos)
        if self.text[pos] in "\"'&*" or re.compile(yamlscalar.PLAIN).match(self.text, pos):
            fix = "add the ':', or indent the line if it belongs to the text above"
            self.fail(f"expected 'key: value': {fix}", pos)
        yamlscalar.refuse_start(self.text, pos)

    def refuse_rest(self, pos: int) -> NoReturn:
        """A value has ended, and something follows at `pos` that does not belong to it."""
        line, char = self.text[self.text.rfind("\n", 0, pos) + 1 : pos], self.text[pos]
        before = line.rstrip(" ")[-1:]
        if char == "\t" or "\t" in line[: len(line) - len(line.lstrip("- \t"))]:
            self.fail(TABBED, pos)
        if not before:
            self.fail("this line belongs to nothing above it: check its indentation", pos)
        if char == ":" and before in "]}":
            self.fail(KEY_IS_COLLECTION, pos)
        if char == ":":
            fix = "quote the whole text; if this is a key, align it with its siblings"
            self.fail(f"a second ': ' in a value: {fix}", pos)
        fix = "write '' for a ' inside '...'" if before == "'" else "quote the whole text"
        self.fail(f"text behind the end of a value: {fix}", pos)
