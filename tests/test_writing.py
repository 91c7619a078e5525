"""Files that we write: whole or not at all."""

import itertools
import json
import os
import tracemalloc

import build
import pytest

from skilleval import writing
from skilleval.errors import SkillevalError
from skilleval.model import Trial
from skilleval.writing import Rows

ODD = {
    "": "",
    'quote " and \\': "tab\t, line\n, nul\x00, del\x7f",
    "é": "日本 😀 \ud83d \u2028",
    "numbers": [0, -1, 2**70, 0.1, 1e300, -0.0, True, False, None],
    "empty": [[], {}, [[]], [{}]],
    "deep": {"a": {"b": [{"c": [1, [2, {"d": "]}"}]]}]}},
}


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


@pytest.mark.parametrize("value", [ODD, [ODD], *ODD.values()], ids=str)
def test_json_is_what_the_standard_library_writes(value):
    assert writing.as_json(value) == json.dumps(value, indent=2, allow_nan=False) + "\n"


def rows(*items):
    return Rows(lambda: iter(items))


def test_rows_are_written_as_a_list_however_often():
    document = {"none": rows(), "some": rows(1, ODD, Trial("a", "m")), "rest": {"x": []}}
    trial = {"case_id": "a", "arm": "m", "repeat": 1}
    plain = {"none": [], "some": [1, ODD, trial], "rest": {"x": []}}
    for _ in range(2):
        assert writing.as_json(document) == json.dumps(plain, indent=2) + "\n"


def test_rows_may_be_the_document_and_stand_in_the_objects_of_other_rows():
    nested = rows({"n": 1, "runs": rows({"a": [1]}, {})}, {"n": 2, "runs": rows()})
    plain = [{"n": 1, "runs": [{"a": [1]}, {}]}, {"n": 2, "runs": []}]
    assert writing.as_json(nested) == json.dumps(plain, indent=2) + "\n"


def test_no_piece_ends_inside_of_a_string_or_a_number():
    """Whatever the lengths are: a secret in a string is then whole in one of the pieces."""
    items = [{"n": 10**9 + n, "says": f"<{n:05}{'x' * (n % 97)}>"} for n in range(3000)]
    pieces = list(writing.pieces({"first": 1, "rows": rows(*items), "last": "<end>"}))
    assert "".join(pieces) == json.dumps({"first": 1, "rows": items, "last": "<end>"}, indent=2) + (
        "\n"
    )
    assert len(pieces) > 3
    assert all(piece.count("<") == piece.count(">") for piece in pieces)
    assert not any(a[-1].isdigit() and b[0].isdigit() for a, b in itertools.pairwise(pieces))


def test_a_piece_is_about_as_long_as_it_is_to_be():
    pieces = list(writing.pieces(rows(*("x" * 1000 for _ in range(500)))))
    assert all(writing.PIECE <= len(piece) < writing.PIECE + 1100 for piece in pieces[:-1])


def test_a_short_document_is_one_piece():
    assert len(list(writing.pieces(ODD))) == 1


def test_a_long_document_is_never_in_memory_as_a_whole(tmp_path):
    made = (({"n": n, "text": "x" * 1000} for n in range(5000)),)
    document = {"rows": Rows(lambda: made[0])}
    tracemalloc.start()
    try:
        writing.write_text(str(tmp_path / "f"), writing.pieces(document))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(json.loads((tmp_path / "f").read_text())["rows"]) == 5000
    assert peak < 1_000_000  # of 5 MB


def test_a_text_in_pieces_is_written_whole_also_what_utf8_cannot_hold(tmp_path):
    writing.write_text(str(tmp_path / "a" / "f"), iter(["é", "", "\ud83d", "\ude00x"]))
    assert (tmp_path / "a" / "f").read_bytes() == "é\\ud83d\\ude00x".encode()


def test_a_document_that_breaks_while_it_is_written_leaves_the_old_file_and_no_part(tmp_path):
    build.write(tmp_path / "f", "old")
    with pytest.raises(ValueError, match="not JSON compliant"):
        writing.write_text(str(tmp_path / "f"), writing.pieces(rows(1, float("nan"))))
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("f", "old")]
