"""Behaviour of the YAML reader: data twins in tests/data/yaml, and the rules no file can hold.

`valid/X.yaml` reads as `valid/X.json`; `invalid/X.yaml` is refused as `invalid/X.problems` says:
`LINE: part of the message`.
"""

from __future__ import annotations

import json
import math
import random
import time
from pathlib import Path

import pytest

from skilleval import yamlread
from skilleval.errors import SuiteError

DATA = Path(__file__).parent / "data" / "yaml"
VALID = sorted((DATA / "valid").glob("*.yaml"))
INVALID = sorted((DATA / "invalid").glob("*.yaml"))
SEEDS = sorted((DATA / "seeds").glob("*.yaml"))


def read(path):
    return path.read_bytes().decode("utf-8")


def stem(path):
    return path.stem


def as_json(value):
    """The same value with the keys that JSON has: 1 is "1", true is "true", null is "null"."""
    return json.loads(json.dumps(value))


def refusal(text):
    with pytest.raises(SuiteError) as caught:
        yamlread.load(text, "eval.yaml")
    return caught.value


def line_of_refusal(text):
    """The line that the refusal of `text` names, None if it is read. Any other error is a bug."""
    try:
        yamlread.load(text)
    except SuiteError as error:
        return int(error.where)
    return None


def test_data_folders_are_not_empty():
    assert len(VALID) >= 40
    assert len(INVALID) >= 80
    assert len(SEEDS) >= 7


def test_every_data_file_has_its_twin():
    for paths, suffix in ((VALID, ".json"), (INVALID, ".problems")):
        found = {path.stem for path in paths[0].parent.glob(f"*{suffix}")}
        assert found == {path.stem for path in paths}


@pytest.mark.parametrize("path", VALID, ids=stem)
def test_valid_document_has_the_value_of_its_twin(path):
    expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
    assert repr(as_json(yamlread.load(read(path)))) == repr(expected)


@pytest.mark.parametrize("path", INVALID, ids=stem)
def test_invalid_document_is_refused_with_line_and_fix(path):
    line, part = path.with_suffix(".problems").read_text("utf-8").strip().split(": ", 1)
    error = refusal(read(path))
    assert (error.where, part in error.message) == (line, True), str(error)


@pytest.mark.parametrize("path", SEEDS, ids=stem)
def test_documented_configuration_reads_as_a_mapping(path):
    assert isinstance(yamlread.load(read(path)), dict)


@pytest.mark.parametrize("path", VALID, ids=stem)
def test_line_ends_of_windows_change_nothing(path):
    text = read(path).replace("\r\n", "\n")
    assert repr(yamlread.load(text.replace("\n", "\r\n"))) == repr(yamlread.load(text))


def test_error_prints_as_path_line_message():
    assert str(refusal("a: 1\na: 2\n")).startswith("eval.yaml:2: the key 'a' is given twice")


def test_line_is_counted_from_the_first_line_also_after_a_marker():
    assert refusal("# c\n---\n\na: [\n").where == "5"


def test_keys_keep_their_type():
    keys = list(yamlread.load('1: a\n"1": b\nnull: c\n1.5: d\nfalse: e\n'))
    assert list(map(repr, keys)) == ["1", "'1'", "None", "1.5", "False"]


def test_integer_and_float_stay_apart():
    assert [type(item) for item in yamlread.load("[1, 1.0, 1e0]")] == [int, float, float]


def test_nan_is_a_float_that_is_not_itself():
    assert all(math.isnan(item) for item in yamlread.load("[.nan, .NaN, .NAN]"))


def test_check_block_compiles_as_the_python_it_was():
    check = yamlread.load(read(DATA / "valid" / "python-check.yaml"))["judges"][0]["check"]
    compile("def check(outputs):\n" + check.replace("\n", "\n    "), "check", "exec")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: |\n  x", "x"),
        ("a: |\n  x\n", "x\n"),
        ("a: |-\n  x", "x"),
        ("a: |+\n  x", "x"),
        ("a: |+\n  x\n", "x\n"),
        ("a: |+\n  x\n\n", "x\n\n"),
        ("a: >\n  x\n  y", "x y"),
        ("a: |\n  x\n  ", "x\n"),
        ("a: |", ""),
        ("a: |+", ""),
    ],
)
def test_no_line_end_is_invented_at_the_end_of_the_file(text, expected):
    assert yamlread.load(text) == {"a": expected}


