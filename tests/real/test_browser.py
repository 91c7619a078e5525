"""The HTML report in a real Chromium: it is drawn, silent, and asks for nothing.

$SKILLEVAL_BROWSER names the browser, else it is looked for on PATH (.ci/browser finds or installs
one).
"""

import os
import re
import shutil
import struct
import subprocess
import zlib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import build
import pytest
import recorded
from loopback import Loopback, Reply

NAMES = ("chromium", "chromium-browser", "google-chrome")
# without a network Chromium asks its maker's hosts all the same, unless it is told not to
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--v=0", "--hide-scrollbars"),
)
ENOUGH_S = 60
# what a page could load if it were allowed to, and a script that says that it has run
OPEN_PAGE = """<!DOCTYPE html><title>x</title><img src="{url}/image.png">
<script>console.error("a script has run")</script>"""


class Look(NamedTuple):
    """A page after it was opened: its picture, what it said on the console, what it asked for."""

    picture: bytes
    console: list[str]
    requests: list[str]


@pytest.fixture(scope="module")
def browser():
    named = os.environ.get("SKILLEVAL_BROWSER")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip(f"needs a browser: one of {', '.join(NAMES)} on PATH, or .ci/browser")
    return found


@pytest.fixture
def trap():
    """A server that no report may ask for anything."""
    with Loopback() as server:
        server.on("/", Reply(200))
        yield server


def look(browser, page, folder, trap, *flags, size=(1250, 3000)):
    picture = folder / "picture.png"
    done = subprocess.run(
        [
            browser,
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={size[0]},{size[1]}",
            f"--screenshot={picture}",
            *flags,
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=ENOUGH_S,
    )
    assert done.returncode == 0, done.stderr
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return Look(picture.read_bytes(), console, [request.path for request in trap.requests])


def report(folder, trap, *arguments):
    """The page of a run whose texts lead to the trap wherever markup could."""
    run = Path(recorded.make(folder))
    for path in run.rglob("*.json"):
        path.write_text(path.read_text().replace("http://127.0.0.1:9", trap.url))
    done = build.skilleval("report", run, "--format", "html", "-o", "report.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "report.html"


def opened(page):
    """The same page with everything unfolded."""
    path = page.with_name("open.html")
    path.write_text(page.read_text("utf-8").replace("<details", "<details open"), "utf-8")
    return path


def size_and_rows(picture):
    """Width, height, and how many rows of pixels differ from the one above."""
    width, height = struct.unpack(">II", picture[16:24])
    data, position = b"", 8
    while position < len(picture):
        (length,) = struct.unpack(">I", picture[position : position + 4])
        if picture[position + 4 : position + 8] == b"IDAT":
            data += picture[position + 8 : position + 8 + length]
        position += length + 12
    rows = zlib.decompress(data)
    stride = len(rows) // height
    lines = [rows[place : place + stride] for place in range(0, len(rows), stride)]
    return width, height, sum(one != two for one, two in pairwise(lines))


def test_the_browser_tells_when_a_page_loads_or_says_something(browser, trap, tmp_path):
    page = build.write(tmp_path / "page.html", OPEN_PAGE.format(url=trap.url))
    found = look(browser, page, tmp_path, trap)
    assert found.requests == ["/image.png"]
    assert "a script has run" in found.console[0]


@pytest.mark.parametrize("flags", [(), ("--force-dark-mode",)], ids=["light", "dark"])
def test_the_report_is_drawn_and_asks_for_nothing(browser, trap, tmp_path, flags):
    found = look(browser, report(tmp_path, trap), tmp_path, trap, *flags)
    assert (found.console, found.requests) == ([], [])
    width, height, differing = size_and_rows(found.picture)
    assert (width, height) == (1250, 3000)
    assert differing > 500


def test_all_evidence_unfolded_asks_for_nothing_either(browser, trap, tmp_path):
    page = opened(report(tmp_path, trap))
    assert trap.url in page.read_text("utf-8")
    found = look(browser, page, tmp_path, trap, size=(600, 8000))
    assert (found.console, found.requests) == ([], [])


def dom(browser, page, folder, *flags):
    """The document as the browser has understood it."""
    done = subprocess.run(
        [
            *(browser, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags),
            *("--dump-dom", page.as_uri()),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=ENOUGH_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_text_has_become_an_element_that_loads_or_runs(browser, trap, tmp_path):
    text = dom(browser, report(tmp_path, trap), tmp_path)
    assert text.count("<table>") > 10
    assert not re.search(r"<(?:script|img|base|link|iframe|object)", text)


@pytest.mark.parametrize("width", [600, 1250])
def test_the_page_is_no_wider_than_the_window(browser, trap, tmp_path, width):
    page = opened(report(tmp_path, trap))
    # the page itself may run no script: the measuring one needs a copy without that rule
    copy = page.read_text("utf-8").replace("Content-Security-Policy", "x")
    measure = "<script>document.title = document.documentElement.scrollWidth</script>"
    page.write_text(copy.replace("</body>", f"{measure}</body>"), "utf-8")
    text = dom(browser, page, tmp_path, f"--window-size={width},900")
    assert int(re.search(r"<title>(\d+)</title>", text)[1]) <= width
