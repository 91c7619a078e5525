"""`skilleval init`: a new skill with its first suite."""

import build


def test_a_new_skill_passes_strict_validation(tmp_path):
    done = build.skilleval("init", "summarise-minutes", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "wrote ./summarise-minutes/SKILL.md",
        "wrote ./summarise-minutes/evals/evals.json",
        "wrote ./summarise-minutes/evals/files/notes.txt",
    ]
    valid = build.skilleval("validate", "--strict", "summarise-minutes", cwd=tmp_path)
    assert (valid.returncode, valid.stderr) == (0, "")
    assert "0 errors, 0 warnings" in valid.stdout


def test_a_second_call_keeps_what_is_there(tmp_path):
    for code in (0, 2):
        done = build.skilleval("init", "x1", "--output", tmp_path / "skills", cwd=tmp_path)
        assert done.returncode == code
    assert done.stderr.count("it is there already") == 3
    assert "nothing was written" in done.stderr


def test_a_path_is_no_name(tmp_path):
    done = build.skilleval("init", "../x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'../x' cannot be the name of a skill" in done.stderr


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    done = build.skilleval("init", "x1", "--output", "file", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr == "error: file/x1: cannot be written: Not a directory\n"
