"""Makes outcomes as a trial stores them, for tests of what is graded from them.

Owns a git state in few words: a branch is a name, a commit a letter that its id is made of.
"""

import hashlib
import json
from pathlib import Path

from skilleval import assertions, engine, graders
from skilleval.model import Case, Event, File, FileChange, Outcome, Rules, State
from skilleval.snapshot import Snapshot, delta
from skilleval.tools import Tools

CASES = json.loads((Path(__file__).parent / "data/suites/cases.json").read_text(encoding="utf-8"))
FRESH = CASES["fresh_state"]
RULES = Rules(unanswered="skip", errored="skip")
OPEN = {"number": 2, "headRefName": "feat", "baseRefName": "main", "state": "OPEN"}


def sha(letter):
    return letter * 40


def git(commits="a", branches="main", current="", remote=None, prs=(), subjects=()):
    """The state of a repository: commits newest first, branches in one text, all at the newest.

    `remote` maps branches to the letter of the commit that they are at.
    """
    heads = dict.fromkeys(branches.split(), sha(commits[0]))
    named = [*subjects, *["Initial commit"] * len(commits)]
    return {
        **FRESH,
        "local_branches": sorted(heads),
        "branch_heads": heads,
        "current_branch": current or branches.split()[0],
        "head_sha": sha(commits[0]),
        "commit_count": len(commits),
        "commit_shas": [sha(letter) for letter in commits],
        "commits": [f"{sha(c)[:7]} {s}" for c, s in zip(commits, named, strict=False)],
        "remote_branches": sorted(remote or ()),
        "remote_branch_heads": {name: sha(letter) for name, letter in (remote or {}).items()},
        "open_prs": list(prs),
    }


def state(files=None, repository=None):
    """A state of a workspace; `files` maps paths to texts, or to whole `FileChange`s."""
    return State(tuple(map(file, sorted((files or {}).items()))), repository or FRESH)


def file(item):
    path, content = item
    if isinstance(content, FileChange):
        return File(content._replace(path=path), content.content or content.note)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return File(FileChange(path, len(content.encode()), content), digest)


def outcome(before=None, after=None, was=None, now=None, **fields):
    """What came of a trial: files before and after, git states before and after, and more."""
    old, new = state(before, was), state(before if after is None else after, now or was)
    change = delta(Snapshot(old.files), Snapshot(new.files))
    return Outcome("ok", before=old, after=new, delta=change, **fields)


def calls(*commands, **fields):
    """An outcome whose agent ran these commands."""
    events = tuple(Event("call", "shell", {"command": command}) for command in commands)
    return outcome(events=(Event("text", output="working"), *events), **fields)


def of_row(row):
    """The outcome of a row of the shared cases."""
    now, was = {**FRESH, **row["post_state"]}, {**FRESH, **row["pre_state"]}
    after = row.get("files", {})
    log = row.get("stdout_log", "")
    return outcome({}, after, was, now, output=row.get("output", ""), stdout=log)


def of_block(block):
    """The outcome of a block of `data/suites/claims.json`: what was, what is, what the agent did."""
    given = block["came"]
    old, new = (_repository(given.get(name)) for name in ("was", "now"))
    events = [Event("call", "shell", {"command": each}) for each in given.get("calls", ())]
    events += [Event("skill", each) for each in given.get("skills", ())]
    told = (Event("text", output="working"),) if {"calls", "skills"} & given.keys() else ()
    return outcome(
        given.get("before"),
        given.get("after"),
        old,
        new,
        output=given.get("output", ""),
        stdout=given.get("log", ""),
        exit_code=given.get("exit_code", 0),
        events=(*told, *events),
    )


def _repository(given):
    """A git state by the words of `git`, `heads` that differ, and the lines of its status."""
    if given is None:
        return None
    special = {"heads", "status", "prs"}
    found = git(
        **{name: given[name] for name in given.keys() - special}, prs=given.get("prs") or ()
    )
    found["branch_heads"] |= {name: sha(letter) for name, letter in given.get("heads", {}).items()}
    if "prs" in given and given["prs"] is None:
        found["open_prs"] = None
    found["status_porcelain"] = given.get("status", [])
    return found


def verdict(text, came, should_trigger=True, arm=None):
    """The verdict on one assertion, by the way that every suite goes: classify, then grade."""
    check = assertions.check(1, text, should_trigger, ("demo",))
    case = Case("c", "do it", (check,), should_trigger=should_trigger)
    [found] = engine.grade(case, came, RULES, Tools(), arm=arm).verdicts
    return found


def decided(text, came, should_trigger=True):
    """`pass`, `fail`, `judge` for what no rule decides, or `skip` for what a judge can't either."""
    found = verdict(text, came, should_trigger)
    assert found.status != "error", found.reason
    return "judge" if found.method in ("judge", graders.UNDECIDED) else found.status
