#!/usr/bin/env python3
"""Print a unified diff with the line numbers of the new files, ready to be cited as `path:line`.

Owns the counting, which is where reviews go wrong. Owns no opinion about the change. It reads a
file or standard input and changes nothing.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

EPILOG = """\
examples:
  git diff main...HEAD | number_diff.py
  number_diff.py --added change.diff

each line: path:line, a tab, the sign (`+`, `-` or a space), the text
a removed line has no number in the new file and is printed as path:-

exit status:
  0  done
  1  no hunk found, or a hunk does not have the lines that its header announces
  2  wrong usage or unreadable file
"""

HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
OCTAL = re.compile(r"\\([0-7]{3})")


class Malformed(Exception):
    """The diff is cut off or was edited by hand; the message names the line."""


def new_path(header: str) -> str:
    """The path of a `+++` line, without `b/`, time stamp and git's quotes."""
    path = header[4:].split("\t")[0].rstrip()
    if path.startswith('"') and path.endswith('"'):
        data = OCTAL.sub(lambda match: chr(int(match[1], 8)), path[1:-1])
        path = data.encode("latin-1", "replace").decode("utf-8", "replace").replace("\\\\", "\\")
    return path.removeprefix("b/")


def numbered(lines: list[str]) -> Iterator[tuple[str, int | None, str, str]]:
    """(path, line in the new file or None, sign, text) of each line in a hunk. Raises Malformed.

    Inside a hunk only the announced counts say where it ends: a removed line may read `-- x` and
    then looks like a file header.
    """
    path, line, old_left, new_left = "?", 0, 0, 0
    for position, text in enumerate(lines, start=1):
        if old_left or new_left:
            sign = text[:1] or " "  # editors strip the space of an empty context line
            if sign == "\\":
                continue
            old_left -= sign in " -"
            new_left -= sign in " +"
            if sign not in " +-" or old_left < 0 or new_left < 0:
                raise Malformed(f"line {position}: not the line that the hunk announces")
            yield path, None if sign == "-" else line, sign, text[1:]
            line += sign != "-"
        elif text.startswith("+++ "):
            path = new_path(text)
        elif match := HUNK.match(text):
            old_left, line, new_left = int(match[1] or 1), int(match[2]), int(match[3] or 1)
    if old_left or new_left:
        raise Malformed(f"the last hunk lacks {old_left} old and {new_left} new lines")


def read(source: str) -> str:
    if source == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    return Path(source).read_bytes().decode("utf-8", "replace")


def lines_of(text: str) -> list[str]:
    """Only line breaks end a line: `str.splitlines` would also split at a form feed."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else "",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("diff", nargs="?", default="-", help="a file; `-` or nothing: stdin")
    parser.add_argument("--added", action="store_true", help="print the added lines only")
    args = parser.parse_args(argv)
    try:
        text = read(args.diff)
    except OSError as problem:
        print(f"number_diff: {args.diff}: {problem.strerror}", file=sys.stderr)
        return 2
    count = 0
    try:
        for path, line, sign, content in numbered(lines_of(text)):
            count += 1
            if sign == "+" or not args.added:
                print(f"{path}:{line or '-'}\t{sign}{content}")
    except Malformed as problem:
        print(f"number_diff: {problem}; take the diff from git again", file=sys.stderr)
        return 1
    if not count:
        print("number_diff: no hunk found; expected the output of `git diff`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
