"""`skilleval versions`: writes versions.json. What is in it has tests of its own."""

import build


def test_file_that_cannot_be_written_is_said_in_a_line_and_ends_with_3(tmp_path):
    (tmp_path / "out").mkdir()
    done = build.skilleval("versions", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "error: out: cannot be written: Is a directory\n"
