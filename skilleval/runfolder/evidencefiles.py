"""The evidence of a trial in the files that seed 002's original leaves, as the outcome it tells of.

These are in outputs/: output.txt, stdout.log, stderr.log, and the git states pre_state.json and
post_state.json (spec/suites section 4). Of the workspace's files the original stores nothing: they
stay unknown here, and what only they could decide stays undecided. The stream in stdout.log means
what its agent module says, and what failed around an agent is a failure as in a run of our own.

Owns the way from those files to the outcome. What timing.json and grading.json say, `gradingfiles`
reads. Writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from skilleval import agents
from skilleval.errors import SuiteError
from skilleval.model import EMPTY, Delta, Failure, Outcome, State, Usage
from skilleval.process import Completed
from skilleval.runfolder import foreignfiles
from skilleval.trial import attempts, gitstate, harness, transcript
from skilleval.trial.attempts import Attempt

if TYPE_CHECKING:
    from skilleval.trial.harness import Program
    from skilleval.trial.transcript import Transcript

OUTPUT, STDOUT, STDERR = "output.txt", "stdout.log", "stderr.log"
BEFORE, AFTER = "pre_state.json", "post_state.json"
# the program of any other name is read as one that nobody knows; the original's `fake` is not ours
_READERS = ("claude-code", "codex", "opencode")
_LISTS = ("local_branches", "remote_branches", "commits", "commit_shas")
_WORDS = ("current_branch", "head_sha")
_HEADS = ("branch_heads", "remote_branch_heads")
# of later versions of the original, and no loss where they are missing
_STATUS = ("status_porcelain", "changed_files")


def whole(outcome: Outcome, agent: str, root: str) -> Outcome:
    """The outcome with all that its folder (`outcome.source`, below `root`) holds of evidence.

    `outcome` is what timing.json tells; `agent` names the program that wrote stdout.log. What is
    not there stays unknown (see `absent`). Raises `SuiteError` for a file that is damaged, or leads
    out of `root`.
    """
    place = outcome.source
    said, stdout, stderr = (
        foreignfiles.text(_path(place, name), root) for name in (OUTPUT, STDOUT, STDERR)
    )
    if said is None and stdout is None:
        return outcome
    told = _told(agent, stdout, stderr or "", outcome.exit_code)
    # an exit code that nobody wrote down says nothing
    done = Completed(outcome.exit_code or 0, stdout or "", stderr or "", outcome.timed_out)
    attempt = Attempt(done, told)
    found = attempts.outcome([attempt])
    before, after = _states(place, root)
    found = found._replace(
        source=place,
        output=told.output if said is None else said,
        exit_code=outcome.exit_code,
        seconds=outcome.seconds,
        usage=_usage(found.usage, outcome.usage) if agent in _READERS else outcome.usage,
        delta=Delta(git=gitstate.change(before, after) if before and after else EMPTY),
        attempts=outcome.attempts,
        before=State(None, before),
        after=State(None, after),
        skills=None if told.skills is None else tuple(sorted(told.skills)),
        notes=told.notes,
    )
    return _with_failure(found, *attempt.failure)


def absent(place: str) -> tuple[str, ...]:
    """The names of the files that hold a trial's evidence, and are not there."""
    names = (OUTPUT, STDOUT, BEFORE, AFTER)
    return tuple(name for name in names if not os.path.exists(_path(place, name)))


def _path(place: str, name: str) -> str:
    return os.path.join(place, "outputs", name)


def _told(agent: str, stdout: str | None, stderr: str, exit_code: int | None) -> Transcript:
    if stdout is None:
        return transcript.Transcript()
    name = agent if agent in _READERS else "command"
    return cast("Program", agents.get(name)).read(stdout, stderr, exit_code)


def _usage(told: Usage, written: Usage) -> Usage:
    """What the stream tells; else what timing.json has, where 0 stands for unknown, too."""
    cost = written if told.cost_usd is None else told
    return told._replace(
        input=_first(told.input, written.input),
        output=_first(told.output, written.output),
        cached=_first(told.cached, written.cached),
        cost_usd=cost.cost_usd,
        cost_source=cost.cost_source,
    )


def _first(told: int | None, written: int | None) -> int | None:
    return (written or None) if told is None else told


def _with_failure(outcome: Outcome, failure: Failure, error: str) -> Outcome:
    """By the rule for a trial of our own."""
    if not failure:
        return outcome._replace(status="ok")
    if failure == "timeout":
        error = error or "the time ran out before the agent ended"
    if not harness.is_graded(failure, outcome.output, outcome.delta or Delta()):
        return outcome._replace(failure=failure, error=error)
    notes = (*outcome.notes, f"{failure}: {error}")
    return outcome._replace(status="ok", failure=failure, notes=notes)


def _states(place: str, root: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The git states before and after; both empty unless both are known.

    A state after without a single ref is that of a workspace whose repository is gone.
    """
    before, after = (_state(_path(place, name), root) for name in (BEFORE, AFTER))
    if not (before and after):
        return EMPTY, EMPTY
    return before, after if after["head_sha"] or after["branch_heads"] else EMPTY


def _state(path: str, root: str) -> Mapping[str, Any]:
    """A state in the shape of `gitstate`. Raises `SuiteError` if a field is missing, or is none.

    The original takes the names of branches from a listing in which some are lost or carry a mark;
    the heads have them all.
    """
    raw = foreignfiles.document(path, root)
    if not raw:
        return EMPTY
    wrong = [name for name in _LISTS if foreignfiles.texts(raw.get(name)) is None]
    wrong += [name for name in _WORDS if not isinstance(raw.get(name), str | None)]
    wrong += [name for name in _HEADS if not _is_heads(raw.get(name))]
    wrong += [] if _is_requests(raw.get("open_prs")) else ["open_prs"]
    if wrong:
        raise SuiteError(path, "", f"no {', '.join(wrong)} of the type that the original writes")
    return {
        **{name: raw[name] for name in (*_LISTS, *_HEADS)},
        **{name: raw.get(name) or "" for name in _WORDS},
        **{name: foreignfiles.texts(raw.get(name)) or [] for name in _STATUS},
        "open_prs": raw.get("open_prs"),
        "local_branches": sorted(raw["branch_heads"] or raw["local_branches"]),
        "remote_branches": sorted(raw["remote_branch_heads"] or raw["remote_branches"]),
    }


def _is_heads(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(sha, str) for sha in value.values())


def _is_requests(value: Any) -> bool:
    """None is what nobody could list; the number of a request is what tells it from another."""
    if value is None:
        return True
    listed = isinstance(value, list) and all(isinstance(each, dict) for each in value)
    return listed and all(isinstance(each.get("number"), int | str) for each in value)
