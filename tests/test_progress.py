"""The progress line: what it says, and that it is drawn only on a terminal."""

import io

from skilleval.model import Outcome, Result, Trial
from skilleval.progress import WIDTH, Progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_nothing_is_drawn_where_there_is_no_terminal_or_nobody_asks():
    for stream, shown in ((io.StringIO(), True), (Terminal(), False)):
        with Progress(1, stream, shown=shown) as progress:
            progress.watch(Trial("a", "m"), None)
        assert stream.getvalue() == ""


def test_it_says_what_runs_and_what_is_done():
    stream = Terminal()
    with Progress(3, stream) as progress:
        for name in ("a", "b"):
            progress.watch(Trial(name, "m"), None)
        progress.watch(Trial("a", "m"), Result(Trial("a", "m"), Outcome("ok"), ()))
        assert progress.line().startswith("[1/3] 00:0")
        assert progress.line().endswith("running: b")
    assert stream.getvalue().endswith("\r\x1b[K")


def test_what_an_earlier_run_has_done_counts():
    progress = Progress(3, Terminal(), done=2)
    progress.watch(Trial("a", "m"), None)
    assert progress.line().startswith("[2/3] ")


def test_a_long_line_is_cut():
    progress = Progress(50, Terminal())
    for number in range(40):
        progress.watch(Trial(f"case-{number}", "m"), None)
    assert len(progress.line()) == WIDTH
