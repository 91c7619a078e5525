"""What a judge is shown of an outcome, within a limit. Owns the choice and its order, no question.

What the agent said comes first, then what became of the repository and what else is known in a few
lines, the files that it changed, its commands, and at last the files that it left as they were: an
assertion may be about those too. What is left out is said. So is what was looked for and is not
there (`none`), and what nobody looked for (`unknown`): only the first is evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilleval import snapshot
from skilleval.graders import repository, worktree
from skilleval.model import Delta, Event, Outcome
from skilleval.plaintext import escaped
from skilleval.reading import markdown, reply
from skilleval.stats.activation import has_record

MOST_COMMANDS = 200
MOST_NAMES = 50
LEGEND = "(none: looked for, and not there; unknown: nobody looked)\n"
UNKNOWN, NONE = "unknown", "none"
NOT_STORED = (
    "The files of the workspace were not stored with this trial: nobody can see them now.\n"
)
_CHANGES = {"write": "written", "edit": "edited", "delete": "deleted"}
# what changed, and the field of a state without which nobody knows
_GIT = (
    ("new_branches", "new branches", "local_branches"),
    ("deleted_branches", "deleted branches", "local_branches"),
    ("new_commits", "new commits", "commits"),
    ("new_tags", "new tags", "tags"),
    ("pushed_branches", "pushed branches", "remote_branch_heads"),
    ("pushed_tags", "pushed tags", "remote_tags"),
    ("deleted_remote_branches", "branches that are gone from the remote", "remote_branch_heads"),
)


def shown(outcome: Outcome, room: int) -> str:
    """An outcome for a judge, of about `room` bytes: the output alone if nobody looked further."""
    output = reply.writable(outcome.output).replace("\0", "\ufffd")
    if outcome.delta is None:
        return cut(output, room)
    parts = (*_facts(outcome), *_files(outcome, outcome.delta), *_commands(outcome))
    found = reply.writable("".join((*parts, *_unchanged(outcome))))
    # each may have what the other one leaves, and half of the room in any case
    output = cut(output, max(room // 2, room - len(found.encode())))
    found = _beginning(found, max(room // 2, room - len(output.encode())))
    return f"## Agent Output\n\n{output}\n\n{found}"


def cut(text: str, limit: int) -> str:
    """A text without its middle if it is longer than so many bytes."""
    data = text.encode()
    if len(data) <= limit:
        return text
    half = limit // 2
    start, end = data[:half].decode("utf-8", "ignore"), data[len(data) - half :]
    note = f"[{len(data) - 2 * half} bytes are left out here]"
    return f"{start}\n{note}\n{end.decode('utf-8', 'ignore')}"


def _beginning(text: str, limit: int) -> str:
    """A text without its end, which matters least here."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return (
        f"{data[:limit].decode('utf-8', 'ignore')}\n[{len(data) - limit} bytes are left out here]\n"
    )


def _files(outcome: Outcome, delta: Delta) -> Iterator[str]:
    """What became of the files; where nobody stored them, what the agent's calls say of that."""
    if outcome.after is None or outcome.after.files is not None:
        nothing = outcome.after and not (delta.added or delta.modified or delta.deleted)
        yield f"{snapshot.HEADING}{NONE}\n\n" if nothing else snapshot.describe(delta)
        return
    calls = [e for e in outcome.events if e.kind == "call" and not e.failed and e.name in _CHANGES]
    rows = [
        f"{_CHANGES[e.name]}: {escaped(str(e.input['path']))}" for e in calls if e.input.get("path")
    ]
    told = "".join(f"- {row}\n" for row in list(dict.fromkeys(rows))[:MOST_COMMANDS])
    yield snapshot.HEADING + NOT_STORED + (f"By its calls:\n{told}" if told else "") + "\n"


def _facts(outcome: Outcome) -> Iterator[str]:
    """What is short and no content of a file, of a trial in a workspace."""
    if outcome.after is None:
        return
    yield f"## What Was Seen {LEGEND}\n"
    before, after = outcome.git_states
    if before and after:
        change = repository.changes(before, after)
        yield "### Git\n\n" + "".join(_git(before, after, change)) + "\n"
        yield "### Pull Requests\n\n" + "".join(_pull_requests(before, after, change)) + "\n"
    else:
        seen = before and None not in (outcome.after.files, outcome.after.git)
        gone = "there is no repository any more" if seen else UNKNOWN
        yield f"### Git\n\n{gone}\n\n### Pull Requests\n\n{UNKNOWN}\n\n"
    for title, kind in (("Skills Used", "skill"), ("Denied Tool Calls", "denied")):
        rows = [_event(event) for event in outcome.events if event.kind == kind]
        yield f"### {title}\n\n" + _recorded(rows, outcome) + "\n"


