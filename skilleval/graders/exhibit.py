"""What a judge is shown of an outcome, within a limit. Owns the choice and its order, no question.

What the agent said comes first, then what it changed, its commits and its commands, and at last the
files that it left as they were: an assertion may be about those too. What is left out is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skilleval import snapshot
from skilleval.graders import worktree
from skilleval.model import Outcome
from skilleval.plaintext import escaped
from skilleval.reading import markdown, reply

MOST_COMMANDS = 200
_GIT = {
    "new_branches": "new branches",
    "new_commits": "new commits",
    "pushed_branches": "pushed branches",
}


def shown(outcome: Outcome, room: int) -> str:
    """An outcome for a judge, of about `room` bytes: the output alone if nobody looked further."""
    output = reply.writable(outcome.output).replace("\0", "\ufffd")
    if outcome.delta is None:
        return cut(output, room)
    parts = (snapshot.describe(outcome.delta), *_git(outcome.delta.git), *_commands(outcome))
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


def _git(change: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        f"- {title}: {escaped(', '.join(map(str, change[key])))}\n"
        for key, title in _GIT.items()
        if change.get(key)
    ]
    if rows:
        yield "### Git\n\n" + "".join(rows) + "\n"


def _commands(outcome: Outcome) -> Iterator[str]:
    inputs = [event.input for event in outcome.events if event.kind == "call"]
    commands = [given["command"] for given in inputs if given.get("command")]
    rows = [f"- {escaped(str(command))}\n" for command in commands[:MOST_COMMANDS]]
    if len(commands) > MOST_COMMANDS:
        rows.append(f"[{len(commands) - MOST_COMMANDS} commands are left out here]\n")
    if rows:
        yield "### Commands, in their order\n\n" + "".join(rows) + "\n"


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
