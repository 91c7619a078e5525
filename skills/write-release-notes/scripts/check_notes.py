#!/usr/bin/env python3
"""Compare release notes with the commits they describe; print machine-readable findings.

Owns three questions: does every reference in the notes exist in the commits, is every breaking
commit under a breaking heading, and is a change absent that was reverted in the same range. Owns
no judgement of wording. Reads both files and changes none.

The commit list is what this prints (a body is indented, so that it cannot look like a commit):

  git log --no-merges --format='%h %s%n%w(0,4,4)%b' v1.4.0..HEAD > commits.txt
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

EPILOG = """\
example:
  check_notes.py --commits commits.txt RELEASE_NOTES.md

exit status:
  0  nothing to object to
  1  at least one finding
  2  nothing was decided: wrong usage, unreadable file, no commit found
"""

COMMIT = re.compile(r"^([0-9a-f]{7,40})[ \t]+(\S.*)$")
BREAKING_SUBJECT = re.compile(r"^\w+(\([^)]*\))?!:")
BREAKING_FOOTER = re.compile(r"^\s*BREAKING[ -]CHANGE:", re.MULTILINE)
REVERTED_HASH = re.compile(r"This reverts commit ([0-9a-f]{7,40})")
REVERT_SUBJECT = re.compile(r'^(?:Revert "(.+)"|revert: (.+))')
QUOTED = re.compile(r'".*"')
PULL_REQUEST = re.compile(r"(\s*\(#\d+\))+$")
NUMBER = re.compile(r"(?<![\w&/])#(\d+)\b")
TOKEN = re.compile(r"(?<!\w)[0-9a-f]{7,40}(?!\w)")
# surely a hash: digits alone are a number in prose, letters alone are English ("defaced")
HASH = re.compile(r"(?<![\w.#/-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}(?![\w.-]*\w)")
HEADING = re.compile(r"^(#{1,6})\s+(.*)$")


class Commit(NamedTuple):
    """One commit: abbreviated or full hash, subject line, body (may be empty)."""

    hash: str
    subject: str
    body: str

    @property
    def breaking(self) -> bool:
        return bool(BREAKING_SUBJECT.match(self.subject) or BREAKING_FOOTER.search(self.body))

    @property
    def numbers(self) -> set[str]:
        """Its own: what a revert quotes belongs to the other commit."""
        return set(NUMBER.findall(QUOTED.sub("", self.subject)))


class Finding(NamedTuple):
    """One objection. `line` is a 1-based line of the notes, 0 when it is about an absence."""

    line: int
    code: str
    message: str


def parse_commits(text: str) -> list[Commit]:
    """Newest first, as `git log` prints them. Lines before the first commit are ignored."""
    commits: list[Commit] = []
    for line in text.splitlines():
        if match := COMMIT.match(line):
            commits.append(Commit(match[1], match[2], ""))
        elif commits:
            last = commits[-1]
            commits[-1] = last._replace(body=f"{last.body}{line}\n")
    return commits


def same_hash(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def reverted_subject(commit: Commit) -> str | None:
    """What the subject says is taken back, without the `(#12)` that a squash merge appends."""
    match = REVERT_SUBJECT.match(commit.subject)
    return PULL_REQUEST.sub("", match[1] or match[2]) if match else None


def reverted(commits: list[Commit]) -> set[Commit]:
    """The commits that a later commit of the same range takes back, together with that commit."""
    gone: set[Commit] = set()
    for index, commit in enumerate(commits):
        if commit in gone:  # its own revert came later: the first change stands again
            continue
        hashes = REVERTED_HASH.findall(commit.body)
        subject = reverted_subject(commit)
        for older in commits[index + 1 :]:
            by_hash = any(same_hash(older.hash, value) for value in hashes)
            if by_hash or (not hashes and PULL_REQUEST.sub("", older.subject) == subject):
                gone |= {commit, older}
                break
    return gone


def mentions(commit: Commit, line: str, not_its_own: frozenset[str] = frozenset()) -> bool:
    """Whether the line names the commit, by hash or by a number that is not another's as well."""
    hashes = (same_hash(commit.hash, value) for value in TOKEN.findall(line))
    return any(hashes) or bool((commit.numbers - not_its_own) & set(NUMBER.findall(line)))


def breaking_lines(lines: list[str]) -> list[str]:
    """The lines below a heading that says `breaking`, to the next heading of its level or above."""
    kept: list[str] = []
    inside = 0
    for line in lines:
        if match := HEADING.match(line):
            level = len(match[1])
            if not inside or level <= inside:
                inside = level if "breaking" in match[2].lower() else 0
        if inside:
            kept.append(line)
    return kept


def unknown_references(lines: list[str], commits: list[Commit]) -> Iterator[Finding]:
    everything = "\n".join(f"{commit.subject}\n{commit.body}" for commit in commits)
    numbers = set(NUMBER.findall(everything))
    for position, line in enumerate(lines, start=1):
        for number in NUMBER.findall(line):
            if number not in numbers:
                yield Finding(position, "unknown_reference", f"#{number} is in no commit")
        for value in HASH.findall(line):
            if not any(same_hash(commit.hash, value) for commit in commits):
                yield Finding(position, "unknown_reference", f"{value} is no commit of the range")


def compare(notes: str, commits: list[Commit]) -> list[Finding]:
    """All findings, sorted by line."""
    lines = notes.splitlines()
    findings = list(unknown_references(lines, commits))
    gone = reverted(commits)
    standing = frozenset(n for commit in commits if commit not in gone for n in commit.numbers)
    below = breaking_lines(lines)
    for commit in commits:
        if commit.breaking and commit not in gone and not any(mentions(commit, x) for x in below):
            message = f"breaking, but below no breaking heading: {commit.hash} {commit.subject}"
            findings.append(Finding(0, "breaking_missing", message))
        for position, line in enumerate(lines, start=1):
            if commit in gone and mentions(commit, line, standing):
                message = f"taken back in the same range: {commit.hash} {commit.subject}"
                findings.append(Finding(position, "reverted_listed", message))
    return sorted(set(findings))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else "",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("notes", type=Path, help="the release notes (Markdown)")
    parser.add_argument("--commits", type=Path, required=True, help="lines of `hash subject`")
    args = parser.parse_args(argv)
    try:
        notes = args.notes.read_text(encoding="utf-8")
        commits = parse_commits(args.commits.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        print(f"check_notes: {problem}", file=sys.stderr)
        return 2
    if not commits:
        print(f"check_notes: {args.commits}: no line of the form `hash subject`", file=sys.stderr)
        return 2
    findings = compare(notes, commits)
    report = {
        "ok": not findings,
        "commits": len(commits),
        "findings": [finding._asdict() for finding in findings],
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
