"""The pull requests of a repository on GitHub. Owns which addresses are such a repository's.

Lists them by the program `gh`, with the user's own login; closes and opens none.
"""

from __future__ import annotations

import re
from typing import Any

from skilleval.errors import SkillevalError
from skilleval.process import Command, complaint
from skilleval.tools import Tools

LIMIT = 500
_HOST = r"(?:www\.|ssh\.)?github\.com"  # the second is its port 443 for ssh
_GITHUB = re.compile(
    rf"(?:(?:https?|ssh|git|git\+ssh|ssh\+git)://(?:[^/@]+@)?{_HOST}(?::\d+)?/"
    rf"|(?:[^/@:]+@)?{_HOST}:/?|{_HOST}/)"
    r"([A-Z0-9][\w.-]*)/([\w.-]+?)(?:\.git)?/?(?:[?#].*)?",
    re.IGNORECASE | re.ASCII,
)
_NO_NAMES = {".", "..", ".git"}


def github_slug(source: str) -> str:
    """`owner/name` of a repository on github.com; empty for any other, above all a local path."""
    found = _GITHUB.fullmatch(source.strip())
    return f"{found[1]}/{found[2]}" if found and found[2] not in _NO_NAMES else ""


def pull_requests(slug: str, tools: Tools) -> list[dict[str, Any]]:
    """The pull requests of a GitHub repository, open or not, by `gh`. Raises `SkillevalError`."""
    import json

    fields = "number,title,headRefName,headRefOid,baseRefName,url,state,isDraft"
    argv = ["gh", "pr", "list", "--repo", slug, "--state", "all", "--limit", str(LIMIT)]
    done = tools.run(Command([*argv, "--json", fields], 30.0, env=dict(tools.environ)))
    try:
        found = json.loads(done.stdout) if done.exit_code == 0 else None
    except ValueError:
        found = None
    if not isinstance(found, list):
        why = "no JSON list" if done.exit_code == 0 else complaint(done)
        raise SkillevalError(f"cannot list the pull requests of {slug}: {why}")
    return [each for each in found if isinstance(each, dict)]