def test_document_that_a_marker_ends_has_its_last_line_end():
    assert yamlread.load("--- |\n x\n...") == "x\n"


def test_alias_is_the_very_object_of_its_anchor():
    value = yamlread.load("a: &x [1]\nb: *x\n")
    assert value["a"] is value["b"]


def test_alias_takes_the_latest_anchor_of_its_name():
    assert yamlread.load("[&a 1, *a, &a 2, *a]") == [1, 1, 2, 2]


def test_alias_bomb_is_refused():
    levels = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    for level in range(1, 9):
        items = ", ".join([f"*a{level - 1}"] * 9)
        levels.append(f"a{level}: &a{level} [{items}]")
    error = refusal("\n".join(levels))
    assert "write the values out" in error.message
    assert error.where == "6"


def test_aliases_of_one_long_text_are_refused():
    text = f"a: &a {'x' * 10_000}\n" + "b:\n" + "- *a\n" * 101
    assert refusal(text).where == "102"


def test_many_aliases_are_refused():
    text = "a: &a 1\nb:\n" + "- *a\n" * yamlread.MOST_ALIASES
    assert len(yamlread.load(text)["b"]) == yamlread.MOST_ALIASES
    assert refusal(text + "- *a\n").where == str(yamlread.MOST_ALIASES + 3)


def test_depth_limit_is_exact():
    deepest = yamlread.MOST_DEPTH
    yamlread.load("[" * deepest + "]" * deepest)
    assert "100 levels" in refusal("[" * (deepest + 1) + "]" * (deepest + 1)).message


def test_siblings_are_no_depth():
    assert len(yamlread.load("- [a]\n- {b: c}\n- - d\n" * 200)) == 600


def test_huge_text_is_refused_before_it_is_read():
    started = time.process_time()
    error = refusal("a: b\n" * 1_000_000)
    assert "larger than 4 MB" in error.message
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "text",
    [
        '"' + " " * 200_000 + '\n x"',
        '"' + "\\\t" * 100_000 + '"',
        "a" + " " * 200_000 + "b",
        "a: b\n" + " " * 200_000 + "\n",
        "a: [" + "\n" * 200_000 + " b]",
        "- " * 100 + "x\n" + "# comment\n" * 50_000,
        "a: >\n" + "  b\n" * 50_000,
        "a: b\n" + "  c\n\n" * 50_000,
        "'" + "''" * 100_000,
        '"' + "\\" * 200_001,
        "a: " + "b:" * 100_000,
        "#" * 200_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_long_runs_take_linear_time(text):
    started = time.process_time()
    line_of_refusal(text)
    assert time.process_time() - started < 2


def nasty_edits(generator, text):
    """`text` with up to three characters that mean something put in, changed or taken out."""
    characters = list(text)
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(len(characters) + 1)
        width = generator.randint(0, 2)
        characters[place : place + width] = generator.choice(
            "-?:,[]{}#&*!|>'\"%@` \t\n\\\0\ufeffa1<"
        )
    return "".join(characters)


SHORT = [path for path in VALID + INVALID if path.stat().st_size < 3000]


@pytest.mark.parametrize("path", SHORT, ids=stem)
def test_broken_documents_are_read_or_refused_with_a_line(path):
    text, generator = read(path), random.Random(path.stem)
    for _ in range(60):
        edited = nasty_edits(generator, text)
        line = line_of_refusal(edited)
        assert line is None or 1 <= line <= len(edited.splitlines()) + 1, edited


@pytest.mark.parametrize("path", VALID, ids=stem)
def test_truncated_documents_are_read_or_refused(path):
    text = read(path)
    for end in range(len(text)):
        line = line_of_refusal(text[:end])
        assert line is None or 1 <= line <= text[:end].count("\n") + 2, text[:end]