def _git(
    before: Mapping[str, Any], after: Mapping[str, Any], change: Mapping[str, Any]
) -> Iterator[str]:
    old, new = (str(state.get("current_branch", UNKNOWN)) for state in (before, after))
    was = "as before" if old == new else f"before: {escaped(old)}"
    yield f"- current branch: {escaped(new)} ({was})\n"
    for key, title, field in _GIT:
        named = _names(change[key]) if field in after and field in before else UNKNOWN
        unsure = key == "deleted_remote_branches" and change[key] and not change["remote_is_own"]
        yield f"- {title}: {named}{' (by the agent, or by somebody else)' if unsure else ''}\n"
    status = after.get("status_porcelain")
    yield f"- uncommitted changes: {UNKNOWN if status is None else _names(status)}\n"


def _names(names: Sequence[object]) -> str:
    shown = ", ".join(escaped(str(name)) for name in names[:MOST_NAMES]) or NONE
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _pull_requests(
    before: Mapping[str, Any], after: Mapping[str, Any], change: Mapping[str, Any]
) -> Iterator[str]:
    """Those that the trial opened, other new ones, and those that are not as they were before."""
    found, old = after.get("open_prs"), before.get("open_prs")
    if found is None or old is None or not (found or after.get("open_prs_of")):
        yield f"{UNKNOWN}\n"
        return
    known, own = {row.get("number"): row for row in old}, change["new_open_prs"]
    changed = [row for row in found if known.get(row.get("number"), row) != row]
    for title, rows in (
        ("opened by the agent", [_request(row) for row in own]),
        (
            "opened by the agent or by somebody else",
            [_request(row) for row in found if row.get("number") not in known and row not in own],
        ),
        (
            "changed",
            [f"{_request(row)}; before: {_request(known[row.get('number')])}" for row in changed],
        ),
    ):
        yield f"- {title}: {NONE}\n" if not rows else ""
        yield from (f"- {title}: {row}\n" for row in rows[:MOST_NAMES])


def _request(row: Mapping[str, Any]) -> str:
    """A pull request in one line; what was not stored of it is unknown."""
    head, base, title, state = (
        escaped(str(row.get(key, UNKNOWN)))
        for key in ("headRefName", "baseRefName", "title", "state")
    )
    draft = {True: "a draft", False: "no draft"}.get(row.get("isDraft", UNKNOWN), "draft: unknown")
    return f"#{row.get('number')} from {head} into {base}, {state}, {draft}, titled: {title}"


def _event(event: Event) -> str:
    given = event.input.get("command") or (dict(event.input) or event.output)
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    told = f": {escaped(cut(text, 1000))}" if text and event.kind != "skill" else ""
    return f"{escaped(event.name)}{told}"


def _rows(rows: Sequence[str], *, known: bool) -> str:
    """A list, cut after so many; of what is not there, whether anybody would have noticed."""
    if not rows:
        return f"{NONE if known else UNKNOWN}\n"
    left = len(rows) - MOST_COMMANDS
    note = f"[{left} more are left out here]\n" if left > 0 else ""
    return "".join(f"- {row}\n" for row in rows[:MOST_COMMANDS]) + note


def _recorded(rows: Sequence[str], outcome: Outcome) -> str:
    """A list of what the agent did, and whether anything of that was lost."""
    whole = has_record(outcome) and outcome.events_whole
    lost = "" if whole or not rows else "[a part of the record was lost: there may be more]\n"
    return _rows(rows, known=whole) + lost


def _commands(outcome: Outcome) -> Iterator[str]:
    inputs = [event.input for event in outcome.events if event.kind == "call"]
    commands = [escaped(str(given["command"])) for given in inputs if given.get("command")]
    if commands or outcome.after is not None:
        listed = _recorded(commands, outcome)
        yield f"### Commands, in their order\n\n{listed}\n"


def _unchanged(outcome: Outcome) -> Iterator[str]:
    tree = worktree.read(outcome)
    if tree is None or tree.before is None:
        return
    left = [path for path in tree.after if path in tree.before and path not in tree.modified]
    if left:
        yield "### Unchanged Files\n\n"
    for path in left:
        kept = tree.content(path)
        name = f"**{escaped(path)}**\n"
        if kept is None:
            yield f"{name}{tree.after[path].change.size} bytes, not kept\n\n"
            continue
        content, whole = kept
        fence = markdown.fence(content)
        note = "" if whole else "[the rest is left out here]\n"
        yield f"{name}{fence}\n{content}\n{fence}\n{note}\n"
