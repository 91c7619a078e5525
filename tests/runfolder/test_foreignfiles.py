"""What others wrote into a run folder is read with care: nothing outside of it, nothing damaged."""

import os

import build
import pytest

from skilleval.errors import SuiteError
from skilleval.runfolder import foreignfiles


def test_a_file_that_is_not_there_is_none(tmp_path):
    assert foreignfiles.text(str(tmp_path / "gone"), str(tmp_path)) is None
    build.write(tmp_path / "file", "")
    assert foreignfiles.document(str(tmp_path / "file" / "below"), str(tmp_path)) is None


def test_an_object_is_read_whatever_its_encoding_does(tmp_path):
    path = build.write(tmp_path / "a.json", b'\xef\xbb\xbf{"a": "\xff"}\r\n')
    assert foreignfiles.document(str(path), str(tmp_path)) == {"a": "\ufffd"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged"),
        ('{"a": ', "is damaged"),
        ("[" * 99_999, "is damaged"),
        ('{"a": ' + "1" * 5000 + "}", "is damaged"),
        ("[]", "must hold an object, not a list"),
        ("null", "must hold an object, not null"),
        ('"x"', "must hold an object, not a text"),
        ("1", "must hold an object, not a number"),
        ("true", "must hold an object, not true or false"),
    ],
)
def test_what_is_no_object_is_an_error_that_names_the_file(tmp_path, text, message):
    path = build.write(tmp_path / "a.json", text)
    with pytest.raises(SuiteError, match=message) as caught:
        foreignfiles.document(str(path), str(tmp_path))
    assert str(caught.value).startswith(f"{path}: ")


def test_a_link_within_the_folder_is_followed(tmp_path):
    build.write(tmp_path / "run" / "b.json", "{}")
    (tmp_path / "run" / "a.json").symlink_to("b.json")
    assert foreignfiles.document(str(tmp_path / "run" / "a.json"), str(tmp_path / "run")) == {}


@pytest.mark.parametrize("linked", ["outputs", "outputs/output.txt"])
def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path, linked):
    build.write(tmp_path / "home" / "output.txt", "secret")
    link = tmp_path / "run" / linked
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "home" / ("output.txt" if "." in linked else ""))
    with pytest.raises(SuiteError, match="is a link that leaves"):
        foreignfiles.text(str(tmp_path / "run" / "outputs" / "output.txt"), str(tmp_path / "run"))


def test_what_is_no_file_is_an_error(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(SuiteError, match="cannot be read"):
            foreignfiles.text(str(tmp_path / name), str(tmp_path))


@pytest.mark.parametrize(
    ("value", "found"), [([], []), (["a"], ["a"]), ("ab", None), ([1], None), (None, None)]
)
def test_a_list_of_texts_is_one_or_nothing(value, found):
    assert foreignfiles.texts(value) == found
