"""PyYAML as an oracle: what it reads from the documented files, and what it and `json` write.

PyYAML reads YAML 1.1. The documented files hold nothing that 1.1 and 1.2 read differently, so
they must be equal as they are. The fuzz leaves two things out, where a PyYAML document means
something else in 1.2: text such as 1e3 or 0o14, which PyYAML writes without quotes, and U+0085,
U+2028 and U+2029, which it writes as line ends. Keys are short and on one line, because PyYAML
writes all others as `? ` keys, which we refuse.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from skilleval import yamlread
from skilleval.errors import SuiteError

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
pytestmark = pytest.mark.real
SEEDS = sorted((Path(__file__).parents[1] / "data" / "yaml" / "seeds").glob("*.yaml"))

NUMBER_IN_1_2 = re.compile(r"0o[0-7]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+")
PIECES = [
    *"-?:,[]{}#&*!|>'\"%@`~=<\\/ \t\n.0159eExab_",
    *("- ", ": ", " #", "? ", "---", "...", "<<", "null", "yes", "no", "1_0", "0x1F", "1:30", ".5"),
    *("\n\n", "  ", "\t", "2026-11-30", "true", ".inf", "\u00fc", "\u2603", "\U0001f600", "\x7f"),
    *("\xa0", "{{ a }}", "\r", "\ufeff", "\x1b", "\0", "012", "+1", "0o14", "a" * 90, "word " * 20),
]
LINE_ENDS_IN_1_1 = ["\x85", "\u2028", "\u2029"]


def text(generator, pieces):
    made = "".join(generator.choices(pieces, k=generator.randint(0, 5)))
    return text(generator, pieces) if NUMBER_IN_1_2.fullmatch(made) else made


def key(generator, pieces):
    made = text(generator, pieces)
    simple = 0 < len(made) < 120 and not set(made) & {"\n", *LINE_ENDS_IN_1_1}
    return made if simple else key(generator, pieces)


def scalar(generator, pieces):
    choices = [None, True, False, generator.randint(-(10**6), 10**20), generator.uniform(-9, 9)]
    choices += [generator.uniform(0, 1) * 10.0 ** generator.randint(-300, 300), float("inf")]
    return generator.choice([*choices, *(text(generator, pieces) for _ in range(9))])


def value(generator, leaf, pieces, depth=0):
    kind = generator.randint(0, 5 if depth < 4 else 3)
    if kind < 4 and depth:
        return leaf(generator, pieces)
    items = [value(generator, leaf, pieces, depth + 1) for _ in range(generator.randint(0, 3))]
    if items and generator.random() < 0.1:
        items.append(items[0])  # PyYAML writes an anchor and an alias
    return items if kind % 2 else {key(generator, pieces): item for item in items}


def dump(**options):
    options = {"allow_unicode": True, "sort_keys": False, **options}
    return lambda made: yaml.dump(made, Dumper=yaml.SafeDumper, **options)


def dump_json(**options):
    return lambda made: json.dumps(made, **options).replace("Infinity", ".inf")


def strings_only(style):
    return text, PIECES, dump(default_style=style)


WRITERS = {
    "block": (scalar, PIECES, dump()),
    "ascii": (scalar, PIECES, dump(allow_unicode=False, explicit_start=True, indent=4)),
    "wide": (scalar, PIECES, dump(width=10_000)),
    "narrow": (scalar, PIECES, dump(width=20)),
    "flow": (scalar, PIECES, dump(default_flow_style=True)),
    "mixed": (scalar, PIECES, dump(default_flow_style=None, explicit_end=True)),
    "double": strings_only('"'),  # other values get tags in these two styles
    "single": strings_only("'"),
    "literal": strings_only("|"),
    "folded": strings_only(">"),
    "json": (scalar, PIECES + LINE_ENDS_IN_1_1, dump_json()),
    "json indented": (scalar, PIECES + LINE_ENDS_IN_1_1, dump_json(indent=2, ensure_ascii=False)),
}


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_documented_files_read_as_pyyaml_reads_them(path):
    content = path.read_text("utf-8")
    assert repr(yamlread.load(content)) == repr(yaml.safe_load(content))


@pytest.mark.parametrize("writer", WRITERS)
def test_written_values_read_back_equal(writer):
    leaf, pieces, write = WRITERS[writer]
    generator, count, refused, wrong = random.Random(writer), 1000, [], []
    for _ in range(count):
        made = value(generator, leaf, pieces)
        written = write(made)
        try:
            found = yamlread.load(written)
        except SuiteError as error:
            refused.append((str(error), written))
            continue
        if repr(found) != repr(made):
            wrong.append((written, found, made))
    print(f"\n{writer}: {count} values, {len(wrong)} wrong, {len(refused)} refused")
    assert wrong == []
    assert refused == []
