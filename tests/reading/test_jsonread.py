"""Strict JSON, whose messages name the place."""

import pytest

from skilleval.errors import SuiteError
from skilleval.reading import jsonread


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json: is empty; expected JSON"),
        ("{", "f.json:1: invalid JSON: expecting property name"),
        ('{\n"a": 1,\n"b" 2}', "f.json:3: invalid JSON"),
        ('{"a": 1, "a": 2}', "f.json:1: the key 'a' is given twice in one object"),
        ('[{"a": {"b": 1}, "b": 2},\n{"b": "b",\n"\\u0062": 2}]', "f.json:3: the key 'b' is given"),
        ("[NaN]", "f.json:1: NaN is not a JSON value"),
        ('{"a": "NaN, \\" -Infinity",\n"b": -Infinity}', "f.json:2: -Infinity is not a JSON value"),
        ("9" * 5000, "f.json: invalid JSON: a number of thousands of digits"),
        ("[" * 200_000, "f.json: invalid JSON: nested too deeply"),
    ],
    ids=lambda value: value[:20],
)
def test_what_is_refused_names_file_and_line(text, message):
    with pytest.raises(SuiteError) as caught:
        jsonread.loads(text, "f.json")
    assert str(caught.value).startswith(message)


def test_the_value_comes_with_its_text(tmp_path):
    path = tmp_path / "f.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": [1, null]}')
    assert jsonread.load(str(path)) == ({"a": [1, None]}, '{"a": [1, null]}')


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SuiteError, match="no such file"):
        jsonread.load(str(tmp_path / "f.json"))


def test_bad_bytes_name_their_line(tmp_path):
    path = tmp_path / "f.json"
    path.write_bytes(b'[\n"\xff"]')
    with pytest.raises(SuiteError, match=r":2: is not UTF-8"):
        jsonread.load(str(path))
