#!/usr/bin/env python3
"""Stands in for `gh`, for the one repository that source-repo.py has made; talks to no network.

Its first argument is that folder. It knows `gh pr create`, `list`, `view` and `edit`, `gh repo
view` and `gh auth status`, as far as an agent that opens a pull request needs them.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SLUG = "example/tally"
OPTIONS = {
    "create": ("title", "body", "body-file", "base", "head", "reviewer", "label"),
    "list": ("state", "limit", "head", "base", "search", "jq"),
    "view": ("jq",),
    "edit": ("title", "body", "body-file", "base"),
}
# where the short form is not the first letter
SHORT = {"body-file": "F", "base": "B", "head": "H", "state": "s", "limit": "L", "search": "S"}
SHORT |= {"jq": "q"}
FLAGS = ("draft", "fill", "web")


def main() -> int:
    folder, *words = sys.argv[1:]
    match words:
        case ["auth", "status", *_]:
            print("github.com\n  Logged in to github.com account example (stand-in)")
        case ["repo", "view", *_]:
            print(json.dumps({"nameWithOwner": SLUG, "defaultBranchRef": {"name": "main"}}))
        case ["pr", action, *rest] if action in OPTIONS:
            return pull_request(Path(folder), action, rest)
        case _:
            return fail(f"the stand-in of gh does not know {' '.join(words[:2])!r}")
    return 0


def pull_request(folder: Path, action: str, words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"gh pr {action}")
    parser.add_argument("which", nargs="?", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("-R", "--repo", default=SLUG)
    for option in OPTIONS[action]:
        parser.add_argument(f"-{SHORT.get(option, option[0])}", f"--{option}", default="")
    for flag in FLAGS if action == "create" else ():
        parser.add_argument(f"-{flag[0]}", f"--{flag}", action="store_true")
    given = parser.parse_args(words)
    pulls = [json.loads(path.read_text("utf-8")) for path in sorted((folder / "pulls").glob("*"))]
    if action == "create":
        return create(folder, pulls, given)
    if action == "list":
        show([pull for pull in pulls if listed(pull, given)], given)
        return 0
    wanted = given.which or branch()
    found = [p for p in pulls if wanted in (p["headRefName"], str(p["number"]), p["url"])]
    if not found:
        return fail(f'no pull requests found for branch "{wanted}"')
    if action == "edit":
        write(folder, {**found[-1], **described(given)})
        print(found[-1]["url"])
    else:
        show(found[-1], given)
    return 0


def create(folder: Path, pulls: list[dict[str, Any]], given: argparse.Namespace) -> int:
    head = given.head.rpartition(":")[2] or branch()
    base = given.base or "main"
    if not git("ls-remote", "--heads", "origin", head):
        return fail(f"the branch {head} is not on the remote: push it first")
    if head == base:
        return fail(f'head branch "{head}" is the same as base branch "{base}"')
    if any(p["headRefName"] == head and p["state"] == "OPEN" for p in pulls):
        return fail(f'a pull request for branch "{head}" already exists')
    if not (given.title or given.fill):
        return fail("must provide `--title` and `--body` (or `--fill`) when not on a terminal")
    number = max([p["number"] for p in pulls], default=0) + 1
    pull = {
        "number": number,
        "headRefName": head,
        "baseRefName": base,
        "url": f"https://github.com/{SLUG}/pull/{number}",
        "state": "OPEN",
        "isDraft": given.draft,
        "title": git("log", "-1", "--format=%s"),
        "body": "",
    }
    write(folder, {**pull, **described(given)})
    print(pull["url"])
    return 0


def listed(pull: dict[str, Any], given: argparse.Namespace) -> bool:
    state = (given.state or "open").upper()
    return state in ("ALL", pull["state"]) and given.head in ("", pull["headRefName"])


def described(given: argparse.Namespace) -> dict[str, str]:
    """Title and body, as far as they are given."""
    body = given.body
    if given.body_file == "-":
        body = sys.stdin.read()
    elif given.body_file:
        body = Path(given.body_file).read_text(encoding="utf-8")
    return {name: text for name, text in (("title", given.title), ("body", body)) if text}


def write(folder: Path, pull: dict[str, Any]) -> None:
    path = folder / "pulls" / f"{pull['number']:04}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(pull, indent=2) + "\n", encoding="utf-8")


def show(found: Any, given: argparse.Namespace) -> None:
    """As JSON with the fields that are asked for; or else for people, one line each."""
    rows = found if isinstance(found, list) else [found]
    if not given.json:
        for row in rows:
            print(f"#{row['number']}\t{row['title']}\t{row['headRefName']}\t{row['state']}")
        return
    names = given.json.split(",")
    short = [{name: row.get(name) for name in names} for row in rows]
    path = given.jq.lstrip(".")
    if path and not isinstance(found, list):
        print(short[0].get(path))
    else:
        print(json.dumps(short if isinstance(found, list) else short[0]))


def branch() -> str:
    return git("rev-parse", "--abbrev-ref", "HEAD")


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True)
    return done.stdout.strip()


def fail(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
