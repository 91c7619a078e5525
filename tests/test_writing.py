"""Files that we write: whole or not at all."""

import json
import os

import build
import pytest

from skilleval import writing
from skilleval.errors import SkillevalError
from skilleval.model import Trial


def test_the_folders_of_a_file_are_made(tmp_path):
    writing.write_text(str(tmp_path / "a" / "b" / "f"), "x\ud83d")
    assert (tmp_path / "a" / "b" / "f").read_text() == "x\\ud83d"


def test_a_write_that_fails_leaves_the_old_file_and_no_part(tmp_path):
    build.write(tmp_path / "f" / "inside", "old")
    with pytest.raises(OSError, match="f"):
        writing.write_text(str(tmp_path / "f"), "new")
    assert [p.name for p in tmp_path.rglob("*")] == ["f", "inside"]


def test_a_written_file_has_the_permissions_of_an_ordinary_one(tmp_path):
    writing.write_text(str(tmp_path / "f"), "x")
    (tmp_path / "g").write_text("x")
    assert (tmp_path / "f").stat().st_mode == (tmp_path / "g").stat().st_mode


def test_what_cannot_be_written_is_one_sentence_about_the_place(tmp_path):
    build.write(tmp_path / "f", "a file")
    reason = r"^out: cannot be written: Not a directory$"
    with pytest.raises(SkillevalError, match=reason), writing.guarded("out"):
        writing.write_text(str(tmp_path / "f" / "g"), "x")


def test_a_folder_is_made_and_the_proof_that_it_can_be_written_leaves_nothing(tmp_path):
    writing.make_folder(str(tmp_path / "a" / "b"))
    assert list(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a" / "b"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that root cannot write")
def test_a_folder_that_is_there_and_cannot_be_written_is_no_folder_to_write_to():
    with pytest.raises(OSError, match="/proc/self"):
        writing.make_folder("/proc/self")


def test_nouns_are_json_and_no_number_is_no_json():
    assert json.loads(writing.as_json(Trial("a", "m"))) == {"case_id": "a", "arm": "m", "repeat": 1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        writing.as_json(float("nan"))
