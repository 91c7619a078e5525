"""Whether a trial was what its arm claims, told by what came of it.

Owns two questions: did the agent come by the answers, and did an agent without the skill come by
the skill (or one with it not)? Either makes the trial no number. They are asked of the texts that
the agent left: an agent that hides what it has read is not found out (see `workspace`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from skilleval import skill
from skilleval.model import Arm, Case, Delta, State
from skilleval.trial import attempts, temporary, workspace
from skilleval.trial.attempts import Attempt

# a shorter text may be in anything
TELLING_CHARS = 24
CANARY_SEEN = (
    "contaminated: the agent read a file that stands beside the answers, outside its workspace (its"
    " output holds the canary)"
)


def contamination(case: Case, before: State, tried: Sequence[Attempt], delta: Delta) -> str:
    """How the agent came by the answers; "" if nothing tells so.

    It has read the decoy beside them (its canary), or what it was shown or has copied holds what
    only the file of the evals does: two of the case's assertions, or one and the expected output.
    """
    if any(temporary.canary() in text for text in _left(tried, delta)):
        return CANARY_SEEN
    given = "\n".join([case.prompt, *(file.change.content for file in before.files or ())])
    texts = dict.fromkeys([case.expected, *(check.text for check in case.checks)])
    answers = [text for text in texts if len(text) >= TELLING_CHARS and text not in given]
    copied = (change.content for change in (*delta.added, *delta.modified))
    for text in (*_shown(tried), *copied):
        if sum(answer in text or _escaped(answer) in text for answer in answers) > 1:
            return (
                "contaminated: the agent was shown the case's own assertions: it read the evals"
                " file, outside its workspace; keep that out of its reach (another user, a"
                " container)"
            )
    return ""


def broken_control(
    place: workspace.Place,
    case: Case,
    arm: Arm,
    tried: Sequence[Attempt],
    visible: Callable[[], Mapping[str, str]],
) -> str:
    """How the arm was not what it claims; "" if nothing tells so.

    By the program's own listing, by what the agent used and was shown, and by what is `visible` on
    the disk.
    """
    name = arm.agent
    listed = attempts.listed(tried)
    if arm.with_skill:
        if listed is not None and not _has(listed, place.skill):
            return f"control broken: {name} did not list the skill {place.skill!r}"
        return ""
    if listed is not None and _has(listed, place.skill):
        return f"control broken: {name} listed the skill {place.skill!r} without it"
    used = [e.name for a in tried for e in a.told.events if e.kind == "skill" and not e.failed]
    if _has(used, place.skill):
        return f"control broken: the skill {place.skill!r} was used in the arm without it"
    line = _telling_line(skill.text(str(arm.options.get("skill") or "")))
    shown = () if not line or line in case.prompt else _shown(tried)
    if any(line in text or _escaped(line) in text for text in shown):
        return (
            f"control broken: the agent without the skill {place.skill!r} was shown its"
            f" {skill.MANIFEST}; keep the skill out of its reach (another user, a container)"
        )
    try:
        workspace.prove(place, visible())
    except workspace.ControlBroken as error:
        return f"{error} (after the run)"
    return ""


def _left(tried: Sequence[Attempt], delta: Delta) -> Iterator[str]:
    """All texts that came from the agent."""
    for attempt in tried:
        yield from (attempt.done.stdout, attempt.done.stderr, attempt.told.output)
    for change in (*delta.added, *delta.modified):
        yield from (change.path, change.content)
    for field in ("new_branches", "pushed_branches", "new_commits"):
        yield from map(str, delta.git.get(field) or ())


def _shown(tried: Sequence[Attempt]) -> Iterator[str]:
    """What its tools showed the agent; of a program that tells no calls, all that it printed."""
    for attempt in tried:
        calls = [event.output for event in attempt.told.events if event.kind == "call"]
        yield from calls or (attempt.done.stdout, attempt.done.stderr)


def _telling_line(text: str) -> str:
    """The longest line of a manifest's front matter; "" if none is long enough to tell."""
    front = text.removeprefix("---\n").partition("\n---")[0] if text.startswith("---\n") else ""
    longest = max((line.strip() for line in front.splitlines()), key=len, default="")
    return longest if len(longest) >= TELLING_CHARS else ""


def _escaped(text: str) -> str:
    """As JSON has it, in which programs print what their tools showed, and evals are written."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _has(names: Iterable[str], name: str) -> bool:
    """Is the skill among the names? One of a plugin is called `plugin:skill`."""
    return any(each == name or each.endswith(f":{name}") for each in names)
