"""The nouns of the pipeline. Owns their shapes; owns no behaviour beyond reading a field.

Every noun is immutable. They are `NamedTuple`s and not frozen dataclasses for one measured reason:
a program that starts, reads fixtures and ends pays for every type it defines, and fifteen frozen,
slotted dataclasses cost 16 ms of CPU at import (a bare interpreter starts in 9 ms), fifteen named
tuples 5 ms. `scripts/bench.py` watches over it. For the same reason the annotations here are values
(no `from __future__ import annotations`): a named tuple compiles each one that is text.

`None` means unknown, everywhere: a score nobody produced is not 0, a cost nobody reported is not 0.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Status = Literal["pass", "fail", "skip", "error"]
Level = Literal["error", "warning"]
# of an outcome: the agent's own, its surroundings' (401, 429, server or program missing, no clone,
# a full disk, a bug of ours), the deadline's, a refused permission's, an arm that is not what it
# claims, an answer that leaked, the budget's, the run folder's that takes no more results
Failure = Literal[
    "",
    "agent",
    "infrastructure",
    "timeout",
    "permission",
    "control",
    "contaminated",
    "budget",
    "storage",
]
EMPTY: Mapping[str, Any] = {}
# what the arms with and without the skill are called in files and reports (seed 002)
SIDES: Mapping[bool, str] = {True: "with_skill", False: "without_skill"}


class Problem(NamedTuple):
    """One thing wrong with a user's file. Prints as `path:where: message`; sorts by place.

    `rule` is a stable identifier (`F05`, `W13`, `S02` …); `line` is 1-based, 0 when unknown.
    """

    path: str
    line: int
    where: str
    rule: str
    level: Level
    message: str


class Check(NamedTuple):
    """One thing to decide about an outcome. `grader` names who decides, `params` is what it needs.

    `negate` turns pass and fail around; `when` is a condition (empty = always); `scale` is the
    (lowest, highest) score a judge may give.
    """

    id: str
    text: str
    grader: str
    params: Mapping[str, Any] = EMPTY
    weight: int = 1
    negate: bool = False
    when: str = ""
    samples: int = 1
    scale: tuple[float, float] | None = None


class Case(NamedTuple):
    """One task for an agent, and the checks on what comes of it.

    `agent` names the agent that this case needs whatever the arm says. `broken` says why the case
    cannot be run at all: it is an error in the results, and no reason not to run the others.
    """

    id: str
    prompt: str
    checks: tuple[Check, ...] = ()
    files: tuple[str, ...] = ()
    expected: str = ""
    annotations: Mapping[str, Any] = EMPTY
    sandbox: bool = False
    network: str = ""
    should_trigger: bool = True
    source: str = ""
    agent: str = ""
    broken: str = ""


class Arm(NamedTuple):
    """A column of the comparison: agent x model x with or without the skill."""

    name: str
    agent: str
    model: str = ""
    with_skill: bool = True
    options: Mapping[str, Any] = EMPTY


class Rules(NamedTuple):
    """How verdicts become scores: the differences between the formats, as fields.

    `case_passes`: the share of its points that a case needs to pass. `unanswered` and `errored`:
    what a check counts as that was not decided by rule or by accident (`fail`, `skip`; an error
    may also stay `error`). `no_outcome`: the score of a case whose agent gave nothing (`zero`),
    or `skip` to leave it out. `overall`: `mean_of_cases`, the only one so far.
    """

    case_passes: float = 1.0
    unanswered: Status = "skip"
    errored: Status = "error"
    no_outcome: Literal["zero", "skip"] = "skip"


class Gate(NamedTuple):
    """A limit that the summary must keep. `check` is empty for the whole suite."""

    metric: str
    op: Literal[">=", "<="]
    limit: Any
    check: str = ""


class Suite(NamedTuple):
    """Everything a fixture file says, in one shape for all formats."""

    name: str
    path: str
    cases: tuple[Case, ...]
    rules: Rules = Rules()
    arms: tuple[Arm, ...] = ()
    gates: tuple[Gate, ...] = ()
    skill: str = ""
    judge: Mapping[str, Any] = EMPTY
    meta: Mapping[str, Any] = EMPTY

    @property
    def pass_env(self) -> frozenset[str]:
        """The variables of ours that the user lets the agents see: their values are secret."""
        return frozenset(name for arm in self.arms for name in arm.options.get("pass_env", ()))


class Trial(NamedTuple):
    """The unit of statistics: one case in one arm, the repeat-th time (from 1)."""

    case_id: str
    arm: str
    repeat: int = 1

    @property
    def key(self) -> str:
        return f"{self.case_id}/{self.arm}/r{self.repeat}"


class Usage(NamedTuple):
    """Tokens and money of one trial. None = unknown, never 0.

    `input` is what the program calls so: some count cached tokens in it, some do not. `uncached`
    means the same for all: input that no cache had.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cost_usd: float | None = None
    cost_source: str = ""
    uncached: int | None = None
    cache_creation: int | None = None
    reasoning: int | None = None


class FileChange(NamedTuple):
    """A file after the agent: its content as far as it was kept, and a note on what was not.

    `note` is empty for a whole text; else it says `binary`, `cut`, or where a link leads.
    """

    path: str
    size: int
    content: str = ""
    note: str = ""


class File(NamedTuple):
    """A file as a snapshot saw it. Two with the same `digest` are the same (see `snapshot`)."""

    change: FileChange
    digest: str


