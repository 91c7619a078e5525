#!/usr/bin/env python3
"""Say what a commit in this git repository would hold, and what stands in its way, as JSON.

Owns the questions to ask before the first `git add`: which branch, what is changed, what looks
like a secret, is an operation half done. Owns no fix: it only reads, and never fetches.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

EPILOG = """\
example:
  preflight.py --base main

exit status:
  0  nothing stands in the way
  1  at least one blocker, listed under `blockers`
  2  not a git repository, or wrong usage
"""

SECRET_NAMES = (".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*",
                ".netrc", ".npmrc", ".pypirc", "credentials.json", "*.tfstate")  # fmt: skip
HARMLESS_NAMES = ("*.example", "*.sample", "*.template", "*.pub")
LARGE_BYTES = 5_000_000
HALF_DONE = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}


def git(*arguments: str) -> str | None:
    """Standard output without the last newline; None when git says no."""
    command = ["git", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    text = done.stdout.decode("utf-8", "replace").removesuffix("\n")
    return text if done.returncode == 0 else None


def names(*arguments: str) -> list[str]:
    """The paths of a `-z` listing, relative to the top of the repository."""
    return [path for path in (git(*arguments) or "").split("\0") if path]


def default_branch() -> str:
    """What the remote calls its default; else the first of main, master, trunk that exists."""
    remote = git("symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    if remote:
        return remote.removeprefix("origin/")
    candidates = ("main", "master", "trunk")
    found = (name for name in candidates if git("rev-parse", "--verify", "--quiet", name))
    return next(found, "main")


def distance(upstream: str) -> tuple[int, int]:
    """(ahead, behind) as of the last fetch."""
    counts = git("rev-list", "--left-right", "--count", f"HEAD...{upstream}") or "0 0"
    ahead, behind = counts.split()
    return int(ahead), int(behind)


def half_done() -> str | None:
    """The operation that waits for an answer, by the file that git keeps for it."""
    paths = ((git("rev-parse", "--git-path", name), word) for name, word in HALF_DONE.items())
    return next((word for path, word in paths if path and Path(path).exists()), None)


def suspicious(top: Path, paths: list[str]) -> list[dict[str, str]]:
    """Files that should be looked at before they are committed, each with the reason."""
    found = []
    for path in paths:
        name = Path(path).name
        secret = any(fnmatch.fnmatch(name, pattern) for pattern in SECRET_NAMES)
        harmless = any(fnmatch.fnmatch(name, pattern) for pattern in HARMLESS_NAMES)
        if secret and not harmless:
            found.append({"path": path, "reason": "the name of a file that holds secrets"})
        elif (file := top / path).is_file() and file.stat().st_size > LARGE_BYTES:
            found.append({"path": path, "reason": f"larger than {LARGE_BYTES} bytes"})
    return found


def state(top: Path, base: str) -> dict[str, Any]:
    branch = git("symbolic-ref", "--short", "--quiet", "HEAD")
    upstream = git("rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}")
    ahead, behind = distance(upstream) if upstream else (None, None)
    staged = names("diff", "--cached", "--name-only", "-z", "--diff-filter=d")
    return {
        "branch": branch,
        "base": base,
        "upstream": upstream,
        "ahead": ahead,
        "behind": behind,
        "in_progress": half_done(),
        "staged": staged,
        "staged_deletions": names("diff", "--cached", "--name-only", "-z", "--diff-filter=D"),
        "unstaged": names("diff", "--name-only", "-z"),
        "untracked": names("ls-files", "--others", "--exclude-standard", "-z"),
        "unmerged": names("diff", "--name-only", "-z", "--diff-filter=U"),
        "suspicious_staged": suspicious(top, staged),
    }


def blockers(found: dict[str, Any]) -> list[str]:
    """Why not to commit now. Each says what to do instead."""
    listed = []
    if found["branch"] is None:
        listed.append("detached HEAD: create a branch first")
    elif found["branch"] == found["base"]:
        listed.append(f"on {found['base']}: create a topic branch; changes move along with you")
    if found["in_progress"]:
        listed.append(f"a {found['in_progress']} is half done: finish or abort it")
    if found["unmerged"]:
        listed.append(f"unresolved conflicts: {', '.join(found['unmerged'])}")
    listed += [
        f"staged {item['path']}: {item['reason']}; unstage it or ask"
        for item in found["suspicious_staged"]
    ]
    if found["behind"]:
        listed.append(f"{found['behind']} commits behind {found['upstream']}: integrate them first")
    return listed


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else "",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--base", help="the branch that the pull request will target")
    args = parser.parse_args(argv)
    try:
        top = git("rev-parse", "--show-toplevel")
    except FileNotFoundError:
        print("preflight: git is not installed", file=sys.stderr)
        return 2
    if top is None:
        print("preflight: not inside a git working tree; cd to one", file=sys.stderr)
        return 2
    os.chdir(top)  # git lists untracked files below the current folder only
    found = state(Path(top), args.base or default_branch())
    found["blockers"] = blockers(found)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 1 if found["blockers"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
