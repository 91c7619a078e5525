"""Makes a run folder as a run leaves it, with results of every kind. Owns its content.

The texts in it are as hostile as an agent's can be; TRAP is an address that no report may ask for.
"""

from __future__ import annotations

from typing import Any

from skilleval.model import (
    Arm,
    Case,
    Check,
    Delta,
    Event,
    File,
    FileChange,
    Outcome,
    Result,
    Rules,
    State,
    Suite,
    Trial,
    Usage,
    Verdict,
)
from skilleval.runfolder import store

TRAP = "http://127.0.0.1:9/trap"
HOSTILE = (
    f"</script></pre><script src='{TRAP}.js'></script><img src={TRAP}.png onerror=alert(1)>"
    f"<style>@import '{TRAP}.css'</style><base href='{TRAP}'><!-- [/b] [red]x[/red] `|` ``` --> "
    "\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x00\x0b \u202egnp.exe\u202c \ud83d @octocat\n"
    "::error::forged\n##[error]forged\n# heading\n| a | b |\n]]>&amp;&lt;%0A"
)
CHECKS = (
    Check("1", "The file `RELEASE_NOTES.md` exists", "state"),
    Check("2", "The breaking change is mentioned | prominently", "judge"),
    Check("3", "No commit was created", "state"),
)
CASES = (
    Case(
        "explicit-invoke",
        "Write release notes for the commit history in commits.txt.",
        CHECKS,
        expected="A RELEASE_NOTES.md grouping changes by type, breaking changes first.",
        annotations={"force": True},
    ),
    Case("natural", "What is new in 2.0? Write it to a file.", CHECKS[:2]),
    Case(
        "negative-control",
        "How many commits are listed in commits.txt?",
        (CHECKS[2], Check("4", "The agent only answered the question", "judge")),
        should_trigger=False,
    ),
    Case(
        "hostile <b>`|&amp; [x](y) @octocat",
        HOSTILE,
        (Check("1", HOSTILE, "text"),),
        expected=HOSTILE,
    ),
)
OPTIONS: dict[str, Any] = {"skill": "skills/write-release-notes", "timeout_s": 600}
ARMS = tuple(
    Arm(f"{agent}-{side}_skill", agent, model, side == "with", OPTIONS)
    for agent, model in (("claude-code", "haiku"), ("codex", "gpt-5-mini"))
    for side in ("with", "without")
)
SUITE = Suite(
    "write-release-notes",
    "evals/write-release-notes/evals.json",
    CASES,
    Rules(errored="skip"),
    ARMS,
    skill="write-release-notes",
    judge={"model": "judge-model"},
)
OLD = "# Changes\n\n## 1.0\n\n- the first\n- a typo\n"
NEW = "# Changes\n\n## 2.0\n\n- **Breaking:** `run` needs a name\n\n## 1.0\n\n- the first\n"
LONG = "x" * 300 + " and a very long line without an end " * 8


def state(*files: tuple[str, str], branches: tuple[str, ...] = ("main",)) -> State:
    """A workspace with those files (path, content)."""
    found = tuple(File(FileChange(p, len(text), text), f"{hash(text):x}") for p, text in files)
    return State(found, {"local_branches": list(branches), "current_branch": branches[-1]})


def outcome(case: Case, arm: Arm, repeat: int) -> Outcome:
    """What came of a trial: with the skill there are notes and a transcript."""
    if arm.agent == "codex" and repeat == 2 and case.id == "natural":
        reason = "HTTP 429: too many requests"
        return Outcome("error", error=reason, failure="infrastructure", attempts=2, seconds=3.1)
    events = [
        Event("text", output="I will look at the commits first."),
        Event("call", "Bash", {"command": "git log --oneline"}, "a1b2c3 feat!: run needs a name"),
        Event("call", "Bash", {"command": "cat missing.txt"}, "No such file", failed=True),
        Event("denied", "WebFetch", {"url": TRAP}),
        Event("text", output=HOSTILE, parent="call-7"),
    ]
    if arm.with_skill and case.should_trigger:
        events.insert(1, Event("skill", "write-release-notes"))
    delta = Delta(
        (FileChange("RELEASE_NOTES.md", len(NEW), NEW), FileChange("logo.png", 70, "", "binary")),
        (FileChange("CHANGES.md", len(NEW), NEW),),
        ("old.txt",),
        {"new_branches": ["feat/notes"], "head_advanced": False},
    )
    is_hostile = case.id.startswith("hostile")
    return Outcome(
        "ok",
        HOSTILE if is_hostile else f"I wrote the notes.\n\n{LONG}",
        source="workspace",
        exit_code=0,
        seconds=12.5 + repeat + 4 * arm.with_skill,
        usage=Usage(1200 + 100 * repeat, 340, 900, 0.0125 if arm.agent == "claude-code" else None),
        events=tuple(events),
        delta=delta if arm.with_skill else Delta(),
        before=state(("CHANGES.md", OLD), ("old.txt", "old\n")),
        after=state(("CHANGES.md", NEW), branches=("main", "feat/notes")),
        skills=("write-release-notes",) if arm.with_skill else (),
        notes=("1 retry after a timeout",) if repeat == 2 else (),
        stdout='{"type": "result"}\n',
        stderr="warning: something\n" if repeat == 2 else "",
    )


def verdict(check: Check, case: Case, arm: Arm, repeat: int) -> Verdict:
    """With the skill nearly all passes; without it, only what the skill is not needed for."""
    method = "llm" if check.grader == "judge" else "deterministic"
    if case.id.startswith("hostile"):
        return Verdict(check.id, "fail", 0.0, HOSTILE, method)
    if check.id == "4" and repeat == 3:
        return Verdict(check.id, "skip", None, "the judge gave no answer", method)
    passed = arm.with_skill or not case.should_trigger
    if arm.with_skill and (check.id, repeat, arm.agent) == ("2", 2, "claude-code"):
        passed = False
    reason = (
        "found RELEASE_NOTES.md (83 bytes)" if passed else f"not found; files: CHANGES.md {LONG}"
    )
    return Verdict(check.id, "pass" if passed else "fail", float(passed), reason, method)


def results(repeats: int = 3, suite: Suite = SUITE) -> list[Result]:
    """Every trial of the suite."""
    return [
        Result(Trial(case.id, arm.name, repeat), found, _verdicts(found, case, arm, repeat))
        for case in suite.cases
        for arm in suite.arms
        for repeat in range(1, repeats + 1)
        for found in [outcome(case, arm, repeat)]
    ]


def _verdicts(found: Outcome, case: Case, arm: Arm, repeat: int) -> tuple[Verdict, ...]:
    if found.status == "error":
        return tuple(Verdict(c.id, "error", None, found.error, "no outcome") for c in case.checks)
    return tuple(verdict(check, case, arm, repeat) for check in case.checks)


def make(base: Any, repeats: int = 3, suite: Suite = SUITE, only: int | None = None) -> str:
    """A run folder below `base` with the first `only` results; returns its path."""
    run = store.create(str(base), suite)._replace(repeats=repeats > 1)
    store.begin(run, {"suite": suite, "repeats": repeats, "timestamp": "2031-02-03T04:05:06Z"})
    for result in results(repeats, suite)[:only]:
        store.save(run, result)
    return run.folder