class State(NamedTuple):
    """A workspace at one moment: its files by path, and the state of its git repository.

    `git` has the field names of seed 002's `pre_state.json`; it is empty where there is none, and
    None where git could not read it. `files` is None where nobody knows them: a run of another
    tool, or a workspace that is gone.
    """

    files: tuple[File, ...] | None = ()
    git: Mapping[str, Any] | None = EMPTY


class Event(NamedTuple):
    """One thing an agent did or was told, in the words that all agent programs share.

    `kind`: `text` (it said `output`), `call` (tool `name` with `input` gave `output`), `skill` (it
    used the skill `name`), `denied` (tool `name` was refused), `retry` or `warning` (`output` says
    what). `failed`: the call gave an error. `parent` is the call of the sub-agent that did it.
    """

    kind: Literal["text", "call", "skill", "denied", "retry", "warning"]
    name: str = ""
    input: Mapping[str, Any] = EMPTY
    output: str = ""
    failed: bool = False
    parent: str = ""


class Delta(NamedTuple):
    """What an agent changed in its workspace, sorted by path, and the change of the git state."""

    added: tuple[FileChange, ...] = ()
    modified: tuple[FileChange, ...] = ()
    deleted: tuple[str, ...] = ()
    git: Mapping[str, Any] = EMPTY


class Outcome(NamedTuple):
    """What came of a trial, before anybody graded it.

    `status`: `ok` (there is something to grade), `missing` (the agent gave nothing at all) or
    `error` (it failed; `error` says how, `failure` of what kind). `source` is the file or folder
    that holds the evidence. `skills` are those that the agent could see, None if nobody knows.
    `stdout` and `stderr` are what its program printed, `notes` what else happened, a line each.
    `model` is the one that answered and `session` what its program calls this conversation, as far
    as it tells. Where `output_whole` or `events_whole` is false, a part of them was lost (cut out
    of the middle, or unreadable): what is there counts, what is not there is unknown.
    """

    status: Literal["ok", "missing", "error"]
    output: str = ""
    source: str = ""
    error: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    seconds: float | None = None
    usage: Usage = Usage()
    events: tuple[Event, ...] = ()
    delta: Delta | None = None
    attempts: int = 1
    failure: Failure = ""
    before: State | None = None
    after: State | None = None
    skills: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    stdout: str = ""
    stderr: str = ""
    model: str = ""
    session: str = ""
    output_whole: bool = True
    events_whole: bool = True

    @property
    def git_states(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The git states before and after; each empty where there was none, or nobody knows it."""
        return (self.before and self.before.git) or {}, (self.after and self.after.git) or {}

    @property
    def refused(self) -> bool:
        """Was the trial never started, for want of money or of room for its result?"""
        return self.status == "missing" and self.failure in ("budget", "storage")


class Evidence(NamedTuple):
    """All that a grader may judge by. `judge` holds the settings of the model that it may ask.

    `arm` is the one that the outcome is of, None where nobody knows.
    """

    case: Case
    outcome: Outcome
    judge: Mapping[str, Any] = EMPTY
    arm: Arm | None = None


class Call(NamedTuple):
    """One question to a model by a grader, and what it cost. None = unknown."""

    purpose: str
    model: str
    request_bytes: int
    seconds: float
    usage: Usage = Usage()
    tries: int = 1
    error: str = ""


class Verdict(NamedTuple):
    """What a grader decided about one check. `score` is in [0, 1], or None if undecided."""

    check_id: str
    status: Status
    score: float | None
    reason: str = ""
    method: str = ""
    weight: int = 1
    value: Any = None
    samples: int = 1


class Graded(NamedTuple):
    """Verdicts in the order of the checks, and the calls that it took to reach them."""

    verdicts: tuple[Verdict, ...]
    calls: tuple[Call, ...] = ()


class Result(NamedTuple):
    """A trial with its outcome and the verdict on each of the case's checks, in their order."""

    trial: Trial
    outcome: Outcome
    verdicts: tuple[Verdict, ...]
    calls: tuple[Call, ...] = ()


class Score(NamedTuple):
    """What one trial earned: points of those possible, exact. Nothing possible = no score.

    `counted`: does it weigh in the mean? One without a score may, as 0, if the rules say so.
    """

    earned: float
    possible: int
    passed: bool
    checks_passed: int
    checks_total: int
    counted: bool = True

    @property
    def value(self) -> float | None:
        return self.earned / self.possible if self.possible else None


class Summary(NamedTuple):
    """Results taken together. `score` is exact (a `Fraction`), None when nothing was scored.

    The counts say how many cases and checks it stands on.
    """

    score: Any
    cases_passed: int
    cases_total: int
    checks_passed: int
    checks_total: int


class SuiteReport(NamedTuple):
    """One suite with its results, the score of each (same order) and their summary."""

    suite: Suite
    results: tuple[Result, ...]
    scores: tuple[Score, ...]
    summary: Summary


class Report(NamedTuple):
    """All that a run found out. `failed` lists the gates that the overall summary does not keep."""

    suites: tuple[SuiteReport, ...]
    summary: Summary
    gates: tuple[Gate, ...]
    failed: tuple[Gate, ...]
    meta: Mapping[str, Any] = EMPTY

    @property
    def passed(self) -> bool:
        return not self.failed
