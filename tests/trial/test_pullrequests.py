"""Which addresses are on GitHub, and what a `gh` prints; the `gh` is a script on PATH."""

import json

import pytest
from harness_fake import tools

from skilleval.errors import SkillevalError
from skilleval.trial.pullrequests import github_slug, pull_requests


@pytest.mark.parametrize(
    "source",
    [
        "https://github.com/o/r.git",
        "https://user:pw@github.com/o/r",
        "https://GitHub.com/o/r?x=1",
        "git@github.com:o/r.git",
        "ssh://git@github.com/o/r",
        "ssh://git@github.com:22/o/r.git",
        "git+ssh://git@github.com/o/r.git",
        "ssh://git@ssh.github.com:443/o/r.git",
        "git@ssh.github.com:o/r.git",
        "git@github.com:/o/r.git",
        "org-1@github.com:o/r.git/",
        "github.com:o/r",
        "https://www.github.com/o/r#readme",
        "github.com/o/r/",
    ],
)
def test_address_on_github_has_a_slug(source):
    assert github_slug(source) == "o/r"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "/srv/repo",
        "srv/repo",
        "./github.com/o/r",
        "/home/me/github.com/o/r",
        "https://gitlab.com/g/s/r.git",
        "https://notgithub.com/o/r",
        "https://github.com.evil.org/o/r",
        "https://evil.org/github.com/o/r",
        "https://github.com/o",
        "https://github.com/o/r/issues",
        "file:///srv/repo",
        "file://github.com/o/r",
        "https://github.com@evil.org/o/r",
        "git@evil.org:github.com/o/r",
        "git@github.com:22/o/r.git",
        "https://github.com/-o/r",
        "https://github.com/o/.git",
        "https://github.com/o/..",
        "https://github.com/o/r%2Fx",
    ],
)
def test_anything_else_has_none(source):
    assert github_slug(source) == ""


def fake_gh(tmp_path, script):
    (tmp_path / "gh-bin").mkdir()
    program = tmp_path / "gh-bin" / "gh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return tools(tmp_path, PATH=f"{tmp_path / 'gh-bin'}:/bin:/usr/bin")


def test_pull_requests_are_those_that_gh_lists(tmp_path):
    found = [{"number": 3, "headRefName": "feat", "state": "OPEN"}]
    given = fake_gh(tmp_path, f"echo \"$@\" > {tmp_path}/call; echo '{json.dumps(found)}'")
    assert pull_requests("o/r", given) == found
    call = (tmp_path / "call").read_text()
    assert "pr list --repo o/r --state all" in call
    assert {"title", "baseRefName", "isDraft", "headRefOid"} <= {*call.split()[-1].split(",")}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'not logged in' >&2; exit 4", "not logged in"),
        ("echo nonsense", "no JSON"),
        ("echo '{}'", "no JSON"),
    ],
)
def test_gh_that_cannot_tell_is_an_error_and_not_an_empty_list(tmp_path, script, message):
    with pytest.raises(SkillevalError, match=f"pull requests of o/r: {message}"):
        pull_requests("o/r", fake_gh(tmp_path, script))
