"""What a CI system is told, and when."""

import os
import re
import subprocess
import sys

import build
from sinks_view import view

from skilleval import announcement


def test_outside_of_github_nothing_is_said(tmp_path, capsys):
    announcement.announce([view()], {})
    assert capsys.readouterr() == ("", "")
    assert announcement.shown("text", {}) == "text"


def test_the_summary_is_added_to_what_is_there(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    announcement.announce([view()], {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.read_text().startswith("before\n## write-release-notes\n")


def test_what_another_step_wrote_takes_of_the_room(tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("x" * 999_999)
    announcement.announce([view()], {"GITHUB_STEP_SUMMARY": str(path)})
    assert path.stat().st_size == 999_999


def test_a_summary_that_cannot_be_written_is_a_warning(tmp_path, capsys):
    announcement.announce([view()], {"GITHUB_STEP_SUMMARY": str(tmp_path)})
    assert capsys.readouterr().err.startswith("warning: the step summary: ")


def test_annotations_go_to_stderr(capsys):
    announcement.announce([view()], {"GITHUB_ACTIONS": "true"})
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("::error file=evals/write-release-notes/evals.json,title=")


PROGRAM = """
import sys
from skilleval import announcement
sys.stdout.write(announcement.shown(sys.argv[1], {"GITHUB_ACTIONS": "true"}))
"""


def printed(text, stdout=subprocess.PIPE):
    """What a program on a runner prints of the text."""
    environ = {**os.environ, "PYTHONPATH": str(build.ROOT)}
    command = [sys.executable, "-c", PROGRAM, text]
    return subprocess.run(command, stdout=stdout, env=environ, text=True, check=True).stdout


def test_what_commands_a_runner_is_fenced_by_a_word_of_its_own():
    shown = [printed("::x") for _ in range(2)]
    assert all(
        re.fullmatch(r"::stop-commands::([0-9a-f]{32})\n::x\n::\1::\n", text) for text in shown
    )
    assert shown[0] != shown[1]


def test_a_text_that_commands_nothing_is_shown_as_it_is():
    text = "a ::error:: in a line, and # [x]\n"
    assert printed(text) == text


def test_what_goes_to_a_file_is_never_fenced(tmp_path):
    with (tmp_path / "out").open("w") as file:
        printed("::x", file)
    assert (tmp_path / "out").read_text() == "::x"
