"""What becomes of results and exit codes when a stream is closed or full."""

import os
import subprocess
import sys

import build
import pytest

from skilleval import console

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


def shell(command):
    """Runs `skilleval` with what the shell does to its streams."""
    return subprocess.run(
        ["sh", "-c", f"{sys.executable} -m skilleval {command}"],
        cwd=build.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "2>&- >&-"])
@pytest.mark.parametrize(("arguments", "code"), [("--help", 0), ("validate gone", 2)])
def test_a_closed_stream_changes_no_exit_code(closed, arguments, code):
    done = shell(f"{arguments} {closed}")
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_result_that_does_not_fit_on_the_disk_is_an_error():
    done = shell("--help >/dev/full")
    message = "error: stdout cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (3, message)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("a", "a\n"),
        ("a\n", "a\n"),
        ("", "\n"),
        (["a", "b\n", ""], "ab\n"),
        (iter(["a\n", "b"]), "a\nb\n"),
        ([], "\n"),
    ],
    ids=str,
)
def test_a_result_ends_in_one_newline_also_in_pieces(given, printed, capsys):
    console.write(given)
    assert capsys.readouterr().out == printed
